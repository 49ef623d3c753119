// Tiles along z of which some rows have sites and most have none, as where sites are sparse: those rows alone are
// tried, from near to far.
//
// Phase 1: the rows that have sites are listed in order, and the squares of their distances along x go to shared
// memory, two columns to a word. Phase 2, half warp = eight neighbouring rows, lane = two columns: the next listed row
// before and the next one behind are tried together, in 16 bits, until neither could better any element of the warp.
// Where that takes more steps than 16 bits hold, the warp tries them in 32 bits, lane = column. A tile for which many
// rows are to be tried is left to the envelope (volume/envelope.cuh).
//
// Work mapping: block = tile. Cost: some two operations per element and row that is tried, five in 32 bits.
#pragma once

#include "grid/cuda/volume/far_rows.cuh"
#include "grid/cuda/volume/row_squares.cuh"
#include "grid/cuda/volume/rows_with_sites.cuh"
#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// By all threads.
///
/// In dynamic shared memory, where window_memory() has room for them: squares of the rows and of one more before and
/// behind, and the list of all these.
class SparseRowsAlongZ {
 public:
  /// Whether there are so few rows that it is worth while to try them one by one: on average less than three in each
  /// eight rows that have some, or so few that it does not matter if they lie together.
  static __device__ bool are_few(const RowBits& filled, int count) {
    return count <= max(most_in(filled.groups()), kFewRows);
  }

  enum class Found { narrow, wide, too_long };

  /// Not inlined, for the registers of the search.
  /// @param filled   of which are_few()
  /// @param of_byte  copy_byte_squares()
  /// @param tries    what the warps have spent; shared, 0
  static __device__ __noinline__ Found solve(const Volume& v, Volume::Tile tile, const RowBits& filled, uint4* memory,
                                             const uint2* of_byte, int* tries) {
    return SparseRowsAlongZ(v, tile, filled, memory).solve(of_byte, tries);
  }

  /// By a warp. @returns whether the block has spent no more than its budget
  static __device__ bool may_spend(int spent, int* tries, int budget) {
    int before = 0;
    if (lane_id() == 0) before = atomicAdd(tries, spent);
    return __shfl_sync(kAllLanes, before, 0) + spent <= budget;
  }

 private:
  static constexpr int kOutside = 4 * kLongestAxis;  ///< before the first and behind the last, farther than any
  static __device__ int most_in(int groups) { return groups * 8 / 3; }

  __device__ SparseRowsAlongZ(const Volume& v, const Volume::Tile& tile, const RowBits& filled, uint4* memory)
      : v_(v),
        tile_(tile),
        filled_(filled),
        squares_(memory),
        list_(reinterpret_cast<std::int16_t*>(memory + (most_in(row_groups(v.nz)) + 2) * 4) + 1),
        line_(v.word_line(tile)),
        nz_(v.nz),
        ny_(v.ny),
        columns_(v.nx - tile.word * 32),
        narrow_(v.narrow_row(tile.item, tile.word, 0, tile.line) + lane_id() % 16),
        beyond_(v.beyond_row(tile.item, tile.word, lane_id() % 2, 0) + tile.line) {}

  __device__ Found solve(const uint2* of_byte, int* tries) const {
    const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    filled_.list(nz_, list_);
    if (t == 0) list_[-1] = -kOutside, list_[filled_.count()] = kOutside;
    __syncthreads();
    for (int k = t / 4 - 1; k <= filled_.count(); k += threads / 4)
      squares_[(k + 1) * 4 + t % 4] = eight_squares(k, t % 4 * 8, of_byte);
    __syncthreads();
    const int budget = (nz_ + 15) / 16 * kUsualTries;
    bool any_wide = false, too_long = false;
    for (int z = warp_number() * 16; z < nz_ && !too_long; z += threads / 2) {
      int spent = 0;
      const bool is_near = solve_near(z + lane_id() / 16 * 8, spent), is_far = !is_near && spent < kMostTries;
      if (is_far)
        for (int group = z; group < min(z + 16, nz_); group += 8) any_wide |= solve_far(group, spent);
      too_long = !(is_near || is_far) || !may_spend(spent, tries, budget);
    }
    if (__syncthreads_or(too_long)) return Found::too_long;
    return __syncthreads_or(any_wide) ? Found::wide : Found::narrow;
  }

  // d + j steps away, a square is more by d² + 2dj + j², of which j² is added at last. Without it a square may be
  // negative by up to 7²: in 16 bits it is kept with a bias.
  static constexpr int kBias = 64;
  static constexpr int kMostSteps = 172;  ///< in 16 bits, to the nearest of eight rows
  static_assert(kNone16 + kBias + (kMostSteps + 8) * (kMostSteps + 8) < 1 << 16);
  using Squares = RowSquares<174>;
  static_assert(kMostSteps < 174 && Squares::most() < kNone16);
  static constexpr int kMostTries = 4 * kUsualTries;  ///< of a warp's rows in 16 bits, before the tile is given up

  /// The way from the first of eight rows to the next listed ones before and behind them.
  struct Way {
    int before, behind;  ///< their places
    int to_before, to_behind;
    /// Steps from any of the eight rows to the nearer one, at least.
    __device__ int least_steps() const { return min(to_before, max(-7 - to_behind, 0)); }
  };
  __device__ Way way_from(int z, int before, int behind) const {
    return {before, behind, z - list_[before], z - list_[behind]};
  }
  __device__ Way first_way(int z) const {
    const int behind = filled_.place_of(z);
    return way_from(z, behind - 1, behind);
  }
  __device__ Way next_way(int z, const Way& way) const {
    return way_from(z, max(way.before - 1, -1), min(way.behind + 1, filled_.count()));
  }
  __device__ bool is_row(int place) const { return place >= 0 && place < filled_.count(); }

  /// Of the distances along x in the row at a place, from column `first` of the tile on, with the bias.
  __device__ uint4 eight_squares(int place, int first, const uint2* of_byte) const {
    uint4 squares = make_uint4(kNone16x2, kNone16x2, kNone16x2, kNone16x2);
    if (is_row(place)) {
      const uint2 word = __ldg(line_ + list_[place]);
      squares = Squares(word, first, of_byte).within(pairs_inside(columns_ - first));
    }
    const unsigned bias = twice(kBias);
    return make_uint4(squares.x + bias, squares.y + bias, squares.z + bias, squares.w + bias);
  }

  /// Half a warp's rows from z on, of which there may be none.
  /// @returns whether all of the warp are near enough; else nothing is stored
  __device__ bool solve_near(int z, int& spent) const {
    const unsigned* squares = reinterpret_cast<const unsigned*>(squares_ + 4) + (lane_id() & 15);
    unsigned best[8];
#pragma unroll
    for (unsigned& least : best) least = 0xFFFFFFFFu;
    bool is_open = true;
    Way way = first_way(z);
    for (int steps = way.least_steps(); spent < kMostTries && __any_sync(kAllLanes, is_open && steps < kMostSteps);
         ++spent) {
      // What is farther than 16 bits allow is taken to be nearer, but too far from all eight rows to settle any.
      const int to_before = min(way.to_before, kMostSteps), to_behind = max(way.to_behind, -kMostSteps - 8);
      unsigned a = squares[way.before * 16] + twice(to_before * to_before);
      unsigned b = squares[way.behind * 16] + twice(to_behind * to_behind);
      const unsigned by_a = kept(twice(2 * to_before)), by_b = kept(twice(2 * to_behind));
#pragma unroll
      for (int j = 0; j < 8; ++j, a += by_a, b += by_b) best[j] = __vimin3_u16x2(best[j], a, b);
      way = next_way(z, way);
      steps = min(way.least_steps(), kMostSteps);
      const unsigned next = twice(steps * steps + kBias - 7 * 7);
      is_open = WindowPairs::most(best, next) != next;
    }
    if (__any_sync(kAllLanes, is_open)) return false;
    store_near(z, best);
    return true;
  }

  __device__ void store_near(int z, const unsigned* best) const {
    const int lane = lane_id() % 16, columns = columns_ - 2 * lane, rows = nz_ - z;
    const unsigned there = columns > 1 ? 0xFFFFFFFFu : columns == 1 ? 0xFFFFu : 0;
    if (lane < 2 && rows > 0) beyond_[std::int64_t{ny_} * (z / 8)] = 0;
    if (lane >= v_.pairs_of(tile_.word)) return;
    const std::int64_t of_plane = v_.pairs_of_plane;  // else read again behind each store
    std::uint32_t* to = narrow_ + z * of_plane;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += of_plane)
      if (j < rows) *to = (best[j] + twice(j * j - kBias)) & there;
  }

  /// Eight rows from z on, by a warp. @returns whether they do not fit 16 bits
  __device__ bool solve_far(int z, int& spent) const {
    int least[8], most = kNone32;
#pragma unroll
    for (int& value : least) value = kNone32;
    for (Way way = first_way(z); __any_sync(kAllLanes, way.least_steps() * way.least_steps() < most);
         way = next_way(z, way), ++spent) {
      const int a = square(way.before) + way.to_before * way.to_before;
      const int b = square(way.behind) + way.to_behind * way.to_behind;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        least[j] = __vimin3_s32(least[j], a + 2 * j * way.to_before, b + 2 * j * way.to_behind);
      const int some = __vimax3_s32(least[0], least[1], least[2]), others = __vimax3_s32(least[3], least[4], least[5]);
      most = __vimax3_s32(some, others, max(least[6], least[7])) + 7 * 7;
    }
    unsigned best[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = static_cast<unsigned>(least[j] + j * j);
    return FarRows(v_, tile_, lane_id()).put(z, best, min(8, nz_ - z));
  }
  /// Of the distance along x from this lane's column; where there is no column 0, which keeps no search busy.
  __device__ int square(int place) const {
    if (lane_id() >= columns_) return 0;
    return is_row(place) ? static_cast<int>(square_along_x(__ldg(line_ + list_[place]))) : kNone32;
  }

  const Volume& v_;
  const Volume::Tile& tile_;
  const RowBits& filled_;
  uint4* const squares_;      ///< four for each of the list
  std::int16_t* const list_;  ///< its second, the first row that has sites
  const uint2* const line_;
  const int nz_, ny_, columns_;
  std::uint32_t* const narrow_;  ///< of this lane's columns, in the first row
  std::uint8_t* const beyond_;   ///< of half the columns, each other lane's
};

}  // namespace fathom::grid::cuda::volume
