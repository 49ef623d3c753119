// Points from NPY: [n, 2] or [n, 3], columns of [n, k], or members of a structured array [n].
#include <algorithm>
#include <utility>

#include "io/formats.h"
#include "io/npy_header.h"
#include "io/point_columns.h"
#include "io/point_formats.h"
#include "io/point_records.h"

namespace fathom::io::npy {

namespace {

bool is_real(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

/// Columns of an array, in the types of points: integers as int32, or float64 where they do not fit.
Array gather(const ByteSource& source, const Array& array, const std::vector<std::size_t>& places,
             const MemoryLimit& limit) {
  const std::int64_t rows = array.shape()[0], columns = array.shape()[1];
  const auto each = [&](auto visit) {
    visit_dtype(array.dtype(), [&](auto tag) {
      const auto* from = reinterpret_cast<const typename decltype(tag)::type*>(array.data());
      for (std::int64_t row = 0; row < rows; ++row)
        for (const std::size_t place : places) visit(from[row * columns + static_cast<std::int64_t>(place)]);
    });
  };
  bool fits = true;
  if (size_of(array.dtype()) >= 4 && !is_real(array.dtype()))
    each([&](auto value) {
      check_exact(source, array.dtype(), static_cast<double>(value));
      fits &= is_int32(static_cast<double>(value));
    });
  const DType dtype = is_real(array.dtype()) ? array.dtype() : fits ? DType::int32 : DType::float64;
  Array points = allocate(source, dtype, {rows, static_cast<std::int64_t>(places.size())}, limit, array.bytes());
  std::int64_t at = 0;
  each([&](auto value) { store(points, at++, static_cast<double>(value)); });
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
  const Coordinates found = find_coordinates(source, columns, options, false);
  Points result = described(columns, found);
  const bool ready = array.dtype() == DType::int32 || is_real(array.dtype());
  result.data = ready && !result.chosen ? std::move(array) : gather(source, array, found.places, limit);
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
  Points result = described(columns, std::move(found));
  result.data = read_records(source, header.shape[0], header.record_bytes, fields, limit, "the NPY array");
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
