#include "fathom/io/sparse.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "fathom/core/error.h"
#include "io/numbers.h"
#include "io/rows.h"
#include "io/sparse_formats.h"

namespace fathom::io {

namespace {

void need(const AnyConstView& view, const char* name, DType dtype, const Shape& shape) {
  if (view.present() && view.dtype() == dtype && view.shape() == shape && is_dense(view)) return;
  throw InvalidArgument(std::string("'") + name + "' of a sparse field is " + std::string(name_of(dtype)) + " " +
                        to_string(shape) + ", and dense");
}

/// That the arrays fit each other, and the tiles the lattice, in order.
void check(const SparseField& field) {
  const auto tiles_along = [&](std::size_t k) { return (field.shape[k] + kTileSide - 1) / kTileSide; };
  const std::int64_t count = field.tiles.rank() == 2 ? field.tiles.shape()[0] : 0;
  const bool is_double = field.distances.present() && field.distances.dtype() == DType::float64;
  need(field.tiles, "tiles", DType::int32, {count, 3});
  need(field.masks, "masks", DType::uint64, {count, kTileSide});
  need(field.distances, "distances", is_double ? DType::float64 : DType::float32, {count, kTilePoints});
  need(field.row_inside, "row_inside", DType::uint8, {tiles_along(2), tiles_along(1)});
  need(field.after_inside, "after_inside", DType::uint8, {count});
  if (!(field.background > 0) || !std::isfinite(field.background))
    throw InvalidArgument("the background of a sparse field is finite and above 0");
  const auto* const tiles = elements<std::int32_t>(field.tiles);
  std::int64_t last = -1;
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int32_t* const tile = tiles + 3 * n;
    for (std::size_t k = 0; k < 3; ++k)
      if (tile[k] < 0 || tile[k] >= tiles_along(k))
        throw InvalidArgument("tile " + std::to_string(n) + " of a sparse field lies beyond its lattice");
    const std::int64_t place = (tile[2] * tiles_along(1) + tile[1]) * tiles_along(0) + tile[0];
    if (place <= last)
      throw InvalidArgument("tile " + std::to_string(n) + " of a sparse field is not behind the one before it");
    last = place;
  }
}

}  // namespace

SparseFormat sparse_format_from_path(const std::filesystem::path& path) {
  const std::string ending = lower_case(path.extension().string());
  for (const SparseFormat format : {SparseFormat::vdb, SparseFormat::nvdb, SparseFormat::vtu})
    if (ending.starts_with('.') && ending.substr(1) == name_of(format)) return format;
  return SparseFormat::automatic;
}

SparseFormat check_sparse(const std::filesystem::path& path, SparseFormat format,
                          const std::array<double, 3>& spacing) {
  if (format == SparseFormat::automatic) format = sparse_format_from_path(path);
  if (format == SparseFormat::automatic)
    throw InvalidArgument("the name '" + path.string() +
                          "' does not say which format of bands to write; end it in .vdb, .nvdb or .vtu");
  if (format == SparseFormat::vtu) return format;
  format == SparseFormat::vdb ? vdb::check_build() : nvdb::check_build();
  if (spacing[0] != spacing[1] || spacing[1] != spacing[2])
    throw InvalidArgument("the voxels of ." + std::string(name_of(format)) +
                          " are cubes; take the same spacing along x, y and z, or write .vtu");
  return format;
}

void write_sparse(AtomicFile& file, const SparseField& field, SparseFormat format) {
  format = check_sparse(file.target(), format, field.spacing);
  check(field);
  if (format == SparseFormat::vdb) return vdb::write(file, field);
  StreamSink sink(file.target() == "-" ? "standard output" : file.target().string(), file.stream());
  format == SparseFormat::nvdb ? nvdb::write(sink, field) : vtu::write(sink, field);
}

std::string_view name_of(SparseFormat format) {
  switch (format) {
    case SparseFormat::automatic: return "auto";
    case SparseFormat::vdb: return "vdb";
    case SparseFormat::nvdb: return "nvdb";
    case SparseFormat::vtu: return "vtu";
  }
  return "unknown";
}

}  // namespace fathom::io
