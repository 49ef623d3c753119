// The pairs of every row: with the row itself, and with the rows before and behind it along y and z. Each row finds its
// own elements alone, so that every pair is tested from both sides: twice the work, none of it shared between threads.
// Ways to the nearest sites are taken from their indices once per row of an image, and three times in a volume, where
// rows of three slices meet. The loops are plain: the compiler makes vectors of them, for each instruction set.
#include "apps/cpu/axis.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "apps/cpu/axis.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/axis_pair.hd.h"
#include "apps/axis_tests.h"
#include "apps/cpu/nearest_indices.h"
#include "core/parallel.h"

#ifndef FATHOM_APPS_CPU_AXIS_ONCE
#define FATHOM_APPS_CPU_AXIS_ONCE
namespace fathom::apps::cpu {

constexpr std::int64_t kRowsOfJob = 32;
constexpr int kRowsKept = 5;  // of one thread: three that follow one another, one before and one behind them

}  // namespace fathom::apps::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace fathom::apps::cpu::HWY_NAMESPACE {

/// Ways of a row.
template <class Number>
struct Ways {
  explicit Ways(std::int64_t width) : z(static_cast<std::size_t>(width)), y(z), x(z) {}
  Way<Number> at(std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    return {z[k], y[k], x[k]};
  }
  std::vector<Number> z, y, x;
};

/// Whole quotients of indices: in double where it cannot err, which vectors have.
struct Division {
  explicit Division(std::int64_t by) : divisor(by), inverse(1 / static_cast<double>(by)) {}
  std::int32_t operator()(std::int32_t n) const {
    return static_cast<std::int32_t>((static_cast<double>(n) + .5) * inverse);
  }
  std::int64_t operator()(std::int64_t n) const { return n / divisor; }
  std::int64_t divisor;
  double inverse;
};

/// @throws InvalidArgument an index of the row is not one of the image's
template <class Index>
void check_row(const AxisProblem& p, const Index* row) {
  using Unsigned = std::make_unsigned_t<Index>;  // what is negative is larger than all indices
  Unsigned most = 0;
  for (std::int64_t x = 0; x < p.lattice.extent[2]; ++x) most = std::max(most, static_cast<Unsigned>(row[x]));
  if (most >= static_cast<Unsigned>(p.lattice.size()))
    check_indices<Index>(p.nearest, p.lattice, 0, p.lattice.size() - 1);
}

template <int kAxes, class Index, class Number>
void read_ways(const Index* nearest, const Lattice3& lattice, std::int64_t z, std::int64_t y, Ways<Number>& ways) {
  const auto width = static_cast<Index>(lattice.extent[2]), height = static_cast<Index>(lattice.extent[1]);
  const Division by_width(lattice.extent[2]), by_height(lattice.extent[1]);
  const auto own_z = static_cast<Index>(z), own_y = static_cast<Index>(y);
  Number *to_z = ways.z.data(), *to_y = ways.y.data(), *to_x = ways.x.data();
  for (Index x = 0; x < width; ++x) {
    const Index row = by_width(nearest[x]), slice = kAxes == 3 ? by_height(row) : 0;
    to_x[x] = static_cast<Number>(nearest[x] - row * width - x);
    to_y[x] = static_cast<Number>(row - slice * height - own_y);
    if constexpr (kAxes == 3) to_z[x] = static_cast<Number>(slice - own_z);
  }
}

/// axis[i] |= whether element i joins through its neighbour, for `count` elements.
template <Pruning kPruning, int kAxes, class Number>
void join(const PairTest<Number>& given, const Ways<Number>& own, std::int64_t first, const Ways<Number>& other,
          std::int64_t other_first, std::int64_t count, std::uint8_t* HWY_RESTRICT axis) {
  const PairTest<Number> test = given;
  const Number *z = own.z.data() + first, *y = own.y.data() + first, *x = own.x.data() + first;
  const Number *oz = other.z.data() + other_first, *oy = other.y.data() + other_first,
               *ox = other.x.data() + other_first;
  for (std::int64_t i = 0; i < count; ++i) {
    const Way<Number> mine{kAxes == 3 ? z[i] : Number{0}, y[i], x[i]},
        its{kAxes == 3 ? oz[i] : Number{0}, oy[i], ox[i]};
    axis[first + i] |= static_cast<std::uint8_t>(joins<kPruning, kAxes>(test, mine, its));
  }
}

template <Pruning kPruning, int kAxes, class Number, class Index>
class Rows {
 public:
  explicit Rows(const AxisProblem& problem)
      : p_(problem),
        width_(problem.lattice.extent[2]),
        tests_(pair_tests<Number>(problem.lattice, problem.gamma, problem.ties)) {}

  /// Rows [begin, end) of a slice.
  void run(std::int64_t z, std::int64_t begin, std::int64_t end) const {
    std::vector<Ways<Number>> rows(kRowsKept, Ways<Number>(width_));
    Ways<Number>*before = &rows[0], *own = &rows[1], *behind = &rows[2];
    std::vector<std::uint8_t> spare(p_.axis.data ? 0 : static_cast<std::size_t>(width_));
    if (begin > 0) read(z, begin - 1, *before);
    read(z, begin, *own);
    for (std::int64_t y = begin; y < end; ++y) {
      const std::int64_t at[3] = {z, y, 0};
      Neighbours neighbours{};
      if (y > 0) neighbours[2] = before;
      if (y + 1 < p_.lattice.extent[1]) read(z, y + 1, *(neighbours[3] = behind));
      if (z > 0) read(z - 1, y, *(neighbours[0] = &rows[3]));
      if (z + 1 < p_.lattice.extent[0]) read(z + 1, y, *(neighbours[1] = &rows[4]));
      std::uint8_t* axis = p_.axis.data ? p_.axis.template at<std::uint8_t>(z, y) : spare.data();
      std::fill_n(axis, width_, std::uint8_t{0});
      find(*own, neighbours, axis);
      if (p_.witness.data && p_.witness.size == 4) witnesses<std::int32_t>(at, *own, neighbours, axis);
      if (p_.witness.data && p_.witness.size == 8) witnesses<std::int64_t>(at, *own, neighbours, axis);
      std::swap(before, own);
      std::swap(own, behind);
    }
  }

 private:
  /// Rows before and behind along z and y, where they are there.
  using Neighbours = std::array<Ways<Number>*, 4>;

  void read(std::int64_t z, std::int64_t y, Ways<Number>& ways) const {
    const Index* row = p_.nearest.template at<Index>(z, y);
    check_row(p_, row);
    read_ways<kAxes>(row, p_.lattice, z, y, ways);
  }

  void find(const Ways<Number>& own, const Neighbours& neighbours, std::uint8_t* axis) const {
    for (std::size_t k = kAxes == 3 ? 0 : 2; k < 4; ++k)
      if (neighbours[k]) join<kPruning, kAxes>(tests_[k], own, 0, *neighbours[k], 0, width_, axis);
    join<kPruning, kAxes>(tests_[4], own, 1, own, 0, width_ - 1, axis);
    join<kPruning, kAxes>(tests_[5], own, 0, own, 1, width_ - 1, axis);
  }

  /// For the few elements on the axis.
  template <class Out>
  void witnesses(const std::int64_t (&at)[3], const Ways<Number>& own, const Neighbours& neighbours,
                 const std::uint8_t* axis) const {
    Out* out = p_.witness.template at<Out>(at[0], at[1]);
    for (std::int64_t x = 0; x < width_; ++x) {
      out[x] = -1;
      if (!axis[x]) continue;
      Number most = 0;
      for (std::size_t k = 0; k < tests_.size(); ++k) {
        const std::int64_t there = x + (k == 4 ? -1 : k == 5 ? 1 : 0);
        const Ways<Number>* row = k < 4 ? neighbours[k] : there >= 0 && there < width_ ? &own : nullptr;
        if (!row) continue;
        const Way<Number> mine = own.at(x), its = row->at(there);
        if (!joins<kPruning, kAxes>(tests_[k], mine, its)) continue;
        const Way<Number> apart = between_sites(tests_[k], mine, its);
        const Number length = dot<kAxes>(tests_[k], apart, apart);
        if (length <= most) continue;
        most = length;
        const std::int64_t toward = k % 2 == 0 ? -1 : 1;
        const std::int64_t site_z = at[0] + (k < 2 ? toward : 0) + static_cast<std::int64_t>(its.z),
                           site_y = at[1] + (k == 2 || k == 3 ? toward : 0) + static_cast<std::int64_t>(its.y),
                           site_x = there + static_cast<std::int64_t>(its.x);
        out[x] = static_cast<Out>((site_z * p_.lattice.extent[1] + site_y) * width_ + site_x);
      }
    }
  }

  const AxisProblem& p_;
  std::int64_t width_;
  std::array<PairTest<Number>, 6> tests_;  ///< before and behind along z, y, x
};

template <Pruning kPruning, int kAxes, class Number, class Index>
void find(const AxisProblem& p, const Execution& execution) {
  const Rows<kPruning, kAxes, Number, Index> rows(p);
  const std::int64_t height = p.lattice.extent[1], jobs_of_slice = (height + kRowsOfJob - 1) / kRowsOfJob;
  Monitor monitor(execution, p.lattice.extent[0] * height);
  parallel_jobs(p.threads, p.lattice.extent[0] * jobs_of_slice, [&](int, std::int64_t job) {
    const std::int64_t begin = job % jobs_of_slice * kRowsOfJob, end = std::min(height, begin + kRowsOfJob);
    rows.run(job / jobs_of_slice, begin, end);
    monitor.advance(end - begin);
  });
}

template <Pruning kPruning, int kAxes, class Index>
void find_in_numbers(const AxisProblem& p, const Execution& execution) {
  // The other bounds are no integers. Doubles hold the same integers, up to 2⁵³.
  if (kPruning != Pruning::constant || !p.lattice.is_isotropic())
    return find<kPruning, kAxes, double, Index>(p, execution);
  if constexpr (kPruning == Pruning::constant) {
    if (sizeof(Index) == 4 && axis_fits_int32(p.lattice))
      return find<kPruning, kAxes, std::int32_t, Index>(p, execution);
    find<kPruning, kAxes, std::int64_t, Index>(p, execution);
  }
}

template <Pruning kPruning>
void find_in_axes(const AxisProblem& p, const Execution& execution) {
  const bool is_volume = p.lattice.extent[0] > 1;
  if (p.nearest.size == 4) {
    if (is_volume) return find_in_numbers<kPruning, 3, std::int32_t>(p, execution);
    return find_in_numbers<kPruning, 2, std::int32_t>(p, execution);
  }
  if (is_volume) return find_in_numbers<kPruning, 3, std::int64_t>(p, execution);
  find_in_numbers<kPruning, 2, std::int64_t>(p, execution);
}

void find_any(const AxisProblem& p, const Execution& execution) {
  switch (p.pruning) {
    case Pruning::constant: return find_in_axes<Pruning::constant>(p, execution);
    case Pruning::linear: return find_in_axes<Pruning::linear>(p, execution);
    case Pruning::square_root: return find_in_axes<Pruning::square_root>(p, execution);
  }
}

}  // namespace fathom::apps::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::apps::cpu {

void find_axis(const AxisProblem& problem, const Execution& execution) {
  FATHOM_COMPILED_FOR(problem.instruction_set, find_any)(problem, execution);
}

std::size_t axis_bytes(const Lattice3& lattice, int threads) {
  return static_cast<std::size_t>(threads) * static_cast<std::size_t>(lattice.extent[2]) *
         (kRowsKept * 3 * sizeof(double) + 1);
}

}  // namespace fathom::apps::cpu
#endif
