#include "io/point_records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "io/convert.h"

namespace fathom::io {

DType type_of_points(const std::vector<RecordField>& fields) {
  bool whole = true, wide = false;
  for (const RecordField& field : fields) {
    const DType dtype = field.dtype;
    const bool integer = dtype != DType::float32 && dtype != DType::float64;
    whole &= integer && (size_of(dtype) < 4 || dtype == DType::int32);
    wide |= dtype == DType::float64 || (integer && size_of(dtype) >= 4);
  }
  return whole ? DType::int32 : wide ? DType::float64 : DType::float32;
}

bool is_int32(double x) { return x == std::floor(x) && x >= INT32_MIN && x <= INT32_MAX; }

void check_exact(const ByteSource& source, DType dtype, double value) {
  if ((dtype == DType::int64 || dtype == DType::uint64) && std::abs(value) >= 0x1p53)
    source.fail(
        "holds integers beyond 9007199254740991 on either side, which float64 does not tell apart; subtract the same "
        "from all points");
}

void store(Array& points, std::int64_t at, double value) {
  switch (points.dtype()) {
    case DType::int32: reinterpret_cast<std::int32_t*>(points.data())[at] = static_cast<std::int32_t>(value); break;
    case DType::float32: reinterpret_cast<float*>(points.data())[at] = static_cast<float>(value); break;
    default: reinterpret_cast<double*>(points.data())[at] = value;
  }
}

double value_of(const std::byte* record, const RecordField& field) {
  std::array<std::byte, 8> bytes{};
  const std::size_t size = field.half ? 2 : size_of(field.dtype);
  std::memcpy(bytes.data(), record + field.offset, size);
  if (field.swapped) std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  if (field.half) return static_cast<double>(half_to_float(load<std::uint16_t>(bytes.data())));
  if (field.dtype == DType::boolean) return bytes[0] == std::byte{0} ? 0 : 1;
  return visit_dtype(field.dtype, [&](auto tag) {
    typename decltype(tag)::type value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return static_cast<double>(value);
  });
}

Array read_records(ByteSource& source, std::int64_t count, std::size_t record_bytes,
                   const std::vector<RecordField>& fields, const MemoryLimit& limit, std::string_view what) {
  constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
  const DType dtype = type_of_points(fields);
  const Shape shape{count, static_cast<std::int64_t>(fields.size())};
  count_bytes(source, dtype, shape);
  if (record_bytes > 0 && static_cast<std::uint64_t>(count) > INT64_MAX / record_bytes)
    source.fail("promises more points than a file holds");
  check_holds(source, source.position(), static_cast<std::uint64_t>(count) * record_bytes);
  Array points = allocate(source, dtype, shape, limit);
  const std::size_t chunk = std::max<std::size_t>(1, kChunkBytes / std::max<std::size_t>(record_bytes, 1));
  std::vector<std::byte> bytes(std::min(chunk, static_cast<std::size_t>(count)) * record_bytes);
  std::int64_t at = 0;
  for (std::size_t done = 0; done < static_cast<std::size_t>(count); done += chunk) {
    const std::size_t now = std::min(chunk, static_cast<std::size_t>(count) - done);
    source.read_exactly(bytes.data(), now * record_bytes, what);
    for (std::size_t i = 0; i < now; ++i)
      for (const RecordField& field : fields) {
        const double value = value_of(bytes.data() + i * record_bytes, field);
        check_exact(source, field.dtype, value);
        store(points, at++, value);
      }
  }
  return points;
}

}  // namespace fathom::io
