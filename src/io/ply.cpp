// PLY: a text header, then the vertices in text or binary of either byte order. Only their x, y and z are looked at,
// and what follows the vertices is left alone.
// Source: Greg Turk, "The PLY polygon file format", 1994.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "io/point_formats.h"

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
  std::size_t offset = 0;  ///< within a binary vertex
};

struct Header {
  bool text = false;
  bool swapped = false;
  std::int64_t count = -1;  ///< of vertices
  std::size_t vertex_bytes = 0;
  std::vector<Property> properties;
};

std::string next_line(ByteSource& source) {
  constexpr std::size_t kMostLine = 4096;
  std::string line;
  for (char c = 0; c != '\n';) {
    source.read_exactly(&c, 1, "the PLY header");
    if (c != '\n' && c != '\r') line += c;
    if (line.size() > kMostLine) source.fail("has a broken PLY header: a line does not end");
  }
  return line;
}

class HeaderReader {
 public:
  explicit HeaderReader(ByteSource& source) : source_(source) {}

  Header read() {
    next_line(source_);  // "ply"
    for (std::string line; (line = next_line(source_)) != "end_header";) add(line);
    if (!format_known_) fail("the format is missing");
    if (header_.count < 0) fail("there is no element 'vertex'");
    return header_;
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
    if (keyword == "property") return add_property(first, second);
    fail("the keyword '" + one_line(keyword) + "' is unknown");
  }

  void set_format(const std::string& format) {
    format_known_ = true;
    header_.text = format == "ascii";
    if (header_.text) return;
    const bool little = format == "binary_little_endian";
    if (!little && format != "binary_big_endian") fail("the format '" + one_line(format) + "' is unknown");
    header_.swapped = little != (std::endian::native == std::endian::little);
  }

  void begin_element(const std::string& name, const std::string& count) {
    in_vertices_ = name == "vertex";
    if (!in_vertices_ && header_.count < 0) fail("the vertices must come first");
    if (!in_vertices_) return;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), header_.count);
    if (error != std::errc{} || end != count.data() + count.size() || header_.count < 0)
      fail("the number of vertices is no count");
  }

  void add_property(const std::string& type, const std::string& name) {
    if (!in_vertices_) return;
    if (type == "list") fail("vertices with lists are not read");
    for (const auto& [known, dtype] : kTypes)
      if (known == type) {
        header_.properties.push_back({name, dtype, header_.vertex_bytes});
        header_.vertex_bytes += size_of(dtype);
        return;
      }
    fail("the type '" + one_line(type) + "' is unknown");
  }

  ByteSource& source_;
  Header header_;
  bool format_known_ = false;
  bool in_vertices_ = false;
};

/// Places of x, y and, where there is one, z among the properties.
std::vector<std::size_t> coordinates_in(const ByteSource& source, const Header& header) {
  std::vector<std::size_t> places;
  for (const char* name : {"x", "y", "z"}) {
    const auto found = std::find_if(header.properties.begin(), header.properties.end(),
                                    [&](const Property& property) { return property.name == name; });
    if (found != header.properties.end()) places.push_back(static_cast<std::size_t>(found - header.properties.begin()));
    else if (*name != 'z') source.fail(std::string("has vertices without ") + name);
  }
  return places;
}

/// float64 if any coordinate is, else float32; int32 if all are integers that fit.
DType common_type(const Header& header, const std::vector<std::size_t>& places) {
  bool whole = true, wide = false;
  for (std::size_t place : places) {
    const DType dtype = header.properties[place].dtype;
    whole &= dtype != DType::float32 && dtype != DType::float64 && dtype != DType::uint32;
    wide |= dtype == DType::float64 || dtype == DType::int32 || dtype == DType::uint32;
  }
  return whole ? DType::int32 : wide ? DType::float64 : DType::float32;
}

void store(Array& points, std::int64_t at, double value) {
  switch (points.dtype()) {
    case DType::int32: reinterpret_cast<std::int32_t*>(points.data())[at] = static_cast<std::int32_t>(value); break;
    case DType::float32: reinterpret_cast<float*>(points.data())[at] = static_cast<float>(value); break;
    default: reinterpret_cast<double*>(points.data())[at] = value;
  }
}

double value_of(const std::byte* from, DType dtype, bool swapped) {
  std::array<std::byte, 8> bytes{};
  std::memcpy(bytes.data(), from, size_of(dtype));
  if (swapped) std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size_of(dtype)));
  return visit_dtype(dtype, [&](auto tag) {
    typename decltype(tag)::type value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return static_cast<double>(value);
  });
}

void read_binary(ByteSource& source, const Header& header, const std::vector<std::size_t>& places, Array& points) {
  constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
  const std::size_t chunk = std::max<std::size_t>(1, kChunkBytes / header.vertex_bytes);
  std::vector<std::byte> bytes(chunk * header.vertex_bytes);
  const auto count = static_cast<std::size_t>(header.count);
  std::int64_t at = 0;
  for (std::size_t done = 0; done < count; done += chunk) {
    const std::size_t now = std::min(chunk, count - done);
    source.read_exactly(bytes.data(), now * header.vertex_bytes, "the vertices");
    for (std::size_t i = 0; i < now; ++i)
      for (std::size_t place : places) {
        const Property& property = header.properties[place];
        const std::byte* from = bytes.data() + i * header.vertex_bytes + property.offset;
        store(points, at++, value_of(from, property.dtype, header.swapped));
      }
  }
}

bool is_int32(double x) { return x == std::floor(x) && x >= INT32_MIN && x <= INT32_MAX; }

void read_text(ByteSource& source, const Header& header, const std::vector<std::size_t>& places, Array& points) {
  std::int64_t at = 0;
  for (std::int64_t vertex = 0; vertex < header.count; ++vertex) {
    std::istringstream words(next_line(source));
    std::vector<double> values(header.properties.size());
    for (double& value : values) {
      std::string word;
      words >> word;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc{} || end != word.data() + word.size())
        source.fail("has in vertex " + std::to_string(vertex) + " '" + one_line(word) + "', which is no number");
    }
    for (std::size_t place : places) {
      if (points.dtype() == DType::int32 && !is_int32(values[place]))
        source.fail("has in vertex " + std::to_string(vertex) + " a coordinate that is no integer of 32 bits");
      store(points, at++, values[place]);
    }
  }
}

}  // namespace

Array read(ByteSource& source, const MemoryLimit& limit) {
  const Header header = HeaderReader(source).read();
  const auto places = coordinates_in(source, header);
  const Shape shape{header.count, static_cast<std::int64_t>(places.size())};
  const DType dtype = common_type(header, places);
  count_bytes(source, dtype, shape);
  const std::uint64_t least = header.text ? 2 * header.properties.size() : header.vertex_bytes;
  if (header.count > static_cast<std::int64_t>(INT64_MAX / std::max<std::uint64_t>(least, 1)))
    source.fail("has more vertices than a file holds");
  check_holds(source, source.position(), static_cast<std::uint64_t>(header.count) * least);
  Array points = allocate(source, dtype, shape, limit);
  header.text ? read_text(source, header, places, points) : read_binary(source, header, places, points);
  return points;
}

}  // namespace fathom::io::ply
