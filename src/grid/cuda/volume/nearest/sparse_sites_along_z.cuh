// Tiles along z of which some rows have sites and most have none, as with a plane, a line or scattered sites, where
// nearest sites are asked for: those rows alone are tried, from near to far, and of equally near ones the lowest wins.
//
// Phase 1: the rows that have sites are listed in order (volume/sparse_rows_along_z.cuh), and a table is made of the
// steps along x in each, and of their squares with the row's place in the list behind them. Phase 2, half warp = eight
// neighbouring rows, lane = column: the next listed row before and the next one behind are tried together, until
// neither could better any element of the warp. A tile for which many rows are to be tried is left to the envelope
// (volume/nearest/sites.cuh).
//
// Work mapping: block = half a tile. Cost: two operations per element and row that is tried.
#pragma once

#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/sparse_rows_along_z.cuh"

namespace fathom::grid::cuda::volume {

/// After ListedRows::find(), by all threads.
///
/// In dynamic shared memory, where window_memory() has room for them: for each listed row, and for one more before and
/// behind, sixteen squares and as many steps along x, and the list between the two.
class SparseSitesAlongZ {
 public:
  static __device__ std::int16_t* list_in(uint4* memory, int rows) { return SparseRowsAlongZ::list_in(memory, rows); }

  /// Not inlined, for the registers of the search.
  /// @param memory  with the list of `filled`
  /// @param tries   what the warps have spent; shared, 0
  /// @returns whether few rows were to be tried; else the tile is not done
  static __device__ __noinline__ bool solve(const Volume& v, HalfTile half, const ListedRows& filled, uint4* memory,
                                            int* tries) {
    return SparseSitesAlongZ(v, half, filled, memory).solve(tries);
  }

 private:
  __device__ SparseSitesAlongZ(const Volume& v, const HalfTile& half, const ListedRows& filled, uint4* memory)
      : filled_(filled),
        lane_(lane_id() % 16),
        keys_(reinterpret_cast<unsigned*>(memory) + 16 + lane_),
        list_(list_in(memory, v.nz) + 1),
        along_x_(list_in(memory, v.nz) + ListedRows::most_of(v.nz) + 2 + 16 + lane_),
        line_(v.word_line(half.tile)),
        bit_(half.first + lane_),
        nz_(v.nz),
        is_inside_(half.x < v.nx),
        leads_(lead_half(v, half, 0, half.tile.line) + lane_),
        step_(2 * v.pairs_of_plane) {}

  __device__ bool solve(int* tries) const {
    tabulate();
    const int budget = (nz_ + 15) / 16 * kUsualTries, groups = row_groups(nz_);
    const auto warps = static_cast<int>(blockDim.x) / 32;
    bool is_done = true;
    for (int q0 = warp_number() * 2; q0 < groups && is_done; q0 += warps * 2) {
      const int z = min(q0 + lane_id() / 16, groups - 1) * 8;
      unsigned best[8];
      is_done = SparseRowsAlongZ::may_spend(find_winners(z, best), tries, budget);
      if (is_done) store(z, best);
    }
    return __syncthreads_and(is_done);
  }

  // Keys are square · kPlaces + place. d + j steps away, a square is more by d² + 2dj + j², of which j² is added at
  // last. Without it a square may be negative by up to 7²: it is kept with a bias.
  static constexpr int kPlaces = 512, kBias = 64;
  static constexpr int kFarthest = 1500;         ///< steps that are counted: no line is as long
  static constexpr int kNoSquare = 1500 * 1500;  ///< of the rows before and behind all others
  static_assert(kLongestKeyed / 3 + 2 < kPlaces && kFarthest >= kLongestKeyed + 8);
  static_assert(kNoSquare > 2 * kLongestKeyed * kLongestKeyed);
  static_assert((std::int64_t{kNoSquare} + kFarthest * (kFarthest + 14) + kBias + 1) * kPlaces < 1LL << 32);

  __device__ void tabulate() const {
    const auto t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    for (int k = t / 16 - 1; k <= filled_.count(); k += threads / 16) {
      const bool is_row = k >= 0 && k < filled_.count();
      const int along_x = is_row ? steps_along_x(__ldg(line_ + list_[k]), bit_) : 0;
      // Columns beyond the volume's last keep no search busy.
      const int square = !is_row ? kNoSquare : is_inside_ ? along_x * along_x : 0;
      keys_[k * 16] = static_cast<unsigned>((square + kBias) * kPlaces + max(k, 0));
      along_x_[k * 16] = static_cast<std::int16_t>(along_x);
    }
    __syncthreads();
  }

  /// Of eight rows from z on: the keys of the nearest sites. By a warp. @returns how many pairs of rows were tried
  __device__ int find_winners(int z, unsigned* best) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = UINT32_MAX;
    int behind = filled_.place_of(z), before = behind - 1, tries = 0;
    for (bool is_open = true; is_open; ++tries) {
      offer(before, behind, z, best);
      before = max(before - 1, -1), behind = min(behind + 1, filled_.count());
      const int steps = min(min(z - list_[before], max(list_[behind] - 7 - z, 0)), kFarthest);
      // A row as far away may be lower than the nearest so far. What j² will add is at most 7².
      const auto next = static_cast<unsigned>((steps * steps + kBias - 7 * 7) * kPlaces);
      is_open = __any_sync(kAllLanes, WindowSites::most(best) >= next) != 0;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] += static_cast<unsigned>((j * j - kBias) * kPlaces);
    return tries;
  }
  /// The rows at two places.
  __device__ void offer(int before, int behind, int z, unsigned* best) const {
    const int to_before = min(z - list_[before], kFarthest), to_behind = max(z - list_[behind], -kFarthest);
    const unsigned a = keys_[before * 16] + static_cast<unsigned>(to_before * to_before * kPlaces);
    const unsigned b = keys_[behind * 16] + static_cast<unsigned>(to_behind * to_behind * kPlaces);
    const auto by_a = static_cast<unsigned>(2 * kPlaces * to_before);
    const auto by_b = static_cast<unsigned>(2 * kPlaces * to_behind);
#pragma unroll
    for (unsigned j = 0; j < 8; ++j) best[j] = __vimin3_u32(best[j], a + j * by_a, b + j * by_b);
  }

  __device__ void store(int z, const unsigned* best) const {
    const unsigned far = far_rows(best);
    std::uint16_t* to = leads_ + z * step_;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += step_)
      if (z + j < nz_) *to = static_cast<std::uint16_t>(lead(static_cast<int>(best[j] % kPlaces), z + j, far >> j & 1));
  }
  /// Bits: in which of eight rows a site of the half tile does not fit a lead with the steps to it.
  __device__ unsigned far_rows(const unsigned* best) const {
    unsigned far = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) far |= unsigned{is_inside_ && best[j] / kPlaces >= Leads::kFarSquare} << j;
    const int of_half = lane_id() & 16;
    return warp_or(far << of_half) >> of_half;
  }
  /// Of row z.
  __device__ unsigned lead(int place, int z, bool is_far) const {
    if (is_far) return Leads::kFirstFar + static_cast<unsigned>(list_[place]);
    return is_inside_ ? Leads::near(along_x_[place * 16], list_[place] - z) : Leads::kHere;
  }

  const ListedRows& filled_;
  const int lane_;
  unsigned* const keys_;            ///< of the lane's column, of the list's rows, 16 words apart
  const std::int16_t* const list_;  ///< its second, the first row that has sites
  std::int16_t* const along_x_;     ///< as keys_
  const uint2* const line_;
  const int bit_, nz_;
  const bool is_inside_;
  std::uint16_t* const leads_;  ///< of the lane's column, in the first row
  const std::int64_t step_;
};

}  // namespace fathom::grid::cuda::volume
