#include "grid/cpu/plain_frame.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/root.hd.h"
#include "grid/cpu/plain_bits.h"
#include "grid/cpu/plain_tuning.h"

namespace fathom::grid::cpu::plain {
namespace {

struct Axis {
  std::int64_t extent = 1;
  Range region{0, 1};
  std::int64_t multiple = 1, index_step = 0;
  std::int64_t input_stride = 0, distance_stride = 0, squared_stride = 0, nearest_stride = 0,
               coordinates_stride = 0;  // in bytes
};

/// Units of a step along the fast axis where spacings are real: so finely are bounds rounded along the slow axis.
constexpr int kRealSteps = 16;

double spacing_ratio(const Problem& problem, int axis) {
  return problem.spacing[static_cast<std::size_t>(axis)] / problem.spacing[static_cast<std::size_t>(problem.rank - 1)];
}

/// Units of a step, rounded up.
std::int64_t multiple_of(const Problem& problem, int axis) {
  if (problem.integral) return problem.multiple[static_cast<std::size_t>(axis)];
  return static_cast<std::int64_t>(std::ceil(kRealSteps * spacing_ratio(problem, axis)));
}

std::int64_t byte_stride(const AnyView& view, int axis) {
  return view.present() ? view.strides()[axis] * static_cast<std::int64_t>(size_of(view.dtype())) : 0;
}

/// Axes slow, middle, fast of a problem of rank 2 or 3.
std::array<Axis, 3> axes_of(const Problem& problem) {
  std::array<Axis, 3> axes;
  const auto element = static_cast<std::int64_t>(size_of(problem.input.dtype()));
  for (int k = 0; k < problem.rank; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    axes[k == problem.rank - 1 ? 2 : axis] = {problem.extent(k),
                                              problem.region[axis],
                                              multiple_of(problem, k),
                                              problem.index_step[axis],
                                              problem.input.strides()[k] * element,
                                              byte_stride(problem.outputs.distance, k),
                                              byte_stride(problem.outputs.squared, k),
                                              byte_stride(problem.outputs.nearest, k),
                                              byte_stride(problem.outputs.coordinates, k + 1)};
  }
  return axes;
}

/// Largest squared distance in [0, top] that max_distance keeps; 0 always is.
std::uint32_t kept_squared(double max_distance, double unit, std::uint32_t top) {
  const auto kept = [&](std::uint32_t d2) { return exact_sqrt(d2) * unit <= max_distance; };
  if (kept(top)) return top;
  std::uint32_t low = 0, high = top;  // low is kept, high is not
  while (high - low > 1) {
    const std::uint32_t mid = low + (high - low) / 2;
    (kept(mid) ? low : high) = mid;
  }
  return low;
}

Target target_of(const AnyView& view, const Axis& slow, const Axis& middle, std::int64_t Axis::*stride) {
  if (!view.present()) return {};
  return {view.data(), view.dtype(), slow.*stride, middle.*stride};
}

SiteTargets site_targets(const Problem& problem, const std::array<Axis, 3>& axes) {
  SiteTargets targets;
  const DistanceOutputs& out = problem.outputs;
  targets.nearest = target_of(out.nearest, axes[0], axes[1], &Axis::nearest_stride);
  std::int64_t last = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    targets.step[k] = axes[k].index_step;
    targets.first[k] = axes[k].region.begin;
    last += (axes[k].extent - 1) * axes[k].index_step;
  }
  targets.fits = last <= INT32_MAX;
  if (!out.coordinates.present()) return targets;
  for (int k = 0; k < problem.caller_rank; ++k) {
    Target component = target_of(out.coordinates, axes[0], axes[1], &Axis::coordinates_stride);
    if (component.data != nullptr) component.data += k * byte_stride(out.coordinates, 0);
    const auto begin = problem.caller_axis.begin();
    const auto axis = std::find(begin, begin + problem.rank, k) - begin;
    if (axis == problem.rank) targets.zeros[targets.zero_count++] = component;
    else targets.coordinates[axis == problem.rank - 1 ? 2 : axis] = component;
  }
  return targets;
}

/// Smallest n with 2^n ≥ count.
int bits_for(std::int64_t count) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

/// A layout with so many bits for offsets along the slow and the middle axis.
Layout layout_of(int slow_bits, int middle_bits) {
  Layout layout;
  layout.middle = 1;
  layout.slow = layout.middle + middle_bits;
  layout.square = layout.slow + slow_bits;
  return layout;
}

/// The layout in which any site of the problem has a key.
Layout full_layout(const Problem& problem) {
  const auto bits = [](std::int64_t extent) { return bits_for(2 * extent); };
  return layout_of(bits(problem.extent(0)), problem.rank == 3 ? bits(problem.extent(1)) : 0);
}

/// The largest reach for which squares stay at or below `most` and offsets within their bits.
int reach_within(const Frame& frame, int offset_bits, std::int64_t most) {
  const auto square = static_cast<int>(std::sqrt(static_cast<double>(most)));
  const int offset = (1 << (offset_bits - 1)) - 1;
  const int multiple =
      frame.box.middle == 1 ? frame.slow_multiple : std::min(frame.slow_multiple, frame.middle_multiple);
  return std::min(square, offset * multiple);
}

void set_layouts(const Problem& problem, Frame& frame) {
  frame.tiny.reach = 15;     // squares fit 8 bits with saturation
  frame.narrow.reach = 254;  // the same in 16
  frame.wide.reach = frame.reach;
  if (!frame.keys) return;
  const bool volume = problem.rank == 3;
  const int tiny_bits = volume ? 4 : 6, narrow_bits = volume ? 8 : 10;
  frame.tiny = layout_of(tiny_bits, volume ? tiny_bits : 0);
  frame.tiny.reach = reach_within(frame, tiny_bits, (0xFFFF >> frame.tiny.square) - 1);
  frame.narrow = layout_of(narrow_bits, volume ? narrow_bits : 0);
  frame.narrow.reach = reach_within(frame, narrow_bits, ((1 << 30) >> frame.narrow.square) - 2);  // sums have room
  frame.wide = full_layout(problem);
  frame.wide.reach = frame.reach;
}

/// Above any squared distance that a problem may have, or a search ask for, in the caller's units.
double squared_bound(const Problem& problem) {
  double bound = 0;
  for (int k = 0; k < problem.rank; ++k)
    bound += std::pow(
        static_cast<double>(problem.extent(k) + kStepsSlack) * problem.spacing[static_cast<std::size_t>(k)], 2);
  return bound;
}

/// Axes of real values.
void set_axes(const Problem& problem, Frame& frame) {
  frame.real = !problem.integral;
  if (!frame.real) return;
  frame.unit = problem.spacing[1] / kRealSteps;
  const double tolerance = squared_bound(problem) * 0x1p-50;  // 4 units in the last place and more
  const auto axis = [&](double spacing) { return RealAxis{spacing * spacing, frame.unit, tolerance}; };
  frame.slow_axis = axis(problem.spacing[0]);
  frame.fast_axis = axis(problem.spacing[1]);
  frame.narrow.reach = INT32_MAX;
}

/// Whether the processor gains by stores past the caches.
bool gains_by_streaming() {
#if defined(__x86_64__)
  return !(__builtin_cpu_is("skylake-avx512") || __builtin_cpu_is("cascadelake") || __builtin_cpu_is("cooperlake"));
#else
  return true;
#endif
}

bool worth_streaming(const Frame& frame) {
  const auto length = [](const Range& range) { return static_cast<std::size_t>(range.end - range.begin); };
  const Target& out = frame.streamed();
  const auto place = reinterpret_cast<std::uintptr_t>(out.data) | static_cast<std::uintptr_t>(out.slow_stride) |
                     static_cast<std::uintptr_t>(out.middle_stride);
  return length(frame.slow) * length(frame.middle) * length(frame.fast) * sizeof(float) > kStreamBytes &&
         place % sizeof(float) == 0 && gains_by_streaming();
}

}  // namespace

int root_up(std::int64_t d2) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(d2)));
  while (root * root < d2) ++root;
  return static_cast<int>(root);
}

int reach_from(const Frame& frame, std::uint32_t most) {
  if (frame.real) return static_cast<int>(std::min<std::int64_t>(frame.reach, most));
  return most > frame.limit ? frame.reach : std::min(frame.reach, root_up(most));
}

int first_reach(const Frame& frame, int farthest, int width) {
  if (farthest >= kNoSite16) return frame.reach;
  return std::min(frame.reach, farthest * frame.slow_multiple + (width - 1) * frame.fast_multiple);
}

double squared_diagonal(const Problem& problem) {
  double diagonal = 0;
  for (int k = 0; k < problem.rank; ++k)
    diagonal += std::pow(static_cast<double>(problem.extent(k) - 1) * static_cast<double>(multiple_of(problem, k)), 2);
  return diagonal;
}

bool reals_fit(const Problem& problem) {
  const double fast = problem.spacing[static_cast<std::size_t>(problem.rank - 1)], ratio = spacing_ratio(problem, 0);
  return problem.rank == 2 && fast > 0x1p-400 && ratio > 0x1p-8 && ratio < 0x1p8 &&
         squared_bound(problem) < kNone<double> / 4;
}

bool keys_fit(const Problem& problem) {
  return std::ldexp(squared_diagonal(problem) + 2, full_layout(problem).square) <= kNone<double> / 4;
}

Frame make_frame(const Problem& problem) {
  std::array<Axis, 3> axes = axes_of(problem);
  const double farthest = squared_diagonal(problem);

  Frame frame;
  if (problem.integral) {
    const auto diagonal = static_cast<std::uint32_t>(farthest);
    frame.limit = kept_squared(problem.max_distance, problem.unit, diagonal);
    frame.limited = frame.limit < diagonal;
  }
  frame.reach = root_up(problem.integral ? frame.limit : static_cast<std::int64_t>(farthest) + 1);
  frame.unit = problem.unit;
  frame.scaled = !problem.isotropic;
  frame.slow_multiple = static_cast<int>(axes[0].multiple);
  frame.middle_multiple = static_cast<int>(axes[1].multiple);
  frame.fast_multiple = static_cast<int>(axes[2].multiple);
  frame.keys = wants_site(problem);
  frame.site = site_targets(problem, axes);

  // Sites farther than the reach from the region cannot matter: they are cut off.
  frame.input = problem.input.data();
  for (Axis& axis : axes) {
    const std::int64_t steps = (frame.reach + axis.multiple - 1) / axis.multiple;
    const std::int64_t begin = std::max<std::int64_t>(0, axis.region.begin - steps);
    const std::int64_t end = std::min<std::int64_t>(axis.extent, axis.region.end + steps);
    if (frame.input != nullptr) frame.input += begin * axis.input_stride;  // null where scratch is only counted
    axis.extent = end - begin;
    axis.region = {axis.region.begin - begin, axis.region.end - begin};
  }
  frame.box = {axes[0].extent, axes[1].extent, axes[2].extent};
  frame.slow = axes[0].region, frame.middle = axes[1].region, frame.fast = axes[2].region;
  frame.dtype = problem.input.dtype();
  frame.slow_stride = axes[0].input_stride, frame.middle_stride = axes[1].input_stride;
  frame.sites = problem.sites;
  frame.distance = target_of(problem.outputs.distance, axes[0], axes[1], &Axis::distance_stride);
  frame.squared = target_of(problem.outputs.squared, axes[0], axes[1], &Axis::squared_stride);
  set_layouts(problem, frame);
  set_axes(problem, frame);
  frame.stream = worth_streaming(frame);
  return frame;
}

}  // namespace fathom::grid::cpu::plain
