// MetaImage, as ITK has it: in one file (.mha), or a header (.mhd) that names a file of elements. Its space is LPS, and
// its unit mm unless it says otherwise. Source: the documentation of MetaIO, and what ITK 5 makes of its fields.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "io/text_number.h"
#include "io/text_volume.h"
#include "io/units.h"

namespace fathom::io::mha {

namespace {

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr TypeName kTypes[] = {
    {"MET_CHAR", DType::int8},         {"MET_UCHAR", DType::uint8},   {"MET_SHORT", DType::int16},
    {"MET_USHORT", DType::uint16},     {"MET_INT", DType::int32},     {"MET_UINT", DType::uint32},
    {"MET_LONG", DType::int32},        {"MET_ULONG", DType::uint32},  {"MET_LONG_LONG", DType::int64},
    {"MET_ULONG_LONG", DType::uint64}, {"MET_FLOAT", DType::float32}, {"MET_DOUBLE", DType::float64}};

/// "Name = value" lines up to the one that says where the elements are, which is the last.
class Fields {
 public:
  explicit Fields(ByteSource& source) : source_(source) {
    while (!has("ElementDataFile")) {
      const auto line = read_header_line(source);
      if (!line) absurd("it lacks the field 'ElementDataFile'");
      const std::size_t equals = line->find('=');
      if (equals == std::string::npos) continue;
      const std::string_view all = *line;
      fields_.emplace(trimmed(all.substr(0, equals)), trimmed(all.substr(equals + 1)));
    }
  }

  [[noreturn]] void absurd(const std::string& what) const { source_.fail("has an absurd MetaImage header: " + what); }
  bool has(const std::string& name) const { return fields_.contains(name); }
  /// Of the first of the names that is there.
  std::string text(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (has(name)) return fields_.at(name);
    return {};
  }
  bool flag(std::initializer_list<const char*> names, bool otherwise) const {
    const std::string value = lower_case(text(names));
    return value.empty() ? otherwise : value == "true" || value == "t" || value == "1";
  }
  std::int64_t integer(const char* name, std::int64_t otherwise) const {
    if (!has(name)) return otherwise;
    const auto value = parsed<std::int64_t>(fields_.at(name));
    if (!value) absurd(std::string("'") + name + "' is no number");
    return *value;
  }
  /// As many as wanted, or none. @throws IoError another count
  std::vector<double> numbers(std::initializer_list<const char*> names, std::size_t count) const {
    const std::string field = text(names);
    std::vector<double> values;
    for (std::string_view word : words_of(field)) {
      const auto value = number_of(word);
      if (!value || !std::isfinite(*value))
        absurd(std::string("'") + *names.begin() + "' has '" + one_line(word) + "'");
      values.push_back(*value);
    }
    if (!values.empty() && values.size() != count)
      absurd(std::string("'") + *names.begin() + "' has " + std::to_string(values.size()) + " values, not " +
             std::to_string(count));
    return values;
  }

 private:
  ByteSource& source_;
  std::map<std::string, std::string, std::less<>> fields_;
};

DType type_of(const ByteSource& source, const Fields& fields) {
  std::string name = fields.text({"ElementType"});
  if (name.ends_with("_ARRAY")) name.resize(name.size() - 6);
  for (const TypeName& type : kTypes)
    if (type.name == name) return type.dtype;
  source.fail("holds elements of the MetaImage type '" + one_line(name) +
              "'; integers and floats of up to 64 bits are read");
}

/// Rows of the matrix are the directions of the axes. Empty: it states none that can be used.
std::vector<std::array<double, 3>> directions_of(const Fields& fields, std::size_t rank,
                                                 std::vector<std::string>& warnings) {
  const auto matrix = fields.numbers({"TransformMatrix", "Orientation", "Rotation"}, rank * rank);
  std::vector<std::array<double, 3>> directions;
  for (std::size_t k = 0; k < std::min<std::size_t>(rank, 3); ++k) {
    std::array<double, 3> v{};
    for (std::size_t i = 0; i < std::min<std::size_t>(rank, 3); ++i)
      v[i] = matrix.empty() ? i == k : matrix[k * rank + i];
    const double size = std::hypot(v[0], v[1], v[2]);
    if (size == 0) {
      warnings.push_back("has a TransformMatrix without a direction for each axis: it is left out");
      return {};
    }
    for (double& x : v) x /= size;
    directions.push_back(v);
  }
  return directions;
}

std::vector<FileAxis> axes_of(const Fields& fields, std::size_t rank, std::vector<std::string>& warnings) {
  const std::string stated = fields.text({"DimSize"});
  const auto sizes = words_of(stated);
  if (sizes.size() != rank) fields.absurd("'DimSize' has another count of values than NDims");
  const auto spacing = fields.numbers({"ElementSpacing", "ElementSize"}, rank);
  const bool placed =
      !fields.text({"TransformMatrix", "Orientation", "Rotation", "Offset", "Position", "Origin"}).empty();
  const auto directions = placed ? directions_of(fields, rank, warnings) : std::vector<std::array<double, 3>>{};
  const std::string unit = fields.text({"DistanceUnits"});
  std::vector<FileAxis> axes(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    const auto extent = parsed<std::int64_t>(sizes[k]);
    if (!extent || *extent < 1) fields.absurd("'DimSize' has '" + one_line(sizes[k]) + "'");
    axes[k].extent = *extent;
    if (!spacing.empty()) {
      if (spacing[k] == 0) fields.absurd("'ElementSpacing' is 0");
      axes[k].spacing = std::abs(spacing[k]);
      if (k < 3) axes[k].unit = unit.empty() || unit == "?" ? "mm" : unit_named(unit);
    }
    if (k < directions.size()) axes[k].direction = directions[k];
  }
  return axes;
}

void set_data(const ByteSource& source, const Fields& fields, TextVolume& volume) {
  const bool big = fields.flag({"BinaryDataByteOrderMSB", "ElementByteOrderMSB"}, false);
  volume.swapped = big != (std::endian::native == std::endian::big);
  volume.coding = !fields.flag({"BinaryData"}, true)       ? Coding::text
                  : fields.flag({"CompressedData"}, false) ? Coding::deflated
                                                           : Coding::raw;
  const std::string file = fields.text({"ElementDataFile"});
  if (file.starts_with("LIST") || file.find('%') != std::string::npos)
    source.fail("names several files for its elements; save it as one file (.mha)");
  if (file.empty()) fields.absurd("'ElementDataFile' is empty");
  if (file != "LOCAL" && file != "Local" && file != "local") volume.data_file = file;
  volume.skip_bytes = fields.integer("HeaderSize", 0);
  if (volume.data_file.empty() && volume.skip_bytes > 0) fields.absurd("'HeaderSize' is for elements in another file");
  if (volume.skip_bytes < -1 || (volume.skip_bytes != 0 && volume.coding != Coding::raw))
    fields.absurd("'HeaderSize' is " + std::to_string(volume.skip_bytes));
}

TextVolume read_header(ByteSource& source) {
  const Fields fields(source);
  const std::string kind = fields.text({"ObjectType"});
  if (!kind.empty() && kind != "Image")
    source.fail("holds a MetaIO object of the kind '" + one_line(kind) + "', not an image");
  TextVolume volume;
  volume.info.format = Format::mha;
  volume.pixel.stored = type_of(source, fields);
  const auto rank = static_cast<std::size_t>(fields.integer("NDims", 0));
  if (rank < 1 || rank > 10) fields.absurd("'NDims' is not 1 to 10");
  std::vector<FileAxis> axes = axes_of(fields, rank, volume.info.warnings);
  const std::int64_t channels = fields.integer("ElementNumberOfChannels", 1);
  if (channels < 1) fields.absurd("'ElementNumberOfChannels' is " + std::to_string(channels));
  if (channels > 1) axes.insert(axes.begin(), {.extent = channels, .kind = AxisKind::channel});
  auto origin = fields.numbers({"Offset", "Position", "Origin"}, rank);
  origin.resize(3);
  set_axes(volume, source, axes, Place::Frame::lps, {origin[0], origin[1], origin[2]});
  for (const char* name : {"ElementToIntensityFunctionSlope", "ElementToIntensityFunctionOffset"})
    if (fields.has(name)) volume.info.warnings.push_back(std::string("states '") + name + "', which is not applied");
  set_data(source, fields, volume);
  return volume;
}

}  // namespace

ImageInfo probe(ByteSource& source, const ReadContext& context) {
  TextVolume volume = read_header(source);
  return finish_probe(volume, source, context);
}

Image read(ByteSource& source, const ReadContext& context) {
  TextVolume volume = read_header(source);
  return read_elements(volume, source, context);
}

}  // namespace fathom::io::mha
