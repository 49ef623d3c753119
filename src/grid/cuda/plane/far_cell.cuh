// Where a warp of a far tile is, and what steps from there come to. See plane/far.cuh.
#pragma once

#include <type_traits>

#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr int kFarWarps = kFarBlock / 32;

/// A cell of 32 × 32 elements of a tile: lane = column.
template <Spacing kSpacing>
struct FarCell {
  static constexpr bool kSpaced = kSpacing != Spacing::equal, kAny = kSpacing == Spacing::any;
  using Value = std::conditional_t<kAny, double, unsigned>;

  const Plane& plane;
  const std::int64_t band;
  const int tile, x0;        ///< of the band, and its first column
  const int warp;            ///< and cell of the tile
  const std::int64_t start;  ///< of the band's columns
  const bool is_open;

  /// The thread's, of a tile of all bands.
  __device__ FarCell(const Plane& p, std::uint32_t of_all) : FarCell(p, p.place_of(of_all)) {}
  __device__ FarCell(const Plane& p, const Plane::TilePlace& place)
      : plane(p),
        band(place.band),
        tile(place.tile),
        x0(tile * kTile),
        warp(static_cast<int>(threadIdx.x) / 32),
        start(band * p.pitch),
        is_open(p.left.open_cells[band * p.cells() + tile * kFarWarps + warp] != 0) {}

  __device__ int column() const { return x0 + 32 * warp + lane_id(); }

  __device__ Value square_along(int rows) const {
    if constexpr (kAny) return plane.along_exactly(rows);
    const auto steps = static_cast<unsigned>(rows);
    return kSpaced ? plane.along(steps) : steps * steps;
  }
  __device__ Value square_across(int columns) const {
    if constexpr (kAny) return plane.across_exactly(columns);
    const auto steps = static_cast<unsigned>(columns);
    return kSpaced ? plane.across(steps) : steps * steps;
  }
  __device__ float in_units(float root) const { return kSpaced ? root * plane.out.side.scale : root; }
};

}  // namespace fathom::grid::cuda::plane
