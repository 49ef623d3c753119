#include "input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "files.h"
#include "options.h"
#include "report.h"
#include "warnings.h"

namespace fathom::cli {

namespace {

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

/// The axes as --axes names them.
std::vector<io::Axis> named_axes(const std::string& names, const io::ImageInfo& info, const std::string& path) {
  std::vector<io::Axis> axes;
  for (char c : names) {
    if (!std::isalpha(static_cast<unsigned char>(c)))
      throw InvalidArgument(fmt::format("--axes takes a letter for each axis, such as tczyx, not '{}'", names));
    axes.push_back(io::axis_named(static_cast<char>(std::tolower(static_cast<unsigned char>(c)))));
  }
  if (static_cast<int>(axes.size()) != info.shape.rank())
    throw InvalidArgument(fmt::format("--axes {} names {} axes, but {} has {}, {}", names, axes.size(), path,
                                      info.shape.rank(), to_string(info.shape)));
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t b = a + 1; b < axes.size(); ++b)
      if (axes[a].name == axes[b].name)
        throw InvalidArgument(fmt::format("--axes {} names the axis {} twice", names, axes[a].name));
  return axes;
}

/// Takes other axes, as many. Directions stay with the axes that are of space before and after; where one becomes so
/// that was not, nobody knows its direction.
void change_axes(const std::vector<io::Axis>& axes, io::Meaning& meaning) {
  std::vector<std::array<double, 3>> directions;
  std::size_t along = 0;
  bool known = meaning.place.has_value();
  for (std::size_t k = 0; k < axes.size() && known; ++k) {
    const bool was_space = meaning.axes[k].kind == io::AxisKind::space;
    const bool is_space = axes[k].kind == io::AxisKind::space;
    if (was_space && is_space && along < meaning.place->directions.size())
      directions.push_back(meaning.place->directions[along]);
    known = was_space || !is_space;
    along += was_space ? 1 : 0;
  }
  if (known) meaning.place->directions = directions;
  else meaning.place.reset();
  meaning.axes = axes;
}

/// Spacing stays with the places of the shape, whatever they are called.
void name_axes(const std::string& names, io::ImageInfo& info, const std::string& path) {
  std::vector<io::Axis> axes = named_axes(names, info, path);
  for (std::size_t k = 0; k < axes.size() && !info.meaning.axes.empty(); ++k) {
    const io::Axis& old = info.meaning.axes[k];
    axes[k].spacing = old.spacing;
    axes[k].unit = old.unit;
    axes[k].labels = old.labels;
  }
  change_axes(axes, info.meaning);
}

/// The last axes are of space, and none else.
void split_axes(const std::string& ndim, io::ImageInfo& info) {
  const auto space = parse_count("--ndim", ndim, 1, std::min(info.shape.rank(), 8));
  std::vector<io::Axis> axes = info.meaning.axes;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const bool is_space = k + static_cast<std::size_t>(space) >= axes.size();
    if (is_space) axes[k].kind = io::AxisKind::space;
    else if (axes[k].kind == io::AxisKind::space) axes[k].kind = io::AxisKind::other;
  }
  change_axes(axes, info.meaning);
}

/// Which element of the axis of channels has this name or number.
std::int64_t channel_named(const io::Axis& axis, std::int64_t extent, const std::string& name) {
  for (std::size_t k = 0; k < axis.labels.size(); ++k)
    if (axis.labels[k] == name) return static_cast<std::int64_t>(k);
  const bool number = !name.empty() && name.size() < 18 && name.find_first_not_of("0123456789") == std::string::npos;
  if (number && std::stoll(name) < extent) return std::stoll(name);
  std::string known = fmt::format("0 to {}", extent - 1);
  for (const std::string& label : axis.labels)
    if (!label.empty()) known += ", " + label;
  throw InvalidArgument(fmt::format("--channel takes {}, not '{}'", known, name));
}

void pick_channel(const std::string& name, Input& input) {
  if (input.info.channel_taken) return;
  auto& axes = input.info.meaning.axes;
  const auto channels = std::find_if(axes.begin(), axes.end(), [](const io::Axis& axis) {
    return axis.kind == io::AxisKind::channel || axis.kind == io::AxisKind::samples;
  });
  if (channels == axes.end())
    throw InvalidArgument(fmt::format("--channel {}: {} has no channels; --axes says which axis counts them", name,
                                      input.path));
  const int axis = static_cast<int>(channels - axes.begin());
  input.pick = Input::Pick{axis, channel_named(*channels, input.info.shape[axis], name)};
  axes.erase(channels);
  if (!input.stated.axes.empty()) input.stated.axes.erase(input.stated.axes.begin() + axis);
  Shape rest;
  for (int k = 0; k < input.info.shape.rank(); ++k)
    if (k != axis) rest.push_back(input.info.shape[k]);
  input.info.shape = rest;
}

void order_axes(Input& input) {
  const auto& axes = input.info.meaning.axes;
  for (int axis = 0; axis < input.info.shape.rank(); ++axis)
    if (axes[at(axis)].kind != io::AxisKind::space) input.order.push_back(axis);
  input.batch_axes = static_cast<int>(input.order.size());
  for (int axis = 0; axis < input.info.shape.rank(); ++axis)
    if (axes[at(axis)].kind == io::AxisKind::space) input.order.push_back(axis);
  if (input.batch_axes == input.info.shape.rank() && input.batch_axes > 0)
    throw InvalidArgument(fmt::format("{} has no axis of space among {}; --axes says which are", input.path,
                                      input.info.meaning.axis_names()));
}

template <class T>
void copy_rows(const T* from, const Shape& shape, const Strides& strides, T* to) {
  Shape index = shape;
  for (int k = 0; k < shape.rank(); ++k) index[k] = 0;
  const int last = shape.rank() - 1;
  const std::int64_t rows = element_count(shape) / std::max<std::int64_t>(shape[last], 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t offset = 0;
    for (int k = 0; k < last; ++k) offset += index[k] * strides[k];
    for (std::int64_t i = 0; i < shape[last]; ++i) *to++ = from[offset + i * strides[last]];
    for (int k = last - 1; k >= 0 && ++index[k] == shape[k]; --k) index[k] = 0;
  }
}

/// A dense copy of what begins where `array` begins and has this shape and these strides.
Array copy_axes(const AnyConstView& array, const Shape& shape, const Strides& strides) {
  Array copy(array.dtype(), shape);
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (copy.size() > 0)
      copy_rows(reinterpret_cast<const T*>(array.data()), shape, strides, reinterpret_cast<T*>(copy.data()));
  });
  return copy;
}

void check_slice(const std::string& path, const io::ImageInfo& slice, const io::ImageInfo& first) {
  if (slice.shape == first.shape && slice.dtype == first.dtype) return;
  throw IoError(fmt::format("{} is {} of {}, but the first slice is {} of {}; slices of a volume are alike", path,
                            to_string(slice.shape), fathom::name_of(slice.dtype), to_string(first.shape),
                            fathom::name_of(first.dtype)));
}

io::ImageInfo probe_file(const Input& input) {
  try {
    return io::probe(input.path, input.options);
  } catch (const IoError& error) {
    const std::string text = error.what();
    throw IoError(text.ends_with("name a file in it") ? text + ", or give --stack for a folder of slices" : text);
  }
}

/// The volume that slices make: the first says what they are, and all are like it.
io::ImageInfo probe_slices(const Input& input) {
  io::ImageInfo volume = io::probe(input.slices.front(), input.options);
  if (volume.shape.rank() != 2)
    throw IoError(fmt::format("{} has {} axes, {}; a slice has 2", input.slices.front(), volume.shape.rank(),
                              to_string(volume.shape)));
  for (const std::string& path : input.slices) check_slice(path, io::probe(path, input.options), volume);
  volume.shape = {static_cast<std::int64_t>(input.slices.size()), volume.shape[0], volume.shape[1]};
  volume.meaning.axes.resize(2);
  volume.meaning.axes.insert(volume.meaning.axes.begin(), io::axis_named('z'));
  volume.meaning.axes.front().unit = volume.meaning.unit();
  if (!volume.meaning.spacing().empty())
    volume.warnings.push_back(
        "is a stack whose slices do not say how far apart they are: 1 is taken; --spacing says it");
  volume.meaning.place.reset();
  volume.meaning.native.reset();
  return volume;
}

io::Image read_slices(const Input& input) {
  io::Image volume{Array(input.info.dtype, input.file_shape), {}, {}};
  std::byte* to = volume.data.data();
  for (const std::string& path : input.slices) {
    const io::Image slice = io::read(path, input.options);
    if (slice.data.bytes() * input.slices.size() != volume.data.bytes())
      throw IoError(fmt::format("{} changed while it was read; try again", path));
    std::memcpy(to, slice.data.data(), slice.data.bytes());
    to += slice.data.bytes();
  }
  return volume;
}

}  // namespace

std::vector<std::string> stack_of(const std::vector<std::string>& inputs) {
  std::error_code ignored;
  if (inputs.size() == 1 && std::filesystem::is_directory(inputs.front(), ignored)) return files_in(inputs.front());
  return expanded(inputs);
}

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

void declare_input(CLI::App* verb, InputArguments& a) {
  verb->add_flag("--stack", a.stack, "The images of a folder, or those named, are the slices of a volume");
  verb->add_option(
      "--axes", a.axes,
      "What the axes are, a letter each: z, y, x of space, c channels, t time, others (default: the file's)");
  verb->add_option("--channel", a.channel, "The channel to take: a number, a name, red, green, blue or alpha");
  verb->add_option("--ndim", a.ndim,
                   "Axes of space, the last ones; the others are a batch (default: the file's, or all)");
}

io::Colours colours_for(const grid::Sites& sites) {
  using Rule = grid::Sites::Rule;
  const bool exact = sites.rule == Rule::zero || sites.rule == Rule::nonzero || sites.rule == Rule::labels;
  return exact ? io::Colours::packed : io::Colours::luminance;
}

grid::Sites::Value compared_in(const io::ImageInfo& info, const grid::Sites::Value& value) {
  if (!info.half || !std::isfinite(value.real())) return value;
  constexpr int kDigits = 11, kLeast = -24;  // of the significand; the power of two of the least number
  constexpr double kMost = 65504;
  int exponent = 0;
  std::frexp(value.real(), &exponent);
  const double step = std::ldexp(1.0, std::max(exponent - kDigits, kLeast));
  const double rounded = std::nearbyint(value.real() / step) * step;
  return std::abs(rounded) > kMost ? std::copysign(HUGE_VAL, rounded) : rounded;
}

Shape Input::shape() const {
  Shape shape;
  for (int axis : order) shape.push_back(info.shape[axis]);
  return shape;
}

Shape Input::space() const {
  Shape shape;
  for (std::size_t k = at(batch_axes); k < order.size(); ++k) shape.push_back(info.shape[order[k]]);
  return shape;
}

std::vector<double> Input::spacing() const {
  const std::vector<double> all = info.meaning.spacing();
  std::vector<double> spacing;
  for (std::size_t k = at(batch_axes); k < order.size() && !all.empty(); ++k) spacing.push_back(all[at(order[k])]);
  return spacing;
}

std::string Input::batch_names() const {
  std::string names;
  for (std::size_t k = 0; k < at(batch_axes); ++k) {
    const char name = info.meaning.axes[at(order[k])].name;
    names += (names.empty() ? "" : ", ") + (name ? std::string(1, name) : fmt::format("axis {}", order[k]));
  }
  return names;
}

Input probe_input(const InputArguments& arguments, io::Colours colours, bool print_resolution) {
  Input input;
  input.path = arguments.path;
  input.options.colours = colours;
  input.options.channel = arguments.channel;
  input.options.tones = arguments.tones;
  input.options.axes_known = !arguments.axes.empty() || !arguments.ndim.empty();
  input.options.print_resolution = print_resolution;
  input.slices = arguments.slices;
  input.info = input.slices.empty() ? probe_file(input) : probe_slices(input);
  input.file_shape = input.info.shape;
  input.stated = input.info.meaning;
  input.info.meaning.axes.resize(at(input.info.shape.rank()));
  if (!arguments.axes.empty()) name_axes(arguments.axes, input.info, arguments.path);
  if (!arguments.channel.empty()) pick_channel(arguments.channel, input);
  if (!arguments.ndim.empty()) split_axes(arguments.ndim, input.info);
  order_axes(input);
  if (print_resolution && input.spacing().empty())
    throw IoError(fmt::format("{} states no resolution; give the spacing in numbers", input_name(input.path)));
  return input;
}

void check_count(const char* option, std::size_t values, const Shape& shape) {
  const auto axes = static_cast<std::size_t>(shape.rank());
  if (values > 1 && values != axes)
    throw InvalidArgument(
        fmt::format("{} has {} values, but the shape {} has {} {}; give one for all axes or one per axis", option,
                    values, to_string(shape), axes, axes == 1 ? "axis" : "axes"));
}

io::Meaning meaning_of_results(const Input& input, const std::vector<double>& spacing, bool given,
                               std::vector<std::string>& warnings) {
  io::Meaning meaning = input.info.meaning;
  for (std::size_t k = 0; k < spacing.size(); ++k)
    meaning.axes[at(input.order[k + at(input.batch_axes)])].spacing = spacing[k];
  meaning.palette.clear();
  meaning.no_data.clear();
  if (given && !meaning.georeference.empty()) {
    warnings.push_back(fmt::format("{}: with another --spacing the georeference ({}) is not kept",
                                   input_name(input.path), meaning.georeference));
    meaning.georeference.clear();
    meaning.native.reset();
  }
  return meaning;
}

std::string losses_of(const Input& input, const std::string& path, io::Format format, const std::string& no_data) {
  io::Meaning stated = input.stated;
  stated.no_data = no_data;  // said of results if they have it
  const std::string lost = io::losses(format, stated);
  if (lost.empty()) return {};
  return fmt::format("{}: {} does not hold what the input says: {}", shown(path), io::title_of(format),
                     lost);
}

void warn_of(const Input& input) {
  for (const std::string& warning : input.info.warnings) warn(input_name(input.path) + " " + warning);
}

Arranged arranged(const AnyConstView& array, const std::vector<int>& order) {
  Shape shape;
  Strides strides;
  for (int axis : order) {
    shape.push_back(array.shape()[axis]);
    strides.push_back(array.strides()[axis]);
  }
  if (order.empty() || strides.back() == 1) return {{}, {array.data(), array.dtype(), shape, strides}};
  Array copy = copy_axes(array, shape, strides);
  const AnyConstView view = std::as_const(copy).view();
  return {std::move(copy), view};
}

Array dense_copy(const AnyConstView& array) { return copy_axes(array, array.shape(), array.strides()); }

Arranged read_elements(const Input& input) {
  io::Image image = input.slices.empty() ? io::read(input.path, input.options) : read_slices(input);
  if (image.data.shape() != input.file_shape || image.data.dtype() != input.info.dtype)
    throw IoError(fmt::format("{} changed while it was read; try again", input.path));
  AnyConstView view = std::as_const(image.data).view();
  std::vector<int> order = input.order;
  if (input.pick) {
    const auto offset = input.pick->index * view.strides()[input.pick->axis];
    view = {view.data() + offset * static_cast<std::int64_t>(size_of(view.dtype())), view.dtype(), view.shape(),
            view.strides()};
    for (int& axis : order)
      if (axis >= input.pick->axis) ++axis;
  }
  Arranged result = arranged(view, order);
  if (input.pick && result.data.data() == nullptr) {  // the other channels go
    result.data = dense_copy(result.view);
    result.view = std::as_const(result.data).view();
  }
  if (result.data.data() == nullptr) result.data = std::move(image.data);
  return result;
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> result(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) result[at(order[k])] = static_cast<int>(k);
  return result;
}

}  // namespace fathom::cli
