// What the pass along z leaves where sites may be far: rows of 16 bits as everywhere else, clamped, and squares of 32
// bits where eight rows of half a tile do not fit.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// Half a warp stores half a tile, lane = column.
class FarRows {
 public:
  /// @param column  of the tile; its last four bits are the lane's
  __device__ FarRows(const Volume& v, const Volume::Tile& tile, int column)
      : v_(v),
        there_(tile.word * 32 + column < v.nx),
        wide_(v.wide_at(tile.item, 0, tile.line, tile.word * 32 + column)),
        is_kept_(column / 2 < v.pairs_of(tile.word)),
        narrow_(reinterpret_cast<std::uint16_t*>(v.narrow_row(tile.item, tile.word, 0, tile.line)) + column),
        beyond_(v.beyond_row(tile.item, tile.word, column / 16, 0) + tile.line) {}

  /// Up to eight rows from z on, a multiple of eight. By whole warps, of which halves may have no rows.
  /// @returns whether they do not fit 16 bits
  __device__ bool put(int z, const unsigned* squares, int count) const {
    const bool fits = !there_ || count == 0 || greatest_of_eight(squares) < kNone16;
    const bool is_wide = (__ballot_sync(kAllLanes, !fits) >> (lane_id() & 16) & 0xFFFFu) != 0;
    if (count > 0 && lane_id() % 16 == 0) {
      const bool is_far = !there_ || squares[0] >= kFarSquare;
      beyond_[std::int64_t{v_.ny} * (z / 8)] = (is_wide ? kBeyond16 : 0) | (is_far ? kFarRows : 0);
    }
    if (is_wide && there_) {
      std::uint32_t* to = wide_ + z * v_.wide.z_stride;
      const unsigned least = v_.wide_has_results ? 1 : 0;
      for_rows(count, [&](int j) {
        if (squares[j] >= least) *to = squares[j];
        to += v_.wide.z_stride;
      });
    }
    if (!is_kept_) return is_wide;
    const std::int64_t narrow_stride = 2 * v_.pairs_of_plane;
    std::uint16_t* to = narrow_ + z * narrow_stride;
    for_rows(count, [&](int j) {
      *to = there_ ? static_cast<std::uint16_t>(min(squares[j], kNone16)) : std::uint16_t{0};
      to += narrow_stride;
    });
    return is_wide;
  }

 private:
  /// Of a distance from which none of eight rows and sixteen columns is nearer than 64.
  static constexpr unsigned kFarSquare = 81 * 81;
  static_assert((81 - 64) * (81 - 64) > 7 * 7 + 15 * 15);

  /// Calls act(0), …, act(count − 1), up to eight: eight mostly, without a question for each.
  template <class Act>
  static __device__ void for_rows(int count, Act&& act) {
    const auto up_to = [&](int rows) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        if (j >= rows) break;
        act(j);
      }
    };
    if (count == 8) up_to(8);
    else up_to(count);
  }

  const Volume& v_;
  const bool there_;
  std::uint32_t* const wide_;
  const bool is_kept_;  ///< in 16 bits
  std::uint16_t* const narrow_;
  std::uint8_t* const beyond_;
};

}  // namespace fathom::grid::cuda::volume
