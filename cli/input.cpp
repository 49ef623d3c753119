#include "input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstring>
#include <numeric>
#include <utility>

#include "options.h"
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

/// Spacing stays with the places of the shape, whatever they are called.
void name_axes(const std::string& names, io::ImageInfo& info, const std::string& path) {
  std::vector<io::Axis> axes = named_axes(names, info, path);
  for (std::size_t k = 0; k < axes.size() && !info.meaning.axes.empty(); ++k) {
    const io::Axis& old = info.meaning.axes[k];
    axes[k].spacing = old.spacing;
    axes[k].unit = old.unit;
    axes[k].labels = old.labels;
  }
  info.meaning.axes = axes;
}

/// The last axes are of space, and none else.
void split_axes(const std::string& ndim, io::ImageInfo& info) {
  const auto space = parse_count("--ndim", ndim, 1, std::min(info.shape.rank(), 8));
  for (std::size_t k = 0; k < info.meaning.axes.size(); ++k) {
    const bool is_space = k + static_cast<std::size_t>(space) >= info.meaning.axes.size();
    io::AxisKind& kind = info.meaning.axes[k].kind;
    if (is_space) kind = io::AxisKind::space;
    else if (kind == io::AxisKind::space) kind = io::AxisKind::other;
  }
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
  auto& axes = input.info.meaning.axes;
  const auto channels = std::find_if(axes.begin(), axes.end(), [](const io::Axis& axis) {
    return axis.kind == io::AxisKind::channel || axis.kind == io::AxisKind::samples;
  });
  if (channels == axes.end()) {
    const bool has_samples = input.info.meaning.colours > 0 || input.info.meaning.alpha;
    if (has_samples) return;  // the reader took it
    throw InvalidArgument(fmt::format("--channel {}: {} has no channels; --axes says which axis counts them", name,
                                      input.path));
  }
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

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

void declare_input(CLI::App* verb, InputArguments& a) {
  verb->add_option("--axes", a.axes,
                   "What the axes are, a letter each: z, y, x of space, c channels, t time, others (default: the file's)");
  verb->add_option("--channel", a.channel, "The channel to take: a number, a name, red, green, blue or alpha");
  verb->add_option("--ndim", a.ndim, "Axes of space, the last ones; the others are a batch (default: the file's, or all)");
}

io::Colours colours_for(const grid::Sites& sites) {
  using Rule = grid::Sites::Rule;
  const bool exact = sites.rule == Rule::zero || sites.rule == Rule::nonzero || sites.rule == Rule::labels;
  return exact ? io::Colours::packed : io::Colours::luminance;
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
  input.options.print_resolution = print_resolution;
  input.info = io::probe(arguments.path, input.options);
  for (const std::string& warning : input.info.warnings)
    warn(input_name(arguments.path) + " " + warning);
  input.file_shape = input.info.shape;
  input.stated = input.info.meaning;
  input.info.meaning.axes.resize(at(input.info.shape.rank()));
  if (!arguments.axes.empty()) name_axes(arguments.axes, input.info, arguments.path);
  if (!arguments.channel.empty()) pick_channel(arguments.channel, input);
  if (!arguments.ndim.empty()) split_axes(arguments.ndim, input.info);
  order_axes(input);
  return input;
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
  io::Image image = io::read(input.path, input.options);
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
  if (result.data.data() == nullptr) result.data = std::move(image.data);
  return result;
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> result(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) result[at(order[k])] = static_cast<int>(k);
  return result;
}

}  // namespace fathom::cli
