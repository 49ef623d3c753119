// The words and carries of transposed volumes (volume/transposed/engine.cu): of 32 neighbours along y, in rows at any
// address.
//
// Work mapping: block = up to 128 columns of four planes, all rows. Phase 1: warp = the words of these columns in 32
// rows of a plane, lane = every 32nd column. Phase 2: thread = column of a plane; it goes from word to word with the steps to the last site
// before, and looks for the next one behind where it has passed it. Planes are neighbours in memory then, as the pass
// along z reads them.
// Cost: every element is read once, 1/4 byte is written.
#pragma once

#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// Bits of a block in shared memory: [word][plane][column].
class ColumnBits {
 public:
  static constexpr int kColumns = 128, kPlanes = 4;
  static __host__ __device__ std::size_t memory(int words) {
    return static_cast<std::size_t>(words) * kPlanes * kPitch * sizeof(unsigned);
  }

  __device__ explicit ColumnBits(uint4* memory) : memory_(reinterpret_cast<unsigned*>(memory)) {}

  __device__ void put(int word, int plane, int column, unsigned sites) const {
    memory_[place(word, plane, column)] = sites;
  }
  __device__ unsigned get(int word, int plane, int column) const { return memory_[place(word, plane, column)]; }

 private:
  static constexpr int kPitch = 136;  ///< so that eight columns of four planes lie in different banks

  static __device__ int place(int word, int plane, int column) { return (word * kPlanes + plane) * kPitch + column; }

  unsigned* memory_;
};

/// Words with the steps from their ends to the nearest sites outside, of a column of a plane.
/// @param put  takes them: put(word's number, word)
template <class Put>
__device__ void carry_column(const ColumnBits& bits, int words, int plane, int column, Put&& put) {
  const auto none = static_cast<int>(kNoneInWord);
  unsigned filled = 0;  // words that have sites
  for (int w = 0; w < words; ++w) filled |= static_cast<unsigned>(bits.get(w, plane, column) != 0) << w;
  int left = none;
  for (int w = 0; w < words; ++w) {
    const unsigned word = bits.get(w, plane, column), behind = filled >> w >> 1;
    const int steps = __ffs(static_cast<int>(behind)),
              next = __ffs(static_cast<int>(bits.get(w + steps, plane, column)));
    const int right = behind ? (steps - 1) * 32 + next : none;
    put(w, make_uint2(word, static_cast<unsigned>(left) | static_cast<unsigned>(right) << 16));
    left = word ? 1 + __clz(static_cast<int>(word)) : min(left + 32, none);
  }
}

/// The columns of a block: of four planes, up to 128 neighbours, so that those of a row have about as many.
struct ColumnBlock {
  int x0, z0, columns, planes;
  std::int64_t item;

  __device__ ColumnBlock(const Volume& volume, unsigned number) {
    const auto blocks = static_cast<unsigned>(blocks_of_row(volume)), slabs = static_cast<unsigned>(slabs_of(volume));
    const int most = (volume.ny + 4 * blocks_of_row(volume) - 1) / (4 * blocks_of_row(volume)) * 4;
    x0 = static_cast<int>(number % blocks) * most;
    z0 = static_cast<int>(number / blocks % slabs) * ColumnBits::kPlanes;
    columns = min(most, volume.ny - x0);
    planes = min(ColumnBits::kPlanes, volume.nz - z0);
    item = number / blocks / slabs;
  }

  /// How many there are of an item.
  static std::int64_t count(const Volume& volume) { return std::int64_t{blocks_of_row(volume)} * slabs_of(volume); }

 private:
  static __host__ __device__ int blocks_of_row(const Volume& volume) {
    return (volume.ny + ColumnBits::kColumns - 1) / ColumnBits::kColumns;
  }
  static __host__ __device__ int slabs_of(const Volume& volume) {
    return (volume.nz + ColumnBits::kPlanes - 1) / ColumnBits::kPlanes;
  }
};

/// Threads of a block: as many warps as its words are shared evenly by, in as few rounds as the most would take.
inline int columns_pack_block(int words) {
  constexpr int kMostWarps = kColumnsPackBlock / 32;
  const int tasks = words * ColumnBits::kPlanes, rounds = (tasks + kMostWarps - 1) / kMostWarps;
  return (tasks + rounds - 1) / rounds * 32;
}

/// @param volume  transposed
template <Reading kReading>
__global__ void __launch_bounds__(kColumnsPackBlock, resident_blocks(kColumnsPackBlock, kColumnsPackBlocks))
    pack_columns(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  extern __shared__ uint4 columns_shared[];
  constexpr int kPlanes = ColumnBits::kPlanes;
  volume.clear_counter(0);
  const ColumnBits bits(columns_shared);
  const ColumnBlock block(volume, blockIdx.x);
  const std::int64_t item = mask.input.items.offset(volume.first_item + block.item), *stride = mask.input.stride;
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int task = t / 32; task < volume.words * kPlanes; task += threads / 32) {
    const int word = task / kPlanes, plane = task % kPlanes, rows = min(32, volume.nx - word * 32);
    if (plane >= block.planes) continue;
    const std::int64_t first = item + (block.z0 + plane) * stride[0] + word * 32 * stride[1] + block.x0;
    for (int x = lane_id(); x < block.columns; x += 32)
      bits.put(word, plane, x,
               mask.template sites_of_column<kReading == Reading::bytes>(first + x, mask.input.stride[1], rows));
  }
  __syncthreads();
  const std::int64_t step = std::int64_t{volume.ny} * volume.depth;
  for (int i = t; i < kPlanes * block.columns; i += threads) {
    const int plane = i % kPlanes, column = i / kPlanes;
    if (plane >= block.planes) continue;
    uint2* to =
        volume.word + (block.item * volume.words * volume.ny + block.x0 + column) * volume.depth + block.z0 + plane;
    carry_column(bits, volume.words, plane, column, [&](int w, uint2 word) { to[w * step] = word; });
  }
}

}  // namespace fathom::grid::cuda::volume
