#include "distance.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "algorithm.h"
#include "chart/chart.h"
#include "clock.h"
#include "exit_code.h"
#include "files.h"
#include "fathom/io/stream.h"
#include "interrupt.h"
#include "memory.h"
#include "no_data.h"
#include "options.h"
#include "pending_files.h"
#include "plan.h"
#include "progress.h"
#include "report.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

constexpr const char* kExamples = R"(Examples:
  fathom distance land.png -o coast.npy
      distance of each element to the nearest zero element, as float32
  fathom distance land.png -o coast.tif --border open,periodic --preview coast.png
      a world map that wraps around, and a chart of the result
  fathom distance brain.nii.gz -o depth.nii.gz --sites labels
      distance to the nearest other label, in the file's own spacing
  fathom distance scan.tif -o edt2.npy --sites '>=128' --squared --nearest nearest.npy
      exact integer squared distances, and the index of each nearest site
  fathom distance 'scans/*.tif' -o 'out/{stem}_edt.tif' --jobs 4
      many files; an error in one does not stop the others
  fathom distance slices/ --stack -o field.tif --spacing 2,0.5,0.5
      the images of a folder as a volume
  fathom distance - -o - < mask.png > field.npy

Without --json the command prints one line per file that it wrote, or nothing with --quiet.
Exit codes: 0 done, 2 usage, 3 data or files, 4 device, 70 internal.)";

std::vector<Array> make_arrays(const Plan& plan) {
  std::vector<Array> arrays;
  for (const PlannedOutput& output : plan.outputs) arrays.emplace_back(output.dtype, output.shape);
  return arrays;
}

/// Also what only the work can tell: the field's range, where elements are left out of it, and an algorithm's report.
grid::DistanceReport compute(const Plan& plan, const AnyConstView& input, std::vector<Array>& arrays,
                             Progress& progress, DistanceOutcome& outcome) {
  progress.begin("computing");
  grid::DistanceOptions options = plan.options;
  options.execution.progress = progress.callback();
  grid::DistanceOutputs outputs;
  for (std::size_t k = 0; k < arrays.size(); ++k) view_in(outputs, plan.outputs[k].kind) = arrays[k].view();
  if (plan.algorithm) {
    published::DistanceOptions published = *plan.algorithm;
    published.execution.progress = progress.callback();
    outcome.algorithm = published::distance_transform(input, published, {outputs.distance, outputs.nearest});
    return {.backend = outcome.algorithm->backend,
            .threads = outcome.algorithm->threads,
            .scratch_bytes = outcome.algorithm->scratch_bytes,
            .device = outcome.algorithm->device};
  }
  if (plan.no_data.empty()) return grid::distance_transform(input, options, outputs);
  const Array gaps = grid::mark_sites(input, gaps_of(plan));
  const grid::DistanceReport report = transform_with_gaps(input, gaps, options, outputs);
  if (!plan.meaning.no_data.empty() && plan.field() != nullptr)
    outcome.range = fill_gaps(gaps, options, plan.no_data, arrays[plan.field_index()]);
  return report;
}

/// " · border: open, periodic"; nothing where all are open.
std::string border_note(const std::vector<grid::Border>& border) {
  const auto is_first = [&](grid::Border other) { return other == border.front(); };
  if (std::all_of(border.begin(), border.end(), is_first))
    return border.empty() || border.front() == grid::Border::open
               ? ""
               : fmt::format(" · border: {}", name_of(border.front()));
  std::string note;
  for (grid::Border one : border) note += fmt::format("{}{}", note.empty() ? " · border: " : ", ", name_of(one));
  return note;
}

/// "sites: zero elements · taxicab": what a reader of the chart must know to read it.
std::string chart_notes(const grid::DistanceOptions& options) {
  std::string notes = options.sites.rule == grid::Sites::Rule::labels
                          ? "sites: elements of another label"
                          : fmt::format("sites: {} elements", to_text(options.sites));
  if (options.metric != grid::Metric::euclidean) notes += fmt::format(" · {}", name_of(options.metric));
  notes += border_note(options.border);
  if (std::isfinite(options.max_distance)) notes += fmt::format(" · up to {:g}", options.max_distance);
  return notes;
}

void describe_result(const Plan& plan, const AnyConstView& input, const std::vector<Array>& arrays,
                     DistanceOutcome& outcome) {
  outcome.sites = plan.no_data.empty()
                      ? grid::count_sites(input, plan.options.sites)
                      : count_sites_beside(input, gaps_of(plan), plan.options.sites);
  if (outcome.sites == 0 && element_count(input.shape()) > 0 && plan.options.sites.rule == grid::Sites::Rule::zero)
    warn("no element is zero, so there is no site; --sites nonzero takes the others");
  if (plan.options.sites.rule == grid::Sites::Rule::labels) outcome.labels = count_labels(input);
  if (plan.field() != nullptr && !outcome.range) outcome.range = field_range(arrays[plan.field_index()].view());
}

AnyConstView first_of_batch(const AnyConstView& array, int batch_axes) {
  Shape shape;
  for (int axis = batch_axes; axis < array.rank(); ++axis) shape.push_back(array.shape()[axis]);
  return {array.data(), array.dtype(), shape};
}

Chart chart_of(const DistanceArguments& arguments, const Plan& plan, const Array& field) {
  Chart chart;
  chart.field = first_of_batch(field.view(), plan.input.batch_axes);
  chart.spacing = plan.options.spacing;
  for (const grid::Range& range : plan.options.region) chart.origin.push_back(range.begin);
  chart.is_signed = plan.options.signed_distance;
  chart.is_squared = arguments.squared;
  chart.title = arguments.title;
  chart.units = arguments.units.empty() ? plan.meaning.unit() : arguments.units;
  const std::string& input = arguments.input.path;
  chart.source = input_name(std::filesystem::path(input).filename().string());
  chart.notes = chart_notes(plan.options);
  if (plan.input.batch_axes > 0) chart.notes += fmt::format(" · the first along {}", plan.input.batch_names());
  return chart;
}

io::WriteReport write_array(const PlannedOutput& output, const Array& array, const Plan& plan, PendingFiles& files) {
  const Arranged in_order = arranged(array.view(), output.order);
  if (output.kind.has_components) return io::write(files.add(output.path), in_order.view);
  const bool is_field = !output.kind.is_of_site;
  io::WriteOptions options = is_field ? plan.field_format : io::WriteOptions{};
  options.format = output.format;
  io::Meaning meaning = plan.meaning;
  if (!is_field) meaning.no_data.clear();  // the value is an index like others
  return io::write(files.add(output.path), in_order.view, meaning, options);
}

void write_chart(const DistanceArguments& arguments, const Plan& plan, const Array& field, PendingFiles& files) {
  if (plan.preview.empty()) return;
  io::AtomicFile& file = files.add(plan.preview);
  draw_chart(chart_of(arguments, plan, field), file.stream());
}

/// Standard output comes last, since it cannot be taken back.
std::vector<io::WriteReport> write_all(const DistanceArguments& arguments, const Plan& plan,
                                       const std::vector<Array>& arrays) {
  PendingFiles files;
  std::vector<io::WriteReport> written(plan.outputs.size());
  const auto write_where = [&](bool to_standard_output) {
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const PlannedOutput& output = plan.outputs[k];
      if (output.path.empty() || io::writes_to(output.path, STDOUT_FILENO) != to_standard_output) continue;
      written[k] = write_array(output, arrays[k], plan, files);
    }
  };
  write_where(false);
  if (plan.field() != nullptr) write_chart(arguments, plan, arrays[plan.field_index()], files);
  write_where(true);
  files.commit();
  return written;
}

void print_outcome(const DistanceArguments& arguments, const Plan& plan, const DistanceOutcome& outcome) {
  if (arguments.json) return print_json(plan, outcome);
  std::vector<std::string> paths;
  for_each_path(arguments, [&](const std::string&, const std::string& path) { paths.push_back(path); });
  print_report(to_text(plan, outcome), paths);
}

/// One input, from its header to its report.
void transform_file(const DistanceArguments& arguments) {
  const auto start = Clock::now();
  Progress progress(!arguments.one_of_many);
  progress.begin("reading");
  const Plan plan = make_plan(arguments);
  if (arguments.plan) {
    progress.end();
    warn_of(plan);
    return arguments.json ? print_plan_json(plan) : print_text(plan_text(plan));
  }
  DistanceOutcome outcome;

  const Arranged input = read_elements(plan.input);
  warn_of(plan);
  outcome.seconds.read = seconds_since(start);

  const auto compute_start = Clock::now();
  std::vector<Array> arrays = make_arrays(plan);
  outcome.report = compute(plan, input.view, arrays, progress, outcome);
  outcome.seconds.compute = seconds_since(compute_start);
  describe_result(plan, input.view, arrays, outcome);

  const auto write_start = Clock::now();
  progress.begin("writing");
  outcome.written = write_all(arguments, plan, arrays);
  outcome.seconds.write = seconds_since(write_start);
  outcome.seconds.total = seconds_since(start);
  progress.end();
  const std::shared_ptr<void> released(nullptr, [&](void*) {
    if (arguments.one_of_many) release_signals();
  });
  print_outcome(arguments, plan, outcome);
}

/// Jobs divide processors and memory among themselves.
void share_resources(int jobs, DistanceArguments& file) {
  const int threads = parse_threads(file.threads);
  file.threads = std::to_string(std::max(1, (threads > 0 ? threads : available_threads()) / jobs));
  const std::size_t memory = file.memory.empty() ? free_memory().value_or(0) : parse_memory(file.memory);
  if (memory > 0) file.memory = std::to_string(memory / static_cast<std::size_t>(jobs));
}

}  // namespace

Work declare_distance(CLI::App* verb) {
  const auto arguments = std::make_shared<DistanceArguments>();
  DistanceArguments& a = *arguments;
  verb->footer(kExamples);
  verb->add_option("INPUT", a.inputs, "Images or volumes, one or many, or patterns such as 'c*.tif'; - for standard input")
      ->required();
  verb->add_option("-o,--output", a.output,
                   "Where the field goes: .npy .tif .nii .nii.gz .png; - for standard output; of many, "
                   "'out/{stem}_edt.tif'");
  verb->add_option("--jobs", a.jobs, "Of many inputs, so many at a time (default 1)");
  verb->add_option("--format", a.format,
                   "npy, tiff, nifti, png, nrrd, mha or vti, whatever the ending of -o (default for -: npy)");
  verb->add_flag("--compress", a.compress, "Deflate the TIFF or NRRD of -o");
  verb->add_option("--sites", a.sites,
                   "zero, nonzero, labels, or '>=V', '>V', '<=V', '<V', '==V', '!=V' (default zero)");
  verb->add_option("--metric", a.metric, "euclidean, taxicab or chessboard (default euclidean)");
  verb->add_option("--spacing", a.spacing,
                   "Size of an element: one number, or one per axis of space in the shape's order (default: the file's "
                   "or 1); print for the resolution at which an image is to be printed");
  declare_input(verb, a.input);
  verb->add_option("--no-data", a.no_data,
                   "Value of elements that are no sites and not inside; none: all are (default: the file's)");
  verb->add_flag("--use-input-nodata", a.use_input_nodata, "Write that value where the input has it");
  verb->add_option("--border", a.border, "open, sites or periodic; one or one per axis (default open)");
  verb->add_flag("--signed", a.signed_distance, "Negative inside, positive outside");
  verb->add_option("--surface", a.surface, "Where a signed field is zero: faces or centers (default faces)");
  verb->add_flag("--squared", a.squared, "Squared distances; exact integers where the spacing is 1");
  verb->add_option("--dtype", a.dtype,
                   "float32 (default) or float64; squared: uint32 (default where it fits), uint64 or float64");
  grid::for_each_output(
      [&](const grid::OutputKind& kind, std::string& path) {
        if (!kind.is_of_site) return;
        const std::string_view file = kind.has_components ? "NPY file of shape [rank, shape...]" : "File";
        verb->add_option("--" + std::string(kind.name), path, fmt::format("{} for the {}", file, kind.content));
      },
      a.site_files);
  verb->add_option("--max-distance", a.max_distance, "Farther elements get inf, and index -1");
  verb->add_option("--region", a.region, "Part of the result, such as 0:100,20: (begin:end per axis)");
  add_algorithm_option(verb, a.algorithm,
                       "pba, proximate, jfa, skw or brute, with parameters as in pba:m1=16,m2=16,m3=4",
                       distance_algorithms());
  verb->add_option("--preview", a.preview, "Chart of the field, as PNG");
  verb->add_option("--title", a.title, "Title of the chart");
  verb->add_option("--units", a.units, "Name of the unit of length in the chart");
  verb->add_option("--backend", a.backend, "auto, cpu or cuda (default auto)");
  verb->add_option("--threads", a.threads, "Most threads; 0 for all processors (default)");
  verb->add_option("--memory", a.memory, "Most memory for input, outputs and scratch, such as 4GiB or 512MB");
  verb->add_flag("--plan", a.plan, "Say what would be read and written, and the memory it takes; do nothing");
  verb->add_flag("--json", a.json, "Print one line of JSON");
  return [arguments] { return run_distance(*arguments); };
}

namespace {

/// The arguments for one of many inputs.
DistanceArguments of_file(const DistanceArguments& all, const std::string& input) {
  DistanceArguments one = all;
  one.input.path = input;
  one.one_of_many = true;
  for_each_path(one, [&](const std::string&, std::string& path) { path = named_after(path, input); });
  return one;
}

/// Refuses outputs that would replace one another, and inputs.
void check_names(const std::vector<DistanceArguments>& files) {
  std::map<std::string, std::string> taken;  // path, and what it is
  for (const DistanceArguments& file : files) taken[canonical_path(file.input.path)] = "an input";
  for (const DistanceArguments& file : files)
    for_each_path(file, [&](const std::string&, const std::string& path) {
      if (path.empty()) return;
      const auto [place, is_new] = taken.emplace(canonical_path(path), "the output of " + file.input.path);
      if (!is_new)
        throw InvalidArgument(fmt::format("{} is {} and an output of {}; {{stem}} in its name is the input's name",
                                          path, place->second, file.input.path));
    });
}

int run_many(const DistanceArguments& arguments, const std::vector<std::string>& inputs) {
  const auto jobs = static_cast<int>(std::min<std::int64_t>(parse_count("--jobs", arguments.jobs, 1, 1024),
                                                           static_cast<std::int64_t>(inputs.size())));
  check_options(arguments);
  std::vector<DistanceArguments> files;
  for (const std::string& input : inputs) files.push_back(of_file(arguments, input));
  check_names(files);
  if (jobs > 1)
    for (DistanceArguments& file : files) share_resources(jobs, file);
  return for_each_file(inputs, jobs, [&](std::size_t k) { transform_file(files[k]); });
}

}  // namespace

int run_distance(const DistanceArguments& arguments) {
  DistanceArguments one = arguments;
  if (arguments.input.stack) {
    one.input.slices = stack_of(arguments.inputs);
    one.input.path = arguments.inputs.front();
  } else {
    const std::vector<std::string> inputs = expanded(arguments.inputs);
    bool has_words = false;
    for_each_path(arguments, [&](const std::string&, const std::string& path) {
      has_words |= path.find('{') != std::string::npos;
    });
    if (inputs.size() > 1 || has_words) return run_many(arguments, inputs);
    one.input.path = inputs.front();
  }
  transform_file(one);
  return kDone;
}

}  // namespace fathom::cli
