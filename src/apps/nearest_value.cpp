// Values and directions from nearest sites: grid says which element is the nearest, its index says where that is and
// what is there.
#include "fathom/apps/nearest_value.h"

#include <algorithm>
#include <utility>

#include "apps/check.h"
#include "apps/cpu/nearest_value.h"
#include "apps/device_call.h"
#include "apps/direction.hd.h"
#include "apps/nearest_value.h"
#include "apps/rows.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"

#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/nearest_value.h"
#endif

namespace fathom::apps {

namespace {

int space_rank(const AnyConstView& input, const grid::DistanceOptions& options) {
  return input.rank() - options.batch_axes;
}

void check(const AnyConstView& input, const grid::DistanceOptions& options, const NearestValueOutputs& outputs) {
  thread_count(options.execution);
  check_batch(input.shape(), options.batch_axes);
  if (options.sites.rule == grid::Sites::Rule::labels)
    throw InvalidArgument("the sites are another label's elements, whose values mean nothing; choose another rule");
  if (options.signed_distance || !options.region.empty())
    throw InvalidArgument(
        "values of nearest sites have no sign, and are of the whole array; leave out sign and region");
  if (!outputs.value.present() && !outputs.distance.present() && !outputs.direction.present())
    throw InvalidArgument("no output was given; give value, distance or direction");
  check_output(input, outputs.value, "value", {input.dtype()});
  check_output(input, outputs.direction, "direction", {DType::float32});
  if (outputs.direction.present() && space_rank(input, options) != 2)
    throw InvalidArgument("directions are of maps, with 2 axes of space, not " +
                          std::to_string(space_rank(input, options)));
}

struct Scratch {
  std::size_t indices = 0, transform = 0;
};

Scratch scratch_of(const AnyConstView& input, const grid::DistanceOptions& options, const NearestValueOutputs& outputs,
                   bool least) {
  const AnyView nearest(nullptr, index_type(input, options.batch_axes), input.shape());
  const grid::DistanceOutputs wanted = asked(outputs, nearest);
  const auto elements = static_cast<std::size_t>(element_count(input.shape()));
  grid::DistanceOptions own = options;
  own.execution.backend = Backend::cpu;
  own.execution.scratch_limit.reset();
  return {wanted.nearest.present() ? elements * size_of(nearest.dtype()) : 0,
          least ? grid::least_scratch_bytes(input, own, wanted) : grid::scratch_bytes(input, own, wanted)};
}

template <class T>
T along(const std::vector<T>& all, std::size_t axis, T otherwise) {
  return all.empty() ? otherwise : all[all.size() == 1 ? 0 : axis];
}

/// Of the last two axes.
Compass compass_of(const Shape& shape, const grid::DistanceOptions& options) {
  Compass compass{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    compass.extent[axis] = shape[shape.rank() - 2 + static_cast<int>(axis)];
    compass.spacing[axis] = along(options.spacing, axis, 1.0);
    compass.periodic[axis] = along(options.border, axis, grid::Border::open) == grid::Border::periodic;
  }
  return compass;
}

/// The images of a batch one by one.
void each_image(const AnyConstView& input, const AnyConstView& nearest, const NearestValueOutputs& outputs,
                const grid::DistanceOptions& options, int batch_axes, int threads) {
  if (batch_axes > 0) {
    const auto of = [](const AnyView& all, std::int64_t k) { return all.present() ? one_of(all, k) : AnyView(); };
    for (std::int64_t k = 0; k < input.shape()[0]; ++k)
      each_image(one_of(input, k), one_of(nearest, k), {of(outputs.value, k), {}, of(outputs.direction, k)}, options,
                 batch_axes - 1, threads);
    return;
  }
  if (outputs.value.present()) cpu::carry(input, nearest, outputs.value, options.execution, threads);
  if (outputs.direction.present())
    cpu::direct(nearest, compass_of(input.shape(), options), outputs.direction, options.execution, threads);
}

DeviceNearestValueOutputs outputs_there(const DeviceCopies& at) {
  return {at.outputs[0], at.outputs[1], at.outputs[2]};
}

/// Between arrays of the host.
NearestValueReport run_there(const AnyConstView& input, const grid::DistanceOptions& options,
                             const NearestValueOutputs& outputs) {
  const std::size_t bytes = nearest_value_scratch_bytes(input, options, outputs);
  check_scratch(options.execution, bytes);
  const std::string device =
      run_on_device({input}, {outputs.value, outputs.distance, outputs.direction}, options.execution,
                    [&](const DeviceCopies& at, Stream stream) {
                      nearest_values(at.inputs[0], options_on_device(options), outputs_there(at), stream);
                    });
  if (options.execution.progress) options.execution.progress(1);
  return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = device};
}

}  // namespace

std::size_t nearest_value_scratch_bytes(const AnyConstView& input, const grid::DistanceOptions& options,
                                        const NearestValueOutputs& outputs, bool least) {
  check(input, options, outputs);
  if (wants_device(options.execution)) {
    const DeviceCopies shapes = copies_of({input}, {outputs.value, outputs.distance, outputs.direction});
    return shapes.bytes +
           nearest_value_scratch_bytes(shapes.inputs[0], options_on_device(options), outputs_there(shapes));
  }
  const Scratch scratch = scratch_of(input, options, outputs, least);
  return scratch.indices + scratch.transform;
}

NearestValueReport nearest_values(const AnyConstView& input, const grid::DistanceOptions& options,
                                  const NearestValueOutputs& outputs) {
  check(input, options, outputs);
  if (wants_device(options.execution)) return run_there(input, options, outputs);
  const Scratch most = scratch_of(input, options, outputs, false), least = scratch_of(input, options, outputs, true);
  grid::DistanceOptions own = options;
  own.execution.backend = Backend::cpu;
  if (const auto limit = options.execution.scratch_limit) {
    if (least.indices + least.transform > *limit)
      throw InvalidArgument("the scratch limit of " + std::to_string(*limit) + " bytes is too small; " +
                            std::to_string(least.indices + least.transform) + " are needed");
    own.execution.scratch_limit = *limit - least.indices;
  }
  if (element_count(input.shape()) == 0) return {};
  own.execution.progress = part_of(options.execution, 0, 1.1).progress;
  Array nearest(index_type(input, options.batch_axes), most.indices > 0 ? input.shape() : Shape{0});
  const grid::DistanceReport done = grid::distance_transform(input, own, asked(outputs, nearest.view()));
  if (most.indices > 0)
    each_image(input, std::as_const(nearest).view(), outputs, options, options.batch_axes,
               thread_count(options.execution));
  if (options.execution.progress) options.execution.progress(1);
  return {Backend::cpu, done.instruction_set, done.threads, most.indices + done.scratch_bytes, {}};
}

#ifdef FATHOM_HAS_CUDA

namespace {

NearestValueOutputs unchecked(const DeviceNearestValueOutputs& outputs) {
  return {apps::unchecked(outputs.value), apps::unchecked(outputs.distance), apps::unchecked(outputs.direction)};
}

}  // namespace

std::size_t nearest_value_scratch_bytes(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
                                        const DeviceNearestValueOutputs& outputs) {
  check(apps::unchecked(input), options, unchecked(outputs));
  return cuda::nearest_value_scratch_bytes(input, options_on_device(options), outputs);
}

NearestValueReport nearest_values(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
                                  const DeviceNearestValueOutputs& outputs, Stream stream) {
  check_device_execution(options.execution);
  check(apps::unchecked(input), options, unchecked(outputs));
  if (element_count(input.shape()) == 0) return {.backend = Backend::cuda};
  const std::size_t bytes = nearest_value_scratch_bytes(input, options, outputs);
  check_scratch(options.execution, bytes);
  const Compass compass = outputs.direction.present() ? compass_of(input.shape(), options) : Compass();
  const std::string device = cuda::nearest_values(input, options_on_device(options), outputs, compass, stream);
  return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = device};
}

#else

std::size_t nearest_value_scratch_bytes(const AnyConstDeviceView&, const grid::DistanceOptions&,
                                        const DeviceNearestValueOutputs&) {
  refuse_device_views();
}

NearestValueReport nearest_values(const AnyConstDeviceView&, const grid::DistanceOptions&,
                                  const DeviceNearestValueOutputs&, Stream) {
  refuse_device_views();
}

#endif

}  // namespace fathom::apps
