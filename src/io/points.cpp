// The front of reading points: finds the format by the first bytes.
#include "fathom/io/points.h"

#include <cmath>

#include "core/text.h"
#include "fathom/core/error.h"
#include "io/gunzip_source.h"
#include "io/point_formats.h"
#include "io/signature.h"
#include "io/text_number.h"

namespace fathom::io {

namespace {

bool has_coordinates_first(const std::filesystem::path& path) {
  std::filesystem::path name = path;
  if (lower_case(name.extension().string()) == ".gz") name = name.stem();
  const std::string ending = lower_case(name.extension().string());
  return ending == ".xyz" || ending == ".pts";
}

void check(const PointOptions& options) {
  if (!options.columns.empty() && options.columns.size() != 2 && options.columns.size() != 3)
    throw InvalidArgument("points have 2 or 3 coordinates; " + std::to_string(options.columns.size()) +
                          " columns were asked for");
  if (options.decimal != 0 && options.decimal == options.delimiter)
    throw InvalidArgument(std::string("'") + options.decimal + "' cannot be the decimal mark and the delimiter");
}

}  // namespace

Points read_points(ByteSource& source, const MemoryLimit& limit, const PointOptions& options, bool first) {
  check(options);
  const auto start = source.peek(kSignatureBytes);
  const std::string_view bytes(reinterpret_cast<const char*>(start.data()), start.size());
  if (start.empty()) source.fail("is empty; points are read from NPY, CSV, PLY and XYZ files");
  if (is_gzip(source)) {
    GunzipSource inflated(source);
    if (is_gzip(inflated)) source.fail("is gzip within gzip; undo one of them");
    return read_points(inflated, limit, options, first);
  }
  if (bytes.starts_with("\x93NUMPY")) return npy::read_points(source, limit, options);
  if (bytes.starts_with("ply\n") || bytes.starts_with("ply\r")) return ply::read(source, limit, options);
  if (const std::string kind = foreign_points(start); !kind.empty()) source.fail("looks like " + kind);
  return text::read(source, limit, options, first);
}

Points read_points(const std::filesystem::path& path, const PointOptions& options) {
  return read_points(*open_source(path, Reading::consume), memory_limit(std::nullopt), options,
                     has_coordinates_first(path));
}

std::vector<std::int64_t> read_whole_triples(const std::filesystem::path& path) {
  const Points points = read_points(path, {{"1", "2", "3"}});
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(points.data.size()));
  visit_dtype(points.data.dtype(), [&](auto tag) {
    const auto* const values = points.data.as<typename decltype(tag)::type>().data();
    for (std::int64_t k = 0; k < points.data.size(); ++k) {
      const auto number = static_cast<double>(values[k]);
      if (number != std::floor(number) || std::abs(number) > 0x1p53)
        throw IoError(path.string() + " has in row " + std::to_string(k / 3 + 1) + " of its numbers " +
                      fathom::text(number) + ", which is not whole");
      numbers.push_back(static_cast<std::int64_t>(number));
    }
  });
  return numbers;
}

}  // namespace fathom::io
