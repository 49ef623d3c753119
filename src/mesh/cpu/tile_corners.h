// Sides of the points where tiles meet, of meshes with holes.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/cpu/field.h"

namespace fathom::mesh::cpu {

/// The corners of tile t along an axis are the points 8·t and 8·t + 8, whether or not the lattice goes so far.
class TileCorners {
 public:
  /// @param tiles  along each axis, at least 1
  /// Asks for a side per tile; a bit each.
  TileCorners(const PreparedMesh& prepared, const Lattice& lattice, const std::array<std::int64_t, 3>& tiles,
              const Run& run, Monitor& monitor);

  /// @throws std::bad_alloc more than can be counted
  static std::size_t bytes(const std::array<std::int64_t, 3>& tiles);
  static std::int64_t rows(const std::array<std::int64_t, 3>& tiles) { return (tiles[1] + 1) * (tiles[2] + 1); }
  /// Whether the first corner of a tile is inside.
  bool is_inside(std::int64_t tx, std::int64_t ty, std::int64_t tz) const {
    return bits_[static_cast<std::size_t>((tz * rows_y_ + ty) * words_ + tx / 64)] >> tx % 64 & 1;
  }
  /// Whether all corners of the tiles [begin, end) of a row, and of `around` tiles on each side of them, are on one
  /// side.
  bool agree(std::int64_t begin, std::int64_t end, std::int64_t ty, std::int64_t tz, std::int64_t around) const;

 private:
  std::array<std::int64_t, 3> tiles_;
  std::int64_t words_, rows_y_;
  std::vector<std::uint64_t> bits_;  ///< [z, y, x / 64]
};

}  // namespace fathom::mesh::cpu
