// Points from NPY: [n, 2] or [n, 3], columns of [n, k], or members of a structured array [n].
#include <algorithm>
#include <limits>
#include <utility>

#include "io/formats.h"
#include "io/npy_header.h"
#include "io/point_columns.h"
#include "io/point_formats.h"
#include "io/point_records.h"

namespace fathom::io::npy {

namespace {

template <class T>
std::int32_t to_int32(const ByteSource& source, T value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    if (std::cmp_less(value, INT32_MIN) || std::cmp_greater(value, INT32_MAX))
      source.fail("holds the coordinate " + std::to_string(value) + ", which int32 does not; save it as float64");
  return static_cast<std::int32_t>(value);
}

/// Columns of an array, in the types of points.
Array gather(const ByteSource& source, const Array& array, const std::vector<std::size_t>& places,
             const MemoryLimit& limit) {
  const bool real = array.dtype() == DType::float32 || array.dtype() == DType::float64;
  const std::int64_t rows = array.shape()[0], columns = array.shape()[1];
  Array points = allocate(source, real ? array.dtype() : DType::int32, {rows, static_cast<std::int64_t>(places.size())},
                          limit, array.bytes());
  visit_dtype(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Out = std::conditional_t<std::is_floating_point_v<T>, T, std::int32_t>;
    const auto* from = reinterpret_cast<const T*>(array.data());
    auto* to = reinterpret_cast<Out*>(points.data());
    for (std::int64_t row = 0; row < rows; ++row)
      for (const std::size_t place : places) {
        const T value = from[row * columns + static_cast<std::int64_t>(place)];
        if constexpr (std::is_floating_point_v<T>) *to++ = value;
        else *to++ = to_int32(source, value);
      }
  });
  return points;
}

Points read_plain(ByteSource& source, const MemoryLimit& limit, const PointOptions& options) {
  const ReadOptions elements;
  Array array = npy::read(source, {elements, limit}).data;
  const Shape& shape = array.shape();
  const bool fits = shape.rank() == 2 && (shape[1] == 2 || shape[1] == 3);
  if (!fits && (shape.rank() != 2 || options.columns.empty()))
    source.fail(
        "holds an array of the shape " + to_string(shape) + "; points are [n, 2] or [n, 3]" +
        (shape.rank() == 2 && shape[1] > 3 ? ", or --columns says which of the columns, such as --columns 1,2,3" : ""));
  const std::vector<Column> columns(static_cast<std::size_t>(shape[1]));
  Points result;
  const auto places = find_coordinates(source, columns, options, false).places;
  result.columns = labels_of(columns, places);
  result.chosen = places.size() != columns.size() || !std::is_sorted(places.begin(), places.end());
  const bool ready =
      array.dtype() == DType::int32 || array.dtype() == DType::float32 || array.dtype() == DType::float64;
  result.data = ready && !result.chosen ? std::move(array) : gather(source, array, places, limit);
  return result;
}

Points read_structured(ByteSource& source, const Header& header, const MemoryLimit& limit,
                       const PointOptions& options) {
  if (header.shape.rank() != 1)
    source.fail("holds a structured array of the shape " + to_string(header.shape) + "; points are [n]");
  std::vector<Column> columns;
  std::vector<Member> members;
  for (const Member& member : header.members)
    if (!member.name.empty()) {  // no padding
      columns.push_back({member.name, member.numeric});
      members.push_back(member);
    }
  Coordinates found = find_coordinates(source, columns, options, false);
  std::vector<RecordField> fields;
  for (const std::size_t place : found.places)
    fields.push_back({members[place].dtype, members[place].offset, members[place].swapped, members[place].half});
  Points result;
  result.data = read_records(source, header.shape[0], header.record_bytes, fields, limit, "the NPY array");
  result.columns = labels_of(columns, found.places);
  result.chosen = columns.size() != found.places.size() || !std::is_sorted(found.places.begin(), found.places.end());
  result.unit = found.unit;
  result.warnings = std::move(found.warnings);
  return result;
}

}  // namespace

Points read_points(ByteSource& source, const MemoryLimit& limit, const PointOptions& options) {
  const auto start = source.peek(ByteSource::kLookAhead);
  MemorySource look(source.name(), start);
  const Header header = read_header(look, true);
  if (header.members.empty()) return read_plain(source, limit, options);
  source.skip(look.position(), "the NPY array");
  return read_structured(source, header, limit, options);
}

}  // namespace fathom::io::npy
