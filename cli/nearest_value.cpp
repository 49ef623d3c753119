#include "nearest_value.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "chart/chart.h"
#include "fathom/apps/morphology.h"
#include "fathom/apps/nearest_value.h"
#include "options.h"

namespace fathom::cli {

namespace {

using Rule = grid::Sites::Rule;

constexpr const char* kExpandExamples = R"(Examples:
  fathom expand seeds.tif -o regions.tif
      everywhere the label that is nearest: a Voronoi diagram, or allocation
  fathom expand cells.png -o grown.png --max-distance 4
      labels grow by 4 and do not run into one another
  fathom expand wells.tif -o nearest.tif --distance how_far.tif --direction which_way.tif
      degrees from north, clockwise: 90 is east, 360 north, 0 the label itself
  fathom expand cells.npy -o grown.npy --ties lowest
      of equally near labels the lowest, not the first one in the file

Distances are straight: nothing is in the way. Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

constexpr const char* kFillExamples = R"(Examples:
  fathom fill heights.tif -o whole.tif
      gaps, by the file's own no-data value or NaN, get the nearest height
  fathom fill heights.tif -o nearly.tif --max-distance 3 --distance how_far.tif
      narrow gaps alone, and how far away each value was found
  fathom fill counts.npy -o whole.npy --no-data -1

Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

void declare_search(CLI::App* verb, NearestValueArguments& a) {
  verb->add_option("--metric", a.metric, "euclidean, taxicab or chessboard (default euclidean)");
  verb->add_option("--border", a.border, "open, sites or periodic; one or one per axis (default open)");
  verb->add_option("--distance", a.distance, "File for the distance to the nearest, float32");
  verb->add_option("--direction", a.direction,
                   "File for the way there, of maps: degrees from north, clockwise, in (0, 360]; 0 of what is there");
}

/// Checks what all of it takes.
grid::DistanceOptions options_of(const NearestValueArguments& a, const Operation& work) {
  grid::DistanceOptions options;
  options.sites.rule = Rule::nonzero;
  options.metric = parse_metric(a.metric);
  options.border = parse_borders(a.border);
  options.max_distance = parse_max_distance(a.max_distance);
  expand("--border", options.border, work.input().space());
  options.spacing = work.spacing();
  options.batch_axes = work.input().batch_axes;
  options.execution = work.execution();
  return options;
}

void add_outputs(const NearestValueArguments& a, const char* content, Operation& work) {
  const Shape shape = work.input().shape();
  work.add({"-o", a.common.output, content, work.input().info.dtype, shape, true, true});
  work.add({"--distance", a.distance, "distance", DType::float32, shape});
  work.add({"--direction", a.direction, "direction", DType::float32, shape});
  work.settings["max_distance"] = json_number(parse_max_distance(a.max_distance));
  work.settings["metric"] = a.metric;
  work.settings["border"] = a.border;
}

bool wants_distance(const NearestValueArguments& a) { return !a.distance.empty() || !a.common.preview.empty(); }

/// Bytes of distances that are for the chart alone.
std::size_t chart_bytes(const NearestValueArguments& a, const Operation& work) {
  const bool alone = a.distance.empty() && wants_distance(a);
  return alone ? static_cast<std::size_t>(element_count(work.input().shape())) * sizeof(float) : 0;
}

/// Places for the outputs that are wanted, in the order in which they were added.
struct Results {
  Array value, distance, direction;

  Results(const NearestValueArguments& a, const Operation& work) {
    const Shape shape = work.input().shape();
    if (!a.common.output.empty()) value = Array(work.input().info.dtype, shape);
    if (wants_distance(a)) distance = Array(DType::float32, shape);
    if (!a.direction.empty()) direction = Array(DType::float32, shape);
  }
  apps::NearestValueOutputs views(bool with_value) {
    const auto view = [](Array& array) { return array.data() ? array.view() : AnyView(); };
    return {with_value ? view(value) : AnyView(), view(distance), view(direction)};
  }
};

/// The same as views without memory.
apps::NearestValueOutputs unmade(const NearestValueArguments& a, const Operation& work, bool with_value) {
  const auto view = [&](bool wanted, DType dtype) {
    return wanted ? AnyView(nullptr, dtype, work.input().shape()) : AnyView();
  };
  return {view(with_value && !a.common.output.empty(), work.input().info.dtype),
          view(wants_distance(a), DType::float32), view(!a.direction.empty(), DType::float32)};
}

bool any(const apps::NearestValueOutputs& outputs) {
  return outputs.value.present() || outputs.distance.present() || outputs.direction.present();
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Floats of which a value stands for gaps beside NaN: NaN takes its place while gaps are filled.
class ValueGaps {
 public:
  ValueGaps(const grid::Sites& gaps, Arranged& image)
      : value_(gaps.value.real()), mask_(grid::mark_sites(std::as_const(image.data).view(), gaps)) {
    each(image.data, [&](auto& element) { element = static_cast<std::remove_reference_t<decltype(element)>>(kNan); });
    const auto size = static_cast<std::ptrdiff_t>(size_of(image.data.dtype()));
    const std::ptrdiff_t first = (image.view.data() - image.data.data()) / size;
    mask_ = dense_copy({mask_.data() + first, mask_.dtype(), image.view.shape(), image.view.strides()});
  }
  /// Those that were not filled have the value again.
  void restore(Array& filled) const {
    each(filled, [&](auto& element) {
      if (std::isnan(element)) element = static_cast<std::remove_reference_t<decltype(element)>>(value_);
    });
  }

 private:
  /// Visits gaps of an array in the mask's order.
  template <class Visit>
  void each(Array& array, const Visit& visit) const {
    const auto visit_gaps = [&](auto* elements) {
      for (std::int64_t i = 0; i < array.size(); ++i)
        if (mask_.data()[i] != std::byte{0}) visit(elements[i]);
    };
    if (array.dtype() == DType::float32) visit_gaps(array.as<float>().data());
    else visit_gaps(array.as<double>().data());
  }

  double value_;
  Array mask_;  ///< at first in the order of memory, then in the image's
};

/// @param words  of the chart of distances: its title, what 0 is, and inf
int write(const NearestValueArguments& a, Operation& work, Results& results, const apps::NearestValueReport& report,
          const Json& more, const std::array<const char*, 3>& words) {
  work.write({results.value.view(), results.distance.view(), results.direction.view()}, [&](PendingFiles& files) {
    if (a.common.preview.empty()) return;
    Chart chart = work.chart_of(results.distance.view());
    if (chart.title.empty()) chart.title = words[0];
    chart.zero = words[1];
    chart.none = words[2];
    draw_chart(chart, files.add(a.common.preview).stream());
  });
  return work.print(report, more);
}

std::int64_t count_of(const AnyConstView& array, const grid::Sites& sites) { return grid::count_sites(array, sites); }

/// Labels whose ties the lowest wins.
apps::MorphologyOptions growth_of(const grid::DistanceOptions& options) {
  apps::MorphologyOptions growth;
  growth.operation = apps::MorphologyOperation::dilation;
  growth.labels = true;
  growth.size = options.max_distance;
  growth.spacing = options.spacing;
  growth.batch_axes = options.batch_axes;
  growth.execution = options.execution;
  return growth;
}

}  // namespace

Work declare_expand(CLI::App* verb) {
  const auto arguments = std::make_shared<NearestValueArguments>();
  NearestValueArguments& a = *arguments;
  verb->footer(kExpandExamples);
  declare_image(verb, "LABELS", "Labels, 0 where there is none", "the result", a.common);
  verb->add_option("--max-distance", a.max_distance, "How far labels grow (default: everywhere)");
  verb->add_option("--ties", a.ties,
                   "Of equally near labels the first in the file (default) or the lowest, of integers");
  declare_search(verb, a);
  declare_preview(verb, "the distance to the labels", a.common);
  declare_work(verb, a.common);
  return [arguments] { return run_expand(*arguments); };
}

Work declare_fill(CLI::App* verb) {
  const auto arguments = std::make_shared<NearestValueArguments>();
  NearestValueArguments& a = *arguments;
  verb->footer(kFillExamples);
  declare_image(verb, "IMAGE", "Values, of which some are missing", "the result", a.common);
  verb->add_option("--max-distance", a.max_distance, "Gaps farther from any value stay (default: none does)");
  declare_search(verb, a);
  declare_preview(verb, "the distance to the values that were taken", a.common);
  declare_work(verb, a.common);
  verb->get_option("--no-data")->description("Value of gaps, beside NaN, which always is one (default: the file's)");
  return [arguments] { return run_fill(*arguments); };
}

int run_expand(const NearestValueArguments& a) {
  const bool lowest = a.ties == "lowest";
  if (!lowest && a.ties != "first")
    throw InvalidArgument(fmt::format("--ties takes first or lowest, not '{}'", a.ties));
  if (lowest && (a.metric != "euclidean" || a.border != "open" || !a.direction.empty()))
    throw InvalidArgument(
        "--ties lowest is for the Euclidean metric and open borders, without --direction; leave these out");
  Operation work("expand", a.common, io::Colours::packed);
  work.refuse_colours();
  grid::DistanceOptions options = options_of(a, work);
  add_outputs(a, "labels", work);
  work.settings["ties"] = a.ties;
  const apps::NearestValueOutputs wanted = unmade(a, work, !lowest);
  std::size_t scratch = 0, least = 0;
  if (any(wanted)) {
    scratch = apps::nearest_value_scratch_bytes(work.unread(), options, wanted);
    least = apps::nearest_value_scratch_bytes(work.unread(), options, wanted, true);
  }
  if (lowest) {
    scratch = std::max(scratch, apps::morphology_scratch_bytes(work.unread(), growth_of(options)));
    least = std::max(least, apps::least_morphology_scratch_bytes(work.unread(), growth_of(options)));
  }
  work.fit(scratch, least, work.object_bytes() + chart_bytes(a, work));
  if (a.common.plan) return work.print_plan();

  const Arranged labels = work.read_object();
  Results results(a, work);
  work.begin("computing");
  options.execution = work.execution();
  apps::NearestValueReport report;
  if (any(wanted)) report = apps::nearest_values(labels.view, options, results.views(!lowest));
  if (lowest && results.value.data()) {
    const auto done = apps::morphology(labels.view, growth_of(options), results.value.view());
    report = {done.backend, done.instruction_set, done.threads, std::max(report.scratch_bytes, done.scratch_bytes),
              done.device};
  }
  const std::int64_t before = count_of(labels.view, {Rule::nonzero, 0}), all = element_count(labels.view.shape());
  Json more = {{"elements", {{"before", before}}}};
  if (results.value.data()) {
    const std::int64_t after = count_of(std::as_const(results.value).view(), {Rule::nonzero, 0});
    more["elements"]["after"] = after;
    work.output(0).detail = fmt::format(", {} of {} elements, {} before", after, all, before);
  }
  return write(a, work, results, report, more, {"Distance to the nearest label", "labels", "no label within reach"});
}

int run_fill(const NearestValueArguments& a) {
  if (a.common.no_data == "none")
    throw InvalidArgument("--no-data none takes all elements for values, and leaves nothing to fill; leave it out");
  Operation work("fill", a.common, io::Colours::luminance);
  work.refuse_colours();
  grid::DistanceOptions options = options_of(a, work);
  const DType dtype = work.input().info.dtype;
  if (work.no_data().empty() && dtype != DType::float32 && dtype != DType::float64)
    throw InvalidArgument(fmt::format("{} holds {}, which has no NaN, and states no no-data value; --no-data gives one",
                                      input_name(work.input().path), fathom::name_of(dtype)));
  const bool is_real = dtype == DType::float32 || dtype == DType::float64;
  const grid::Sites missing = is_real ? grid::Sites{Rule::equal, kNan} : work.gaps();
  options.sites = {Rule::not_equal, missing.value};
  add_outputs(a, "values", work);
  const apps::NearestValueOutputs wanted = unmade(a, work, true);
  const bool some = any(wanted), has_value = is_real && !work.no_data().empty();
  const std::size_t mask = has_value ? static_cast<std::size_t>(element_count(work.input().shape())) : 0;
  work.fit(some ? apps::nearest_value_scratch_bytes(work.unread(), options, wanted) : 0,
           some ? apps::nearest_value_scratch_bytes(work.unread(), options, wanted, true) : 0,
           mask + chart_bytes(a, work));
  if (a.common.plan) return work.print_plan();

  Arranged image = work.read();
  std::optional<ValueGaps> gaps_of_value;
  if (has_value) gaps_of_value.emplace(work.gaps(), image);
  Results results(a, work);
  work.begin("computing");
  options.execution = work.execution();
  const apps::NearestValueReport report = apps::nearest_values(image.view, options, results.views(true));
  const std::int64_t gaps = count_of(image.view, missing);
  Json more = {{"missing", {{"before", gaps}}}};
  if (results.value.data()) {
    const std::int64_t left = count_of(std::as_const(results.value).view(), missing);
    more["missing"]["after"] = left;
    work.output(0).detail = fmt::format(", {} of {} gaps filled", gaps - left, gaps);
    if (gaps_of_value) gaps_of_value->restore(results.value);
  }
  return write(a, work, results, report, more, {"Distance to the nearest value", "values", "no value within reach"});
}

}  // namespace fathom::cli
