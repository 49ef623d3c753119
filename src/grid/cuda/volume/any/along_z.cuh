// The passes of volumes with any spacings.
//
// Along y first, then along z, as the general engine and the CPU add up: squares in double are rounded alike. Between
// the passes lie the steps to the nearest site of the plane (volume/any/steps.cuh), where the results will be, unless
// these are a part of the input.
//
// Of a half tile of a plane that has no site, or sites alone, the pass along y leaves one byte that says so, and no
// steps; half tiles along z whose planes are all alike are written at once (volume/any/alike_lines.cuh). Where few
// rows of a line have sites, these are tried everywhere; along y, where not quite so few have, brackets are of these
// alone.
//
// Labels, and both sides of a signed field, which are solved at once as two labels, take in the ends of runs along each
// line besides (volume/labels.cuh): an element beyond is a site.
//
// Work mapping: block = 16 neighbours along x, half a word, by one whole line, in shared memory, with a thread to each
// row, or to each two (tuning.h); half warp = 8 rows, lane = column. Phase 1: where sites are near, keys of steps, up
// to 63 rows away along y and 23 along z, whose distances stand in a table; those of which it is in doubt, if they are
// few, from squares in double of all rows near, a lane to each. Phase 2, where that does not settle a warp's rows:
// between which rows the nearest lie (volume/any/brackets.cuh), and squares in double of these.
//
// Source: separable passes (Hirata 1996), where sites are near by searching outwards. Cost: one operation per element
// and step; in phase 2 some 80 per element, and 10 for each row that is tried for it. 8 bytes are moved per element
// between the passes.
#pragma once

#include "grid/cuda/volume/any/alike_lines.cuh"
#include "grid/cuda/volume/any/fill_rows.cuh"
#include "grid/cuda/volume/any/lines.cuh"

namespace fathom::grid::cuda::volume {

/// Distances of near sites, from the tables; less than 0 where in doubt. @returns the rows where they are, in bits
__device__ inline unsigned tabulated_distances(const AnySpacing& spacing, const StepTables& tables,
                                               const KeyWindow<VolumeKeys>& window, float (&distances)[8]) {
  if (window.is_all_sites()) {
#pragma unroll
    for (float& distance : distances) distance = 0;
    return 0;
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const unsigned pair = window.best[j] % kPairs;
    const int square = VolumeKeys::square_of(window.best[j] - __ldg(tables.pair + pair));
    const int z = VolumeKeys::steps_of(square, spacing.inverse_z);
    distances[j] = __ldg(tables.distance + (static_cast<unsigned>(z) * kPairs + pair));
  }
  unsigned bits[8], in_doubt = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) bits[j] = __float_as_uint(distances[j]);
  if (greatest_of_eight(bits) >> 31)
#pragma unroll
    for (int j = 0; j < 8; ++j) in_doubt |= (bits[j] >> 31) << j;
  return in_doubt;
}

/// Other distances in place of those in doubt, one at a time, unless they are many. By whole warps.
///
/// @param in_doubt     rows of the lane's eight, in bits
/// @param first        of these
/// @param distance_of  of an element, by the warp: distance_of(row, lane whose element it is)
/// @returns whether none is in doubt any more
template <class DistanceOf>
__device__ bool settle_doubts(unsigned in_doubt, int first, float (&distances)[8], DistanceOf&& distance_of) {
  constexpr int kMany = 16;
  if (!__any_sync(kAllLanes, in_doubt != 0)) return true;
  if (warp_sum(__popc(in_doubt)) > kMany) return false;
  for (unsigned lanes; (lanes = __ballot_sync(kAllLanes, in_doubt != 0)) != 0;) {
    const int lane = __ffs(static_cast<int>(lanes)) - 1;
    const int row = __shfl_sync(kAllLanes, first + __ffs(static_cast<int>(in_doubt)) - 1, lane);
    const float distance = distance_of(row, lane);
    if (lane_id() != lane) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (first + j == row) distances[j] = distance;
    in_doubt &= in_doubt - 1;
  }
  return true;
}

/// Least of a warp's values.
__device__ inline double warp_least(double value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(kAllLanes, value, step);
    value = other < value ? other : value;
  }
  return value;
}

/// Half a tile along z. All functions are called by all threads of the block. Runs of sides: both, of a signed field.
template <int kThreads, int kMostRows, Runs kRuns>
class DistancesAlongZ {
 public:
  static constexpr bool kSides = kRuns == Runs::of_sides, kHasRuns = kRuns != Runs::none;

  struct Shared {
    int far_elements, has_ends;
    SortedRows filled;
    VolumeKeys keys_z;  ///< the spacing's: lanes ask for different ones
    typename LineEnds<kRuns>::Words run_words;
  };

  __device__ DistancesAlongZ(const Volume& v, const AnySpacing& spacing, const HalfTile& half, Shared& shared,
                             uint4* memory)
      : v_(v),
        spacing_(spacing),
        half_(half),
        shared_(shared),
        memory_(memory),
        n_(v.nz),
        rows_(reinterpret_cast<unsigned*>(memory), v.nz),
        from_{v.wide.row(v.wide_first_item + half.tile.item, 0, half.tile.line) + first_x(), v.wide.z_stride,
              v.nx - first_x()},
        line_{rows_, spacing},
        ends_(shared.run_words, v.nz, half.first + lane()),
        tables_(*v.step_tables),
        kinds_(kinds_of_planes(v, half)),
        words_(v.word_line(half.tile)),
        column_(v.distance.row(v.first_item + half.tile.item, 0, half.tile.line) + half.x) {}

  /// What there is. Rows are on their way while their kinds are counted; not where those may be all alike, or few have
  /// sites.
  __device__ void look() {
    const auto t = static_cast<int>(threadIdx.x);
    if (t == 0) shared_.far_elements = shared_.has_ends = 0;
    if (kHasRuns && t <= VolumeKeys::kSteps) shared_.keys_z.of[t] = spacing_.volume_z.of[t];
    rows_.pad(n_);
    begins_ = !kSides && kind_of(0) == kNarrow && from_.are_fours();
    if (begins_) begin_rows<kThreads>(rows_, n_, from_, kinds());
    with_sites_ = shared_.filled.find(n_, [&](int row) { return kind_of(row) != kEmpty; });
    if constexpr (!kSides)
      for (int first = 0; first < kMostRows; first += kThreads)
        full_rows_ += __syncthreads_count(first + t < n_ && kind_of(first + t) == kFull);
    const uint2* labels = v_.changes_along_z(half_.tile);
    ends_.fill(
        [&](int r) {
          if constexpr (kSides) return r ? __ldg(&words_[r].x) ^ __ldg(&words_[r - 1].x) : 0;
          else return __ldg(&labels[r].x);
        },
        &shared_.has_ends);
  }

  /// Where all planes are alike. @returns whether they are
  __device__ bool write_alike() const {
    if (kSides || (full_rows_ != n_ && (kHasRuns || with_sites_ != 0))) return false;
    const TileKind kind = with_sites_ == 0 ? kEmpty : kFull;
    const AlikeLines lines{kind, kinds_, column_ - lane(), v_.distance.z_stride, n_};
    const float result = kind == kFull ? 0 : __builtin_inff();
    if (lines.begin_sectors()) store_same(result);
    else lines.write<kThreads>(result, first_x(), v_.nx);
    return true;
  }

  /// From the planes that have sites, where these are few. @returns whether they are
  __device__ bool solve_few() const {
    if (kHasRuns || with_sites_ > kFewRows) return false;
    if (begins_) {
      fathom::cuda::wait_for_copies();
      __syncthreads();
    }
    if (static_cast<int>(threadIdx.x) < 16 * with_sites_) {
      const int row = shared_.filled.row[threadIdx.x / 16];
      rows_.put(row, lane(), Steps::far(tables_, kind_of(row) == kNarrow ? *from_.at(row, lane()) : Steps::kAtSite));
    }
    __syncthreads();
    solve_from_few<kThreads, false>(shared_.filled, line_, rows_.groups, tables_.along_z(n_),
                                    [&](int q, auto& eight) { store_roots(q, eight); });
    return true;
  }

  /// Rows of words. @returns whether a window is worth a try
  __device__ bool fill() {
    unsigned far = 0;
    const auto count_far = [&](unsigned word) { far += word / Steps::kFar; };
    static_assert(Steps::kAtSite == 0);  // as full rows are filled
    if (begins_) finish_rows<kThreads>(rows_, n_, count_far);
    else fill_rows<kThreads>(rows_, n_, from_, kinds(), count_far);
    add_over_block(static_cast<int>(far), &shared_.far_elements);
    __syncthreads();
    return shared_.far_elements <= n_ * 12;  // of 16 n
  }
  /// Of runs, whether there is no site after all. All are written then.
  __device__ bool write_none() const {
    if (!kHasRuns || with_sites_ > 0 || shared_.has_ends) return false;
    store_same(__builtin_inff());
    return true;
  }

  /// @returns the warp's groups of rows that no window settles, as left_by_windows() has them
  __device__ unsigned search() const {
    return left_by_windows<kThreads>(rows_.groups, [&](int q) {
      const int own = min(q, rows_.groups - 1);
      float distances[8];
      KeyWindow<VolumeKeys> window(rows_, own, lane(), spacing_.volume_z);
      if (has_ends()) ends_.bound(own, window.best, shared_.keys_z);
      if (!window.search(n_ - q * 8)) return false;
      const unsigned in_doubt = tabulated_distances(spacing_, tables_, window, distances);
      const auto distance_of = [&](int z, int other_lane) { return distance_near(z, other_lane); };
      if (!settle_doubts(in_doubt, own * 8, distances, distance_of)) return false;
      store(q * 8, distances);
      return true;
    });
  }

  /// Those. Rows hold far words then.
  __device__ void solve_others(unsigned left) const {
    // Where each sixteenth row is, so that none is looked for: some threads may have none.
    constexpr int kRows = kThreads / 16, kStep = kRows < 16 ? 16 : kRows / 16 * 16;
    for (int first = static_cast<int>(threadIdx.x) / 16; first < kStep; first += kRows) {
      unsigned* own = each_sixteenth(reinterpret_cast<unsigned*>(memory_), first, lane());
      for (int r = first; r < n_; r += kStep) own[r * 16] = Steps::far(tables_, own[r * 16]);
    }
    __syncthreads();
    auto* memory = reinterpret_cast<unsigned*>(memory_ + window_memory(n_) / sizeof(uint4));
    Brackets<kThreads, kMostRows> brackets(memory, n_);
    brackets.find(line_, spacing_.z);
    solve_left<kThreads, false>(brackets, line_, n_, tables_.along_z(n_), left,
                                [&](int q, auto& eight) { store_roots(q, eight); });
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 16; }
  __device__ bool has_ends() const { return kHasRuns && shared_.has_ends; }
  __device__ int first_x() const { return half_.tile.word * 32 + half_.first; }
  __device__ TileKind kind_of(int row) const { return static_cast<TileKind>(__ldg(kinds_ + row)); }
  __device__ auto kinds() const {
    return [this](int row) { return kind_of(row); };
  }
  __device__ bool is_inside(int z) const { return kSides && !(__ldg(&words_[z].x) >> (half_.first + lane()) & 1); }
  __device__ void store(int z, const float (&distances)[8]) const {
    if (half_.x >= v_.nx) return;
    store_eight(n_ - z, column_ + z * v_.distance.z_stride, v_.distance.z_stride,
                [&](int j) { return is_inside(z + j) ? -distances[j] : distances[j]; });
  }
  __device__ void store_same(float distance) const {
    for (int q = static_cast<int>(threadIdx.x) / 16; q < rows_.groups; q += kThreads / 16)
      store(q * 8, {distance, distance, distance, distance, distance, distance, distance, distance});
  }
  __device__ void store_roots(int q, EightSquares<false>& eight) const {
    if (has_ends()) {
      unsigned to_end[8];
      ends_.steps(min(q, rows_.groups - 1), to_end);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const double square = spacing_.square(static_cast<int>(to_end[j]), 0, 0);
        if (to_end[j] < RunEnds::kNoEnd && square < eight.best[j]) eight.best[j] = square;
      }
    }
    float distances[8];
    any_roots_of<kHasRuns>(eight.best, distances);
#pragma unroll
    for (float& distance : distances) distance *= spacing_.scale;
    store(q * 8, distances);
  }
  /// Of an element whose sites are near, from squares of all of these, by a warp.
  __device__ float distance_near(int z, int other_lane) const {
    double least = kNoSquareExact;
    const int last = min(z + VolumeKeys::kSteps, n_ - 1);
    for (int r = max(z - VolumeKeys::kSteps, 0) + lane_id(); r <= last; r += 32) {
      const unsigned word = rows_.get(r, other_lane % 16);
      if (word == Steps::kNone) continue;
      const Steps steps(Steps::far(tables_, word));
      least = min(least, spacing_.square(abs(r - z), steps.y, steps.x));
    }
    if (has_ends()) {
      const unsigned to_end = ends_.steps_of(z, other_lane);
      if (to_end < RunEnds::kNoEnd) least = min(least, spacing_.square(static_cast<int>(to_end), 0, 0));
    }
    return root_of_exact(warp_least(least)) * spacing_.scale;
  }

  const Volume& v_;
  const AnySpacing& spacing_;
  const HalfTile& half_;
  Shared& shared_;
  uint4* const memory_;
  const int n_;
  const KeyWindow<VolumeKeys>::Rows rows_;
  const RowsOfHalf from_;
  const LineOfVolume line_;
  LineEnds<kRuns> ends_;
  const StepTables& tables_;
  const std::uint8_t* const kinds_;
  const uint2* const words_;
  float* const column_;
  int with_sites_ = 0, full_rows_ = 0;
  bool begins_ = false;  ///< to copy rows
};

template <int kThreads, int kMostRows, Runs kRuns>
__global__ void __launch_bounds__(kThreads, any_blocks(kThreads))
    solve_any_along_z(const __grid_constant__ Volume v, const __grid_constant__ AnySpacing spacing) {
  using Distances = DistancesAlongZ<kThreads, kMostRows, kRuns>;
  extern __shared__ uint4 window_shared[];
  __shared__ typename Distances::Shared shared;
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  Distances distances(v, spacing, half, shared, window_shared);
  distances.look();
  if (distances.write_alike() || distances.solve_few()) return;
  const bool is_near = distances.fill();
  if (distances.write_none()) return;
  const unsigned left = is_near ? distances.search() : ~0u;
  if (__syncthreads_or(left != 0)) distances.solve_others(left);
}

}  // namespace fathom::grid::cuda::volume
