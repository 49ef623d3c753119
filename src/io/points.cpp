// The front of reading points: finds the format by the first bytes, and brings what NPY holds to the types of points.
#include "fathom/io/points.h"

#include <cctype>
#include <limits>

#include "fathom/core/error.h"
#include "io/formats.h"
#include "io/point_formats.h"
#include "io/signature.h"

namespace fathom::io {

namespace {

void check_shape(const ByteSource& source, const Shape& shape) {
  if (shape.rank() != 2 || (shape[1] != 2 && shape[1] != 3))
    source.fail("holds an array of the shape " + to_string(shape) + "; points are [n, 2] or [n, 3]");
}

template <class T>
std::int32_t to_int32(const ByteSource& source, T value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    if (std::cmp_less(value, INT32_MIN) || std::cmp_greater(value, INT32_MAX))
      source.fail("holds the coordinate " + std::to_string(value) + ", which int32 does not; save it as float64");
  return static_cast<std::int32_t>(value);
}

Array as_points(const ByteSource& source, Array array) {
  check_shape(source, array.shape());
  const DType dtype = array.dtype();
  if (dtype == DType::int32 || dtype == DType::float32 || dtype == DType::float64) return array;
  Array points(DType::int32, array.shape());
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto* from = reinterpret_cast<const T*>(array.data());
    auto* to = reinterpret_cast<std::int32_t*>(points.data());
    for (std::int64_t i = 0; i < array.size(); ++i) to[i] = to_int32(source, from[i]);
  });
  return points;
}

bool starts_with(std::span<const std::byte> start, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(start.data()), start.size()).starts_with(text);
}

bool ends_in_xyz(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".xyz";
}

}  // namespace

Array read_points(ByteSource& source, const MemoryLimit& limit, bool first_columns) {
  const auto start = source.peek(kSignatureBytes);
  if (start.empty()) source.fail("is empty; points are read from NPY, CSV, PLY and XYZ files");
  if (starts_with(start, "\x93NUMPY")) return as_points(source, npy::read(source, limit).data);
  if (starts_with(start, "ply\n") || starts_with(start, "ply\r")) return ply::read(source, limit);
  if (const std::string_view kind = foreign_kind(start); !kind.empty() || format_of(start) != Format::automatic)
    source.fail("looks like " + std::string(kind.empty() ? "an image" : kind) +
                "; points are read from NPY, CSV, PLY and XYZ files");
  return text::read(source, limit, first_columns);
}

Array read_points(const std::filesystem::path& path) {
  return read_points(*open_source(path, Reading::consume), memory_limit(std::nullopt), ends_in_xyz(path));
}

}  // namespace fathom::io
