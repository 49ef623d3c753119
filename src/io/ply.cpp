// PLY: a text header, then elements in text or binary of either byte order. Of the vertices x, y and z are read, or the
// properties that the caller names; elements before them are stepped over, what follows is left alone.
// Source: Greg Turk, "The PLY polygon file format", 1994; departs by any line ends, empty lines in text, and lists as
// properties of vertices.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "io/point_columns.h"
#include "io/point_formats.h"
#include "io/point_records.h"
#include "io/text_number.h"

namespace fathom::io::ply {

namespace {

constexpr std::array<std::pair<std::string_view, DType>, 16> kTypes = {{{"char", DType::int8},
                                                                        {"uchar", DType::uint8},
                                                                        {"short", DType::int16},
                                                                        {"ushort", DType::uint16},
                                                                        {"int", DType::int32},
                                                                        {"uint", DType::uint32},
                                                                        {"float", DType::float32},
                                                                        {"double", DType::float64},
                                                                        {"int8", DType::int8},
                                                                        {"uint8", DType::uint8},
                                                                        {"int16", DType::int16},
                                                                        {"uint16", DType::uint16},
                                                                        {"int32", DType::int32},
                                                                        {"uint32", DType::uint32},
                                                                        {"float32", DType::float32},
                                                                        {"float64", DType::float64}}};

struct Property {
  std::string name;
  DType dtype = DType::float32;
  std::optional<DType> list;  ///< the type of its length, where it is a list
};

struct Element {
  std::string name;
  std::int64_t count = 0;
  std::vector<Property> properties;

  bool has_lists() const {
    return std::any_of(properties.begin(), properties.end(), [](const Property& p) { return p.list.has_value(); });
  }
  /// Of a binary one, without its lists.
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Property& property : properties) sum += property.list ? 0 : size_of(property.dtype);
    return sum;
  }
};

struct Header {
  bool text = false;
  bool swapped = false;
  std::vector<Element> elements;
};

/// Lines that end as the first one does: in LF, in CR LF, or in CR alone.
class Lines {
 public:
  explicit Lines(ByteSource& source) : source_(source) {}

  std::string next() {
    constexpr std::size_t kMostLine = std::size_t{1} << 16;
    std::string line;
    for (char c = 0;;) {
      if (source_.read(&c, 1) == 0) {
        if (line.empty()) source_.fail("is truncated: the PLY file ends before its elements do");
        break;
      }
      if (c == '\r' && end_ == 0) end_ = peeks_line_feed() ? '\n' : '\r';
      if (c == '\n' && end_ == 0) end_ = '\n';
      if (c == end_) break;
      line += c;
      if (line.size() > kMostLine) source_.fail("has a PLY line that does not end");
    }
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
    return line;
  }

 private:
  bool peeks_line_feed() {
    const auto next = source_.peek(1);
    return !next.empty() && next[0] == std::byte{'\n'};
  }

  ByteSource& source_;
  char end_ = 0;
};

class HeaderReader {
 public:
  HeaderReader(ByteSource& source, Lines& lines) : source_(source), lines_(lines) {}

  Header read() {
    lines_.next();  // "ply"
    for (std::string line; (line = lines_.next()) != "end_header";) add(line);
    if (!format_known_) fail("the format is missing");
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& text) const { source_.fail("has a broken PLY header: " + text); }

  void add(const std::string& line) {
    std::istringstream words(line);
    std::string keyword, first, second;
    words >> keyword >> first >> second;
    if (keyword == "comment" || keyword == "obj_info" || keyword.empty()) return;
    if (keyword == "format") return set_format(first);
    if (keyword == "element") return begin_element(first, second);
    if (keyword != "property") fail("the keyword '" + one_line(keyword) + "' is unknown");
    if (header_.elements.empty()) fail("a property stands before any element");
    Property property;
    if (first == "list") {
      property.list = type_named(second);
      if (*property.list == DType::float32 || *property.list == DType::float64)
        fail("the length of a list is no integer");
      words >> first >> second;
    }
    property.dtype = type_named(first);
    property.name = second;
    header_.elements.back().properties.push_back(std::move(property));
  }

  void set_format(const std::string& format) {
    format_known_ = true;
    header_.text = format == "ascii";
    if (header_.text) return;
    const bool little = format == "binary_little_endian";
    if (!little && format != "binary_big_endian") fail("the format '" + one_line(format) + "' is unknown");
    header_.swapped = little != (std::endian::native == std::endian::little);
  }

  void begin_element(const std::string& name, const std::string& text) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size() || count < 0)
      fail("the number of elements '" + one_line(name) + "' is no count");
    header_.elements.push_back({name, count, {}});
  }

  DType type_named(const std::string& type) const {
    for (const auto& [known, dtype] : kTypes)
      if (known == type) return dtype;
    fail("the type '" + one_line(type) + "' is unknown");
  }

  ByteSource& source_;
  Lines& lines_;
  Header header_;
  bool format_known_ = false;
};

const Element& vertices_of(const ByteSource& source, const Header& header) {
  const Element* vertices = nullptr;
  for (const Element& element : header.elements)
    if (element.name == "vertex") {
      if (vertices != nullptr) source.fail("has a broken PLY header: there are two elements 'vertex'");
      vertices = &element;
    }
  if (vertices == nullptr) source.fail("has a broken PLY header: there is no element 'vertex'");
  return *vertices;
}

/// Among the properties: what the caller asks for; x, y and, where there is one, z, whatever stands beside them; or
/// others by their names.
Coordinates coordinates_in(const ByteSource& source, const std::vector<Column>& columns, PointOptions options) {
  const auto has = [&](std::string_view name) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const Column& column) { return text::lower_case(column.name) == name; });
  };
  if (options.columns.empty() && (has("x") || has("y"))) {
    options.columns = {"x", "y"};
    if (has("z")) options.columns.emplace_back("z");
  }
  return find_coordinates(source, columns, options, false);
}

/// Elements in text, one in each line.
class TextElements {
 public:
  TextElements(ByteSource& source, Lines& lines) : source_(source), lines_(lines) {}

  void skip(const Element& element) {
    if (element.properties.empty()) return;
    for (std::int64_t i = 0; i < element.count; ++i) next_line();
  }

  void read(const Element& vertices, const std::vector<std::size_t>& places, Array& points) {
    std::vector<double> values(vertices.properties.size());
    std::int64_t at = 0;
    for (std::int64_t vertex = 0; vertex < vertices.count; ++vertex) {
      rest_ = line_ = next_line();
      for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = number(vertex);
        if (!vertices.properties[k].list) continue;
        if (!(is_int32(values[k]) && values[k] >= 0)) fail(vertex, "a list whose length is no count");
        for (auto left = static_cast<std::size_t>(values[k]); left > 0; --left) number(vertex);
      }
      if (!next_word().empty()) fail(vertex, "more values than it has properties");
      for (const std::size_t place : places) {
        if (points.dtype() == DType::int32 && !is_int32(values[place]))
          fail(vertex, "a coordinate that is no integer of 32 bits");
        store(points, at++, values[place]);
      }
    }
  }

  /// What follows the last element would be more of them.
  void check_end(const Element& last) {
    while (!source_.peek(1).empty())
      if (!lines_.next().empty())
        source_.fail("announces " + std::to_string(last.count) + " vertices and holds more lines");
  }

 private:
  [[noreturn]] void fail(std::int64_t vertex, const std::string& text) const {
    source_.fail("has in vertex " + std::to_string(vertex) + " " + text);
  }

  std::string next_line() {
    std::string line;
    while (line.empty()) line = lines_.next();
    return line;
  }
  std::string_view next_word() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size()));
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r"));
    rest_.remove_prefix(word.size());
    return word;
  }
  /// inf and nan are numbers here, as they are in binary files.
  double number(std::int64_t vertex) {
    std::string_view word = next_word();
    const std::string shown = one_line(word);
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) fail(vertex, "'" + shown + "', which is no number");
    return value;
  }

  ByteSource& source_;
  Lines& lines_;
  std::string line_;
  std::string_view rest_;
};

/// Elements in binary that have lists, so that each has its own size.
class ListedElements {
 public:
  ListedElements(ByteSource& source, bool swapped) : source_(source), swapped_(swapped) {}

  /// @param visit  visit(element, property, value) for what is no list
  template <class Visit>
  void read(const Element& element, Visit visit) {
    for (std::int64_t i = 0; i < element.count; ++i)
      for (std::size_t k = 0; k < element.properties.size(); ++k) {
        const Property& property = element.properties[k];
        const double value = number(property.list.value_or(property.dtype));
        if (!property.list) visit(i, k, value);
        else if (value < 0) source_.fail("has a list with the length " + std::to_string(value));
        else source_.skip(static_cast<std::uint64_t>(value) * size_of(property.dtype), "the end of a list");
      }
  }

 private:
  double number(DType dtype) {
    std::array<std::byte, 8> bytes{};
    source_.read_exactly(bytes.data(), size_of(dtype), "the elements");
    return value_of(bytes.data(), {dtype, 0, swapped_, false});
  }

  ByteSource& source_;
  bool swapped_;
};

void skip_binary(ByteSource& source, const Element& element, bool swapped) {
  if (element.has_lists())
    return ListedElements(source, swapped).read(element, [](std::int64_t, std::size_t, double) {});
  const std::uint64_t bytes = element.bytes();
  if (bytes == 0) return;
  if (static_cast<std::uint64_t>(element.count) > INT64_MAX / bytes)
    source.fail("promises more elements '" + one_line(element.name) + "' than a file holds");
  source.skip(static_cast<std::uint64_t>(element.count) * bytes, "the vertices");
}

std::vector<RecordField> fields_of(const Element& vertices, const std::vector<std::size_t>& places, bool swapped) {
  std::vector<RecordField> fields;
  for (const std::size_t place : places) {
    std::size_t offset = 0;
    for (std::size_t k = 0; k < place; ++k) offset += size_of(vertices.properties[k].dtype);
    fields.push_back({vertices.properties[place].dtype, offset, swapped, false});
  }
  return fields;
}

/// An array for the vertices, where each takes at least `least` bytes of the file.
Array make_points(const ByteSource& source, const Element& vertices, const std::vector<RecordField>& fields,
                  std::uint64_t least, const MemoryLimit& limit) {
  const Shape shape{vertices.count, static_cast<std::int64_t>(fields.size())};
  count_bytes(source, type_of_points(fields), shape);
  if (static_cast<std::uint64_t>(vertices.count) > INT64_MAX / std::max<std::uint64_t>(least, 1))
    source.fail("promises more points than a file holds");
  check_holds(source, source.position(), static_cast<std::uint64_t>(vertices.count) * least);
  return allocate(source, type_of_points(fields), shape, limit);
}

void read_listed(ByteSource& source, const Element& vertices, const std::vector<std::size_t>& places, bool swapped,
                 Array& points) {
  const auto axes = static_cast<std::int64_t>(places.size());
  ListedElements(source, swapped).read(vertices, [&](std::int64_t vertex, std::size_t property, double value) {
    for (std::size_t k = 0; k < places.size(); ++k)
      if (places[k] == property) store(points, vertex * axes + static_cast<std::int64_t>(k), value);
  });
}

}  // namespace

Points read(ByteSource& source, const MemoryLimit& limit, const PointOptions& options) {
  Lines lines(source);
  const Header header = HeaderReader(source, lines).read();
  const Element& vertices = vertices_of(source, header);
  std::vector<Column> columns;
  for (const Property& property : vertices.properties) columns.push_back({property.name, !property.list});
  Coordinates found = coordinates_in(source, columns, options);
  const auto places = found.places;
  const auto fields = fields_of(vertices, places, header.swapped);
  TextElements text(source, lines);
  for (const Element& element : header.elements) {
    if (&element == &vertices) break;
    header.text ? text.skip(element) : skip_binary(source, element, header.swapped);
  }
  Points result = described(columns, std::move(found));
  result.chosen = !options.columns.empty() || text::lower_case(result.columns[0]) != "x";
  if (header.text) {
    result.data = make_points(source, vertices, fields, 2 * vertices.properties.size() - 1, limit);
    text.read(vertices, places, result.data);
    if (&vertices == &header.elements.back()) text.check_end(vertices);
  } else if (vertices.has_lists()) {
    result.data = make_points(source, vertices, fields, vertices.bytes() + 1, limit);
    read_listed(source, vertices, places, header.swapped, result.data);
  } else {
    result.data = read_records(source, vertices.count, vertices.bytes(), fields, limit, "the vertices");
  }
  for (const Element& element : header.elements)
    if ((element.name == "face" || element.name == "tristrips") && element.count > 0)
      result.warnings.push_back(source.name() + ": the vertices are taken as points; its " +
                                std::to_string(element.count) + (element.name == "face" ? " faces" : " strips") +
                                " are left out");
  return result;
}

}  // namespace fathom::io::ply
