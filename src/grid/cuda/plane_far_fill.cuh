// Far tiles all of which is to be written, and has at most one candidate: by rows, which makes longer stores than by
// columns. See plane_far.cuh.
//
// Work mapping: block = tile, warp = 4 rows, lane = 4 columns and those 128 behind. Cost: a root for each element.
#pragma once

#include "grid/cuda/plane_exact.cuh"
#include "grid/cuda/plane_far_cell.cuh"
#include "grid/cuda/plane_list.cuh"

namespace fathom::grid::cuda {

template <Spaced kSpacing>
class BlankTile {
 public:
  using Cell = FarCell<kSpacing>;
  using Value = typename Cell::Value;

  __device__ explicit BlankTile(const Cell& cell) : cell_(cell) {}

  /// Whether all of a whole tile is to be written, none of it is a site, and four floats fit their place everywhere.
  __device__ bool serves() const {
    if (!cell_.plane.is_aligned || cell_.x0 + kTile > cell_.plane.width ||
        cell_.plane.first_row(cell_.band) + kBand > cell_.plane.height)
      return false;
    const uint2 cells =
        reinterpret_cast<const uint2*>(cell_.plane.open_cells + cell_.band * cell_.plane.cells())[cell_.tile];
    if ((cells.x & cells.y) != 0x01010101u) return false;
    const auto* words = reinterpret_cast<const uint4*>(cell_.plane.bits + cell_.start + cell_.x0) + lane_id();
    const uint4 a = words[0], b = words[32];
    return !__any_sync(kAllLanes, (a.x | a.y | a.z | a.w | b.x | b.y | b.z | b.w) != 0);
  }

  /// @param first, last  of the list: at most one candidate
  template <class List>
  __device__ void fill(const List& list, int first, int last) const {
    const int r0 = cell_.warp * kRows, x = cell_.x0 + 4 * lane_id();
    float* to = cell_.plane.row(cell_.band, cell_.plane.first_row(cell_.band) + r0) + x;
    if (first > last) return fill_none(to);
    const Entry entry = list[first];
    Value along[kRows], across[8];
#pragma unroll
    for (int r = 0; r < kRows; ++r) along[r] = cell_.square_along(entry.column.at(r0 + r, cell_.plane.beyond));
#pragma unroll
    for (int q = 0; q < 8; ++q) across[q] = cell_.square_across(x + q % 4 + q / 4 * (kTile / 2) - entry.x);
    fill(to, along, across);
  }

 private:
  static constexpr int kRows = kBand / kFarWarps;  ///< of a warp

  __device__ void fill_none(float* to) const {
    for (int r = 0; r < kRows; ++r, to += cell_.plane.row_stride)
      fill_row(to, [&](int) { return cell_.plane.side.none(); });
  }
  /// @param along, across  squares of rows and of columns
  __device__ void fill(float* to, const std::uint32_t (&along)[kRows], const std::uint32_t (&across)[8]) const {
    const auto fill_rows = [&](auto&& root_of) {
#pragma unroll
      for (int r = 0; r < kRows; ++r, to += cell_.plane.row_stride)
        fill_row(to, [&](int q) { return cell_.in_units(root_of(along[r] + across[q])); });
    };
    const std::uint32_t least = min_of(along) + min_of(across), most = max_of(along) + max_of(across);
    if (most < 1u << 24) fill_rows([](std::uint32_t square) { return small_root(static_cast<float>(square)); });
    else if (LargeRoots::serve(least, most)) fill_rows(LargeRoots(least));
    else fill_rows([](std::uint32_t square) { return root_of(square); });
  }
  __device__ void fill(float* to, const double (&along)[kRows], const double (&across)[8]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r, to += cell_.plane.row_stride) {
      double squares[8];
      float roots[8];
#pragma unroll
      for (int q = 0; q < 8; ++q) squares[q] = along[r] + across[q];
      roots_of(squares, roots);
      fill_row(to, [&](int q) { return cell_.in_units(roots[q]); });
    }
  }
  /// @param distance  of the lane's column q
  template <class Distance>
  static __device__ void fill_row(float* to, Distance&& distance) {
    auto* fours = reinterpret_cast<float4*>(to);
    __stcs(fours, make_float4(distance(0), distance(1), distance(2), distance(3)));
    __stcs(fours + kTile / 8, make_float4(distance(4), distance(5), distance(6), distance(7)));
  }
  template <int kCount>
  static __device__ std::uint32_t min_of(const std::uint32_t (&values)[kCount]) {
    std::uint32_t least = values[0];
    for (int k = 1; k < kCount; ++k) least = min(least, values[k]);
    return least;
  }
  template <int kCount>
  static __device__ std::uint32_t max_of(const std::uint32_t (&values)[kCount]) {
    std::uint32_t most = values[0];
    for (int k = 1; k < kCount; ++k) most = max(most, values[k]);
    return most;
  }

  const Cell& cell_;
};

}  // namespace fathom::grid::cuda
