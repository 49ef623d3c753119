#include "morphology.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "chart/chart.h"
#include "fathom/apps/morphology.h"
#include "options.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Operations, of an object X and a ball of the radius:
  erosion        what is farther than the radius from all else
  dilation       what is no farther than the radius from X
  opening        the dilation of the erosion: what balls inside X cover
  closing        the erosion of the dilation: what no ball outside of X reaches
  gradient       the dilation without the erosion
  white-top-hat  X without its opening
  black-top-hat  the closing without X
  remove-thin    X without the parts thinner than --thickness
  fill-thin      X and the gaps thinner than --thickness

Examples:
  fathom morphology closing mask.png -o closed.png --radius 5
      holes and gaps that a ball of radius 5 does not enter are filled
  fathom morphology opening scan.nii.gz -o vessels.nii.gz --threshold 1200 --radius 0.8
      what is at least so dense, without what is narrower than 1.6 mm, in the file's own spacing
  fathom morphology dilation cells.tif -o grown.tif --labels --radius 4
      each label by itself; where two would cover an element the nearer does, then the lower
  fathom morphology remove-thin walls.npy -o thick.npy --thickness 3 --preview thin.png
      and a chart of what went

Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

apps::MorphologyOptions options_of(const MorphologyArguments& a) {
  apps::MorphologyOptions options;
  options.operation = parse_morphology(a.operation);
  options.border = parse_morphology_border(a.border);
  options.labels = a.labels;
  const bool thin = a.operation.ends_with("-thin");
  const std::string& size = thin ? a.thickness : a.radius;
  if (size.empty() || !(thin ? a.radius : a.thickness).empty())
    throw InvalidArgument(fmt::format("{} takes {}, and not {}", a.operation, thin ? "--thickness" : "--radius",
                                      thin ? "--radius" : "--thickness"));
  options.size = parse_at_least_zero(thin ? "--thickness" : "--radius", size);
  return options;
}

/// Of the chart: distances within a result to what is outside of it.
grid::DistanceOptions chart_options(const apps::MorphologyOptions& options) {
  grid::DistanceOptions distances;
  distances.spacing = options.spacing;
  distances.batch_axes = options.batch_axes;
  distances.execution.backend = Backend::cpu;
  distances.execution.threads = options.execution.threads;
  return distances;
}

/// Inf where an operation that grows or shrinks the object changes it.
void draw_changes(const MorphologyArguments& a, const Operation& work, const apps::MorphologyOptions& options,
                  const AnyConstView& before, const AnyConstView& after, std::FILE* stream) {
  const grid::Sites object{grid::Sites::Rule::nonzero, 0};
  Array field(DType::float32, after.shape());
  grid::distance_transform(after, chart_options(options), {field.view(), {}, {}, {}});
  const bool grows = a.operation == "dilation" || a.operation == "closing" || a.operation == "fill-thin";
  const bool shrinks = a.operation == "erosion" || a.operation == "opening" || a.operation == "remove-thin";
  const Array was = grid::mark_sites(before, object), is = grid::mark_sites(after, object);
  for (std::int64_t i = 0; i < field.size() && (grows || shrinks); ++i)
    if (was.data()[i] != is.data()[i]) field.as<float>().data()[i] = std::numeric_limits<float>::infinity();
  Chart chart = work.chart_of(field.view());
  if (chart.title.empty()) chart.title = "Distance to the edge after " + a.operation;
  chart.zero = "outside";
  chart.none = grid::count_sites(after, {}) == 0 ? "nothing is outside" : grows ? "added" : "taken away";
  draw_chart(chart, stream);
}

}  // namespace

Work declare_morphology(CLI::App* verb) {
  const auto arguments = std::make_shared<MorphologyArguments>();
  MorphologyArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("OP", a.operation, "The operation: see below")->required();
  declare_image(verb, "MASK", "Mask, or labels", "the result", a.common);
  verb->add_option("--radius", a.radius, "Of the ball, in units of the spacing");
  verb->add_option("--thickness", a.thickness, "Of remove-thin and fill-thin, instead of a radius");
  verb->add_option("--border", a.border,
                   "What lies outside: ignore (nothing, default), pad (background into which closings may grow) or "
                   "background (for erosions)");
  verb->add_flag("--labels", a.labels, "Elements are labels, of which each is done by itself; 0 is background");
  declare_threshold(verb, a.common);
  declare_preview(verb, "the result, how deep it is, and what it adds or takes", a.common);
  declare_work(verb, a.common);
  return [arguments] { return run_morphology(*arguments); };
}

int run_morphology(const MorphologyArguments& a) {
  apps::MorphologyOptions options = options_of(a);
  if (a.labels && !a.common.threshold.empty())
    throw InvalidArgument("--threshold makes a mask, which has no labels; leave out --labels");
  Operation work("morphology", a.common, colours_of(a.common));
  if (a.labels) work.refuse_colours();
  options.spacing = work.spacing();
  options.batch_axes = work.input().batch_axes;
  options.execution = work.execution();
  const DType dtype = a.labels ? work.input().info.dtype : DType::boolean;
  work.add({"-o", a.common.output, a.operation, dtype, work.input().shape(), true, a.labels});
  work.settings = {{"operation", a.operation},
                   {a.operation.ends_with("-thin") ? "thickness" : "radius", json_number(options.size)},
                   {"border", a.border},
                   {"labels", a.labels}};
  const AnyConstView unread = work.unread_object(a.labels);
  const AnyView field(nullptr, DType::float32, work.input().shape());
  std::size_t of_chart = 0;  // the field, what it takes, and two masks
  if (!a.common.preview.empty())
    of_chart = static_cast<std::size_t>(element_count(field.shape())) * (sizeof(float) + 2) +
               grid::scratch_bytes({nullptr, dtype, field.shape()}, chart_options(options), {field, {}, {}, {}});
  work.fit(apps::morphology_scratch_bytes(unread, options), apps::least_morphology_scratch_bytes(unread, options),
           work.object_bytes() + of_chart);
  if (a.common.plan) return work.print_plan();

  const Arranged object = work.read_object();
  Array result(dtype, work.input().shape());
  work.begin("computing");
  options.execution = work.execution();
  const apps::MorphologyReport report = apps::morphology(object.view, options, result.view());
  const auto count = [](const AnyConstView& view) { return grid::count_sites(view, {grid::Sites::Rule::nonzero, 0}); };
  const std::int64_t before = count(object.view), after = count(std::as_const(result).view());
  work.output(0).detail = fmt::format(", {} of {} elements, {} before", after, result.size(), before);
  work.write({std::as_const(result).view()}, [&](PendingFiles& files) {
    if (a.common.preview.empty()) return;
    draw_changes(a, work, options, object.view, std::as_const(result).view(), files.add(a.common.preview).stream());
  });
  return work.print(report, {{"elements", {{"before", before}, {"after", after}}}});
}

}  // namespace fathom::cli
