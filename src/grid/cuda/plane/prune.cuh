// Which columns can matter to the unfinished bands: a superset of the lower envelope of each line between two bands.
//
// By convexity of Voronoi cells a site outside a band can be nearest to an element of the band only if its cell crosses
// the line between them. Of the columns' nearest sites, as seen from that line, the ones whose cells cross it are the
// corners of the lower convex hull of (x, g² + x²). Survivors above the line are kept for the band below it, and the
// other way round. With unequal spacings g is measured in columns.
//
// Work mapping: warp = 256 columns of a line; the hull of each chunk by itself is a superset. First a column is dropped
// that lies above the chord of the lowest columns around it, in groups of 32; then, in rounds, one above the chord of
// two listed neighbours. Floats decide, with a margin that keeps what may be on the hull.
//
// Source: the proximate points of Hayashi et al. 1998 by way of Maurer et al. 2003; departs by approximating the hull
// from outside with many threads. Cost: O(columns) per line of unfinished bands, a few rounds.
#pragma once

#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr int kGroups = kTile / 32;
inline constexpr float kNoHeight = 1e30f;

/// Whether a point lies on or above the chord of its neighbours; p, q: how far they are to the left and right. Heights
/// are squared distances; keeps what rounding leaves in doubt.
__device__ inline bool above_chord(float left, float middle, float right, float p, float q) {
  const float width = p + q;
  return middle * width * 0.999999f >= fmaf(left, q, fmaf(right, p, p * q * width));
}

/// The columns of a chunk as seen from a line, lane and group by lane and group.
struct LineChunk {
  const Plane& plane;
  int rows[kGroups];
  /// Bit j: the nearest site of column j·32 + lane lies there, not on the line.
  unsigned keeps_above = 0, keeps_below = 0;
  bool is_live = false;

  __device__ LineChunk(const Plane& p, std::int64_t band, int x0) : plane(p) {
    for (int j = 0; j < kGroups; ++j) {
      const std::int64_t i = band * plane.pitch + x0 + j * 32 + lane_id();
      const unsigned bits = plane.bits[i];
      const int up = static_cast<int>(plane.above[i]) - 1;
      const int down = bits ? __ffs(static_cast<int>(bits)) - 1 + plane.beyond : static_cast<int>(plane.below[i]);
      rows[j] = min(up, down);
      if (up >= kNoRow && down >= kNoRow) rows[j] = kNoRow;
      if (up < kNoRow && up <= down && down > plane.beyond) keeps_above |= 1u << j;
      if (down < kNoRow && down <= up && up > plane.beyond) keeps_below |= 1u << j;
      is_live |= max(up, down) > plane.beyond;
    }
  }

  /// Height of column j·32 + lane above the line.
  __device__ float height(int j) const { return square(rows[j]); }

  /// Lists the columns that are not above the chord of the lowest columns around them. @returns how many
  __device__ int list(float2* columns) const {
    float least[kGroups + 2], at[kGroups + 2];  // of the groups before, of these, and behind
    least[0] = least[kGroups + 1] = kNoHeight;
    at[0] = at[kGroups + 1] = 0;
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
      const unsigned fewest = warp_min(static_cast<unsigned>(rows[j]));
      least[j + 1] = square(static_cast<int>(fewest));
      at[j + 1] = static_cast<float>(j * 32 + lane_of(static_cast<unsigned>(rows[j]), fewest));
    }
    int count = 0;
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
      const float x = static_cast<float>(j * 32 + lane_id());
      bool keep = height(j) < kNoHeight;
      // The lowest of its own group on one side, of the next group on the other.
      const bool is_right = x > at[j + 1];
      const float left = is_right ? least[j + 1] : least[j], right = is_right ? least[j + 2] : least[j + 1];
      if (x != at[j + 1] && left < kNoHeight && right < kNoHeight)
        keep &= !above_chord(left, height(j), right, x - (is_right ? at[j + 1] : at[j]),
                             (is_right ? at[j + 2] : at[j + 1]) - x);
      const unsigned kept = __ballot_sync(kAllLanes, keep);
      if (keep) columns[count + __popc(kept & lanes_before(lane_id()))] = make_float2(height(j), x);
      count += __popc(kept);
    }
    return count;
  }

  __device__ float square(int steps) const { return steps < kNoRow ? plane.from_line(steps) : kNoHeight; }
};

/// One round: drops the listed columns above the chord of those `step` places before and behind. @returns how many are
/// left
__device__ inline int drop_above_chords(float2* columns, int count, int step) {
  unsigned kept[kGroups];
#pragma unroll
  for (int j = 0; j < kGroups; ++j) {
    const int k = j * 32 + lane_id();
    bool keep = k < count;
    if (k >= step && k + step < count) {
      const float2 left = columns[k - step], middle = columns[k], right = columns[k + step];
      keep = !above_chord(left.x, middle.x, right.x, middle.y - left.y, right.y - middle.y);
    }
    kept[j] = __ballot_sync(kAllLanes, keep);
  }
  __syncwarp();
  int left = 0;
#pragma unroll
  for (int j = 0; j < kGroups; ++j) {
    if (j * 32 >= count) break;
    const float2 column = columns[min(j * 32 + lane_id(), kTile - 1)];
    __syncwarp();
    if (kept[j] >> lane_id() & 1) columns[left + __popc(kept[j] & lanes_before(lane_id()))] = column;
    left += __popc(kept[j]);
    __syncwarp();
  }
  return left;
}

/// Line b of an image lies above its band b; there are `bands` + 1 of them. The counters of what the next kernel queues
/// are set back.
static __global__ void __launch_bounds__(kPruneWarps * 32, kPruneBlocks) prune(const __grid_constant__ Plane plane) {
  __shared__ float2 lists[kPruneWarps][kTile];
  __shared__ std::uint32_t masks[kPruneWarps][2][kGroups];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = lane_id();
  const int chunk = static_cast<int>(blockIdx.x) * kPruneWarps + warp;
  plane.take_turn();
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < PlaneLeft::kCounters) plane.left.counters[threadIdx.x] = 0;
  if (chunk >= plane.tiles()) return;
  const auto lines = static_cast<unsigned>(plane.bands + 1);  // of an image
  const auto b = static_cast<int>(blockIdx.y % lines);
  const std::int64_t band = std::int64_t{blockIdx.y / lines} * plane.bands + b;
  const bool open_above = b > 0 && plane.left.open_bands[band - 1],
             open_below = b < plane.bands && plane.left.open_bands[band];
  if (!open_above && !open_below) return;
  std::uint32_t* for_below = plane.keep_above(band) + chunk * kGroups;
  std::uint32_t* for_above = plane.keep_below(band - 1) + chunk * kGroups;
  const auto store = [&](std::uint32_t above, std::uint32_t below) {
    if (open_below && lane < kGroups) for_below[lane] = above;
    if (open_above && lane < kGroups) for_above[lane] = below;
  };
  const int line = plane.first_band + b;
  if (line == 0 || line == plane.image_bands) return store(0, 0);
  const LineChunk columns(plane, band, chunk * kTile);
  if (!__any_sync(kAllLanes, columns.is_live)) return store(0, 0);
  if (lane < kGroups) masks[warp][0][lane] = masks[warp][1][lane] = 0;
  int count = columns.list(lists[warp]);
  __syncwarp();
  for (int round = 0; round < 8 && count > 2; ++round) {
    const int step = round == 2 ? 2 : round == 4 ? 4 : 1;
    const int left = drop_above_chords(lists[warp], count, step), dropped = count - left;
    count = left;
    if (step == 1 && dropped * 16 <= count) break;
  }
  for (int k0 = 0; k0 < count; k0 += 32) {
    const int k = k0 + lane, x = k < count ? static_cast<int>(lists[warp][k].y) : 0, j = x / 32;
    const unsigned above = __shfl_sync(kAllLanes, columns.keeps_above, x % 32);
    const unsigned below = __shfl_sync(kAllLanes, columns.keeps_below, x % 32);
    if (k < count && above >> j & 1) atomicOr(&masks[warp][0][j], 1u << (x % 32));
    if (k < count && below >> j & 1) atomicOr(&masks[warp][1][j], 1u << (x % 32));
  }
  __syncwarp();
  store(masks[warp][0][lane % kGroups], masks[warp][1][lane % kGroups]);
}

}  // namespace fathom::grid::cuda::plane
