// Tiles along z of which few rows have sites, as with a plane, a line or scattered sites, where nearest sites are asked
// for: each row is tried everywhere, and of equally near ones the lowest wins.
//
// Work mapping: block = half a tile, half warp = eight of its rows, lane = column. Phase 1: the rows with sites, in
// whatever order; phase 2: sorted, with the steps along x in each; phase 3: all others. Cost: two operations per
// element and row with sites.
#pragma once

#include "grid/cuda/volume_few_rows_along_z.cuh"
#include "grid/cuda/volume_filled_rows.cuh"
#include "grid/cuda/volume_sites.cuh"

namespace fathom::grid::cuda {

/// In shared memory. All threads call it.
///
/// @tparam kMost  rows with sites; a power of two
template <int kMost>
class FewSitesAlongZ {
 public:
  /// Whether so many rows with sites, of all, are few enough: where more have some, a search is faster, but for the
  /// shortest lines.
  static __device__ bool are_few(int filled, int rows) {
    return filled <= min(kMost, max(kFewRows, rows / kFewSitesShare));
  }

  /// @returns whether they are few
  __device__ bool find(const uint2* line, int rows) {
    filled_.find(rows, [&](int r) { return has_sites(__ldg(line + r)); });
    return are_few(filled_.count, rows);
  }

  /// After find(). Not inlined, for the registers of the search.
  __device__ __noinline__ void solve(const Volume& v, const HalfTile& half) {
    tabulate(v.word_line(half.tile), half.first);
    const int lane = static_cast<int>(threadIdx.x) % 16;
    const bool is_inside = half.x < v.nx;
    std::uint16_t* leads = narrow_half(v, half, 0, half.tile.line) + lane;
    const std::int64_t step = std::int64_t{v.ny} * 32;
    const int groups = row_groups(v.nz), warps = static_cast<int>(blockDim.x) / 32;
    for (int q0 = static_cast<int>(threadIdx.x) / 32 * 2; q0 < groups; q0 += warps * 2) {
      const int z = (q0 + lane_id() / 16) * 8;
      unsigned best[8];
      find_winners(z, lane, best);
      const unsigned far = far_rows(best, is_inside);
      std::uint16_t* to = leads + z * step;
#pragma unroll
      for (int j = 0; j < 8; ++j, to += step)
        if (z + j < v.nz) *to = static_cast<std::uint16_t>(lead(best[j] % kMost, z + j, lane, far >> j & 1, is_inside));
    }
  }

 private:
  static_assert((kMost & (kMost - 1)) == 0);
  static_assert(2LL * kLongestAxis * kLongestAxis * kMost < 1LL << 31);  // what is compared

  __device__ void tabulate(const uint2* line, int first_bit) {
    const auto t = static_cast<int>(threadIdx.x), lane = t % 16;
    for (int k = t / 16; k < filled_.count; k += static_cast<int>(blockDim.x) / 16) {
      const int row = filled_.row[k];
      int place = 0;
      for (int i = 0; i < filled_.count; ++i) place += filled_.row[i] < row;
      rows_[place] = static_cast<std::int16_t>(row);
      along_x_[place][lane] = static_cast<std::int16_t>(steps_along_x(__ldg(line + row), first_bit + lane));
    }
    __syncthreads();
  }

  /// Of eight rows from z on: square · kMost + place among the rows with sites, so that the lowest of several is least.
  __device__ void find_winners(int z, int lane, unsigned* best) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = UINT32_MAX;
    for (int k = 0; k < filled_.count; ++k) {
      const int along_x = along_x_[k][lane], along_z = z - rows_[k];
      const auto first = static_cast<unsigned>((along_x * along_x + along_z * along_z) * kMost + k);
      const auto slope = static_cast<unsigned>(2 * kMost * along_z);
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) best[j] = __viaddmin_u32(first + j * slope, j * j * kMost, best[j]);
    }
  }

  /// Bits: in which of eight rows a site of the half tile does not fit a lead with the steps to it.
  static __device__ unsigned far_rows(const unsigned* best, bool is_inside) {
    unsigned far = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) far |= unsigned{is_inside && best[j] / kMost >= Leads::kFarSquare} << j;
    const int of_half = lane_id() & 16;
    return warp_or(far << of_half) >> of_half;
  }

  /// Of row z. Columns beyond the volume's last keep no search busy.
  __device__ unsigned lead(unsigned winner, int z, int lane, bool is_far, bool is_inside) const {
    if (is_far) return Leads::kFirstFar + static_cast<unsigned>(rows_[winner]);
    return is_inside ? Leads::near(along_x_[winner][lane], rows_[winner] - z) : Leads::near(0, 0);
  }

  FilledRows<kMost> filled_;
  std::int16_t rows_[kMost];  ///< from low to high
  std::int16_t along_x_[kMost][16];
};

}  // namespace fathom::grid::cuda
