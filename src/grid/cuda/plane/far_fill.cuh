// Far tiles all of which is to be written, and has at most one candidate: by rows, which makes longer stores than by
// columns. With nearest sites, all elements of a row have the same. See plane/far.cuh.
//
// Work mapping: block = tile, warp = 4 rows, lane = 4 columns and those 128 behind. Cost: a root for each element.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/plane/candidates.cuh"
#include "grid/cuda/plane/exact.cuh"
#include "grid/cuda/plane/far_cell.cuh"

namespace fathom::grid::cuda {

inline constexpr int kFillRows = kBand / kFarWarps;  ///< of a warp

/// Whether all of a whole tile is to be written, and none of it is a site.
template <Spaced kSpacing>
__device__ bool is_blank(const FarCell<kSpacing>& cell) {
  const Plane& plane = cell.plane;
  if (cell.x0 + kTile > plane.width || plane.first_row(cell.band) + kBand > plane.height) return false;
  const uint2 cells = plane.open_of(cell.band, cell.tile);
  if ((cells.x & cells.y) != 0x01010101u) return false;
  const auto* words = reinterpret_cast<const uint4*>(plane.bits + cell.start + cell.x0) + lane_id();
  const uint4 a = words[0], b = words[32];
  return !__any_sync(kAllLanes, (a.x | a.y | a.z | a.w | b.x | b.y | b.z | b.w) != 0);
}

/// What the lane's columns are away from the only candidate, squared.
template <Spaced kSpacing>
__device__ void squares_across(const FarCell<kSpacing>& cell, int x, typename FarCell<kSpacing>::Value (&across)[8]) {
  const int first = cell.x0 + 4 * lane_id();
#pragma unroll
  for (int q = 0; q < 8; ++q) across[q] = cell.square_across(first + q % 4 + q / 4 * (kTile / 2) - x);
}

/// Calls fill(root_of) with what takes the roots of such squares.
template <class Fill>
__device__ void with_root(std::uint32_t least, std::uint32_t most, Fill&& fill) {
  if (most < 1u << 24) fill([](std::uint32_t square) { return small_root(static_cast<float>(square)); });
  else if (LargeRoots::serve(least, most)) fill(LargeRoots(least));
  else fill([](std::uint32_t square) { return root_of(square); });
}

template <Spaced kSpacing>
class BlankTile {
 public:
  using Cell = FarCell<kSpacing>;
  using Value = typename Cell::Value;

  __device__ explicit BlankTile(const Cell& cell) : cell_(cell) {}

  /// Whether it is blank, and four floats fit their place everywhere.
  __device__ bool serves() const { return cell_.plane.is_aligned && is_blank(cell_); }

  /// @param first, last  of the list: at most one candidate
  template <class List>
  __device__ void fill(const List& list, int first, int last) const {
    const int r0 = cell_.warp * kFillRows, x = cell_.x0 + 4 * lane_id();
    float* to = cell_.plane.row(cell_.band, cell_.plane.first_row(cell_.band) + r0) + x;
    if (first > last) return fill_none(to);
    const Entry entry = list[first];
    Value along[kFillRows], across[8];
#pragma unroll
    for (int r = 0; r < kFillRows; ++r) along[r] = cell_.square_along(entry.column.at(r0 + r, cell_.plane.beyond));
    squares_across(cell_, entry.x, across);
    fill(to, along, across);
  }

 private:
  __device__ void fill_none(float* to) const {
    for (int r = 0; r < kFillRows; ++r, to += cell_.plane.row_stride)
      fill_row(to, [&](int) { return cell_.plane.side.none(); });
  }
  /// @param along, across  squares of rows and of columns
  __device__ void fill(float* to, const std::uint32_t (&along)[kFillRows], const std::uint32_t (&across)[8]) const {
    with_root(least_of(along) + least_of(across), greatest_of(along) + greatest_of(across), [&](auto&& root_of) {
#pragma unroll
      for (int r = 0; r < kFillRows; ++r, to += cell_.plane.row_stride)
        fill_row(to, [&](int q) { return cell_.in_units(root_of(along[r] + across[q])); });
    });
  }
  __device__ void fill(float* to, const double (&along)[kFillRows], const double (&across)[8]) const {
#pragma unroll
    for (int r = 0; r < kFillRows; ++r, to += cell_.plane.row_stride) {
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

  const Cell& cell_;
};

/// With nearest sites, of masks.
template <Spaced kSpacing>
class BlankSitesTile {
 public:
  using Cell = FarCell<kSpacing>;

  __device__ BlankSitesTile(const Cell& cell, const PlainSites& plain) : cell_(cell), plain_(plain) {}

  /// Whether it is blank, and four results fit their place everywhere.
  __device__ bool serves() const { return plain_.serves && plain_.is_aligned && is_blank(cell_); }

  /// @param first, last  of the list: at most one candidate
  template <class List>
  __device__ void fill(const List& list, int first, int last) const {
    const int y = cell_.plane.first_row(cell_.band) + cell_.warp * kFillRows;
    const PlainSites::Row row = plain_.row(cell_.plane.first_item + cell_.plane.item_of(cell_.band), 0, y);
    if (first > last) fill_none(row);
    else fill(row, y, list[first]);
  }

 private:
  __device__ void fill_none(PlainSites::Row row) const {
    for (int r = 0; r < kFillRows; ++r, plain_.advance(row))
      fill_row(row, -1, [&](int) { return cell_.plane.side.none(); });
  }
  /// @param y  of the first row
  __device__ void fill(PlainSites::Row row, int y, const Entry& entry) const {
    std::uint32_t along[kFillRows], across[8];
    std::int32_t site[kFillRows];
#pragma unroll
    for (int r = 0; r < kFillRows; ++r) {
      const int2 rows = entry.column.both(cell_.warp * kFillRows + r, cell_.plane.beyond);
      along[r] = cell_.square_along(min(rows.x, rows.y));
      site[r] = (y + r + (rows.y < rows.x ? rows.y : -rows.x)) * cell_.plane.width + entry.x;
    }
    squares_across(cell_, entry.x, across);
    with_root(least_of(along) + least_of(across), greatest_of(along) + greatest_of(across), [&](auto&& root_of) {
#pragma unroll
      for (int r = 0; r < kFillRows; ++r, plain_.advance(row))
        fill_row(row, site[r], [&](int q) { return cell_.in_units(root_of(along[r] + across[q])); });
    });
  }
  /// @param distance  of the lane's column q
  template <class Distance>
  __device__ void fill_row(const PlainSites::Row& row, std::int32_t site, Distance&& distance) const {
    const std::int32_t sites[4] = {site, site, site, site};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float roots[4] = {distance(4 * half), distance(4 * half + 1), distance(4 * half + 2),
                              distance(4 * half + 3)};
      plain_.write_four(row, cell_.x0 + half * (kTile / 2) + 4 * lane_id(), roots, sites);
    }
  }

  const Cell& cell_;
  const PlainSites& plain_;
};

}  // namespace fathom::grid::cuda
