// Warp = row, lane = every 32nd voxel of it. Cost: the mask is read once.
#include "apps/cuda/solid.h"
#include "core/cuda/runtime.h"
#include "core/cuda/warp.cuh"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;

constexpr int kBlock = 256;

__global__ void __launch_bounds__(kBlock)
    pack_rows(const std::uint8_t* mask, std::int64_t count, std::int32_t extent, std::uint64_t* words, SolidRow* rows) {
  const std::int64_t number = (std::int64_t{blockIdx.x} * kBlock + threadIdx.x) / 32;
  if (number >= count) return;
  SolidRow row;
  const std::int64_t row_words = words_of_row(extent);
  for (std::int32_t begin = 0; begin < extent; begin += 64) {
    std::uint64_t word = 0;
    for (std::int32_t half = 0; half < 64; half += 32) {
      const std::int32_t x = begin + half + lane_id();
      const bool solid = x < extent && mask[number * extent + x] != 0;
      word |= std::uint64_t{__ballot_sync(kAllLanes, solid)} << half;
    }
    if (lane_id() == 0) words[number * row_words + begin / 64] = word;
    row.take(begin, word, __popcll(word), __ffsll(static_cast<long long>(word)) - 1,
             63 - __clzll(static_cast<long long>(word)));
  }
  if (lane_id() == 0) rows[number] = row;
}

}  // namespace

void pack_solid(const std::uint8_t* mask, const std::array<std::int32_t, 3>& extents, std::uint64_t* words,
                SolidRow* rows, cudaStream_t stream) {
  const std::int64_t count = static_cast<std::int64_t>(extents[0]) * extents[1];
  if (count == 0) return;
  const std::int64_t blocks = (count * 32 + kBlock - 1) / kBlock;
  pack_rows<<<static_cast<unsigned>(blocks), kBlock, 0, stream>>>(mask, count, extents[2], words, rows);
  fathom::cuda::check_launch("packing voxels");
}

}  // namespace fathom::apps::cuda
