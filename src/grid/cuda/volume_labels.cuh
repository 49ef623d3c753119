// Labels in the engine for volumes: each element looks for the nearest element of another label, label 0 for none.
//
// A pass along an axis need not know which of its sources are of the same label: those beyond the ends of the run of
// equal labels around an element are not nearer than these ends, whatever they are taken for. So the passes are those of
// a mask, from the distances to the ends of runs along x, and each takes the ends of the runs along its own axis as a
// minimum, element by element (volume_runs.cuh).
//
// Cost: every label is read two and a quarter times, from the caches but once; 5/8 byte is written for it.
#pragma once

#include "grid/cuda/plane_labels.cuh"
#include "grid/cuda/volume_words.cuh"

namespace fathom::grid::cuda {

/// Words and carries of runs along x, changes along z and y, and label 0. Elements beyond the volume count as label 0
/// along z, so that they keep no search busy.
///
/// Work mapping: as pack_volume(), lane = element.
///
/// @param before  the plane above the first volume's, where that was packed earlier; null: there is none
template <class T>
__global__ void __launch_bounds__(kVolumePackBlock)
    pack_volume_labels(const __grid_constant__ Volume volume, const __grid_constant__ Input input, const T* before) {
  constexpr int kRows = 4;  // of a warp
  __shared__ uint2 turned[2][32][33];
  const auto slabs = static_cast<unsigned>((volume.nz + 31) / 32), lines = static_cast<unsigned>(volume.ny);
  const int lane = lane_id(), warp = static_cast<int>(threadIdx.x) / 32, nx = volume.nx;
  const int z0 = static_cast<int>(blockIdx.x % slabs) * 32;
  const unsigned rest = blockIdx.x / slabs;
  const std::int64_t first_word = static_cast<std::int64_t>(rest / lines) * volume.words;  // of the item
  const auto y = static_cast<int>(rest % lines);
  const T* line = reinterpret_cast<const T*>(input.data) + input.items.offset(volume.first_item + rest / lines) +
                  y * input.stride[1];
  const int z = z0 + warp * kRows, rows = min(kRows, volume.nz - z);
  unsigned along_x[kRows] = {}, along_y[kRows] = {};
  uint2 along_z[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) along_z[r] = make_uint2(0, 0xFFFFFFFFu);
  if (rows > 0) {
    const T* row = line + z * input.stride[0];
    const T* above = z > 0 ? row - input.stride[0] : before ? before + std::int64_t{y} * nx : nullptr;
    T last[kRows] = {};  // labels of the words before
    for (int x0 = 0; x0 < nx; x0 += 32) {
      const int x = min(x0 + lane, nx - 1);
      const bool there = x0 + lane < nx;
      T upper = above ? above[x] : T{};
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (r >= rows) break;
        const T* at = row + r * input.stride[0] + x;
        const T label = *at, neighbour = y > 0 ? *(at - input.stride[1]) : T{};
        const auto left = static_cast<T>(__shfl_sync(kAllLanes, lane == 31 ? last[r] : label, (lane + 31) % 32));
        const unsigned background = __ballot_sync(kAllLanes, !there || label == T{});
        const unsigned changes_x = __ballot_sync(kAllLanes, there && (label == T{} || (x > 0 && label != left)));
        const unsigned changes_z = __ballot_sync(kAllLanes, there && (r > 0 || above) && label != upper);
        const unsigned changes_y = __ballot_sync(kAllLanes, there && y > 0 && label != neighbour);
        if (lane == x0 / 32) {
          along_x[r] = changes_x;
          along_y[r] = changes_y;
          along_z[r] = make_uint2(changes_z, background);
        }
        upper = last[r] = label;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r < rows && lane < volume.words)
      volume.along_y[((first_word + lane) * volume.depth + z + r) * volume.ny + y] = along_y[r];
    const unsigned next = __shfl_down_sync(kAllLanes, along_x[r], 1);
    const unsigned ends = along_x[r] | along_x[r] >> 1 | (lane == 31 ? 0 : next << 31);
    turned[0][warp * kRows + r][lane] = with_carries(ends, 1);
    turned[1][warp * kRows + r][lane] = along_z[r];
  }
  __syncthreads();
  for (int w = warp; w < volume.words; w += kVolumePackBlock / 32) {
    const std::int64_t to = ((first_word + w) * volume.ny + y) * volume.depth + z0 + lane;
    volume.word[to] = turned[0][lane][w];
    volume.along_z[to] = turned[1][lane][w];
  }
}

}  // namespace fathom::grid::cuda
