// Points in binary records: the vertices of a PLY, the rows of a structured NPY.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fathom/core/array.h"
#include "io/byte_source.h"
#include "io/sizes.h"

namespace fathom::io {

/// A number in a record.
struct RecordField {
  DType dtype = DType::float32;
  std::size_t offset = 0;  ///< in bytes
  bool swapped = false;    ///< the file has the other byte order
  bool half = false;       ///< float16, with dtype float32
};

/// float64 if a coordinate needs it, else float32; int32 if all are integers that fit.
DType type_of_points(const std::vector<RecordField>& fields);

/// Whether int32 holds it.
bool is_int32(double x);

/// @param value  of a file's integer of this type
/// @throws IoError it is one of those of 64 bits that float64 merges with their neighbours
void check_exact(const ByteSource& source, DType dtype, double value);

/// Sets an element of points of the types above.
void store(Array& points, std::int64_t at, double value);

double value_of(const std::byte* record, const RecordField& field);

/// Reads `count` records of `record_bytes` bytes each. Cost: one pass, in pieces.
/// @param what  they are called in errors
/// @throws IoError the source ends before, or the array exceeds the limit
Array read_records(ByteSource& source, std::int64_t count, std::size_t record_bytes,
                   const std::vector<RecordField>& fields, const MemoryLimit& limit, std::string_view what);

}  // namespace fathom::io
