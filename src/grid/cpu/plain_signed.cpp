#include "grid/cpu/plain_signed.h"

#include "core/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/plain_signed.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/parallel.h"
#include "grid/cpu/arena.h"
#include "grid/cpu/border_clamp.h"
#include "grid/cpu/items.h"
#include "grid/cpu/plain.h"
#include "grid/cpu/to_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The square root of each, in units and less half of one, where it is not "none": the largest number.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<float, D>> magnitude(D d, hn::Vec<D> squared, double unit, double half) {
  const hn::Rebind<float, D> df;
  const hn::ScalableTag<double> dd;
  const hn::Rebind<std::int32_t, decltype(dd)> di;
  constexpr auto kLanes = static_cast<int>(hn::MaxLanes(d)), kPart = static_cast<int>(hn::MaxLanes(dd));
  alignas(64) std::int32_t square[kLanes];
  alignas(64) float root[kLanes];
  hn::Store(squared, d, reinterpret_cast<std::uint32_t*>(square));
  for (int i = 0; i < kLanes; i += kPart) {
    const auto exact = hn::Mul(hn::Sqrt(hn::PromoteTo(dd, hn::LoadU(di, square + i))), hn::Set(dd, unit));
    hn::StoreU(to_float(dd, hn::Sub(exact, hn::Set(dd, half))), hn::Rebind<float, decltype(dd)>(), root + i);
  }
  const auto none = hn::RebindMask(df, hn::Eq(squared, hn::Set(d, UINT32_MAX)));
  return hn::IfThenElse(none, hn::Set(df, std::numeric_limits<float>::infinity()), hn::Load(df, root));
}

/// From squares to what is inside, in `row`, and to what is outside – of which one is 0 – to signed distances.
void join_row(const std::uint32_t* to_outside, std::int64_t count, double unit, double half, float* row) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<float, decltype(d)> df;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  const auto join = [&](const std::uint32_t* outside, float* at) {
    const auto to_inside = hn::BitCast(d, hn::LoadU(df, at));
    const auto distance = magnitude(d, hn::Or(to_inside, hn::LoadU(d, outside)), unit, half);
    const auto is_inside = hn::RebindMask(df, hn::Eq(to_inside, hn::Zero(d)));
    hn::StoreU(hn::IfThenElse(is_inside, hn::Neg(distance), distance), df, at);
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) join(to_outside + i, row + i);
  if (i == count) return;
  std::uint32_t outside[kLanes] = {};
  float rest[kLanes] = {};
  const auto bytes = static_cast<std::size_t>(count - i) * sizeof(float);
  std::memcpy(outside, to_outside + i, bytes);
  std::memcpy(rest, row + i, bytes);
  join(outside, rest);
  std::memcpy(row + i, rest, bytes);
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {
namespace {

using Rule = Sites::Rule;

Sites inside_of(const Sites& sites) { return sites.rule == Rule::zero ? Sites{Rule::nonzero} : sites; }

Sites outside_of(const Sites& sites) {
  const auto opposite = [](Rule rule) {
    switch (rule) {
      case Rule::greater_equal: return Rule::less;
      case Rule::greater: return Rule::less_equal;
      case Rule::less_equal: return Rule::greater;
      case Rule::less: return Rule::greater_equal;
      case Rule::equal: return Rule::not_equal;
      case Rule::not_equal: return Rule::equal;
      default: return Rule::zero;
    }
  };
  return {opposite(sites.rule), sites.value};
}

/// Whether elements may be neither inside nor outside by the rules: NaN compares with no number.
bool may_be_neither(const Problem& problem) {
  const Rule rule = problem.sites.rule;
  const DType dtype = problem.input.dtype();
  const bool compared =
      rule == Rule::greater_equal || rule == Rule::greater || rule == Rule::less_equal || rule == Rule::less;
  return compared && (dtype == DType::float32 || dtype == DType::float64);
}

/// Squared distances, in elements, to one side.
Problem side_of(const Problem& problem, const Sites& side, const AnyView& squared) {
  Problem one = problem;
  one.sites = side;
  one.signed_distance = false;
  one.unit = 1;
  std::fill_n(one.spacing.begin(), one.rank, 1.0);
  one.outputs = {};
  one.outputs.squared = squared;
  return one;
}

/// The memory of the distances holds squares first.
Problem to_inside(const Problem& problem) {
  const AnyView& out = problem.outputs.distance;
  return side_of(problem, inside_of(problem.sites), AnyView(out.data(), DType::uint32, out.shape(), out.strides()));
}

Problem to_outside(const Problem& problem, Arena& arena) {
  const Shape& shape = problem.outputs.distance.shape();
  auto* const data = reinterpret_cast<std::byte*>(arena.take<std::uint32_t>(element_count(shape)));
  return side_of(problem, outside_of(problem.sites), AnyView(data, DType::uint32, shape));
}

/// @param squared  to what is outside, dense
void join(const Problem& problem, const AnyView& squared, InstructionSet instruction_set, int threads,
          const Execution& execution) {
  const AnyView& out = problem.outputs.distance;
  const std::int64_t count = problem.region_extent(problem.rank - 1), rows = element_count(out.shape()) / count;
  const double half = problem.surface == Surface::faces ? 0.5 * problem.unit : 0;
  const auto join_one = [&](std::int64_t row) {
    std::int64_t offset = 0, left = row;
    for (int k = problem.rank - 2; k >= 0; left /= problem.region_extent(k--))
      offset += left % problem.region_extent(k) * out.strides()[k];
    FATHOM_COMPILED_FOR(instruction_set, join_row)
    (reinterpret_cast<const std::uint32_t*>(squared.data()) + row * count, count, problem.unit, half,
     reinterpret_cast<float*>(out.data()) + offset);
  };
  constexpr std::int64_t kRowsPerJob = 64;
  parallel_jobs(execution, threads, (rows + kRowsPerJob - 1) / kRowsPerJob, [&](int, std::int64_t job) {
    for (std::int64_t r = job * kRowsPerJob; r < std::min(rows, (job + 1) * kRowsPerJob); ++r) join_one(r);
  });
}

}  // namespace

bool plain_signed_serves(const Problem& problem) {
  const DistanceOutputs& out = problem.outputs;
  const bool wanted = out.distance.present() && out.distance.dtype() == DType::float32 && !out.squared.present() &&
                      !out.nearest.present() && !out.coordinates.present();
  const bool simple = problem.signed_distance && problem.isotropic && problem.sites.rule != Rule::labels &&
                      !may_be_neither(problem) && problem.max_distance == std::numeric_limits<double>::infinity();
  return wanted && simple && plain_serves(to_inside(problem));
}

std::size_t plain_signed_scratch_bytes(const Problem& problem, InstructionSet instruction_set, int threads) {
  Arena arena(nullptr);
  const Problem open = without_site_borders(to_outside(problem, arena));
  return arena.used() + plain_scratch_bytes(open, instruction_set, threads);
}

void plain_signed_transform(const Problem& problem, InstructionSet instruction_set, int threads, std::byte* scratch,
                            const Execution& execution) {
  Arena arena(scratch);
  const Problem sides[] = {to_inside(problem), to_outside(problem, arena)};
  const bool border_is_inside = problem.sites.rule != Rule::zero;
  each_item({1, threads}, 2, execution, [&](int, std::int64_t number, const Execution& part) {
    const Problem& side = sides[number];
    plain_transform(without_site_borders(side), instruction_set, threads, scratch + arena.used(), part);
    if (has_site_border(side) && border_is_inside == (number == 0))
      clamp_to_border(side, instruction_set, threads, part);
  });
  join(problem, sides[1].outputs.squared, instruction_set, threads, execution);
}

}  // namespace fathom::grid::cpu
#endif
