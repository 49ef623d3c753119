// The words and carries of transposed volumes (volume/transposed/engine.cu): of 32 neighbours along y, in rows at any
// address.
//
// Work mapping: block = up to 124 columns of four planes, all rows. Phase 1: warp = the words of these columns in 32
// rows of a plane. Of bytes that are zero or not, lane = four columns, of which it reads one word and has the rest from
// the next lane; bits are gathered eight rows at a time, a byte for each column, and turned. Of anything else, lane =
// every 32nd column. Phase 2: thread = column of a plane; it goes from word to word with the steps to the last site
// before, and looks for the next one behind where it has passed it. Planes are neighbours in memory then, as the pass
// along z reads them.
// Cost: every element is read once, 1/4 byte is written.
#pragma once

#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/bytes_within.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// Bits of a block in shared memory: [word][plane][column].
class ColumnBits {
 public:
  static constexpr int kColumns = 124, kPlanes = 4;
  static __host__ __device__ std::size_t memory(int words) {
    return static_cast<std::size_t>(words) * kPlanes * kPitch * sizeof(unsigned);
  }

  __device__ explicit ColumnBits(uint4* memory) : memory_(reinterpret_cast<unsigned*>(memory)) {}

  __device__ void put(int word, int plane, int column, unsigned sites) const {
    memory_[place(word, plane, column)] = sites;
  }
  /// Of four columns, from four times `quarter` on.
  __device__ void put(int word, int plane, int quarter, uint4 four) const {
    *reinterpret_cast<uint4*>(memory_ + place(word, plane, 4 * quarter)) = four;
  }
  __device__ unsigned get(int word, int plane, int column) const { return memory_[place(word, plane, column)]; }

 private:
  static constexpr int kPitch = 136;  ///< so that eight columns of four planes lie in different banks

  static __device__ int place(int word, int plane, int column) { return (word * kPlanes + plane) * kPitch + column; }

  unsigned* memory_;
};

/// Which bytes of four columns are not 0 in 32 rows: a word for each column. @param four  a row's
__device__ inline uint4 turned_rows(const unsigned (&four)[32]) {
  unsigned bits[4] = {};  // of eight rows, a byte for each column
#pragma unroll
  for (int r = 0; r < 32; ++r) {
    const unsigned top = ((four[r] & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | four[r];
    bits[r / 8] |= top >> (7 - r % 8) & 0x01010101u << r % 8;
  }
  const unsigned low = __byte_perm(bits[0], bits[1], 0x5140), low_behind = __byte_perm(bits[2], bits[3], 0x5140);
  const unsigned high = __byte_perm(bits[0], bits[1], 0x7362), high_behind = __byte_perm(bits[2], bits[3], 0x7362);
  return make_uint4(__byte_perm(low, low_behind, 0x5410), __byte_perm(low, low_behind, 0x7632),
                    __byte_perm(high, high_behind, 0x5410), __byte_perm(high, high_behind, 0x7632));
}

/// A lane's four columns of up to 32 rows, as words of bytes that are not 0; behind the last row, whatever. By whole
/// warps: each lane reads a word of memory, in which its columns begin, and has the rest from the next one.
///
/// @param first    byte of the first lane
/// @param rows     how many there are; the last is read again, so that no branch keeps loads from being in flight
///                 together
/// @param columns  of the warp: no more than 31 lanes have
__device__ inline uint4 nonzero_columns(const Mask& mask, const std::byte* first, std::int64_t stride, int rows,
                                        int columns) {
  unsigned four[32];
  const int own = min(lane_id(), (columns + 3) / 4);
  const auto load = [&](auto&& load_word) {
    const std::byte* row = first;
#pragma unroll
    for (int r = 0; r < 32; ++r) {
      const auto begin = reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(row) & ~std::uintptr_t{3});
      four[r] = load_word(begin + 4 * own);
      if (r + 1 < rows) row += stride;
    }
  };
  const std::byte* last = first + (rows - 1) * stride;
  const std::byte *lowest = stride < 0 ? last : first, *highest = stride < 0 ? first : last;
  if (mask.array.holds(lowest - 3, highest + columns + 7))
    load([](const std::byte* at) { return __ldg(reinterpret_cast<const unsigned*>(at)); });
  else load([&](const std::byte* at) { return four_within(at, mask.array); });
  const auto first_bit = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(first)) * 8;
#pragma unroll
  for (unsigned r = 0; r < 32; ++r)
    four[r] = __funnelshift_r(four[r], __shfl_down_sync(kAllLanes, four[r], 1),
                              first_bit + r * (static_cast<unsigned>(stride) * 8));
  return turned_rows(four);
}

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

/// The columns of a block: of four planes, up to 124 neighbours, so that those of a row have about as many.
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

/// What a block reads of the input: bytes that are zero or not, or anything.
template <Reading kReading>
class ColumnReader {
 public:
  /// @param first  element of the block's first column, in its first plane
  __device__ ColumnReader(const Mask& mask, std::int64_t first, int columns)
      : mask_(mask), first_(first), columns_(columns) {}

  /// The sites of up to 32 rows of a plane, by a warp.
  __device__ void read(const ColumnBits& bits, int word, int plane, int rows) const {
    const std::int64_t *stride = mask_.input.stride, first = first_ + plane * stride[0] + word * 32 * stride[1];
    if constexpr (kReading == Reading::elements) {
      for (int x = lane_id(); x < columns_; x += 32) bits.put(word, plane, x, sites_of_column(first + x, rows));
    } else {
      const uint4 nonzero = nonzero_columns(mask_, mask_.input.data + first, stride[1], rows, columns_);
      const unsigned flip = mask_.is_zero_site() ? 0xFFFFFFFFu : 0, there = 0xFFFFFFFFu >> (32 - rows);
      if (4 * lane_id() < columns_)
        bits.put(word, plane, lane_id(),
                 make_uint4((nonzero.x ^ flip) & there, (nonzero.y ^ flip) & there, (nonzero.z ^ flip) & there,
                            (nonzero.w ^ flip) & there));
    }
  }

 private:
  __device__ unsigned sites_of_column(std::int64_t element, int rows) const {
    unsigned sites = 0;
    for (int r = 0; r < rows; ++r, element += mask_.input.stride[1])
      sites |= static_cast<unsigned>(mask_.is_site(element)) << r;
    return sites;
  }

  const Mask& mask_;
  const std::int64_t first_;
  const int columns_;
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
  const std::int64_t item = mask.input.items.offset(volume.first_item + block.item);
  const ColumnReader<kReading> reader(mask, item + block.z0 * mask.input.stride[0] + block.x0, block.columns);
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int task = t / 32; task < volume.words * kPlanes; task += threads / 32) {
    const int word = task / kPlanes, plane = task % kPlanes;
    if (plane < block.planes) reader.read(bits, word, plane, min(32, volume.nx - word * 32));
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
