// The tiles of sparse fields, as the trees of OpenVDB and NanoVDB take them: a tile of 8 × 8 × 8 is a leaf there, in
// which z runs fastest.
#pragma once

#include "fathom/io/sparse.h"

namespace fathom::io {

constexpr std::int64_t kTileSide = 8;
constexpr std::int64_t kTilePoints = kTileSide * kTileSide * kTileSide;

/// The elements of a view that is dense.
template <class T>
const T* elements(const AnyConstView& view) {
  return reinterpret_cast<const T*>(view.data());
}

/// stored(n, point) for each tile of the field, and inside(point) for each that is not stored and lies inside, with the
/// first point of the tile as a Coord; row by row along x.
template <class Coord, class Stored, class Inside>
void visit_tiles(const SparseField& field, const Stored& stored, const Inside& inside) {
  const auto* const tiles = elements<std::int32_t>(field.tiles);
  const auto *const row_inside = elements<std::uint8_t>(field.row_inside),
             *const after_inside = elements<std::uint8_t>(field.after_inside);
  const std::int64_t along_x = (field.shape[0] + kTileSide - 1) / kTileSide, along_y = field.row_inside.shape()[1],
                     rows = along_y * field.row_inside.shape()[0], count = field.tiles.shape()[0];
  std::int64_t n = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t y = row % along_y, z = row / along_y;
    const auto first_of = [&](std::int64_t x) {
      return Coord(static_cast<int>(x * kTileSide), static_cast<int>(y * kTileSide), static_cast<int>(z * kTileSide));
    };
    bool is_inside = row_inside[row] != 0;
    for (std::int64_t x = 0; x < along_x; ++x) {
      const bool is_in_row = n < count && tiles[3 * n + 1] == y && tiles[3 * n + 2] == z;
      const std::int64_t next = is_in_row ? tiles[3 * n] : along_x;
      for (; is_inside && x < next; ++x) inside(first_of(x));
      x = next;
      if (!is_in_row) break;
      stored(n, first_of(x));
      is_inside = after_inside[n++] != 0;
    }
  }
}

/// set(place in a leaf, distance, whether it is in the band) for each point of tile n.
template <class T, class Set>
void visit_leaf(const SparseField& field, std::int64_t n, const Set& set) {
  const T* const from = elements<T>(field.distances) + n * kTilePoints;
  const auto* const masks = elements<std::uint64_t>(field.masks) + n * kTileSide;
  for (std::int64_t at = 0; at < kTilePoints; ++at) {
    const std::int64_t x = at % kTileSide, y = at / kTileSide % kTileSide, z = at / (kTileSide * kTileSide);
    const bool is_active = (masks[z] >> (at % (kTileSide * kTileSide)) & 1) != 0;
    set(static_cast<std::uint32_t>((x * kTileSide + y) * kTileSide + z), from[at], is_active);
  }
}

}  // namespace fathom::io
