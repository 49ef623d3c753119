// What the kernels of a band share: its tiles, what is known of them, and where results go.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/band_rule.h"
#include "mesh/cuda/tile.cuh"

namespace fathom::mesh::cuda {

/// Of all pieces, but for the open tiles.
struct Counts {
  unsigned long long tiles_before;  ///< the piece
  unsigned long long tiles, points;
  unsigned long long open;
};

/// Arrays of a band, for as many tiles as are near.
struct BandArrays {
  std::int32_t* tiles;
  std::uint64_t* masks;
  std::byte* distances;
  std::int32_t* triangles;  ///< may be null, as the next
  float* closest;
  std::uint8_t *row_inside, *after_inside;
};

/// Tiles by their numbers.
struct NearList {
  TileGrid tiles;
  std::int64_t count;
  const std::uint64_t* numbers;
  CubeLists cubes;

  __device__ const CubeList* list_of(std::int64_t i) const {
    std::int64_t at[3];
    place_of(i, at);
    return cubes.of(at);
  }
  __device__ void place_of(std::int64_t i, std::int64_t (&at)[3]) const {
    tiles.place_of(static_cast<std::int64_t>(numbers[i]), at);
  }
  __device__ void first_of(std::int64_t i, std::int64_t (&at)[3]) const {
    place_of(i, at);
    for (std::int64_t& x : at) x *= kTileSide;
  }
};

struct BandWork {
  TileGrid tiles;
  double cutoff;
  double largest, largest_near;  ///< squares of distances in the band, and of those for which a tile is stored
  BandRule rule;
  bool in_double;
  BandArrays to;
  const std::uint8_t* cut;  ///< [tile]: whether inside and outside meet in it; or null

  // Of a piece of the near tiles.
  NearList near;
  const TileList* lists = nullptr;      ///< [near tile]
  const std::uint64_t* bits = nullptr;  ///< of the lines of their rows, where winding numbers make the sign
  const std::int32_t* rows = nullptr;   ///< [near tile]: number of its row among those, from 1
  std::int32_t* stored = nullptr;       ///< [near tile]: whether it is
  std::int32_t* ranks = nullptr;        ///< [near tile]: how many are, up to it
  std::int32_t* open = nullptr;         ///< some near tiles
  Counts* counts = nullptr;
};

}  // namespace fathom::mesh::cuda
