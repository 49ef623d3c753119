#include "operation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "exit_code.h"
#include "fathom/io/points.h"
#include "fathom/io/stream.h"
#include "memory.h"
#include "no_data.h"
#include "options.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

std::string as_text(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Makes elements 0 where the mask is not.
void clear_where(const Array& mask, Array& array) {
  const std::size_t size = size_of(array.dtype());
  for (std::int64_t i = 0; i < mask.size(); ++i)
    if (mask.data()[i] != std::byte{0}) std::memset(array.data() + static_cast<std::size_t>(i) * size, 0, size);
}

/// Indices as a PNG holds them.
/// @throws InvalidArgument they do not fit 16 bits
Array in_16_bits(const AnyConstView& indices, const std::string& path) {
  using Rule = grid::Sites::Rule;
  const std::int64_t beyond =
      grid::count_sites(indices, {Rule::less, 0}) + grid::count_sites(indices, {Rule::greater, 65535});
  if (beyond > 0)
    throw InvalidArgument(fmt::format("{}: a PNG holds indices from 0 to 65535, and {} are others; use .npy, .tif or "
                                      ".nii",
                                      shown(path), beyond));
  const Array dense = dense_copy(indices);
  Array result(DType::uint16, dense.shape());
  visit_dtype(dense.dtype(), [&](auto tag) {
    const auto* from = dense.as<typename decltype(tag)::type>().data();
    std::transform(from, from + dense.size(), result.as<std::uint16_t>().data(),
                   [](auto index) { return static_cast<std::uint16_t>(index); });
  });
  return result;
}

void check_arguments(const OperationArguments& a) {
  if (!a.format.empty() && a.output.empty())
    throw InvalidArgument("--format is for the file of -o, which is not given");
  if (!a.preview.empty() && io::format_from_path(a.preview) != io::Format::png)
    throw InvalidArgument(fmt::format("--preview draws a PNG; '{}' does not end in .png", a.preview));
  if (a.preview.empty() && !(a.title.empty() && a.units.empty()))
    throw InvalidArgument(
        fmt::format("{} is for the chart of --preview, which is not given", a.title.empty() ? "--units" : "--title"));
  if (!a.memory.empty()) parse_memory(a.memory);
}

}  // namespace

void declare_image(CLI::App* verb, const char* name, const std::string& what, const std::string& result,
                   OperationArguments& a) {
  verb->add_option(name, a.input.path, what + ": .png .tif .nii .npy and others; - for standard input")->required();
  verb->add_option("-o,--output", a.output,
                   "Where " + result + " goes: .npy .tif .nii .nii.gz .png; - for standard output");
  verb->add_option("--format", a.format,
                   "npy, tiff, nifti, png, nrrd, mha or vti, whatever the ending of -o (default for -: npy)");
  verb->add_flag("--compress", a.compress, "Deflate the TIFF or NRRD of -o");
}

void declare_threshold(CLI::App* verb, OperationArguments& a) {
  verb->add_option("--threshold", a.threshold, "The object is what is not less (default: all but 0)");
}

void declare_preview(CLI::App* verb, const std::string& what, OperationArguments& a) {
  verb->add_option("--preview", a.preview, "Chart of " + what + ", as PNG");
  verb->add_option("--title", a.title, "Title of the chart");
  verb->add_option("--units", a.units, "Name of the unit of length in the chart");
}

void declare_work(CLI::App* verb, OperationArguments& a) {
  declare_input(verb, a.input);
  verb->add_option("--no-data", a.no_data, "Value of elements that hold nothing; none: all do (default: the file's)");
  verb->add_option("--spacing", a.spacing,
                   "Size of an element: one number, or one per axis of space in the shape's order (default: the file's "
                   "or 1); print for the resolution at which an image is to be printed");
  declare_execution(verb, a);
}

void declare_execution(CLI::App* verb, OperationArguments& a) {
  verb->add_option("--backend", a.backend, "auto, cpu or cuda (default auto)");
  verb->add_option("--threads", a.threads, "Most threads; 0 for all processors (default)");
  verb->add_option("--memory", a.memory, "Most memory for input, outputs and scratch, such as 4GiB or 512MB");
  verb->add_flag("--plan", a.plan, "Say what would be read and written, and the memory it takes; do nothing");
  verb->add_flag("--json", a.json, "Print one line of JSON");
}

io::Colours colours_of(const OperationArguments& arguments) {
  return arguments.threshold.empty() ? io::Colours::packed : io::Colours::luminance;
}

Operation::Operation(const char* verb, const OperationArguments& a, io::Colours colours) : verb_(verb), arguments_(a) {
  check_arguments(a);
  if (!a.spacing.empty() && a.spacing != kPrintSpacing) spacing_ = parse_spacing(a.spacing);
  if (!a.threshold.empty()) parse_threshold(a.threshold);
  execution_.backend = parse_backend(a.backend);
  execution_.threads = parse_threads(a.threads);
  progress_.begin("reading");
  InputArguments given = a.input;
  if (given.stack) given.slices = stack_of({given.path});
  if (!a.preview.empty()) io::AtomicFile::check(a.preview);
  input_ = probe_input(given, colours, a.spacing == kPrintSpacing);
  if (spacing_.empty()) spacing_ = input_.spacing();
  expand("--spacing", spacing_, input_.space());
  meaning_ = meaning_of_results(input_, spacing_, !a.spacing.empty(), warnings_);
  no_data_ = a.no_data.empty() ? input_.info.meaning.no_data : a.no_data == "none" ? "" : a.no_data;
  if (!no_data_.empty()) parse_no_data(no_data_);
  if (!a.no_data.empty()) check_no_data(input_, no_data_);
}

void Operation::refuse_colours() const {
  if (input_.info.meaning.colours > 0)
    throw InvalidArgument(fmt::format("{} holds colours, which are no values to carry; --channel takes one channel",
                                      input_name(input_.path)));
}

void Operation::refuse_batch(const char* what) const {
  if (input_.batch_axes > 0)
    throw InvalidArgument(fmt::format("{} holds arrays along {}; {}, which --channel or --ndim takes",
                                      input_name(input_.path), input_.batch_names(), what));
}

void Operation::add_table(const char* option, const std::string& path, const char* content) {
  using io::TableFormat;
  if (path == "-" || (!path.empty() && io::check_table(path, 1, TableFormat::automatic) == TableFormat::ply))
    throw InvalidArgument(fmt::format("{} takes the name of a .csv or .npy file, not '{}'", option, path));
  add({option, path, content, DType::float64, {0}, false});
}

void Operation::add(Output output) {
  std::vector<std::pair<std::string, std::string>> paths;
  for (const Output& other : outputs_) paths.emplace_back(other.option, other.path);
  paths.insert(paths.end(), {{output.option, output.path}, {"--preview", arguments_.preview}});
  check_outputs(paths, arguments_.json);
  if (!output.path.empty()) io::AtomicFile::check(output.path);
  if (!output.path.empty() && output.is_array) {
    io::WriteOptions options;
    if (output.path == "-") options.format = io::Format::npy;
    if (outputs_.empty() && !arguments_.format.empty()) options.format = parse_format(arguments_.format);
    options.compress = outputs_.empty() && arguments_.compress;
    output.format = io::check_write(output.path, output.dtype, file_shape(output), meaning_, options);
    const bool fits_png = size_of(output.dtype) < 3 && output.dtype != DType::int8 && output.dtype != DType::int16;
    if (output.carries && output.format == io::Format::png && !fits_png)
      throw InvalidArgument(fmt::format("{}: a PNG cannot hold values of {} as they are; use .npy, .tif or .nii",
                                        shown(output.path), fathom::name_of(output.dtype)));
    const std::string lost = losses_of(input_, output.path, output.format, output.carries ? input_.stated.no_data : "");
    const auto is_alike = [&](const Output& other) { return !other.path.empty() && other.format == output.format; };
    if (!lost.empty() && std::none_of(outputs_.begin(), outputs_.end(), is_alike)) warnings_.push_back(lost);
  }
  outputs_.push_back(std::move(output));
}

Shape Operation::file_shape(const Output& output) const {
  Shape shape;
  for (const int axis : inverse(input_.order)) shape.push_back(output.shape[axis]);
  return shape;
}

std::size_t Operation::array_bytes() const {
  const std::size_t size = size_of(input_.info.dtype);
  const auto elements = static_cast<std::size_t>(element_count(input_.file_shape));
  const auto taken = static_cast<std::size_t>(element_count(input_.shape()));
  std::size_t outputs = 0, largest = 0;
  for (const Output& output : outputs_) {
    const bool is_made = !output.path.empty() || &output == &outputs_.front();
    if (!output.is_array || !is_made) continue;
    const std::size_t bytes = static_cast<std::size_t>(element_count(output.shape)) * size_of(output.dtype);
    outputs += bytes;
    largest = std::max(largest, bytes);
  }
  // Where the last axis is another than the file's, the input is copied, and each output as it is written.
  const bool moves = !input_.order.empty() && input_.order.back() + 1 != static_cast<int>(input_.order.size());
  const std::size_t copies = moves ? std::max(taken * size, largest) : input_.pick ? taken * size : 0;
  return elements * size + copies + outputs + other_bytes_;
}

std::size_t Operation::object_bytes() const {
  const std::size_t has_gaps = no_data_.empty() ? 0 : 1;
  const std::size_t copy = arguments_.threshold.empty() ? has_gaps * size_of(input_.info.dtype) : 1;
  return static_cast<std::size_t>(element_count(input_.shape())) * (has_gaps + copy);
}

void Operation::fit(std::size_t scratch, std::size_t least, std::size_t other) {
  std::string options;
  bool any = !arguments_.preview.empty();
  for (const Output& output : outputs_) {
    options += (options.empty() ? "" : " or ") + std::string(output.option) + " FILE";
    any = any || !output.path.empty();
  }
  if (!any) throw InvalidArgument("no output was asked for; give " + options);
  std::optional<std::size_t> budget;
  if (!arguments_.memory.empty()) budget = parse_memory(arguments_.memory);
  scratch_ = scratch;
  least_scratch_ = least;
  other_bytes_ = other;
  execution_.scratch_limit = scratch_beside(array_bytes(), least, budget, "");
}

int Operation::print_plan() const {
  if (arguments_.json) {
    print_line({{"operation", "plan"},
                {"verb", verb_},
                {"input", describe(input_.path, input_.info)},
                {"outputs", outputs_json()},
                {"spacing", spacing_.empty() ? Json(nullptr) : Json(spacing_)},
                {"settings", settings},
                {"bytes", {{"arrays", array_bytes()}, {"scratch", scratch_}, {"least_scratch", least_scratch_}}}});
    return kDone;
  }
  const auto line = [](const std::string& name, const std::string& what) {
    return fmt::format("{:<9}{}{}\n", name, name.size() < 9 ? "" : " ", what);
  };
  std::string text =
      line("read", fmt::format("{}: {}, {}, {}", input_name(input_.path), io::name_of(input_.info.format),
                               fathom::name_of(input_.info.dtype), to_string(input_.info.shape)));
  if (input_.batch_axes > 0) text += line("batch", "arrays along " + input_.batch_names());
  if (!arguments_.threshold.empty()) text += line("object", "not less than " + arguments_.threshold);
  if (!spacing_.empty()) text += line("spacing", fmt::format("{}", fmt::join(spacing_, ", ")));
  for (const auto& [name, value] : settings.items()) text += line(name, as_text(value));
  for (const Output& output : outputs_)
    if (!output.path.empty())
      text += line("write", fmt::format("{}: {}{}", shown(output.path), output.content,
                                        !output.is_array ? ""
                                                         : fmt::format(", {}, {}, {}", io::name_of(output.format),
                                                                       fathom::name_of(output.dtype),
                                                                       to_string(file_shape(output)))));
  if (!arguments_.preview.empty()) text += line("write", arguments_.preview + ": chart");
  print_text(text + line("memory", fmt::format("{} for arrays, {} of scratch (at least {})", memory_text(array_bytes()),
                                               memory_text(scratch_), memory_text(least_scratch_))));
  return kDone;
}

grid::Sites Operation::gaps() const {
  grid::Sites gaps = parse_no_data(no_data_);
  gaps.value = compared_in(input_.info, gaps.value);
  return gaps;
}

Arranged Operation::read() {
  Arranged image = read_elements(input_);
  warn_of(input_);
  for (const std::string& warning : warnings_) warn(warning);
  return image;
}

void Operation::warn_of_nan(const AnyConstView& array, const char* otherwise) const {
  if (array.dtype() != DType::float32 && array.dtype() != DType::float64) return;
  const std::int64_t count =
      grid::count_sites(array, {grid::Sites::Rule::equal, std::numeric_limits<double>::quiet_NaN()});
  if (count > 0)
    warn(fmt::format("{} holds {} NaN, counted as not 0; {}", input_name(input_.path), count, otherwise));
}

Arranged Operation::read_object() {
  Arranged image = read();
  if (arguments_.threshold.empty() && arguments_.no_data != "none" && no_data_ != "nan")
    warn_of_nan(image.view, "--no-data nan leaves them out");
  if (arguments_.threshold.empty() && no_data_.empty()) return image;
  Array object;
  if (arguments_.threshold.empty()) object = dense_copy(image.view);
  else
    object = grid::mark_sites(image.view, {grid::Sites::Rule::greater_equal,
                                           compared_in(input_.info, parse_threshold(arguments_.threshold))});
  if (!no_data_.empty()) clear_where(grid::mark_sites(image.view, gaps()), object);
  const AnyConstView view = std::as_const(object).view();
  return {std::move(object), view};
}

void Operation::begin(const char* part) {
  if (seconds_.read == 0) seconds_.read = seconds_since(start_);
  part_ = Clock::now();
  progress_.begin(part);
  execution_.progress = progress_.callback();
}

void Operation::write(const std::vector<AnyConstView>& arrays, const std::function<void(PendingFiles&)>& others) {
  seconds_.compute = seconds_since(part_);
  begin("writing");
  PendingFiles files;
  // Standard output comes last, since it cannot be taken back.
  const auto write_where = [&](bool to_standard_output) {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      Output& output = outputs_[k];
      if (!output.is_array || output.path.empty()) continue;
      if (io::writes_to(output.path, STDOUT_FILENO) != to_standard_output) continue;
      io::WriteOptions options;
      options.format = output.format;
      options.compress = k == 0 && arguments_.compress;
      io::Meaning meaning = meaning_;
      if (output.carries) {
        meaning.no_data = no_data_;
        meaning.palette = input_.info.meaning.palette;
      }
      Arranged in_order = arranged(arrays[k], inverse(input_.order));
      const bool is_index = output.dtype == DType::int32 || output.dtype == DType::int64;
      if (is_index && output.format == io::Format::png) {
        in_order.data = in_16_bits(in_order.view, output.path);
        in_order.view = std::as_const(in_order.data).view();
      }
      const io::WriteReport written = io::write(files.add(output.path), in_order.view, meaning, options);
      if (written.scaled)
        output.detail += fmt::format("; stored = round((value - {:.9g}) * {:.9g})", written.offset, written.scale);
    }
  };
  write_where(false);
  if (others) others(files);
  write_where(true);
  files.commit();
  seconds_.write = seconds_since(part_);
  seconds_.total = seconds_since(start_);
  progress_.end();
}

Chart Operation::chart_of(const AnyConstView& array) const {
  Chart chart;
  chart.field = {array.data(), array.dtype(), input_.space()};
  chart.spacing = spacing_;
  chart.title = arguments_.title;
  chart.units = arguments_.units.empty() ? meaning_.unit() : arguments_.units;
  chart.source = input_name(std::filesystem::path(input_.path).filename().string());
  for (const auto& [name, value] : settings.items())
    chart.notes += fmt::format("{}{}: {}", chart.notes.empty() ? "" : " · ", name, as_text(value));
  if (input_.batch_axes > 0) chart.notes += fmt::format(" · the first along {}", input_.batch_names());
  return chart;
}

Json Operation::outputs_json() const {
  Json outputs = Json::array();
  for (const Output& output : outputs_) {
    if (output.path.empty()) continue;
    Json json = {{"path", output.path}, {"content", output.content}};
    if (output.is_array) {
      json["format"] = io::name_of(output.format);
      json["dtype"] = fathom::name_of(output.dtype);
      json["shape"] = to_json(file_shape(output));
    }
    outputs.push_back(json);
  }
  if (!arguments_.preview.empty())
    outputs.push_back({{"path", arguments_.preview}, {"content", "chart"}, {"format", "png"}});
  return outputs;
}

Json Operation::outcome(const Json& more) {
  Json json = {{"operation", verb_},
               {"input", describe(input_.path, input_.info)},
               {"outputs", outputs_json()},
               {"spacing", spacing_.empty() ? Json(nullptr) : Json(spacing_)},
               {"settings", settings}};
  json.update(more);
  json["seconds"] = {
      {"read", seconds_.read}, {"compute", seconds_.compute}, {"write", seconds_.write}, {"total", seconds_.total}};
  return json;
}

int Operation::say(const Json& json, const std::string& text) {
  if (arguments_.json) {
    print_line(json);
    return kDone;
  }
  std::string lines;
  std::vector<std::string> paths;
  if (input_.batch_axes > 0)
    lines += fmt::format("{}: arrays along {}, each by itself\n", input_name(input_.path), input_.batch_names());
  for (const Output& output : outputs_) {
    if (output.path.empty()) continue;
    paths.push_back(output.path);
    lines += shown(output.path) + ": " + output.content;
    if (output.is_array) lines += fmt::format(", {}, {}", fathom::name_of(output.dtype), to_string(file_shape(output)));
    lines += output.detail + "\n";
  }
  if (!arguments_.preview.empty()) lines += fmt::format("{}: chart\n", arguments_.preview);
  print_report(lines + text, paths);
  return kDone;
}

}  // namespace fathom::cli
