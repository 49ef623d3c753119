// Tiles along y of which only few rows have sites, as with a single site: each row is tried everywhere.
//
// Work mapping: block = tile, warp = a row of it, lane = column. Cost: three operations per element and row with sites.
#pragma once

#include "grid/cuda/volume/rows_with_sites.cuh"
#include "grid/cuda/volume/writer.cuh"

namespace fathom::grid::cuda::volume {

/// At most kFewRows rows.
template <int kThreads>
class FewRows {
 public:
  __device__ FewRows(const Volume& v, const Volume::Tile& tile)
      : v_(v), tile_(tile), lane_(lane_id()), kinds_(v, tile, lane_ / 16), x_(tile.word * 32 + lane_) {}

  template <Writing kWriting>
  __device__ void solve(const VolumeWriter<kWriting>& writer) const {
    __shared__ SortedRows filled;
    filled.find(v_.ny, [&](int r) { return kinds_[r] != kEmpty; });
    const int count = filled.count;
    int row[kFewRows];
    unsigned square[kFewRows];
#pragma unroll
    for (int k = 0; k < kFewRows; ++k) {
      row[k] = k < count ? filled.row[k] : 0;
      square[k] = k < count && x_ < v_.nx ? square_at<kWriting>(row[k]) : kNone32;
    }
    __syncthreads();  // wide rows are kept where the result goes
    // Floats go one by one; what else there may be, eight at a time.
    constexpr int kTogether = is_general(kWriting) ? 8 : 1;
    for (int y = static_cast<int>(threadIdx.x) / 32 * kTogether; y < v_.ny; y += kThreads / 32 * kTogether) {
      unsigned best[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        best[j] = kNone32;
#pragma unroll
        for (int k = 0; k < kFewRows; ++k)  // without a question for each: those that are not there are kNone32 away
          best[j] = min(best[j], square[k] + static_cast<unsigned>((y + j - row[k]) * (y + j - row[k])));
      }
      writer.write_column(y, x_, best, min(kTogether, v_.ny - y));
    }
  }

 private:
  template <Writing kWriting>
  __device__ unsigned square_at(int row) const {
    constexpr bool kSide = kWriting == Writing::one_side;
    if (!is_of_labels(kWriting) && kinds_[row] == kFull) return 0;
    if (kinds_[row] == kWide) {
      const std::uint32_t* wide = v_.wide.row(v_.wide_first_item + tile_.item, tile_.line, row);
      return wide_square<kSide>(wide[is_general(kWriting) ? x_ * v_.wide_x_stride : x_]);
    }
    return reinterpret_cast<const std::uint16_t*>(v_.narrow_row(tile_.item, tile_.word, tile_.line, row))[lane_];
  }

  const Volume& v_;
  const Volume::Tile& tile_;
  const int lane_;
  const RowKinds kinds_;
  const int x_;
};

}  // namespace fathom::grid::cuda::volume
