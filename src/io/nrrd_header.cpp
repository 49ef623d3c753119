// NRRD headers. Source: Definition of NRRD File Format, https://teem.sourceforge.net/nrrd/format.html. What says
// nothing about elements and where they lie – content, thicknesses, centers, labels, measurement frame, key/value pairs
// – is passed over.
#include "io/nrrd_header.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "io/text_number.h"
#include "io/units.h"

namespace fathom::io::nrrd {

namespace {

using Vector = std::array<double, 3>;

struct TypeName {
  std::string_view name;
  DType dtype;
};
/// Without blanks, "signed" and a last "int" or "_t".
constexpr TypeName kTypes[] = {{"char", DType::int8},
                               {"int8", DType::int8},
                               {"uchar", DType::uint8},
                               {"unsignedchar", DType::uint8},
                               {"uint8", DType::uint8},
                               {"short", DType::int16},
                               {"int16", DType::int16},
                               {"ushort", DType::uint16},
                               {"unsignedshort", DType::uint16},
                               {"uint16", DType::uint16},
                               {"int", DType::int32},
                               {"int32", DType::int32},
                               {"uint", DType::uint32},
                               {"unsignedint", DType::uint32},
                               {"uint32", DType::uint32},
                               {"longlong", DType::int64},
                               {"int64", DType::int64},
                               {"ulonglong", DType::uint64},
                               {"unsignedlonglong", DType::uint64},
                               {"uint64", DType::uint64},
                               {"float", DType::float32},
                               {"double", DType::float64}};

struct Space {
  std::string_view name, short_name;
  int dimension;
  Place::Frame frame = Place::Frame::unstated;
  bool flip_x = false;  ///< against the frame
};
constexpr Space kSpaces[] = {{"right-anterior-superior", "ras", 3, Place::Frame::ras},
                             {"left-anterior-superior", "las", 3, Place::Frame::ras, true},
                             {"left-posterior-superior", "lps", 3, Place::Frame::lps},
                             {"right-anterior-superior-time", "rast", 4, Place::Frame::ras},
                             {"left-anterior-superior-time", "last", 4, Place::Frame::ras, true},
                             {"left-posterior-superior-time", "lpst", 4, Place::Frame::lps},
                             {"scanner-xyz", "", 3},
                             {"scanner-xyz-time", "", 4},
                             {"3d-right-handed", "", 3},
                             {"3d-left-handed", "", 3},
                             {"3d-right-handed-time", "", 4},
                             {"3d-left-handed-time", "", 4}};

std::string without_blanks(std::string_view text) {
  std::string result;
  for (char c : text)
    if (!is_blank(c)) result += c;
  return result;
}

/// The texts in quotes, or the words where there are no quotes.
std::vector<std::string> in_quotes(std::string_view text) {
  std::vector<std::string> result;
  if (text.find('"') == std::string_view::npos) {
    for (std::string_view word : words_of(text)) result.emplace_back(word);
    return result;
  }
  for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at)) {
    const std::size_t end = text.find('"', at + 1);
    if (end == std::string_view::npos) break;
    result.emplace_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return result;
}

/// Fields by their names in small letters and without blanks.
class Fields {
 public:
  explicit Fields(ByteSource& source) : source_(source) {
    for (auto line = read_header_line(source); line && !line->empty(); line = read_header_line(source)) {
      const std::size_t colon = line->find(':');
      if ((*line)[0] == '#' || colon == std::string::npos) continue;
      if (line->size() > colon + 1 && (*line)[colon + 1] == '=') continue;  // a key and its value
      std::string name = without_blanks(lower_case(line->substr(0, colon)));
      fields_.emplace(std::move(name), std::string(trimmed(std::string_view(*line).substr(colon + 1))));
    }
  }

  [[noreturn]] void absurd(const std::string& what) const { source_.fail("has an absurd NRRD header: " + what); }
  bool has(const std::string& name) const { return fields_.contains(name); }
  std::string text(const std::string& name) const { return has(name) ? fields_.at(name) : std::string(); }
  /// @throws IoError the field is missing
  std::string needed(const std::string& name) const {
    if (!has(name)) absurd("it lacks the field '" + name + "'");
    return fields_.at(name);
  }
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const {
    if (!has(name)) return otherwise;
    const auto value = parsed<std::int64_t>(text(name));
    if (!value) absurd("'" + name + "' is no number");
    return *value;
  }
  /// One per axis, or none. @throws IoError another count
  std::vector<std::string> per_axis(const std::string& name, std::size_t count, std::vector<std::string> values) const {
    if (has(name) && values.size() != count)
      absurd("'" + name + "' has " + std::to_string(values.size()) + " values, not " + std::to_string(count));
    return values;
  }
  std::vector<std::string> words(const std::string& name, std::size_t count) const {
    std::vector<std::string> values;
    const std::string field = text(name);
    for (std::string_view word : words_of(field)) values.emplace_back(word);
    return per_axis(name, count, std::move(values));
  }
  std::vector<std::string> quotes(const std::string& name, std::size_t count) const {
    return per_axis(name, count, in_quotes(text(name)));
  }
  double number(const std::string& name, const std::string& word) const {
    const auto value = number_of(word);
    if (!value) absurd("'" + name + "' has '" + one_line(word) + "' for a number");
    return *value;
  }
  /// "(1,0,0) none (0,2,0)": a vector or none each.
  std::vector<std::vector<double>> vectors(const std::string& name, std::size_t count, std::size_t dimension) const {
    std::vector<std::vector<double>> result;
    const std::string field = text(name);
    for (std::string_view rest = trimmed(field); !rest.empty(); rest = trimmed(rest)) {
      std::vector<double> vector;
      const std::size_t end = rest.starts_with('(') ? rest.find(')') : rest.starts_with("none") ? 3 : std::string::npos;
      if (end == std::string::npos) absurd("'" + name + "' is no list of vectors");
      if (rest.starts_with('(')) {
        std::string inside(rest.substr(1, end - 1));
        std::replace(inside.begin(), inside.end(), ',', ' ');
        for (std::string_view word : words_of(inside)) vector.push_back(number(name, std::string(word)));
        if (vector.size() != dimension) absurd("'" + name + "' has vectors of another dimension than its space");
      }
      result.push_back(vector);
      rest.remove_prefix(end + 1);
    }
    if (has(name) && result.size() != count) absurd("'" + name + "' has another count of vectors than axes");
    return result;
  }

 private:
  ByteSource& source_;
  std::map<std::string, std::string> fields_;
};

DType type_of(const ByteSource& source, const Fields& fields) {
  std::string name = without_blanks(lower_case(fields.needed("type")));
  const auto drop = [&](std::string_view end) {
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  };
  drop("_t");
  if (name.starts_with("signed")) name.erase(0, 6);
  if (name.ends_with("shortint") || name.ends_with("longint")) drop("int");
  for (const TypeName& type : kTypes)
    if (type.name == name) return type.dtype;
  source.fail("holds elements of the NRRD type '" + one_line(fields.text("type")) +
              "'; integers and floats of up to 64 bits are read");
}

Coding coding_of(const ByteSource& source, const Fields& fields) {
  const std::string name = lower_case(fields.needed("encoding"));
  if (name == "raw") return Coding::raw;
  if (name == "gzip" || name == "gz") return Coding::deflated;
  if (name == "ascii" || name == "text" || name == "txt") return Coding::text;
  source.fail("holds elements in the encoding '" + one_line(name) + "'; save it as raw, gzip or ascii");
}

Space space_of(const Fields& fields) {
  const std::string name = lower_case(fields.text("space"));
  for (const Space& space : kSpaces)
    if (!name.empty() && (name == space.name || name == space.short_name)) return space;
  if (!name.empty()) fields.absurd("the space '" + one_line(name) + "' is not known");
  const auto dimension = fields.integer("spacedimension", 0);
  if (dimension < 0 || dimension > 8) fields.absurd("'space dimension' is not 1 to 8");
  return {"", "", static_cast<int>(dimension)};
}

/// The first three components, in the frame.
Vector in_three(const std::vector<double>& v, const Space& space) {
  Vector three{};
  std::copy_n(v.begin(), std::min<std::size_t>(3, v.size()), three.begin());
  if (space.flip_x) three[0] = 0 - three[0];
  return three;
}

/// What `kinds` makes of an axis that no direction in space tells of.
AxisKind kind_of(const std::string& kind, bool may_be_space) {
  if (kind == "time") return AxisKind::time;
  if (kind == "space" || kind == "domain") return AxisKind::space;
  if (kind.empty() || kind == "none" || kind == "???" || kind == "unknown")
    return may_be_space ? AxisKind::space : AxisKind::other;
  return AxisKind::channel;
}

/// Size, direction and unit of an axis that has a direction in space.
void set_direction(FileAxis& axis, const std::vector<double>& v, const Space& space, const Fields& fields) {
  double squares = 0;
  for (double x : v) squares += x * x;
  axis.spacing = std::sqrt(squares);
  if (!std::isfinite(axis.spacing) || axis.spacing == 0)
    fields.absurd("'space directions' has a vector without a direction");
  if (axis.kind == AxisKind::time) return;
  axis.kind = AxisKind::space;
  Vector three = in_three(v, space);
  const double size = std::hypot(three[0], three[1], three[2]);
  if (size == 0) {  // along a fourth axis, which only some spaces call time
    if (space.name.ends_with("time")) axis.kind = AxisKind::time;
    return;
  }
  for (double& x : three) x /= size;
  axis.direction = three;
}

std::vector<FileAxis> axes_of(const Fields& fields, const Space& space, std::vector<std::string>& warnings) {
  const auto rank = static_cast<std::size_t>(fields.integer("dimension", 0));
  if (rank < 1 || rank > 16) fields.absurd("'dimension' is not 1 to 16");
  fields.needed("sizes");
  const auto sizes = fields.words("sizes", rank), spacings = fields.words("spacings", rank),
             kinds = fields.words("kinds", rank);
  const auto units = fields.quotes("units", rank),
             space_units = fields.quotes("spaceunits", static_cast<std::size_t>(space.dimension));
  const auto directions = fields.vectors("spacedirections", rank, static_cast<std::size_t>(space.dimension));
  const bool timed = space.name.ends_with("time") || std::find(kinds.begin(), kinds.end(), "time") != kinds.end();
  const auto lengths = space_units.end() - (timed && !space_units.empty() ? 1 : 0);  // time is the last
  const bool one_unit =
      std::all_of(space_units.begin(), lengths, [&](const std::string& unit) { return unit == space_units[0]; });
  if (!one_unit) warnings.push_back("states several units along the axes of its space: they are left out");
  std::vector<FileAxis> axes(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    FileAxis& axis = axes[k];
    const auto extent = parsed<std::int64_t>(sizes[k]);
    if (!extent || *extent < 1) fields.absurd("'sizes' has '" + one_line(sizes[k]) + "'");
    axis.extent = *extent;
    axis.kind = kind_of(kinds.empty() ? "" : lower_case(kinds[k]), directions.empty() || !directions[k].empty());
    if (!units.empty()) axis.unit = unit_named(units[k]);
    const double spacing = spacings.empty() ? 0 : std::abs(fields.number("spacings", spacings[k]));
    if (std::isfinite(spacing)) axis.spacing = spacing;  // NaN: an axis that has none
    if (directions.empty() || directions[k].empty()) continue;
    set_direction(axis, directions[k], space, fields);
    if (space_units.empty()) continue;
    if (axis.kind == AxisKind::time) axis.unit = unit_named(space_units.back());
    else if (one_unit) axis.unit = unit_named(space_units[0]);
  }
  return axes;
}

/// A fastest axis of three or four colours is part of the elements.
void take_colours(const Fields& fields, TextVolume& volume, std::vector<FileAxis>& axes) {
  const std::string field = fields.text("kinds");
  const auto kinds = words_of(field);
  if (kinds.empty() || axes.size() < 2) return;
  const std::string kind = lower_case(kinds[0]);
  const bool alpha = kind == "rgba-color";
  if ((!alpha && kind != "rgb-color") || axes[0].extent != (alpha ? 4 : 3)) return;
  volume.pixel.samples = alpha ? 4 : 3;
  volume.pixel.colour = true;
  volume.pixel.alpha = alpha;
  axes.erase(axes.begin());
}

void set_data(const ByteSource& source, const Fields& fields, TextVolume& volume) {
  volume.coding = coding_of(source, fields);
  const bool little = lower_case(fields.text("endian")) != "big";
  if (size_of(volume.pixel.stored) > 1 && volume.coding != Coding::text) {
    const std::string endian = lower_case(fields.needed("endian"));
    if (endian != "big" && endian != "little") fields.absurd("'endian' is neither little nor big");
  }
  volume.swapped = little != (std::endian::native == std::endian::little);
  volume.data_file = fields.text("datafile");
  if (volume.data_file.starts_with("LIST") || volume.data_file.find('%') != std::string::npos)
    source.fail("names several files for its elements; save it as one file (.nrrd)");
  volume.skip_lines = fields.integer("lineskip", 0);
  volume.skip_bytes = fields.integer("byteskip", 0);
  if (volume.skip_lines < 0 || volume.skip_bytes < -1) fields.absurd("a count to skip is negative");
  if (volume.skip_bytes == -1 && volume.coding != Coding::raw) fields.absurd("'byte skip: -1' is for raw elements");
}

}  // namespace

TextVolume read_header(ByteSource& source) {
  const auto magic = read_header_line(source);
  if (!magic || magic->size() != 8 || !magic->starts_with("NRRD000") || (*magic)[7] < '1' || (*magic)[7] > '5')
    source.fail("is no NRRD file of the versions 1 to 5");
  const Fields fields(source);
  TextVolume volume;
  volume.info.format = Format::nrrd;
  volume.pixel.stored = type_of(source, fields);
  const Space space = space_of(fields);
  std::vector<FileAxis> axes = axes_of(fields, space, volume.info.warnings);
  take_colours(fields, volume, axes);
  std::vector<double> origin(static_cast<std::size_t>(space.dimension), 0);
  if (fields.has("spaceorigin"))
    if (const auto stated = fields.vectors("spaceorigin", 1, origin.size()); !stated[0].empty()) origin = stated[0];
  set_axes(volume, source, axes, space.frame, in_three(origin, space));
  for (const char* name : {"axismins", "axismaxs", "oldmin", "oldmax"})
    if (fields.has(name)) volume.info.warnings.push_back(std::string("states '") + name + "', which is not used");
  if (std::string unlike = unify_units(volume.info.meaning); !unlike.empty())
    volume.info.warnings.push_back(std::move(unlike));
  set_data(source, fields, volume);
  return volume;
}

}  // namespace fathom::io::nrrd
