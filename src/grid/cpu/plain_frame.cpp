#include "grid/cpu/plain_frame.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/root.hd.h"
#include "grid/cpu/plain_tuning.h"

namespace fathom::grid::cpu::plain {
namespace {

struct Axis {
  std::int64_t extent = 1;
  Range region{0, 1};
  std::int64_t input_stride = 0, distance_stride = 0, squared_stride = 0;  // in bytes
};

std::int64_t byte_stride(const AnyView& view, int axis) {
  return view.present() ? view.strides()[axis] * static_cast<std::int64_t>(size_of(view.dtype())) : 0;
}

/// Axes slow, middle, fast of a problem of rank 2 or 3.
std::array<Axis, 3> axes_of(const Problem& problem) {
  std::array<Axis, 3> axes;
  const auto element = static_cast<std::int64_t>(size_of(problem.input.dtype()));
  for (int k = 0; k < problem.rank; ++k) {
    const auto axis = static_cast<std::size_t>(k);
    axes[k == problem.rank - 1 ? 2 : axis] = {
        problem.extent(k), problem.region[axis], problem.input.strides()[k] * element,
        byte_stride(problem.outputs.distance, k), byte_stride(problem.outputs.squared, k)};
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
  const Target& out = frame.distance;
  const auto place = reinterpret_cast<std::uintptr_t>(out.data) | static_cast<std::uintptr_t>(out.slow_stride) |
                     static_cast<std::uintptr_t>(out.middle_stride);
  return length(frame.slow) * length(frame.middle) * length(frame.fast) * sizeof(float) > kStreamBytes &&
         place % sizeof(float) == 0 && gains_by_streaming();
}

}  // namespace

int root_up(std::uint32_t d2) {
  auto root = static_cast<int>(std::sqrt(static_cast<double>(d2)));
  while (static_cast<std::int64_t>(root) * root < d2) ++root;
  return root;
}

int reach_from(const Frame& frame, std::uint32_t most) {
  return most > frame.limit ? frame.reach : std::min(frame.reach, root_up(most));
}

int first_reach(const Frame& frame, int farthest, int width) {
  return farthest >= kNoSite16 ? frame.reach : std::min(frame.reach, farthest + width - 1);
}

Frame make_frame(const Problem& problem) {
  std::array<Axis, 3> axes = axes_of(problem);
  std::uint32_t diagonal = 0;
  for (const Axis& axis : axes) diagonal += static_cast<std::uint32_t>((axis.extent - 1) * (axis.extent - 1));

  Frame frame;
  frame.limit = kept_squared(problem.max_distance, problem.unit, diagonal);
  frame.limited = frame.limit < diagonal;
  frame.reach = root_up(frame.limit);
  frame.unit = problem.unit;

  // Sites farther than the reach from the region cannot matter: they are cut off.
  frame.input = problem.input.data();
  for (Axis& axis : axes) {
    const std::int64_t begin = std::max<std::int64_t>(0, axis.region.begin - frame.reach);
    const std::int64_t end = std::min<std::int64_t>(axis.extent, axis.region.end + frame.reach);
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
  frame.stream = worth_streaming(frame);
  return frame;
}

}  // namespace fathom::grid::cpu::plain
