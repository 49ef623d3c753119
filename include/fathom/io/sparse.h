// Narrow bands in files: VTU for ParaView, and level sets of OpenVDB and NanoVDB.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "fathom/core/view.h"
#include "fathom/io/atomic_file.h"

namespace fathom::io {

enum class SparseFormat { automatic, vdb, nvdb, vtu };

/// Distances at some points of a lattice, in tiles of 8 × 8 × 8: what mesh::Band holds. Point (i, j, k) lies at
/// origin + (i, j, k)·spacing; all in the order x, y, z. The tiles are in ascending order of z, then y, then x.
struct SparseField {
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{1, 1, 1};
  std::array<std::int64_t, 3> shape{};  ///< points
  double background = 0;                ///< distance of what is not stored, above 0; inside the negative of it
  bool is_signed = true;                ///< negative inside: then VDB files are level sets

  AnyConstView tiles;      ///< [n, 3] int32: x, y, z of each tile, in tiles
  AnyConstView masks;      ///< [n, 8] uint64: which of its points are in the band, bit x + 8·y of word z
  AnyConstView distances;  ///< [n, 512] float32 or float64: x + 8·y + 64·z
  /// Sides of what is not stored: [tiles along z, tiles along y] uint8, 1 where the first tile of a row is inside; and
  /// [n], 1 where the tile after each is.
  AnyConstView row_inside, after_inside;

  std::string unit;  ///< of length; empty: unknown. VDB keeps it
};

/// A mesh::Band in its full form, whose arrays it looks at.
template <class Band>
SparseField sparse_field(const Band& band) {
  SparseField field;
  field.origin = band.lattice.origin;
  field.spacing = band.lattice.spacing;
  field.shape = band.lattice.shape;
  field.background = band.cutoff;
  field.is_signed = band.is_signed;
  field.tiles = band.tiles.view();
  field.masks = band.masks.view();
  field.distances = band.distances.view();
  field.row_inside = band.row_inside.view();
  field.after_inside = band.after_inside.view();
  return field;
}

/// The format that a name's ending says; `automatic`: none of these.
SparseFormat sparse_format_from_path(const std::filesystem::path& path);

/// The format that write_sparse() would use, by the path's ending where `format` does not say.
/// @throws InvalidArgument no such ending; steps that differ, in VDB, whose voxels are cubes; no OpenVDB or NanoVDB
SparseFormat check_sparse(const std::filesystem::path& path, SparseFormat format,
                          const std::array<double, 3>& spacing);

/// VTU: the points of the band, with their distances, as vertices. VDB: a grid of the points of the band, active, in a
/// tree whose background is `background`, with inactive values that have the sign of their side: inside, too, as far as
/// the lattice goes. Beyond it everything counts as outside. Cost: VDB holds the tree in memory beside the field,
/// NanoVDB two of them. The first VDB loads OpenVDB.
/// @throws InvalidArgument as check_sparse() | arrays of other types or shapes, or that contradict each other
/// @throws IoError the file is full or broken
void write_sparse(AtomicFile& file, const SparseField& field, SparseFormat format);

std::string_view name_of(SparseFormat format);

}  // namespace fathom::io
