// The front of the published kernels of tiles: validates, and chooses the backend.
#include "fathom/published/tiles.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "core/require_device.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"
#include "published/cpu/tiles.h"
#include "published/front.h"
#ifdef FATHOM_HAS_CUDA
#include "published/cuda/tiles.h"
#endif

namespace fathom::published {

namespace {

constexpr std::int64_t kMostPixels = 1 << 20, kMostCopies = 1 << 20;  // along an axis

/// @throws InvalidArgument it is no image of floats, or too large
template <class View>
auto tile_of(const View& view, const char* name) {
  const Shape& shape = view.shape();
  if (view.dtype() != DType::float32)
    throw InvalidArgument(std::string("the ") + name + " is " + std::string(name_of(view.dtype())) +
                          "; it must be float32");
  if (shape.rank() != 2)
    throw InvalidArgument(std::string("the ") + name + " has " + std::to_string(shape.rank()) +
                          " axes; it must have 2");
  if (shape[0] > kMostPixels || shape[1] > kMostPixels)
    throw InvalidArgument(std::string("the ") + name + " has " + to_string(shape) +
                          " pixels; published tiles have up to 1048576 along each axis");
  const std::int64_t pitch = view.strides()[0];
  if (shape[0] > 1 && pitch < shape[1])
    throw InvalidArgument(std::string("rows of the ") + name +
                          " overlap or go backwards; give them one behind the other");
  auto* const data = view.template as<float>().data();
  return Tile<std::remove_pointer_t<decltype(data)>>{data, static_cast<int>(shape[1]), static_cast<int>(shape[0]),
                                                     shape[0] > 1 ? pitch : shape[1]};
}

template <class T>
std::int64_t pixels_of(const Tile<T>& tile) {
  return std::int64_t{tile.width} * tile.height;
}

/// Of a tile in scratch.
template <class T>
std::int64_t bytes_of(const Tile<T>& tile) {
  return (pixels_of(tile) * std::int64_t{sizeof(T)} + 255) / 256 * 256;
}

void check_repeater(const Tile<const float>& repeater) {
  if (pixels_of(repeater) == 0) throw InvalidArgument("the repeater has no pixels; it must have one or more");
}

/// What the call will do, once the scratch that it takes fits into what it may have.
TilesReport planned(const Execution& execution, bool on_device, std::int64_t host_bytes, std::int64_t device_bytes) {
  TilesReport report;
  report.scratch_bytes = static_cast<std::size_t>(on_device ? device_bytes : host_bytes);
  if (execution.scratch_limit && report.scratch_bytes > *execution.scratch_limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*execution.scratch_limit) +
                          " bytes is too small; what works here is " + std::to_string(report.scratch_bytes) + " bytes");
  if (on_device) {
    report.backend = Backend::cuda;
    report.device = describe_device(current_device()).name;
  }
  return report;
}

}  // namespace

TilesReport repeat(const AnyConstView& repeater, RepeatVariant variant, const AnyView& target,
                   const Execution& execution) {
  const Tile<const float> from = tile_of(repeater, "repeater");
  const Tile<float> to = tile_of(target, "target");
  check_repeater(from);
  const bool is_loop_of_host = variant < RepeatVariant::modulo;
  if (is_loop_of_host && execution.backend == Backend::cuda)
    throw InvalidArgument("that variant is a loop of the host; on a device there are modulo, shared and repeater grid");
  const bool on_device = !is_loop_of_host && runs_on_device(execution);
  TilesReport report = planned(execution, on_device, variant == RepeatVariant::shared ? bytes_of(from) : 0,
                               bytes_of(from) + bytes_of(to));
  if (pixels_of(to) == 0) return report;
#ifdef FATHOM_HAS_CUDA
  if (on_device) {
    const std::size_t bytes = static_cast<std::size_t>(pixels_of(from)) * sizeof(float);
    if (variant == RepeatVariant::shared && bytes > cuda::most_shared())
      throw InvalidArgument("the repeater has " + std::to_string(bytes) + " bytes, and the shared memory of a block " +
                            std::to_string(cuda::most_shared()) + "; take modulo or repeater grid");
    report.phases = cuda::repeat(from, variant, to, execution);
    return report;
  }
#endif
  report.phases = cpu::repeat(from, variant, to, execution);
  return report;
}

TilesReport lattice(const AnyConstView& repeater, const std::array<std::int64_t, 2>& u,
                    const std::array<std::int64_t, 2>& v, LatticeVariant variant, const AnyView& target,
                    const Execution& execution) {
  const Tile<const float> from = tile_of(repeater, "repeater");
  const Tile<float> to = tile_of(target, "target");
  check_repeater(from);
  for (const std::int64_t step : {u[0], u[1], v[0], v[1]})
    check_range("a step of u or v", step, -kMostPixels, kMostPixels);
  const Steps steps{{u[1], u[0]}, {v[1], v[0]}};
  if (cross(steps.u, steps.v) == 0) throw InvalidArgument("u and v are parallel; give two directions");
  const StepBounds all = bounds_of(steps, {1 - from.width, 1 - from.height}, {to.width, to.height});
  if (std::max(all.u_max - all.u_min, all.v_max - all.v_min) >= kMostCopies)
    throw InvalidArgument(
        "u and v are too nearly parallel: more than 1048576 copies would be tried along one of them; give the same "
        "lattice by shorter steps");
  const bool on_device = runs_on_device(execution);
  TilesReport report = planned(execution, on_device, 0, bytes_of(from) + bytes_of(to));
  if (pixels_of(to) == 0) return report;
#ifdef FATHOM_HAS_CUDA
  if (on_device) {
    report.phases = cuda::lattice(from, steps, variant, to, execution);
    return report;
  }
#endif
  report.phases = cpu::lattice(from, steps, variant, to, execution);
  return report;
}

TilesReport near(const AnyConstView& source, int most, NearVariant variant, const AnyView& distance,
                 const Execution& execution) {
  const Tile<const float> from = tile_of(source, "source");
  const Tile<float> to = tile_of(distance, "distance");
  if (!(source.shape() == distance.shape()))
    throw InvalidArgument("the distance has the shape " + to_string(distance.shape()) + "; it must have " +
                          to_string(source.shape()));
  check_range("the largest distance", most, 1, 4096);
  const bool on_device = runs_on_device(execution);
  TilesReport report = planned(execution, on_device, bytes_of(from), 3 * bytes_of(from));
  if (pixels_of(to) == 0) return report;
#ifdef FATHOM_HAS_CUDA
  if (on_device) {
    report.phases = cuda::near(from, most, variant, to, execution);
    return report;
  }
#endif
  report.phases = cpu::near(from, most, variant, to, execution);
  return report;
}

}  // namespace fathom::published
