// The description of a TIFF that we write: by ImageJ's rules where these hold the array, since most programs know them,
// else by OME's. Sources: as tiff_imagej.cpp and tiff_ome.cpp say.
#include <algorithm>

#include "fathom/core/error.h"
#include "io/numbers.h"
#include "io/tiff_meaning.h"

namespace fathom::io::tiff {

namespace {

/// The axes with names: given ones, or z, y, x.
std::vector<Axis> named_axes(const Shape& shape, const Meaning& meaning) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  std::vector<Axis> axes = meaning.axes;
  axes.resize(rank);
  if (meaning.axis_names().empty() && rank <= 3)
    for (std::size_t k = 0; k < rank; ++k) axes[k].name = "zyx"[3 - rank + k];
  std::string names;
  for (const Axis& axis : axes) names += axis.name ? axis.name : '?';
  std::string sorted = names.substr(0, rank - 2);
  std::sort(sorted.begin(), sorted.end());
  const bool known = names.ends_with("yx") && sorted.find_first_not_of("ctz") == std::string::npos &&
                     std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (!known)
    throw InvalidArgument(
        rank > 3 && meaning.axis_names().empty()
            ? "TIFF holds images and volumes of 2 or 3 axes, and more only of named axes (t, z, c, y, x), not of " +
                  std::to_string(rank) + "; write .npy"
            : "TIFF holds the axes t, z and c before y and x, not " + names + "; write .npy");
  return axes;
}

bool imagej_holds(DType dtype, const std::vector<Axis>& axes) {
  if (dtype != DType::uint8 && dtype != DType::uint16 && dtype != DType::float32) return false;
  std::size_t at = 0;
  constexpr std::string_view kOrder = "tzcyx";
  for (const Axis& axis : axes) {
    at = kOrder.find(axis.name, at);
    if (at == std::string_view::npos) return false;
    // Resolutions are fractions of 32-bit integers.
    if (axis.spacing != 0 && !(axis.spacing > 1e-6 && axis.spacing < 1e6)) return false;
  }
  return true;
}

std::string imagej_unit(const std::string& unit) {
  return unit == "µm" ? "micron" : unit == "°" ? "degree" : one_line(unit);
}

Description by_imagej(const Shape& shape, const std::vector<Axis>& axes) {
  const auto rank = axes.size();
  std::string text = "ImageJ=1.53t\n", counts;
  std::int64_t images = 1;
  for (std::size_t k = 0; k + 2 < rank; ++k) {
    const Axis& axis = axes[k];
    const std::int64_t extent = shape[static_cast<int>(k)];
    images *= extent;
    counts += axis.name == 't' ? "frames=" : axis.name == 'z' ? "slices=" : "channels=";
    counts += std::to_string(extent) + "\n";
    if (axis.spacing > 0 && axis.name == 'z') counts += "spacing=" + shortest(axis.spacing) + "\n";
    if (axis.spacing > 0 && axis.name == 't') counts += "finterval=" + shortest(axis.spacing) + "\n";
    if (axis.spacing > 0 && axis.name == 't' && !axis.unit.empty()) counts += "tunit=" + imagej_unit(axis.unit) + "\n";
  }
  if (images > 1) text += "images=" + std::to_string(images) + "\n" + counts;
  if (rank > 3) text += "hyperstack=true\nmode=grayscale\n";
  const Axis &y = axes[rank - 2], &x = axes[rank - 1];
  if (!x.unit.empty()) text += "unit=" + imagej_unit(x.unit) + "\n";
  return {text + "loop=false\n", x.spacing > 0 ? 1 / x.spacing : 0, y.spacing > 0 ? 1 / y.spacing : 0};
}

std::string_view ome_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "bit";
    case DType::float32: return "float";
    case DType::float64: return "double";
    default: return name_of(dtype);
  }
}

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '&') result += "&amp;";
    else if (c == '<') result += "&lt;";
    else if (c == '"') result += "&quot;";
    else result += c;
  }
  return result;
}

/// In ASCII, as a TIFF's text is to be.
std::string ome_unit(const std::string& unit) {
  if (unit.empty() || unit == "°") return "reference frame";
  return unit == "µm" ? "&#181;m" : unit == "Å" ? "&#197;" : unit == "µs" ? "&#181;s" : escaped(one_line(unit));
}

Description by_ome(DType dtype, const Shape& shape, const std::vector<Axis>& axes) {
  std::string order = "XY", attributes;
  std::int64_t channels = 1;
  std::vector<std::string> labels;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const Axis& axis = axes[k];
    const char upper = static_cast<char>(std::toupper(axis.name));
    if (order.find(upper) == std::string::npos) order += upper;
    attributes += std::string(" Size") + upper + "=\"" + std::to_string(shape[static_cast<int>(k)]) + "\"";
    if (axis.name == 'c') {
      channels = shape[static_cast<int>(k)];
      labels = axis.labels;
    }
    if (axis.spacing == 0 || axis.name == 'c') continue;
    const std::string name = axis.name == 't' ? "TimeIncrement" : std::string("PhysicalSize") + upper;
    attributes += " " + name + "=\"" + shortest(axis.spacing) + "\" " + name + "Unit=\"" + ome_unit(axis.unit) + "\"";
  }
  for (char missing : std::string_view("ZCT"))
    if (order.find(missing) == std::string::npos) {
      order += missing;
      attributes += std::string(" Size") + missing + "=\"1\"";
    }
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\">"
      "<Image ID=\"Image:0\"><Pixels ID=\"Pixels:0\" DimensionOrder=\"" + order + "\" Type=\"" +
      std::string(ome_type(dtype)) + "\"" + attributes + ">";
  labels.resize(static_cast<std::size_t>(channels));
  for (std::size_t k = 0; k < labels.size(); ++k)
    text += "<Channel ID=\"Channel:0:" + std::to_string(k) + "\"" +
            (labels[k].empty() ? "" : " Name=\"" + escaped(labels[k]) + "\"") + " SamplesPerPixel=\"1\"/>";
  return {text + "<TiffData/></Pixels></Image></OME>", 0, 0};
}

}  // namespace

Description describe(DType dtype, const Shape& shape, const Meaning& meaning) {
  const std::vector<Axis> axes = named_axes(shape, meaning);
  const bool is_geo = dynamic_cast<const NativeGeo*>(meaning.native.get()) != nullptr;
  if (!meaning.has_batch() && (is_geo || meaning.spacing().empty())) return {};  // a plain image or volume
  return imagej_holds(dtype, axes) ? by_imagej(shape, axes) : by_ome(dtype, shape, axes);
}

}  // namespace fathom::io::tiff
