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

/// What is made, to be written or to work with. The axis always is.
struct Wanted {
  bool distance, nearest, witness, balls;
  DType index;

  Wanted(const MedialAxisArguments& a, const Operation& operation)
      : distance(!a.distance.empty() || !a.preview.empty()),
        nearest(!a.nearest.empty() || !a.balls.empty()),
        witness(!a.witness.empty()),
        balls(!a.balls.empty()) {
    const bool is_short = element_count(operation.input().space()) <= std::numeric_limits<std::int32_t>::max();
    index = is_short ? DType::int32 : DType::int64;
  }
};

/// In the order in which the command adds them; those that nobody wants are empty.
struct Results {
  Array axis, distance, nearest, witness, balls;

  Results(const Wanted& wanted, const Shape& shape) : axis(DType::boolean, shape) {
    const auto make = [&](bool is_wanted, DType dtype) { return is_wanted ? Array(dtype, shape) : Array(); };
    distance = make(wanted.distance, DType::float32);
    nearest = make(wanted.nearest, wanted.index);
    witness = make(wanted.witness, wanted.index);
    balls = make(wanted.balls, DType::boolean);
  }
};

/// Views of memory that is there, or not yet.
apps::MedialAxisOutputs outputs_of(const Wanted& wanted, const Shape& shape, Results* results = nullptr) {
  const auto view = [&](bool is_wanted, DType dtype, Array Results::*array) {
    return !is_wanted ? AnyView() : results ? (results->*array).view() : AnyView(nullptr, dtype, shape);
  };
  return {view(true, DType::boolean, &Results::axis), view(wanted.distance, DType::float32, &Results::distance),
          view(wanted.nearest, wanted.index, &Results::nearest), view(wanted.witness, wanted.index, &Results::witness)};
}

void add_outputs(const MedialAxisArguments& a, DType index, Operation& operation) {
  const auto add = [&](const char* option, const std::string& path, const char* content, DType dtype) {
    operation.add(
        {.option = option, .path = path, .content = content, .dtype = dtype, .shape = operation.input().shape()});
  };
  add("-o", a.output, "medial axis", DType::boolean);
  add("--distance", a.distance, "distance", DType::float32);
  add("--nearest", a.nearest, "nearest background", index);
  add("--witness", a.witness, "background on the other side", index);
  add("--balls", a.balls, "balls around the axis", DType::boolean);
}

/// Leaves the work its scratch.
void fit(const MedialAxisArguments& a, const Wanted& wanted, apps::MedialAxisOptions options, Operation& operation) {
  const Shape& shape = operation.input().shape();
  const apps::MedialAxisOutputs outputs = outputs_of(wanted, shape);
  options.execution.backend = operation.execution().backend;
  const auto scratch = [&](int threads) {
    options.execution.threads = threads;
    const std::size_t axis = apps::scratch_bytes(operation.unread(), options, outputs);
    if (!wanted.balls) return axis;
    const apps::AxisBallsOptions balls{options.spacing, options.batch_axes, options.execution};
    return std::max(axis, apps::scratch_bytes(outputs.axis, outputs.nearest, balls, outputs.axis));
  };
  const std::size_t of_element = (a.distance.empty() && wanted.distance ? sizeof(float) : 0) +
                                 (a.nearest.empty() && wanted.nearest ? size_of(wanted.index) : 0) +
                                 (a.preview.empty() ? 0 : sizeof(float));
  operation.fit(scratch(operation.execution().threads), scratch(1),
                operation.object_bytes() + static_cast<std::size_t>(element_count(shape)) * of_element);
}

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
  const Wanted wanted(a, operation);
  add_outputs(a, wanted.index, operation);
  operation.settings = {{"pruning", a.pruning}, {"gamma", options.gamma}, {"ties", a.ties}};
  fit(a, wanted, options, operation);
  if (a.plan) return operation.print_plan();

  const Arranged image = operation.read_object();
  Results results(wanted, shape);
  operation.begin("computing");
  options.execution = operation.execution();
  const apps::MedialAxisReport report = apps::medial_axis(image.view, options, outputs_of(wanted, shape, &results));
  const std::int64_t object = grid::count_sites(image.view, {grid::Sites::Rule::nonzero}),
                     on_axis = count_in(results.axis);
  operation.output(0).detail = fmt::format(", {} of {} elements", on_axis, object);
  Json more = {{"object", object}, {"axis", on_axis}};
  if (wanted.balls) {
    operation.begin("drawing balls");
    const apps::AxisBallsOptions balls{options.spacing, options.batch_axes, operation.execution()};
    apps::axis_balls(std::as_const(results.axis).view(), std::as_const(results.nearest).view(), balls,
                     results.balls.view());
    const std::int64_t covered = count_in(results.balls);
    operation.output(4).detail = fmt::format(", {} of {} elements", covered, object);
    more["balls"] = covered;
  }
  const auto draw = [&](PendingFiles& files) {
    if (a.preview.empty()) return;
    const Array radius = radius_on_axis(results);
    Chart chart = operation.chart_of(radius.view());
    if (chart.title.empty()) chart.title = "Radius along the medial axis";
    chart.zero = "background";
    chart.none = "off the axis";
    draw_chart(chart, files.add(a.preview).stream());
  };
  operation.write({results.axis.view(), results.distance.view(), results.nearest.view(), results.witness.view(),
                   results.balls.view()},
                  draw);
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
