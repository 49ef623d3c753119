// Which triangles are near a tile of 8 × 8 × 8 points, and the nearest of each point.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fathom/core/execution.h"
#include "fathom/mesh/band.h"
#include "mesh/tree.h"

namespace fathom::mesh::cpu {

/// Coordinates of a tile's points along each axis.
struct TilePlace {
  double at[3][kTileSide];
};

/// Of the tile that begins with a point of the lattice, whether or not all of it is inside.
inline TilePlace tile_place(const Lattice& lattice, const std::array<std::int64_t, 3>& first) {
  TilePlace place;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::int64_t i = 0; i < kTileSide; ++i) place.at[k][i] = lattice.at(k, first[k] + i);
  return place;
}

/// Of a tile's points, in the order of Band.
struct TileFound {
  double squared[kTilePoints];      ///< +inf where nothing is within the cutoff
  std::int64_t place[kTilePoints];  ///< of the nearest triangle in the tree, the lowest of equally near ones
};

struct TileScratch;

/// Scratch of one thread, and the work with it.
class TileSearch {
 public:
  TileSearch(const Tree& tree, double cutoff, InstructionSet set);
  ~TileSearch();

  /// @return whether any triangle's box is within the cutoff; `found` is untouched otherwise
  bool search(const TilePlace& place, TileFound& found);

  /// Whether any block's box is within the cutoff of a box.
  bool is_near(const Bounds& box) const;

 private:
  std::unique_ptr<TileScratch> scratch_;
};

}  // namespace fathom::mesh::cpu
