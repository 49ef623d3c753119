// Volumes with unequal spacings in a unit in all of which only few rows along x have sites, as with none or a single
// one: each row is tried everywhere at once, so that no squares lie between passes. Whether a volume is one of these,
// is told on the device before the passes of volume/spaced/spaced.cuh, which leave it then to the kernel behind them
// (volume/spaced/far.cuh).
//
// Work mapping: telling, thread = row; solving, persistent blocks, tile along y by tile: warp = eight of its rows, lane
// = column. Cost: a word of each row is read; three operations per element and row with sites.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/few_rows_along_z.cuh"
#include "grid/cuda/volume/spaced/spaced.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kFindRowsBlock = 1024;

/// Which rows have sites, where they are few; they are counted by the counter of the list along z, which there is none
/// of with unequal spacings, and lie where tiles along y will be listed, unless these are left. Where parts of a volume
/// are solved one after the other, rows are counted and listed again, which does no harm.
static __global__ void __launch_bounds__(kFindRowsBlock) find_few_rows(const __grid_constant__ Volume v) {
  fathom::cuda::wait_for_last();
  const unsigned of_item = static_cast<unsigned>(v.ny) * static_cast<unsigned>(v.depth);
  const unsigned row = blockIdx.x * kFindRowsBlock + threadIdx.x, item = v.items == 1 ? 0 : row / of_item;
  const std::int64_t others = std::int64_t{item} * (v.words - 1) * of_item;  // words that are not rows' first
  // Not by __ldg(), which may be moved ahead of the wait.
  const bool has_site = item < v.items && row < v.items * of_item && has_sites(v.word[others + row]);
  const int all = __syncthreads_count(has_site);
  if (all > kFewRows) {
    if (threadIdx.x == 0) atomicAdd(v.counters, static_cast<unsigned>(all));
  } else if (has_site) {
    const unsigned place = atomicAdd(v.counters, 1u);
    if (place < kFewRows) v.y_list[place] = row;
  }
}

/// The least squares of eight rows of a line, from rows that are offered.
class EightUnits {
 public:
  /// @param first   of the eight
  /// @param weight  of the square of a step along the line
  __device__ EightUnits(int first, unsigned weight) : first_(first), weight_(weight) {
#pragma unroll
    for (unsigned& square : best) square = WindowSquares::kNone;
  }
  __device__ void offer(int row, unsigned square) {
    const auto steps = static_cast<unsigned>(first_ - row);
    unsigned sum = square + weight_ * steps * steps, rise = weight_ * (2 * steps + 1);
#pragma unroll
    for (int j = 0; j < 8; ++j, sum += rise, rise += 2 * weight_) best[j] = min(best[j], sum);
  }

  unsigned best[8];

 private:
  const int first_;
  const unsigned weight_;
};

/// Rows with sites, in a lane's column.
class FewRowsOfVolume {
 public:
  __device__ FewRowsOfVolume(const Volume& v, const Volume::Tile& tile, int count)
      : count_(count), weight_(v.weight_y) {
#pragma unroll
    for (int k = 0; k < kFewRows; ++k)
      if (k < count) find(v, tile, k);
  }

  /// The least squares of eight rows of the tile.
  __device__ EightUnits nearest(int first) const {
    EightUnits eight(first, weight_);
#pragma unroll
    for (int k = 0; k < kFewRows; ++k)
      if (k < count_) eight.offer(y_[k], square_[k]);
    return eight;
  }

 private:
  __device__ void find(const Volume& v, const Volume::Tile& tile, int k) {
    const unsigned depth = static_cast<unsigned>(v.depth), number = v.y_list[k], line = number / depth;
    const auto lines = static_cast<unsigned>(v.ny);
    const auto steps = static_cast<unsigned>(tile.line) - number % depth;
    y_[k] = static_cast<int>(line % lines);
    const uint2 word = __ldg(v.word_line({tile.item, tile.word, y_[k]}) + number % depth);
    const bool is_own = line / lines == tile.item;
    square_[k] = is_own ? v.weight_z * steps * steps + v.weight_x * square_along_x(word) : WindowSquares::kNone;
  }

  const int count_;
  const unsigned weight_;
  int y_[kFewRows];
  unsigned square_[kFewRows];  ///< to the site of the row that is nearest to the tile's column
};

/// A whole volume. By all blocks.
template <int kThreads, bool kLimited>
__device__ void solve_few_rows(const Volume& v, const Emitter<std::int64_t>& emitter, const Limits& limits) {
  const auto count = static_cast<int>(v.counters[0]);
  const auto tiles = static_cast<unsigned>(v.items * v.words * v.nz);
  for (unsigned job = blockIdx.x; job < tiles; job += gridDim.x) {
    const Volume::Tile tile = v.tile(job, v.nz);
    const FewRowsOfVolume rows(v, tile, count);
    const VolumeWriter<Writing::unaligned> writer(v, emitter, tile);
    for (int y = warp_number() * 8; y < v.ny; y += kThreads / 4)
      write_spaced_column<kLimited>(writer, limits, y, tile.word * 32 + lane_id(), rows.nearest(y).best, v.ny - y);
  }
}

}  // namespace fathom::grid::cuda::volume
