#include "medial_axis.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "fathom/apps/medial_axis.h"
#include "options.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom medial-axis letters.png -o axis.png
      what lies between two parts of the background that are about equally near
  fathom medial-axis vessels.nii.gz -o axis.nii.gz --gamma 2.5 --distance radius.nii.gz
      parts of the background that are more than 2.5 apart, in the file's spacing, and the radius everywhere
  fathom medial-axis leaf.png -o axis.png --pruning linear --gamma 1 --ties thin --preview axis_chart.png
      what is seen under a wide enough angle, thin, and a chart of the radius along it
  fathom medial-axis leaf.png -o axis.png --balls again.png
      and what the balls around the axis cover

Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

apps::MedialAxisOptions options_of(const MedialAxisArguments& a) {
  apps::MedialAxisOptions options;
  options.pruning = parse_pruning(a.pruning);
  if (!a.gamma.empty() && options.pruning == apps::Pruning::square_root)
    throw InvalidArgument("--pruning square-root takes no --gamma; leave it out");
  if (!a.gamma.empty()) options.gamma = parse_at_least_zero("--gamma", a.gamma);
  options.ties = parse_ties(a.ties);
  return options;
}

/// Outputs, in the order in which the command adds them; those that are only worked with have no path.
struct Results {
  Array axis, distance, nearest, witness, balls;
};

/// The radius along the axis, 0 in the background, inf in the rest of the object.
Array radius_on_axis(const Results& results) {
  Array radius(DType::float32, results.axis.shape());
  float* out = radius.as<float>().data();
  const float* distance = results.distance.as<float>().data();
  for (std::int64_t i = 0; i < radius.size(); ++i)
    out[i] = results.axis.data()[i] != std::byte{0} || distance[i] == 0 ? distance[i]
                                                                        : std::numeric_limits<float>::infinity();
  return radius;
}

std::int64_t count_in(const Array& mask) { return grid::count_sites(mask.view(), {grid::Sites::Rule::nonzero}); }

}  // namespace

int run_medial_axis(const MedialAxisArguments& a) {
  Operation operation("medial-axis", a, colours_of(a));
  apps::MedialAxisOptions options = options_of(a);
  const Shape shape = operation.input().shape();
  options.spacing = operation.spacing();
  options.batch_axes = operation.input().batch_axes;
  const bool short_indices = element_count(operation.input().space()) <= std::numeric_limits<std::int32_t>::max();
  const DType index = short_indices ? DType::int32 : DType::int64;
  const bool wants_distance = !a.distance.empty() || !a.preview.empty();
  const bool wants_nearest = !a.nearest.empty() || !a.balls.empty();
  operation.add({.option = "-o", .path = a.output, .content = "medial axis", .dtype = DType::boolean, .shape = shape});
  operation.add(
      {.option = "--distance", .path = a.distance, .content = "distance", .dtype = DType::float32, .shape = shape});
  operation.add(
      {.option = "--nearest", .path = a.nearest, .content = "nearest background", .dtype = index, .shape = shape});
  operation.add({.option = "--witness",
                 .path = a.witness,
                 .content = "background on the other side",
                 .dtype = index,
                 .shape = shape});
  operation.add({.option = "--balls",
                 .path = a.balls,
                 .content = "balls around the axis",
                 .dtype = DType::boolean,
                 .shape = shape});
  operation.settings = {{"pruning", a.pruning}, {"gamma", options.gamma}, {"ties", a.ties}};

  const auto no_data = [&](DType dtype) { return AnyView(nullptr, dtype, shape); };
  apps::MedialAxisOutputs outputs{.axis = no_data(DType::boolean), .distance = {}, .nearest = {}, .witness = {}};
  if (wants_distance) outputs.distance = no_data(DType::float32);
  if (wants_nearest) outputs.nearest = no_data(index);
  if (!a.witness.empty()) outputs.witness = no_data(index);
  apps::AxisBallsOptions balls{.spacing = options.spacing, .batch_axes = options.batch_axes, .execution = {}};
  const auto scratch = [&](int threads) {
    options.execution.threads = balls.execution.threads = threads;
    const std::size_t axis = apps::scratch_bytes(operation.unread(), options, outputs);
    if (a.balls.empty()) return axis;
    return std::max(axis, apps::scratch_bytes(outputs.axis, outputs.nearest, balls, outputs.axis));
  };
  options.execution.backend = balls.execution.backend = operation.execution().backend;
  const std::size_t of_element = (a.distance.empty() && wants_distance ? sizeof(float) : 0) +
                                 (a.nearest.empty() && wants_nearest ? size_of(index) : 0) +
                                 (a.preview.empty() ? 0 : sizeof(float));
  operation.fit(scratch(operation.execution().threads), scratch(1),
                operation.object_bytes() + static_cast<std::size_t>(element_count(shape)) * of_element);
  if (a.plan) return operation.print_plan();

  const Arranged image = operation.read_object();
  Results results{.axis = Array(DType::boolean, shape), .distance = {}, .nearest = {}, .witness = {}, .balls = {}};
  outputs.axis = results.axis.view();
  const auto make = [&](bool wanted, DType dtype, Array& array, AnyView& view) {
    if (!wanted) return;
    array = Array(dtype, shape);
    view = array.view();
  };
  make(wants_distance, DType::float32, results.distance, outputs.distance);
  make(wants_nearest, index, results.nearest, outputs.nearest);
  make(!a.witness.empty(), index, results.witness, outputs.witness);
  operation.begin("computing");
  options.execution = operation.execution();
  const apps::MedialAxisReport report = apps::medial_axis(image.view, options, outputs);
  if (!a.balls.empty()) {
    results.balls = Array(DType::boolean, shape);
    operation.begin("drawing balls");
    balls.execution = operation.execution();
    apps::axis_balls(results.axis.view(), results.nearest.view(), balls, results.balls.view());
  }
  const std::int64_t object = grid::count_sites(image.view, {grid::Sites::Rule::nonzero}),
                     on_axis = count_in(results.axis);
  operation.output(0).detail = fmt::format(", {} of {} elements", on_axis, object);
  Json more = {{"object", object}, {"axis", on_axis}};
  if (!a.balls.empty()) {
    const std::int64_t covered = count_in(results.balls);
    operation.output(4).detail = fmt::format(", {} of {} elements", covered, object);
    more["balls"] = covered;
  }
  operation.write({results.axis.view(), results.distance.view(), results.nearest.view(), results.witness.view(),
                   results.balls.view()},
                  [&](PendingFiles& files) {
                    if (a.preview.empty()) return;
                    const Array radius = radius_on_axis(results);
                    Chart chart = operation.chart_of(radius.view());
                    if (chart.title.empty()) chart.title = "Radius along the medial axis";
                    chart.zero = "background";
                    chart.none = "off the axis";
                    draw_chart(chart, files.add(a.preview).stream());
                  });
  return operation.print(report, more);
}

Work declare_medial_axis(CLI::App* verb) {
  const auto arguments = std::make_shared<MedialAxisArguments>();
  MedialAxisArguments& a = *arguments;
  verb->footer(kExamples);
  declare_image(verb, "MASK", "Image or volume; the object is what is not 0", "the axis", a);
  declare_threshold(verb, a);
  verb->add_option("--pruning", a.pruning,
                   "What two parts of the background must be apart: constant (default), linear or square-root");
  verb->add_option("--gamma", a.gamma,
                   "Constant: more than so far, in the unit of the spacing; linear: than so many times the way to them "
                   "(default 0); square-root takes none");
  verb->add_option("--ties", a.ties, "Of two elements in the middle: both (default), or thin, the first one");
  verb->add_option("--distance", a.distance, "File for the distance to the background");
  verb->add_option("--nearest", a.nearest, "File for the linear index of the nearest background; -1 without");
  verb->add_option("--witness", a.witness, "File for that of the background on the axis' other side; -1 off the axis");
  verb->add_option("--balls", a.balls, "File for what the balls around the axis cover");
  declare_preview(verb, "the radius along the axis", a);
  declare_work(verb, a);
  return [arguments] { return run_medial_axis(*arguments); };
}

}  // namespace fathom::cli
