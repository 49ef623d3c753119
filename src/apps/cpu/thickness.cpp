#include "apps/cpu/thickness.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "apps/ball.hd.h"
#include "apps/cpu/balls.h"
#include "apps/squares.h"
#include "core/parallel.h"

namespace fathom::apps::cpu {

namespace {

template <class T, class Float>
void draw(const T* squared, const Thickness& t) {
  const std::int64_t rows = t.lattice.extent[0] * t.lattice.extent[1], width = t.lattice.extent[2];
  const bool endless = squared[0] == kNoSite<T>;  // then it is everywhere
  const T least = least_ball<T>(t.lattice);
  const double spacing = t.lattice.spacing[2];
  parallel_jobs(t.execution, t.threads, rows, [&](int, std::int64_t row) {
    Float* out = t.out.template element<Float>(row * width);
    for (std::int64_t x = 0; x < width; ++x) {
      const T d2 = squared[row * width + x];
      out[x] = endless                 ? std::numeric_limits<Float>::infinity()
               : d2 > 0 && d2 <= least ? diameter<Float>(d2, spacing)
                                       : 0;
    }
  });
  if (endless) return;
  draw_balls<T>(squared, t.lattice, Extent::middles, t.instruction_set, t.threads, t.execution,
                [&](T d2, const std::vector<Covered>& covered) {
                  const Float value = diameter<Float>(d2, spacing);
                  for (const Covered& some : covered) {
                    Float* out = t.out.template element<Float>(some.first);
                    for (std::uint32_t left = some.bits; left != 0; left &= left - 1)
                      out[std::countr_zero(left)] = value;
                  }
                });
}

template <class T>
class Invasion {
 public:
  Invasion(const T* squared, const Thickness& thickness)
      : squared_(squared),
        extent_(thickness.lattice.extent),
        reached_(static_cast<std::size_t>(thickness.lattice.size())),
        monitor_(thickness.execution, thickness.lattice.size()) {}

  std::vector<T> run(const std::uint8_t* inlets) {
    const std::int64_t stride[3] = {extent_[1] * extent_[2], extent_[2], 1};
    for (std::size_t i = 0; i < reached_.size(); ++i)
      if (inlets[i]) enter(i, kNoSite<T>);
    std::size_t visited = 0;
    while (!narrower_.empty()) {
      level_ = narrower_.top().first;
      open_.push_back(narrower_.top().second);
      narrower_.pop();
      while (!open_.empty()) {
        const std::size_t here = open_.back();
        open_.pop_back();
        if (++visited % kBetweenLooks == 0) monitor_.advance(kBetweenLooks);
        const auto linear = static_cast<std::int64_t>(here);
        for (std::size_t k = 0; k < 3; ++k) {
          const std::int64_t at = linear / stride[k] % extent_[k];
          if (at > 0) enter(static_cast<std::size_t>(linear - stride[k]), level_);
          if (at + 1 < extent_[k]) enter(static_cast<std::size_t>(linear + stride[k]), level_);
        }
      }
    }
    return std::move(reached_);
  }

 private:
  static constexpr std::size_t kBetweenLooks = 1 << 14;

  /// A ball that got to a neighbour with radius `level` comes here as large as fits.
  void enter(std::size_t i, T level) {
    if (reached_[i] > 0 || !(squared_[i] > 0)) return;
    reached_[i] = std::min(level, squared_[i]);
    if (reached_[i] == level_) open_.push_back(i);
    else narrower_.push({reached_[i], i});
  }

  const T* squared_;
  std::array<std::int64_t, 3> extent_;
  std::vector<T> reached_;
  Monitor monitor_;
  T level_ = 0;
  std::vector<std::size_t> open_;                            ///< to look around, at the level
  std::priority_queue<std::pair<T, std::size_t>> narrower_;  ///< below it
};

}  // namespace

void draw_thickness(const Array& squares, DType dtype, const Thickness& thickness) {
  visit_squares(squares.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* squared = squares.as<T>().data();
    dtype == DType::float32 ? draw<T, float>(squared, thickness) : draw<T, double>(squared, thickness);
  });
}

void invade(Array& squares, const Array& inlets, const Thickness& thickness) {
  visit_squares(squares.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::vector<T> reached = Invasion<T>(squares.as<T>().data(), thickness).run(inlets.as<std::uint8_t>().data());
    std::copy(reached.begin(), reached.end(), squares.as<T>().data());
  });
}

std::size_t invasion_bytes(const Lattice3& lattice, std::size_t value_bytes) {
  // Marks of the inlets, radii reached, and at worst all elements on the heap or the stack, which grow by halves.
  return static_cast<std::size_t>(lattice.size()) * (1 + value_bytes + 2 * sizeof(std::pair<double, std::size_t>));
}

}  // namespace fathom::apps::cpu
