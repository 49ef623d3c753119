#include "io/tiff_meaning.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "io/numbers.h"
#include "io/text_volume.h"
#include "io/units.h"

namespace fathom::io::tiff {

namespace {

constexpr std::uint32_t kPixelScale = 33550, kTiePoints = 33922, kTransformation = 34264, kGeoKeys = 34735,
                        kGeoDoubles = 34736, kGeoText = 34737, kNoData = 42113, kLsm = 34412, kMetaMorph = 33629,
                        kImageJSizes = 50838, kImageJ = 50839;

/// A tag that libtiff does not know by itself: count and values.
template <class T>
std::vector<T> values_of(const TiffFile& file, std::uint32_t tag, TIFFDataType type) {
  const TIFFField* field = TIFFFindField(file.get(), tag, TIFF_ANY);
  if (!field || TIFFFieldDataType(field) != type || !TIFFFieldPassCount(field)) return {};
  std::uint32_t count = 0;
  const T* values = nullptr;
  if (!TIFFGetField(file.get(), tag, &count, &values) || !values) return {};
  return std::vector<T>(values, values + count);
}

std::string text_of(const TiffFile& file, std::uint32_t tag) {
  const std::vector<char> text = values_of<char>(file, tag, TIFF_ASCII);
  return std::string(text.begin(), std::find(text.begin(), text.end(), '\0'));
}

bool has_tag(const TiffFile& file, std::uint32_t tag) {
  const int count = TIFFGetTagListCount(file.get());
  for (int k = 0; k < count; ++k)
    if (TIFFGetTagListEntry(file.get(), k) == tag) return true;
  return false;
}

/// Pages that nobody orders make a volume.
Stack plain_stack(std::size_t pages) {
  Stack stack;
  if (pages > 1) {
    stack.axes = {axis_named('z')};
    stack.extents = {static_cast<std::int64_t>(pages)};
  }
  return stack;
}

void take_print_resolution(const ByteSource& source, const Tags& tags, ImageInfo& info) {
  constexpr double kInch = 25.4, kCentimetre = 10;
  const double unit = tags.resolution_unit == RESUNIT_INCH         ? kInch
                      : tags.resolution_unit == RESUNIT_CENTIMETER ? kCentimetre
                                                                   : 0;
  if (!(tags.x_resolution > 0) || !(tags.y_resolution > 0) || unit == 0)
    source.fail("states no resolution per inch or centimetre; give the spacing in numbers");
  auto& axes = info.meaning.axes;
  axes[axes.size() - 2].spacing = unit / tags.y_resolution;
  axes.back().spacing = unit / tags.x_resolution;
  axes[axes.size() - 2].unit = axes.back().unit = "mm";
}

/// The keys of a GeoTIFF. Source: OGC 19-008r4, GeoTIFF 1.1.
class GeoKeys {
 public:
  explicit GeoKeys(const Tags& tags) : tags_(tags) {}
  /// A key's number, or −1.
  int number(int key) const {
    const std::uint16_t* entry = find(key);
    return entry && entry[1] == 0 ? entry[3] : -1;
  }
  std::string text(int key) const {
    const std::uint16_t* entry = find(key);
    if (!entry || entry[1] != kGeoText || entry[3] >= tags_.geo_text.size()) return {};
    std::string text = tags_.geo_text.substr(entry[3], entry[2]);
    while (!text.empty() && (text.back() == '|' || text.back() == ' ')) text.pop_back();
    return text;
  }

 private:
  const std::uint16_t* find(int key) const {
    for (std::size_t k = 4; k + 4 <= tags_.geo_keys.size(); k += 4)
      if (tags_.geo_keys[k] == key) return &tags_.geo_keys[k];
    return nullptr;
  }
  const Tags& tags_;
};

std::string reference_of(const GeoKeys& keys) {
  constexpr int kCitation = 1026, kGeographicType = 2048, kProjectedType = 3072, kUserDefined = 32767;
  for (int key : {kProjectedType, kGeographicType})
    if (const int code = keys.number(key); code > 0 && code != kUserDefined) return "EPSG:" + std::to_string(code);
  const std::string citation = keys.text(kCitation);
  return citation.empty() ? "GeoTIFF" : one_line(citation);
}

std::vector<std::array<std::uint8_t, 3>> palette_of(const TiffFile& file) {
  const std::uint16_t* colours[3] = {};
  if (!TIFFGetField(file.get(), TIFFTAG_COLORMAP, &colours[0], &colours[1], &colours[2])) return {};
  const auto bits = file.field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  std::vector<std::array<std::uint8_t, 3>> palette(std::size_t{1} << bits);
  std::uint16_t most = 0;
  for (const auto* colour : colours) most = std::max(most, *std::max_element(colour, colour + palette.size()));
  const int step = most > 255 ? 257 : 1;  // some writers put 8 bits where 16 belong
  for (std::size_t k = 0; k < palette.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) palette[k][i] = static_cast<std::uint8_t>(colours[i][k] / step);
  return palette;
}

}  // namespace

Tags read_tags(const TiffFile& file, const ByteSource& source) {
  Tags tags;
  const char* description = nullptr;
  if (TIFFGetField(file.get(), TIFFTAG_IMAGEDESCRIPTION, &description) && description) tags.description = description;
  tags.pixel_scale = values_of<double>(file, kPixelScale, TIFF_DOUBLE);
  tags.tie_points = values_of<double>(file, kTiePoints, TIFF_DOUBLE);
  tags.transformation = values_of<double>(file, kTransformation, TIFF_DOUBLE);
  tags.geo_keys = values_of<std::uint16_t>(file, kGeoKeys, TIFF_SHORT);
  tags.geo_doubles = values_of<double>(file, kGeoDoubles, TIFF_DOUBLE);
  tags.geo_text = text_of(file, kGeoText);
  tags.no_data = text_of(file, kNoData);
  float x = 0, y = 0;
  if (TIFFGetField(file.get(), TIFFTAG_XRESOLUTION, &x)) tags.x_resolution = static_cast<double>(x);
  if (TIFFGetField(file.get(), TIFFTAG_YRESOLUTION, &y)) tags.y_resolution = static_cast<double>(y);
  tags.resolution_unit = file.field<std::uint16_t>(TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  tags.labels = imagej_labels(values_of<std::uint32_t>(file, kImageJSizes, TIFF_LONG),
                              values_of<std::uint8_t>(file, kImageJ, TIFF_BYTE));
  tags.is_lsm = has_tag(file, kLsm);
  tags.palette = palette_of(file);
  if (has_tag(file, kMetaMorph))
    source.fail("is a MetaMorph stack, whose planes are not read; save it as OME-TIFF or ImageJ TIFF");
  return tags;
}

std::shared_ptr<const Native> NativeGeo::cropped(const std::vector<std::int64_t>& begin) const {
  auto part = std::make_shared<NativeGeo>(*this);
  const auto x = static_cast<double>(begin[begin.size() - 1]), y = static_cast<double>(begin[begin.size() - 2]);
  for (std::size_t k = 0; k + 6 <= tags.tie_points.size(); k += 6) {
    part->tags.tie_points[k] -= x;
    part->tags.tie_points[k + 1] -= y;
  }
  if (tags.transformation.size() == 16)
    for (std::size_t row = 0; row < 2; ++row)
      part->tags.transformation[4 * row + 3] += tags.transformation[4 * row] * x + tags.transformation[4 * row + 1] * y;
  return part;
}

void read_geo(const Tags& tags, ImageInfo& info) {
  auto& axes = info.meaning.axes;
  Axis &y = axes[axes.size() - 2], &x = axes.back();
  if (tags.pixel_scale.size() >= 2) {
    x.spacing = std::abs(tags.pixel_scale[0]);
    y.spacing = std::abs(tags.pixel_scale[1]);
  } else if (tags.transformation.size() == 16) {
    x.spacing = std::hypot(tags.transformation[0], tags.transformation[4]);
    y.spacing = std::hypot(tags.transformation[1], tags.transformation[5]);
  }
  constexpr int kModelType = 1024, kGeographic = 2, kAngularUnits = 2054, kLinearUnits = 3076;
  const GeoKeys keys(tags);
  info.meaning.georeference = reference_of(keys);
  const bool degrees = keys.number(kModelType) == kGeographic;
  const int unit = keys.number(degrees ? kAngularUnits : kLinearUnits);
  if (x.spacing == 0 || y.spacing == 0) {
    x.spacing = y.spacing = 0;
    info.warnings.push_back("has a georeference without a size of pixels: distances are in pixels");
  } else if (degrees) {
    x.unit = "°";
  } else if (unit == 9002 || unit == 9003) {
    x.unit = "ft";
  } else if (unit == 9001 || unit == -1) {
    x.unit = "m";
  }
  y.unit = x.unit;
  if (const auto& t = tags.transformation; tags.pixel_scale.size() < 2 && t.size() == 16) {
    constexpr double kSlant = 1e-3;
    if (std::abs(t[0] * t[1] + t[4] * t[5]) > kSlant * x.spacing * y.spacing)
      info.warnings.push_back("has axes that are not perpendicular: distances are measured as if they were");
  }
  if (degrees && x.spacing > 0)
    info.warnings.push_back("has its spacing in degrees (" + info.meaning.georeference +
                            "): distances in degrees are not distances on the ground; reproject it, to metres");
  info.meaning.native = std::make_shared<NativeGeo>(tags);
}

bool read_tifffile(const ByteSource& source, const Tags& tags, const Page& first, std::size_t pages, Stack& stack,
                   ImageInfo& info) {
  if (!tags.description.starts_with("{")) return false;
  const auto json = nlohmann::json::parse(tags.description, nullptr, false);
  if (!json.is_object() || !json.contains("shape") || !json["shape"].is_array()) return false;
  std::vector<std::int64_t> shape;
  for (const auto& extent : json["shape"])
    if (extent.is_number_integer() && extent.get<std::int64_t>() > 0) shape.push_back(extent.get<std::int64_t>());
    else return false;
  const bool has_names = json.contains("axes") && json["axes"].is_string();
  std::string axes = has_names ? lower_case(json["axes"].get<std::string>()) : "";
  if (axes.size() != shape.size()) axes.clear();
  // What a page holds: [y, x], or samples before or behind.
  const bool behind = first.samples > 1 && !first.separate, before = first.samples > 1 && first.separate;
  if (behind && !shape.empty() && shape.back() == first.samples) shape.pop_back();
  if (shape.size() < 2 || shape[shape.size() - 2] != first.height || shape.back() != first.width) return false;
  shape.resize(shape.size() - 2);
  if (before && !shape.empty() && shape.back() == first.samples) shape.pop_back();
  std::size_t planes = 1;
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(planes, static_cast<std::size_t>(extent), &planes)) return false;
  if (planes < pages) return false;  // frames that were written one by one
  stack.in_one_block = pages == 1 && planes > 1;
  if (planes != pages && !stack.in_one_block)
    source.fail("says that it has the shape " + json["shape"].dump() + ", but holds " + std::to_string(pages) +
                " pages");
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1 && shape.size() > 1) continue;  // tifffile's own axes of nothing
    Axis axis = axes.empty() ? Axis{} : axis_named(axes[k]);
    if (axis.name == 'q' || axis.name == 'i') axis = {};  // tifffile's names for axes without one
    stack.axes.push_back(axis);
    stack.extents.push_back(shape[k]);
  }
  if (json.contains("spacing") && json["spacing"].is_number() && !stack.axes.empty() &&
      stack.axes.back().kind == AxisKind::space)
    info.warnings.push_back("has a spacing in a description that has no unit and no size of pixels: it is left out");
  return true;
}

Stack stack_of(const ByteSource& source, const Tags& tags, const Page& first, std::size_t pages,
               const ReadOptions& options, ImageInfo& info) {
  Stack stack;
  info.meaning.axes = {axis_named('y'), axis_named('x')};
  const bool known = read_ome(source, tags, first, pages, stack, info) ||
                     read_imagej(source, tags, pages, options, stack, info) ||
                     read_tifffile(source, tags, first, pages, stack, info);
  if (!known) stack = plain_stack(pages);
  if (stack.pages.empty() && !stack.in_one_block)
    for (std::size_t page = 0; page < pages; ++page) stack.pages.push_back(page);
  if (tags.is_geo()) read_geo(tags, info);
  if (const std::string_view no_data = trimmed(tags.no_data); no_data.empty() || parsed(no_data))
    info.meaning.no_data = no_data;
  else
    info.warnings.push_back("names a no-data value that is no number (" + one_line(no_data) + "): it is left out");
  if (first.photometric == Photometric::inverted && !known)
    info.warnings.push_back(
        "shows 0 as white (MINISWHITE): values are taken as they are stored, so that black is largest");
  if (options.print_resolution) take_print_resolution(source, tags, info);
  if (tags.is_lsm && !known)
    info.warnings.push_back("is a Zeiss LSM file, whose spacing and axes are not read; save it as OME-TIFF");
  return stack;
}

}  // namespace fathom::io::tiff
