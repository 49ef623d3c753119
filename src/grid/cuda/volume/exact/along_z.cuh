// The passes of volumes with any unequal spacings, where 32 bits do not hold squares in a unit, or there is no unit.
//
// Along y first, then along z, as the general engine and the CPU add up: squares in double are rounded alike. Between
// the passes lie the steps to the nearest site of the plane (volume/exact/steps.cuh), where the results will be, unless
// these are a part of the input.
//
// Of a half tile of a plane that has no site, or sites alone, the pass along y leaves one byte that says so, and no
// steps; half tiles along z whose planes are all alike are written at once (volume/unequal/alike_lines.cuh). Where few
// rows of a line have sites, these are tried everywhere; along y, where not quite so few have, brackets are of these
// alone.
//
// Labels, and both sides of a signed field, which are solved at once, take in the ends of runs along each line besides,
// as in volume/spaced/spaced.cuh: an element beyond is a site.
//
// Work mapping: block = 16 neighbours along x, half a word, by one whole line, in shared memory, with a thread to each
// row, or to each two (tuning.h); half warp = 8 rows, lane = column. Phase 1: where sites are near, keys of steps, up
// to 63 rows away along y and 23 along z, whose distances stand in a table; those of which it is in doubt, if they are
// few, from squares in double of all rows near, a lane to each. Phase 2, where that does not settle a warp's rows:
// between which rows the nearest lie (volume/unequal/brackets.cuh), and squares in double of these.
//
// Source: separable passes (Hirata 1996), where sites are near by searching outwards. Cost: one operation per element
// and step; in phase 2 some 80 per element, and 10 for each row that is tried for it. 8 bytes are moved per element
// between the passes.
#pragma once

#include "grid/cuda/volume/exact/lines.cuh"
#include "grid/cuda/volume/unequal/alike_lines.cuh"
#include "grid/cuda/volume/unequal/fill_rows.cuh"

namespace fathom::grid::cuda::volume {

/// Distances of near sites, from the tables; less than 0 where in doubt. @returns the rows where they are, in bits
__device__ inline unsigned tabulated_distances(const ExactSpacing& spacing, const StepTables& tables,
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

/// Runs of sides: both, of a signed field.
template <int kThreads, int kMostRows, Runs kRuns>
__global__ void __launch_bounds__(kThreads, exact_blocks(kThreads))
    solve_exact_along_z(const __grid_constant__ Volume v, const __grid_constant__ ExactSpacing spacing) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kSides = kRuns == Runs::of_sides, kHasRuns = kRuns != Runs::none;
  __shared__ int far_elements, has_ends;
  __shared__ SortedRows filled;
  __shared__ VolumeKeys keys_z;  // the spacing's: lanes ask for different ones
  __shared__ typename LineEnds<kRuns>::Words run_words;
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  KeyWindow<VolumeKeys>::Rows rows(reinterpret_cast<unsigned*>(window_shared), n);
  if (t == 0) far_elements = has_ends = 0;
  if (kHasRuns && t <= VolumeKeys::kSteps) keys_z.of[t] = spacing.volume_z.of[t];
  rows.pad(n);
  const StepTables& tables = *v.step_tables;
  const std::uint8_t* kinds = kinds_of_planes(v, half);
  const auto kind_of = [&](int r) { return static_cast<TileKind>(__ldg(kinds + r)); };
  const int first_x = half.tile.word * 32 + half.first;
  const RowsOfHalf from{v.wide.row(v.wide_first_item + half.tile.item, 0, half.tile.line) + first_x, v.wide.z_stride,
                        v.nx - first_x};
  // Rows on their way while their kinds are counted; not where those may be all alike, or few have sites.
  const bool begins = !kSides && kind_of(0) == kNarrow && from.are_fours();
  if (begins) begin_rows<kThreads, 4>(rows, n, from, kind_of);
  const int with_sites = filled.find<kThreads, kMostRows>(n, [&](int row) { return kind_of(row) != kEmpty; });
  int full_rows = 0;
  if constexpr (!kSides)
    for (int first = 0; first < kMostRows; first += kThreads)
      full_rows += __syncthreads_count(first + t < n && kind_of(first + t) == kFull);
  LineEnds<kRuns> ends(run_words, n, half.first + t % 16);
  const uint2* words = v.word_line(half.tile);
  const uint2* labels = v.changes_along_z(half.tile);
  const auto changes_of = [&](int r) {
    if constexpr (kSides) return r ? __ldg(&words[r].x) ^ __ldg(&words[r - 1].x) : 0;
    else return __ldg(&labels[r].x);
  };
  ends.fill(changes_of, &has_ends);
  float* column = v.distance.row(v.first_item + half.tile.item, 0, half.tile.line) + half.x;
  const auto is_inside = [&](int z, int lane) {
    return kSides && !(__ldg(&words[z].x) >> (half.first + lane % 16) & 1);
  };
  const auto store = [&](int z, const float(&distances)[8], int count) {
    if (half.x >= v.nx) return;
    store_eight(count, column + z * v.distance.z_stride, v.distance.z_stride,
                [&](int j) { return is_inside(z + j, t) ? -distances[j] : distances[j]; });
  };
  const auto store_same = [&](float distance) {
    for (int q = t / 16; q < rows.groups; q += kThreads / 16)
      store(q * 8, {distance, distance, distance, distance, distance, distance, distance, distance}, n - q * 8);
  };
  if constexpr (!kSides)
    if (full_rows == n || (!kHasRuns && with_sites == 0)) {
      const TileKind kind = with_sites == 0 ? kEmpty : kFull;
      const AlikeLines lines{kind, kinds, column - t % 16, v.distance.z_stride, n};
      const float result = kind == kFull ? 0 : __builtin_inff();
      if (lines.begin_sectors()) return store_same(result);
      return lines.write<kThreads>(result, first_x, v.nx);
    }
  float distances[8];
  const LineOfVolume line{rows, spacing};
  const auto store_roots = [&](int q, EightSquares<false>& eight) {
    if (kHasRuns && has_ends) {
      unsigned to_end[8];
      ends.steps(min(q, rows.groups - 1), to_end);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const double square = spacing.square(static_cast<int>(to_end[j]), 0, 0);
        if (to_end[j] < RunEnds::kNoEnd && square < eight.best[j]) eight.best[j] = square;
      }
    }
    any_roots_of<kHasRuns>(eight.best, distances);
#pragma unroll
    for (float& distance : distances) distance *= spacing.scale;
    store(q * 8, distances, n - q * 8);
  };
  if (!kHasRuns && with_sites <= kFewRows) {
    if (begins) {
      fathom::cuda::wait_for_copies();
      __syncthreads();
    }
    if (t < 16 * with_sites) {
      const int row = filled.row[t / 16];
      rows.put(row, t % 16, Steps::far(tables, kind_of(row) == kNarrow ? *from.at(row, t % 16) : Steps::kAtSite));
    }
    __syncthreads();
    return solve_from_few<kThreads, false>(filled, line, rows.groups, tables.along_z(n), store_roots);
  }
  unsigned far = 0;
  const auto count_far = [&](unsigned word) { far += word / Steps::kFar; };
  static_assert(Steps::kAtSite == 0);  // as full rows are filled
  if (begins) finish_rows<kThreads, 4>(rows, n, count_far);
  else if (with_sites < n || full_rows > 0) fill_rows<kThreads>(rows, n, from, kind_of, count_far);
  else fill_rows<kThreads>(rows, n, from, count_far);
  add_over_block(static_cast<int>(far), &far_elements);
  __syncthreads();
  if (kHasRuns && with_sites == 0 && !has_ends) return store_same(__builtin_inff());
  const auto distance_near = [&](int z, int lane) {
    double least = kNoSquareExact;
    const int last = min(z + VolumeKeys::kSteps, n - 1);
    for (int r = max(z - VolumeKeys::kSteps, 0) + lane_id(); r <= last; r += 32) {
      const unsigned word = rows.get(r, lane % 16);
      if (word == Steps::kNone) continue;
      const Steps steps(Steps::far(tables, word));
      least = min(least, spacing.square(abs(r - z), steps.y, steps.x));
    }
    if (kHasRuns && has_ends) {
      const unsigned to_end = ends.steps_of(z, lane);
      if (to_end < RunEnds::kNoEnd) least = min(least, spacing.square(static_cast<int>(to_end), 0, 0));
    }
    return root_of_exact(warp_least(least)) * spacing.scale;
  };
  unsigned left = ~0u;
  if (far_elements <= n * 12)  // of 16 n
    left = left_by_windows<kThreads>(rows.groups, [&](int q) {
      KeyWindow<VolumeKeys> window(rows, min(q, rows.groups - 1), t % 16, spacing.volume_z);
      if (kHasRuns && has_ends) ends.bound(min(q, rows.groups - 1), window.best, keys_z);
      if (!window.search(n - q * 8)) return false;
      const unsigned in_doubt = tabulated_distances(spacing, tables, window, distances);
      if (!settle_doubts(in_doubt, min(q, rows.groups - 1) * 8, distances, distance_near)) return false;
      store(q * 8, distances, n - q * 8);
      return true;
    });
  if (!__syncthreads_or(left != 0)) return;
  // Where each sixteenth row is, so that none is looked for: some threads may have none.
  constexpr int kRows = kThreads / 16, kStep = kRows < 16 ? 16 : kRows / 16 * 16;
  for (int first = t / 16; first < kStep; first += kRows) {
    unsigned* own = each_sixteenth(reinterpret_cast<unsigned*>(window_shared), first, t % 16);
    for (int r = first; r < n; r += kStep) own[r * 16] = Steps::far(tables, own[r * 16]);
  }
  __syncthreads();
  Brackets<kThreads, kMostRows> brackets(reinterpret_cast<unsigned*>(window_shared + window_memory(n) / sizeof(uint4)),
                                         n);
  brackets.find(line, spacing.z);
  solve_left<kThreads, false>(brackets, line, n, tables.along_z(n), left, store_roots);
}

}  // namespace fathom::grid::cuda::volume
