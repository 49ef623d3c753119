// The front of the integer medial axis: validates, finds nearest sites, hands them over.
#include "fathom/apps/medial_axis.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "apps/check.h"
#include "apps/cpu/axis.h"
#include "apps/cpu/axis_balls.h"
#include "apps/cpu/balls.h"
#include "apps/cpu/nearest_indices.h"
#include "apps/device_call.h"
#include "apps/images.h"
#include "core/text.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"

#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/medial_axis.h"
#endif

namespace fathom::apps {

namespace {

struct Plan {
  Images images;
  MedialAxisReport report;
};

Plan plan_images(const AnyConstView& input, int batch_axes, const std::vector<double>& spacing,
                 const Execution& execution) {
  Plan plan{.images = Images(input.shape(), batch_axes, spacing), .report = {}};
  plan.report.threads = thread_count(execution);
  plan.report.instruction_set = resolve(execution.instruction_set);
  return plan;
}

/// What an input is compared with that has the shape of another, and may be its memory.
AnyConstView nothing_of(const AnyConstView& view) { return {nullptr, view.dtype(), view.shape()}; }

/// Linear indices in an image.
void check_index_type(const AnyConstView& input, const AnyConstView& view, const char* name, const Images& images) {
  check_output(input, view, name, {DType::int32, DType::int64});
  if (view.present() && view.dtype() == DType::int32 && index_of(images) == DType::int64)
    throw InvalidArgument(std::string("'") + name + "' is int32, which does not hold the indices of images of " +
                          std::to_string(images.lattice.size()) + " elements; it must be int64");
}

void check_gamma(const MedialAxisOptions& options) {
  if (!(options.gamma >= 0) || !std::isfinite(options.gamma))
    throw InvalidArgument("gamma is " + text(options.gamma) + "; give a finite number of at least 0");
}

void check_axis(const AnyConstView& input, const MedialAxisOutputs& outputs, const Images& images) {
  check_output(input, outputs.axis, "axis", {DType::boolean, DType::uint8});
  check_index_type(input, outputs.witness, "witness", images);
}

grid::DistanceOptions distance_options(const Images& images, const Execution& execution) {
  grid::DistanceOptions options;
  options.spacing.assign(images.lattice.spacing.end() - images.lattice.rank, images.lattice.spacing.end());
  options.execution = execution;
  return options;
}

bool wants_axis(const MedialAxisOutputs& outputs) { return outputs.axis.present() || outputs.witness.present(); }

/// How arrays of the host go to a device.
std::vector<AnyView> listed(const MedialAxisOutputs& outputs) {
  return {outputs.axis, outputs.distance, outputs.nearest, outputs.witness};
}

DeviceMedialAxisOutputs outputs_of(const DeviceCopies& copies) {
  return {copies.outputs[0], copies.outputs[1], copies.outputs[2], copies.outputs[3]};
}

std::size_t bytes_of(const Plan& plan, const AnyConstView& input, const MedialAxisOptions& options,
                     const MedialAxisOutputs& outputs) {
  const Images& images = plan.images;
  if (wants_device(options.execution)) {
    const DeviceCopies copies = copies_of({input}, listed(outputs));
    return copies.bytes + scratch_bytes(copies.inputs[0], options_on_device(options), outputs_of(copies));
  }
  if (element_count(images.shape) == 0) return 0;
  const AnyConstView image = images.view(input, 0);
  grid::DistanceOutputs wanted;
  wanted.nearest = AnyView(nullptr, index_of(images), image.shape());
  if (outputs.distance.present()) wanted.distance = AnyView(nullptr, outputs.distance.dtype(), image.shape());
  const std::size_t own =
      outputs.nearest.present() ? 0 : size_of(index_of(images)) * static_cast<std::size_t>(images.lattice.size());
  const grid::DistanceOptions transform = distance_options(images, host_part_of(options.execution, 0, 1));
  return own + std::max(cpu::axis_bytes(images.lattice, plan.report.threads),
                        grid::scratch_bytes(image, transform, wanted));
}

/// @throws InvalidArgument as medial_axis(); memory is not looked at
Plan plan_axis(const AnyConstView& input, const MedialAxisOptions& options, const MedialAxisOutputs& outputs) {
  Plan plan = plan_images(input, options.batch_axes, options.spacing, options.execution);
  check_gamma(options);
  check_axis(input, outputs, plan.images);
  check_output(input, outputs.distance, "distance", {DType::float32, DType::float64});
  check_index_type(input, outputs.nearest, "nearest", plan.images);
  if (!wants_axis(outputs) && !outputs.distance.present() && !outputs.nearest.present())
    throw InvalidArgument("no output was given; give axis, distance, nearest or witness");
  return plan;
}

/// The same of one from nearest sites.
Plan plan_of_nearest(const AnyConstView& nearest, const MedialAxisOptions& options, const MedialAxisOutputs& outputs) {
  Plan plan = plan_images(nearest, options.batch_axes, options.spacing, options.execution);
  check_gamma(options);
  check_index_type(nothing_of(nearest), nearest, "nearest", plan.images);
  check_axis(nearest, outputs, plan.images);
  if (!wants_axis(outputs) || outputs.distance.present() || outputs.nearest.present())
    throw InvalidArgument("from nearest sites there are the outputs axis and witness; give one of them or both");
  return plan;
}

/// The same of balls.
Plan plan_balls(const AnyConstView& axis, const AnyConstView& nearest, const AxisBallsOptions& options,
                const AnyView& out) {
  Plan plan = plan_images(axis, options.batch_axes, options.spacing, options.execution);
  check_index_type(nothing_of(axis), nearest, "nearest", plan.images);
  if (!out.present()) throw InvalidArgument("no output was given");
  check_output(axis, out, "out", {DType::boolean, DType::uint8});
  check_output(nearest, out, "out", {DType::boolean, DType::uint8});
  return plan;
}

template <class View>
void fill_image(const Images& images, const View& view, std::int64_t item, int byte) {
  if (!view.present()) return;
  const ImageRows<std::byte> rows = images.rows(view, item);
  for (std::int64_t z = 0; z < images.lattice.extent[0]; ++z)
    for (std::int64_t y = 0; y < images.lattice.extent[1]; ++y)
      std::fill_n(rows.data + (z * rows.slice + y * rows.row) * static_cast<std::int64_t>(rows.size),
                  static_cast<std::size_t>(images.lattice.extent[2]) * rows.size, static_cast<std::byte>(byte));
}

/// What a device does not look at: indices that the caller gives, which must lie in the image.
void check_indices(const Images& images, const AnyConstView& nearest) {
  for (std::int64_t item = 0; item < (element_count(images.shape) > 0 ? images.count() : 0); ++item) {
    const ImageRows<const std::byte> rows = images.rows(nearest, item);
    if (nearest.dtype() == DType::int32)
      cpu::check_indices<std::int32_t>(rows, images.lattice, -1, images.lattice.size() - 1);
    else cpu::check_indices<std::int64_t>(rows, images.lattice, -1, images.lattice.size() - 1);
  }
}

/// @param nearest  of the item
void find_axis(const Plan& plan, const AnyConstView& nearest, const MedialAxisOptions& options,
               const MedialAxisOutputs& outputs, std::int64_t item, const Execution& execution) {
  const Images& images = plan.images;
  Images alone = images;
  alone.batch = {};
  cpu::AxisProblem problem{.lattice = images.lattice,
                           .pruning = options.pruning,
                           .gamma = options.gamma,
                           .ties = options.ties,
                           .nearest = alone.rows(nearest, 0),
                           .axis = {},
                           .witness = {},
                           .instruction_set = plan.report.instruction_set,
                           .threads = plan.report.threads};
  if (outputs.axis.present()) problem.axis = images.rows(outputs.axis, item);
  if (outputs.witness.present()) problem.witness = images.rows(outputs.witness, item);
  const bool has_site = nearest.dtype() == DType::int32 ? nearest.as<std::int32_t>().data()[0] >= 0
                                                        : nearest.as<std::int64_t>().data()[0] >= 0;
  if (has_site) return cpu::find_axis(problem, execution);
  if (nearest.dtype() == DType::int32) cpu::check_indices<std::int32_t>(problem.nearest, images.lattice, -1, -1);
  else cpu::check_indices<std::int64_t>(problem.nearest, images.lattice, -1, -1);
  fill_image(images, outputs.axis, item, 0);
  fill_image(images, outputs.witness, item, 0xFF);
}

/// Between arrays of the host.
/// @param bytes  of the device's memory
MedialAxisReport run_there(const std::vector<AnyConstView>& inputs, const std::vector<AnyView>& outputs,
                           const Execution& execution, std::size_t bytes,
                           const std::function<void(const DeviceCopies&, Stream)>& work) {
  const std::string device = run_on_device(inputs, outputs, execution, work);
  if (execution.progress) execution.progress(1);
  return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = device};
}

std::size_t of_nearest_bytes(const Plan& plan, const AnyConstView& nearest, const Execution& execution,
                             const MedialAxisOutputs& outputs) {
  if (wants_device(execution)) return copies_of({nearest}, listed(outputs)).bytes;
  return cpu::axis_bytes(plan.images.lattice, plan.report.threads);
}

std::size_t balls_bytes(const Plan& plan, const AnyConstView& axis, const AnyConstView& nearest,
                        const AxisBallsOptions& options, const AnyView& out) {
  if (wants_device(options.execution)) {
    const DeviceCopies copies = copies_of({axis, nearest}, {out});
    return copies.bytes +
           scratch_bytes(copies.inputs[0], copies.inputs[1], options_on_device(options), copies.outputs[0]);
  }
  return element_count(axis.shape()) == 0 ? 0 : cpu::axis_balls_bytes(plan.images.lattice, plan.report.threads);
}

}  // namespace

std::size_t scratch_bytes(const AnyConstView& input, const MedialAxisOptions& options,
                          const MedialAxisOutputs& outputs) {
  return bytes_of(plan_axis(input, options, outputs), input, options, outputs);
}

MedialAxisReport medial_axis(const AnyConstView& input, const MedialAxisOptions& options,
                             const MedialAxisOutputs& outputs) {
  Plan plan = plan_axis(input, options, outputs);
  plan.report.scratch_bytes = bytes_of(plan, input, options, outputs);
  check_scratch(options.execution, plan.report.scratch_bytes);
  if (wants_device(options.execution))
    return run_there({input}, listed(outputs), options.execution, plan.report.scratch_bytes,
                     [&](const DeviceCopies& at, Stream stream) {
                       medial_axis(at.inputs[0], options_on_device(options), outputs_of(at), stream);
                     });
  const Images& images = plan.images;
  Array own;
  if (!outputs.nearest.present() && element_count(images.shape) > 0)
    own = Array(index_of(images), images.view(input, 0).shape());
  each_item(images, options.execution, [&](std::int64_t item, const Execution& part) {
    grid::DistanceOutputs wanted;
    wanted.nearest = outputs.nearest.present() ? images.view(outputs.nearest, item) : own.view();
    if (outputs.distance.present()) wanted.distance = images.view(outputs.distance, item);
    grid::distance_transform(images.view(input, item), distance_options(images, part_of(part, 0, 1.25)), wanted);
    if (wants_axis(outputs)) find_axis(plan, wanted.nearest, options, outputs, item, part_of(part, 4, 5));
  });
  if (options.execution.progress) options.execution.progress(1);
  return plan.report;
}

MedialAxisReport medial_axis_of_nearest(const AnyConstView& nearest, const MedialAxisOptions& options,
                                        const MedialAxisOutputs& outputs) {
  Plan plan = plan_of_nearest(nearest, options, outputs);
  plan.report.scratch_bytes = of_nearest_bytes(plan, nearest, options.execution, outputs);
  check_scratch(options.execution, plan.report.scratch_bytes);
  if (wants_device(options.execution)) {
    check_indices(plan.images, nearest);
    return run_there({nearest}, listed(outputs), options.execution, plan.report.scratch_bytes,
                     [&](const DeviceCopies& at, Stream stream) {
                       medial_axis_of_nearest(at.inputs[0], options_on_device(options), outputs_of(at), stream);
                     });
  }
  each_item(plan.images, options.execution, [&](std::int64_t item, const Execution& part) {
    find_axis(plan, plan.images.view(nearest, item), options, outputs, item, part);
  });
  if (options.execution.progress) options.execution.progress(1);
  return plan.report;
}

std::size_t scratch_bytes(const AnyConstView& axis, const AnyConstView& nearest, const AxisBallsOptions& options,
                          const AnyView& out) {
  return balls_bytes(plan_balls(axis, nearest, options, out), axis, nearest, options, out);
}

MedialAxisReport axis_balls(const AnyConstView& axis, const AnyConstView& nearest, const AxisBallsOptions& options,
                            const AnyView& out) {
  Plan plan = plan_balls(axis, nearest, options, out);
  plan.report.scratch_bytes = balls_bytes(plan, axis, nearest, options, out);
  check_scratch(options.execution, plan.report.scratch_bytes);
  if (wants_device(options.execution)) {
    check_indices(plan.images, nearest);
    return run_there({axis, nearest}, {out}, options.execution, plan.report.scratch_bytes,
                     [&](const DeviceCopies& at, Stream stream) {
                       axis_balls(at.inputs[0], at.inputs[1], options_on_device(options), at.outputs[0], stream);
                     });
  }
  const Images& images = plan.images;
  each_item(images, options.execution, [&](std::int64_t item, const Execution& part) {
    const Array chosen = grid::mark_sites(images.view(axis, item), {grid::Sites::Rule::nonzero});
    cpu::draw_axis_balls({.lattice = images.lattice,
                          .chosen = chosen.as<std::uint8_t>().data(),
                          .nearest = images.rows(nearest, item),
                          .out = images.rows(out, item),
                          .instruction_set = plan.report.instruction_set,
                          .threads = plan.report.threads},
                         part);
  });
  if (options.execution.progress) options.execution.progress(1);
  return plan.report;
}

#ifdef FATHOM_HAS_CUDA

namespace {

MedialAxisOutputs unchecked(const DeviceMedialAxisOutputs& outputs) {
  return {apps::unchecked(outputs.axis), apps::unchecked(outputs.distance), apps::unchecked(outputs.nearest),
          apps::unchecked(outputs.witness)};
}

/// Checks the limit, and calls work(), which says what the device is called.
template <class Work>
MedialAxisReport run_here(const Images& images, const Execution& execution, std::size_t bytes, const Work& work) {
  check_scratch(execution, bytes);
  if (element_count(images.shape) == 0) return {.backend = Backend::cuda};
  return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = work()};
}

}  // namespace

std::size_t scratch_bytes(const AnyConstDeviceView& input, const MedialAxisOptions& options,
                          const DeviceMedialAxisOutputs& outputs) {
  const Plan plan = plan_axis(apps::unchecked(input), options, unchecked(outputs));
  return element_count(input.shape()) == 0 ? 0 : cuda::medial_axis_bytes(input, plan.images, outputs);
}

MedialAxisReport medial_axis(const AnyConstDeviceView& input, const MedialAxisOptions& options,
                             const DeviceMedialAxisOutputs& outputs, Stream stream) {
  check_device_execution(options.execution);
  const Images images = plan_axis(apps::unchecked(input), options, unchecked(outputs)).images;
  return run_here(images, options.execution, scratch_bytes(input, options, outputs),
                  [&] { return cuda::medial_axis(input, images, options, outputs, stream); });
}

MedialAxisReport medial_axis_of_nearest(const AnyConstDeviceView& nearest, const MedialAxisOptions& options,
                                        const DeviceMedialAxisOutputs& outputs, Stream stream) {
  check_device_execution(options.execution);
  const Images images = plan_of_nearest(apps::unchecked(nearest), options, unchecked(outputs)).images;
  return run_here(images, options.execution, 0,
                  [&] { return cuda::medial_axis_of_nearest(nearest, images, options, outputs, stream); });
}

std::size_t scratch_bytes(const AnyConstDeviceView& axis, const AnyConstDeviceView& nearest,
                          const AxisBallsOptions& options, const AnyDeviceView& out) {
  const Plan plan = plan_balls(apps::unchecked(axis), apps::unchecked(nearest), options, apps::unchecked(out));
  return element_count(axis.shape()) == 0 ? 0 : cuda::axis_balls_bytes(plan.images);
}

MedialAxisReport axis_balls(const AnyConstDeviceView& axis, const AnyConstDeviceView& nearest,
                            const AxisBallsOptions& options, const AnyDeviceView& out, Stream stream) {
  check_device_execution(options.execution);
  const Images images =
      plan_balls(apps::unchecked(axis), apps::unchecked(nearest), options, apps::unchecked(out)).images;
  return run_here(images, options.execution, scratch_bytes(axis, nearest, options, out),
                  [&] { return cuda::axis_balls(axis, nearest, images, out, stream); });
}

#else

std::size_t scratch_bytes(const AnyConstDeviceView&, const MedialAxisOptions&, const DeviceMedialAxisOutputs&) {
  refuse_device_views();
}
MedialAxisReport medial_axis(const AnyConstDeviceView&, const MedialAxisOptions&, const DeviceMedialAxisOutputs&,
                             Stream) {
  refuse_device_views();
}
MedialAxisReport medial_axis_of_nearest(const AnyConstDeviceView&, const MedialAxisOptions&,
                                        const DeviceMedialAxisOutputs&, Stream) {
  refuse_device_views();
}
std::size_t scratch_bytes(const AnyConstDeviceView&, const AnyConstDeviceView&, const AxisBallsOptions&,
                          const AnyDeviceView&) {
  refuse_device_views();
}
MedialAxisReport axis_balls(const AnyConstDeviceView&, const AnyConstDeviceView&, const AxisBallsOptions&,
                            const AnyDeviceView&, Stream) {
  refuse_device_views();
}

#endif

}  // namespace fathom::apps
