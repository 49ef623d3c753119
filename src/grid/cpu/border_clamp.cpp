#include "grid/cpu/border_clamp.h"

#include <algorithm>

#include "core/parallel.h"
#include "grid/cpu/border_row.h"

namespace fathom::grid::cpu {

namespace {

std::size_t at_axis(int k) { return static_cast<std::size_t>(k); }

class Clamp {
 public:
  Clamp(const Problem& problem, InstructionSet instruction_set)
      : p_(problem), set_(instruction_set), kept_(kept_steps(problem)) {}

  void row(std::int64_t number) const {
    const int last = p_.rank - 1;
    RowBorder border;
    std::int64_t distance = 0, squared = 0;  // offsets of the row
    for (int k = last - 1; k >= 0; --k) {
      const std::int64_t in_region = number % p_.region_extent(k), c = p_.range(k).begin + in_region;
      number /= p_.region_extent(k);
      if (p_.outputs.distance.present()) distance += in_region * p_.outputs.distance.strides()[k];
      if (p_.outputs.squared.present()) squared += in_region * p_.outputs.squared.strides()[k];
      if (p_.border[at_axis(k)] == Border::sites)
        border.other = std::min(border.other, static_cast<std::int32_t>(std::min(c + 1, p_.extent(k) - c)));
    }
    border.ends = p_.border[at_axis(last)] == Border::sites;
    border.first = static_cast<std::int32_t>(p_.range(last).begin);
    border.extent = static_cast<std::int32_t>(p_.extent(last));
    // Steps convert to any output as they are; only a spacing needs doubles.
    const double unit = p_.unit;
    const auto plain = [](std::int32_t s) { return s; };
    const auto scaled = [=](std::int32_t s) { return s * unit; };
    const auto square = [=](std::int32_t s) { return static_cast<double>(s) * s * (unit * unit); };
    if (p_.outputs.distance.present() && unit == 1) lower(p_.outputs.distance, distance, border, plain);
    if (p_.outputs.distance.present() && unit != 1) lower(p_.outputs.distance, distance, border, scaled);
    if (p_.outputs.squared.present()) lower(p_.outputs.squared, squared, border, square);
  }

 private:
  template <class Value>
  void lower(const AnyView& view, std::int64_t offset, const RowBorder& border, Value value) const {
    const auto count = static_cast<std::int32_t>(p_.region_extent(p_.rank - 1));
    visit_dtype(view.dtype(), [&](auto tag) {
      using Out = typename decltype(tag)::type;
      [[maybe_unused]] Out* const out = reinterpret_cast<Out*>(view.data()) + offset;
      if constexpr (std::is_same_v<Out, float> && std::is_same_v<decltype(value(0)), std::int32_t>)
        lower_to_border(out, count, border, kept_, set_);
      else if constexpr (!std::is_same_v<Out, bool>) lower_row(out, count, border, value);
    });
  }

  template <class Out, class Value>
  [[gnu::noinline]] void lower_row(Out* __restrict out, std::int32_t count, RowBorder border, Value value) const {
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t steps = border.steps(i);
      const auto at_border = static_cast<Out>(value(steps));
      out[i] = steps <= kept_ && at_border < out[i] ? at_border : out[i];
    }
  }

  /// Most steps that the maximum distance keeps.
  static std::int32_t kept_steps(const Problem& p) {
    if (!(p.max_distance / p.unit < RowBorder::kNone - 1)) return RowBorder::kNone;
    auto steps = static_cast<std::int32_t>(p.max_distance / p.unit);
    while (steps > 0 && steps * p.unit > p.max_distance) --steps;
    while ((steps + 1) * p.unit <= p.max_distance) ++steps;
    return steps;
  }

  const Problem& p_;
  const InstructionSet set_;
  const std::int32_t kept_;
};

}  // namespace

bool has_site_border(const Problem& problem) {
  const auto end = problem.border.begin() + problem.rank;
  return std::find(problem.border.begin(), end, Border::sites) != end;
}

Problem without_site_borders(const Problem& problem) {
  Problem open = problem;
  std::replace(open.border.begin(), open.border.end(), Border::sites, Border::open);
  return open;
}

void clamp_to_border(const Problem& problem, InstructionSet instruction_set, int threads, const Execution& execution) {
  std::int64_t rows = 1;
  for (int k = 0; k < problem.rank - 1; ++k) rows *= problem.region_extent(k);
  constexpr std::int64_t kRowsPerJob = 64;
  const Clamp clamp(problem, instruction_set);
  parallel_jobs(execution, threads, (rows + kRowsPerJob - 1) / kRowsPerJob, [&](int, std::int64_t job) {
    for (std::int64_t r = job * kRowsPerJob; r < std::min(rows, (job + 1) * kRowsPerJob); ++r) clamp.row(r);
  });
}

}  // namespace fathom::grid::cpu
