// The front of the integer medial axis: validates, finds nearest sites, hands them over.
#include "fathom/apps/medial_axis.h"

#include <cmath>
#include <limits>
#include <string>

#include "apps/cpu/axis.h"
#include "apps/cpu/axis_balls.h"
#include "apps/cpu/balls.h"
#include "apps/cpu/nearest_indices.h"
#include "apps/check.h"
#include "apps/images.h"
#include "core/text.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

namespace {

constexpr const char* kName = "the medial axis";

struct Plan {
  Images images;
  MedialAxisReport report;
};

Plan plan_images(const AnyConstView& input, int batch_axes, const std::vector<double>& spacing,
                 const Execution& execution) {
  Plan plan{.images = Images(input.shape(), batch_axes, spacing), .report = {}};
  plan.report.threads = host_threads(execution, kName);
  plan.report.instruction_set = resolve(execution.instruction_set);
  return plan;
}

void check_nearest(const AnyConstView& nearest, const Shape& shape) {
  check_output(nearest, "nearest", {DType::int32, DType::int64}, shape);
  if (nearest.dtype() == DType::int32 && element_count(shape) > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("'nearest' is int32, which does not hold the indices of the shape " + to_string(shape) +
                          "; it must be int64");
}

void check_gamma(const MedialAxisOptions& options) {
  if (!(options.gamma >= 0) || !std::isfinite(options.gamma))
    throw InvalidArgument("gamma is " + text(options.gamma) + "; give a finite number of at least 0");
}

void check_axis(const MedialAxisOutputs& outputs, const Shape& shape) {
  check_output(outputs.axis, "axis", {DType::boolean, DType::uint8}, shape);
  check_output(outputs.witness, "witness", {DType::int32, DType::int64}, shape);
}

/// The nearest sites' own array, where the caller wants none.
DType index_of(const Images& images) {
  return images.lattice.size() <= std::numeric_limits<std::int32_t>::max() ? DType::int32 : DType::int64;
}

grid::DistanceOptions distance_options(const Images& images, const Execution& execution) {
  grid::DistanceOptions options;
  options.spacing.assign(images.lattice.spacing.end() - images.lattice.rank, images.lattice.spacing.end());
  options.execution = execution;
  return options;
}

bool wants_axis(const MedialAxisOutputs& outputs) { return outputs.axis.present() || outputs.witness.present(); }

std::size_t bytes_of(const Plan& plan, const AnyConstView& input, const MedialAxisOptions& options,
                     const MedialAxisOutputs& outputs) {
  const Images& images = plan.images;
  if (element_count(images.shape) == 0) return 0;
  const AnyConstView image = images.view(input, 0);
  grid::DistanceOutputs wanted;
  wanted.nearest = AnyView(nullptr, index_of(images), image.shape());
  if (outputs.distance.present()) wanted.distance = AnyView(nullptr, outputs.distance.dtype(), image.shape());
  const std::size_t own =
      outputs.nearest.present() ? 0 : size_of(index_of(images)) * static_cast<std::size_t>(images.lattice.size());
  return own + std::max(cpu::axis_bytes(images.lattice, plan.report.threads),
                        grid::scratch_bytes(image, distance_options(images, step_of(options.execution, 0, 1)), wanted));
}

Plan make_plan(const AnyConstView& input, const MedialAxisOptions& options, const MedialAxisOutputs& outputs) {
  Plan plan = plan_images(input, options.batch_axes, options.spacing, options.execution);
  check_gamma(options);
  check_axis(outputs, input.shape());
  check_output(outputs.distance, "distance", {DType::float32, DType::float64}, input.shape());
  if (outputs.nearest.present()) check_nearest(outputs.nearest, input.shape());
  if (!wants_axis(outputs) && !outputs.distance.present() && !outputs.nearest.present())
    throw InvalidArgument("no output was given; give axis, distance, nearest or witness");
  plan.report.scratch_bytes = bytes_of(plan, input, options, outputs);
  check_scratch(options.execution, plan.report.scratch_bytes);
  return plan;
}

template <class View>
void fill_image(const Images& images, const View& view, std::int64_t item, int byte) {
  if (!view.present()) return;
  const ImageRows<std::byte> rows = images.rows(view, item);
  for (std::int64_t z = 0; z < images.lattice.extent[0]; ++z)
    for (std::int64_t y = 0; y < images.lattice.extent[1]; ++y)
      std::fill_n(rows.at<std::byte>(0, 0) + (z * rows.slice + y * rows.row) * static_cast<std::int64_t>(rows.size),
                  static_cast<std::size_t>(images.lattice.extent[2]) * rows.size, static_cast<std::byte>(byte));
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

/// Calls body(item, begin, end) with its shares of the call's progress.
template <class Body>
void each_item(const Images& images, const Body& body) {
  const std::int64_t count = element_count(images.shape) > 0 ? images.count() : 0;
  for (std::int64_t item = 0; item < count; ++item)
    body(item, static_cast<double>(item) / static_cast<double>(count),
         static_cast<double>(item + 1) / static_cast<double>(count));
}

}  // namespace

std::size_t scratch_bytes(const AnyConstView& input, const MedialAxisOptions& options,
                          const MedialAxisOutputs& outputs) {
  return make_plan(input, options, outputs).report.scratch_bytes;
}

MedialAxisReport medial_axis(const AnyConstView& input, const MedialAxisOptions& options,
                             const MedialAxisOutputs& outputs) {
  const Plan plan = make_plan(input, options, outputs);
  const Images& images = plan.images;
  Array own;
  if (!outputs.nearest.present() && element_count(images.shape) > 0)
    own = Array(index_of(images), images.view(input, 0).shape());
  each_item(images, [&](std::int64_t item, double begin, double end) {
    const double middle = begin + .8 * (end - begin);
    grid::DistanceOutputs wanted;
    wanted.nearest = outputs.nearest.present() ? images.view(outputs.nearest, item) : own.view();
    if (outputs.distance.present()) wanted.distance = images.view(outputs.distance, item);
    grid::distance_transform(images.view(input, item),
                             distance_options(images, step_of(options.execution, begin, middle)), wanted);
    if (wants_axis(outputs))
      find_axis(plan, wanted.nearest, options, outputs, item, step_of(options.execution, middle, end));
  });
  if (options.execution.progress) options.execution.progress(1);
  return plan.report;
}

MedialAxisReport medial_axis_of_nearest(const AnyConstView& nearest, const MedialAxisOptions& options,
                                        const MedialAxisOutputs& outputs) {
  Plan plan = plan_images(nearest, options.batch_axes, options.spacing, options.execution);
  check_gamma(options);
  check_nearest(nearest, nearest.shape());
  check_axis(outputs, nearest.shape());
  if (!wants_axis(outputs) || outputs.distance.present() || outputs.nearest.present())
    throw InvalidArgument("from nearest sites there are the outputs axis and witness; give one of them or both");
  plan.report.scratch_bytes = cpu::axis_bytes(plan.images.lattice, plan.report.threads);
  check_scratch(options.execution, plan.report.scratch_bytes);
  each_item(plan.images, [&](std::int64_t item, double begin, double end) {
    find_axis(plan, plan.images.view(nearest, item), options, outputs, item, step_of(options.execution, begin, end));
  });
  if (options.execution.progress) options.execution.progress(1);
  return plan.report;
}

namespace {

Plan plan_balls(const AnyConstView& axis, const AnyConstView& nearest, const AxisBallsOptions& options,
                const AnyView& out) {
  Plan plan = plan_images(axis, options.batch_axes, options.spacing, options.execution);
  check_nearest(nearest, axis.shape());
  if (!out.present()) throw InvalidArgument("no output was given");
  check_output(out, "out", {DType::boolean, DType::uint8}, axis.shape());
  plan.report.scratch_bytes =
      element_count(axis.shape()) == 0 ? 0 : cpu::axis_balls_bytes(plan.images.lattice, plan.report.threads);
  check_scratch(options.execution, plan.report.scratch_bytes);
  return plan;
}

}  // namespace

std::size_t scratch_bytes(const AnyConstView& axis, const AnyConstView& nearest, const AxisBallsOptions& options,
                          const AnyView& out) {
  return plan_balls(axis, nearest, options, out).report.scratch_bytes;
}

MedialAxisReport axis_balls(const AnyConstView& axis, const AnyConstView& nearest, const AxisBallsOptions& options,
                            const AnyView& out) {
  const Plan plan = plan_balls(axis, nearest, options, out);
  const Images& images = plan.images;
  each_item(images, [&](std::int64_t item, double begin, double end) {
    const Array chosen = grid::mark_sites(images.view(axis, item), {grid::Sites::Rule::nonzero});
    cpu::draw_axis_balls({.lattice = images.lattice,
                          .chosen = chosen.as<std::uint8_t>().data(),
                          .nearest = images.rows(nearest, item),
                          .out = images.rows(out, item),
                          .instruction_set = plan.report.instruction_set,
                          .threads = plan.report.threads},
                         step_of(options.execution, begin, end));
  });
  if (options.execution.progress) options.execution.progress(1);
  return plan.report;
}

}  // namespace fathom::apps
