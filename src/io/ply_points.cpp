// PLY as points: of the vertices x, y and z are read, or the properties that the caller names; elements before them are
// stepped over, what follows is left alone.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "io/ply_elements.h"
#include "io/point_columns.h"
#include "io/point_formats.h"
#include "io/point_records.h"
#include "io/numbers.h"

namespace fathom::io::ply {

namespace {

/// Among the properties: what the caller asks for; x, y and, where there is one, z, whatever stands beside them; or
/// others by their names.
Coordinates coordinates_in(const ByteSource& source, const std::vector<Column>& columns, PointOptions options) {
  const auto has = [&](std::string_view name) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const Column& column) { return lower_case(column.name) == name; });
  };
  if (options.columns.empty() && (has("x") || has("y"))) {
    options.columns = {"x", "y"};
    if (has("z")) options.columns.emplace_back("z");
  }
  return find_coordinates(source, columns, options, false);
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

void read_each(const ByteSource& source, ElementReader& elements, const Element& vertices,
               const std::vector<std::size_t>& places, Array& points) {
  const bool whole = points.dtype() == DType::int32;
  const auto axes = static_cast<std::int64_t>(places.size());
  elements.read(vertices, [&](std::int64_t vertex, std::size_t property, std::span<const double> values) {
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (places[k] != property) continue;
      const double x = values[0];
      if (whole && !is_int32(x))
        source.fail("has in vertex " + std::to_string(vertex) + " a coordinate that is no integer of 32 bits");
      store(points, vertex * axes + static_cast<std::int64_t>(k), x);
    }
  });
}

}  // namespace

Points read(ByteSource& source, const MemoryLimit& limit, const PointOptions& options) {
  Lines lines(source);
  const Header header = read_header(source, lines);
  const Element& vertices = vertices_of(source, header);
  std::vector<Column> columns;
  for (const Property& property : vertices.properties) columns.push_back({property.name, !property.list});
  Coordinates found = coordinates_in(source, columns, options);
  const auto places = found.places;
  const auto fields = fields_of(vertices, places, header.swapped);
  ElementReader elements(source, lines, header);
  for (const Element& element : header.elements) {
    if (&element == &vertices) break;
    elements.skip(element);
  }
  Points result = described(columns, std::move(found));
  result.chosen = !options.columns.empty() || lower_case(result.columns[0]) != "x";
  if (header.text || vertices.has_lists()) {
    const std::size_t least = header.text ? 2 * vertices.properties.size() - 1 : vertices.bytes() + 1;
    result.data = make_points(source, vertices, fields, least, limit);
    read_each(source, elements, vertices, places, result.data);
    if (&vertices == &header.elements.back()) elements.check_end(vertices);
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
