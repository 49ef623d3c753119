// The words and carries of all rows along x (see volume/volume.cuh).
//
// Work mapping: block = one y, 32 z; warp = 4 rows. Of bytes in rows of up to 1024 lane = sixteen of them, at any
// address; a load takes up to four rows, so that few lanes are idle. As two of these make a word, the words of two
// loads fill a warp and get their carries together. Of anything else lane = element of one word after the other. The
// block turns its words in shared memory, so that the pass along z reads its lines coalesced.
// Cost: every element of a mask is read once, 1/4 byte is written.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kPackedRows = 4;  ///< of a warp, one behind the other along z

/// What a block packs: 32 rows, one behind the other along z.
struct Slab {
  std::int64_t item;
  std::int32_t y, z0;

  __device__ explicit Slab(const Volume& volume)
      : item(blockIdx.x / static_cast<unsigned>(volume.ny)),
        y(static_cast<std::int32_t>(blockIdx.x % static_cast<unsigned>(volume.ny))),
        z0(static_cast<std::int32_t>(blockIdx.y) * 32) {}
  /// The first of this thread's warp's rows, and how many rows there are from it on.
  static __device__ int first_row() { return thread() / 32 * kPackedRows; }
  __device__ int rows(const Volume& volume) const { return volume.nz - z0 - first_row(); }

  /// Of the input, elements to one of the slab's rows.
  __device__ std::int64_t offset(const Volume& volume, const Input& input, int row) const {
    return input.items.offset(volume.first_item + item) + y * input.stride[1] + (z0 + row) * input.stride[0];
  }
  /// Words of all rows. By all threads of the block, after a barrier. @param turned  [row][word]
  template <int kWords>
  __device__ void write(const Volume& volume, uint2* to, const uint2 (&turned)[32][kWords]) const {
    if (z0 + lane_id() >= padded_depth(volume.nz)) return;
    for (int w = thread() / 32; w < volume.words; w += kVolumePackBlock / 32)
      to[((item * volume.words + w) * volume.ny + y) * volume.depth + z0 + lane_id()] = turned[lane_id()][w];
  }
};

__device__ inline int leading_zeros(unsigned bits) { return __clz(static_cast<int>(bits)); }
__device__ inline int leading_zeros(std::uint64_t bits) { return __clzll(static_cast<long long>(bits)); }
__device__ inline int first_set(unsigned bits) { return __ffs(static_cast<int>(bits)); }
__device__ inline int first_set(std::uint64_t bits) { return __ffsll(static_cast<long long>(bits)); }

/// Steps from the ends of a lane's bits to the row's nearest sites outside, which lie `beyond` elements behind the bits.
/// @param lanes  that hold the row
template <class Bits>
__device__ unsigned carries_of(Bits bits, int beyond = 0, unsigned lanes = kAllLanes) {
  constexpr int kBits = 8 * sizeof(Bits);
  const int lane = lane_id();
  const unsigned filled = __ballot_sync(kAllLanes, bits != 0) & lanes;
  const unsigned before = filled & lanes_before(lane), behind = lane == 31 ? 0u : filled >> (lane + 1) << (lane + 1);
  const int last = before ? 31 - leading_zeros(before) : 0, next = behind ? first_set(behind) - 1 : 0;
  const Bits last_bits = __shfl_sync(kAllLanes, bits, last), next_bits = __shfl_sync(kAllLanes, bits, next);
  const int left = lane * kBits - (last * kBits + kBits - 1 - leading_zeros(last_bits)) + beyond;
  const int right = next * kBits + first_set(next_bits) - 1 - (lane * kBits + kBits - 1) + beyond;
  return (before ? static_cast<unsigned>(left) : kNoneInWord) | (behind ? static_cast<unsigned>(right) : kNoneInWord)
                                                                    << 16;
}

/// A lane's word of a row, or two, with carries, to shared memory.
__device__ inline void put_carried(uint2* row, int lane, unsigned word, unsigned carries) {
  row[lane] = make_uint2(word, carries);
}
__device__ inline void put_carried(uint2* row, int lane, std::uint64_t words, unsigned carries) {
  const auto first = static_cast<unsigned>(words), second = static_cast<unsigned>(words >> 32);
  const unsigned to_second = second ? static_cast<unsigned>(first_set(second)) : min((carries >> 16) + 32, kNoneInWord);
  const unsigned to_first =
      first ? static_cast<unsigned>(leading_zeros(first)) + 1 : min((carries & 0xFFFFu) + 32, kNoneInWord);
  row[2 * lane] = make_uint2(first, (carries & 0xFFFFu) | to_second << 16);
  row[2 * lane + 1] = make_uint2(second, to_first | (carries & 0xFFFF0000u));
}

/// Those of sixteen bytes that lie in the array; others are not read, but 0. Not inlined: it is rare.
__device__ __noinline__ inline uint4 load_part(const std::byte* at, MemoryRange array) {
  unsigned words[4] = {};
  for (int k = 0; k < 16; ++k)
    if (at + k >= array.begin && at + k < array.end) words[k / 4] |= static_cast<unsigned>(at[k]) << (k % 4 * 8);
  return make_uint4(words[0], words[1], words[2], words[3]);
}

/// Sixteen at any address, of some rows. @tparam kOnce  whether nothing else reads them
/// @tparam kAligned  whether that is a multiple of sixteen everywhere
template <bool kAligned, bool kOnce = false>
class SixteenBytes {
 public:
  /// @param first, end  of the rows; what lies beside them in their sixteens may not be the array's
  __device__ SixteenBytes(const MemoryRange& array, const std::byte* first, const std::byte* end)
      : array_(array), are_inside_(kAligned || array.holds(first - 15, end + 31)) {}

  __device__ uint4 operator()(const std::byte* at) const {
    if constexpr (kAligned) return all(at);
    const auto before = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at) % 16);
    const std::byte* low = at - before;
    return are_inside_ ? from(all(low), all(low + 16), before) : from(within(low), within(low + 16), before);
  }

 private:
  static __device__ uint4 all(const std::byte* at) {
    const auto* sixteen = reinterpret_cast<const uint4*>(at);
    return kAligned && kOnce ? __ldcs(sixteen) : __ldg(sixteen);
  }
  __device__ uint4 within(const std::byte* at) const {
    return array_.holds(at, at + 16) ? all(at) : load_part(at, array_);
  }
  /// Sixteen of thirty-two bytes, those from `first` on, which is below sixteen.
  static __device__ uint4 from(uint4 a, uint4 b, unsigned first) {
    if (first & 8) a = make_uint4(a.z, a.w, b.x, b.y), b.x = b.z, b.y = b.w;
    if (first & 4) a = make_uint4(a.y, a.z, a.w, b.x), b.x = b.y;
    const unsigned bits = first % 4 * 8;
    return make_uint4(__funnelshift_r(a.x, a.y, bits), __funnelshift_r(a.y, a.z, bits), __funnelshift_r(a.z, a.w, bits),
                      __funnelshift_r(a.w, b.x, bits));
  }

  const MemoryRange& array_;
  const bool are_inside_;
};

/// Which rows and words the lanes of a warp have of four rows of bytes: of sixteens, of which a row has kLanes and a
/// load takes 32, and then of a word each, of which a round has all that the warp has room for.
template <int kLanes>
struct SixteenLanes {
  static constexpr int kWords = kLanes / 2;  ///< of a row
  static constexpr int kRowsOfRound = kWords <= 8 ? 4 : 32 / kWords, kRounds = kPackedRows / kRowsOfRound;
  static constexpr int kLoads = kRowsOfRound * kLanes / 32;  ///< of a round

  /// Of a load: its row's number in the four, and this lane's first column.
  static __device__ int row_of_load(int round, int load) {
    return round * kRowsOfRound + (load * 32 + lane_id()) / kLanes;
  }
  static __device__ int column(int load) { return (load * 32 + lane_id()) % kLanes * 16; }

  /// Which of the four rows this lane has a word of in a round, number word().
  static __device__ int row(int round) { return round * kRowsOfRound + lane_id() / kWords; }
  static __device__ int word() { return lane_id() % kWords; }
  static __device__ bool has_word() { return lane_id() / kWords < kRowsOfRound; }
  /// The lanes with the words of the same row.
  static __device__ unsigned of_row() { return first_bits(kWords) << (lane_id() / kWords * kWords); }

  /// This lane's word from the bits of sixteen bytes of each of a round's loads.
  static __device__ unsigned gather(const unsigned (&sixteen)[kLoads]) {
    unsigned both = sixteen[0];
    if constexpr (kLoads == 2) both |= sixteen[1] << 16;
    const int from = lane_id() / kWords * kLanes + word() * 2;
    const unsigned even = __shfl_sync(kAllLanes, both, from % 32), odd = __shfl_sync(kAllLanes, both, from % 32 + 1);
    return __byte_perm(even, odd, from < 32 ? 0x5410 : 0x7632);
  }
};

/// A warp's four rows of bytes of a mask that are zero or not. @tparam kAligned  as SixteenBytes has it
template <int kLanes, bool kAligned>
class MaskBytes : public SixteenLanes<kLanes> {
  using Lanes = SixteenLanes<kLanes>;

 public:
  using Source = Mask;
  static constexpr bool kIsOfLabels = false;
  static constexpr int kBlocks = kLanes > 32 ? 4 : kLanes == 32 && !kAligned ? 5 : 6;  ///< per multiprocessor

  __device__ MaskBytes(const Volume& volume, const Mask& mask, const Slab& slab)
      : nx_(volume.nx), rows_(slab.rows(volume)), flip_(mask.is_zero_site() ? 0xFFFFFFFFu : 0) {
    const std::int64_t stride = mask.input.stride[0], to_last = (min(rows_, kPackedRows) - 1) * stride, zero = 0;
    const std::byte* first = mask.input.data + slab.offset(volume, mask.input, Slab::first_row());
    const SixteenBytes<kAligned, true> sixteen(mask.array, first + min(zero, to_last),
                                               first + max(zero, to_last) + nx_);
#pragma unroll
    for (int round = 0; round < Lanes::kRounds; ++round)
#pragma unroll
      for (int k = 0; k < Lanes::kLoads; ++k) {
        const int row = Lanes::row_of_load(round, k), column = Lanes::column(k);
        loaded_[round][k] = row < rows_ && column < nx_ ? sixteen(first + row * stride + column) : uint4{};
      }
  }

  /// This lane's of a round.
  __device__ unsigned sites(int round) const {
    unsigned nonzero[Lanes::kLoads];
#pragma unroll
    for (int k = 0; k < Lanes::kLoads; ++k) nonzero[k] = nonzero_bytes(loaded_[round][k]);
    const unsigned there = Lanes::row(round) < rows_ ? first_bits(nx_ - Lanes::word() * 32) : 0;
    return (Lanes::gather(nonzero) ^ flip_) & there;
  }

 private:
  const int nx_, rows_;
  const unsigned flip_;
  uint4 loaded_[Lanes::kRounds][Lanes::kLoads];
};

/// The lanes of rows of anything else. @tparam Bits  a lane's of a row, as long as rows need them
template <class Bits>
struct ElementLanes {
  static constexpr int kRounds = kPackedRows, kWords = 8 * sizeof(Bits);
  static __device__ int row(int round) { return round; }
  static __device__ int word() { return lane_id(); }
  static __device__ bool has_word() { return true; }
  static __device__ unsigned of_row() { return kAllLanes; }
};

/// A warp's four rows of a mask of anything.
template <class Bits>
struct MaskElements : ElementLanes<Bits> {
  using Source = Mask;
  static constexpr bool kIsOfLabels = false;
  static constexpr int kBlocks = kVolumePackBlocks;

  const int nx, rows;
  const std::int64_t first;
  const Mask& mask;

  __device__ MaskElements(const Volume& v, const Mask& m, const Slab& slab)
      : nx(v.nx), rows(slab.rows(v)), first(slab.offset(v, m.input, Slab::first_row())), mask(m) {}

  __device__ Bits sites(int round) const {
    Bits own = 0;
    const std::int64_t row = first + round * mask.input.stride[0];
    for (int x0 = 0; x0 < nx; x0 += 32) {
      const int x = x0 + lane_id();
      const unsigned bits = __ballot_sync(kAllLanes, round < rows && x < nx && mask.is_site(row + x));
      if (lane_id() == x0 / static_cast<int>(8 * sizeof(Bits)))
        own |= static_cast<Bits>(bits) << x0 % (8 * sizeof(Bits));
    }
    return own;
  }
};

/// @tparam Rows  of a mask, or of labels (volume/labels.cuh), four of a warp
template <class Rows>
__global__ void __launch_bounds__(kVolumePackBlock, resident_blocks(kVolumePackBlock, Rows::kBlocks))
    pack_rows(const __grid_constant__ Volume volume, const __grid_constant__ typename Rows::Source source) {
  __shared__ uint2 turned[Rows::kIsOfLabels ? 2 : 1][32][Rows::kWords + 1];
  fathom::cuda::let_next_begin();  // of those with any spacings
  volume.clear_counter(0);
  const Slab slab(volume);
  Rows rows(volume, source, slab);
#pragma unroll
  for (int round = 0; round < Rows::kRounds; ++round) {
    const int row = Slab::first_row() + Rows::row(round);
    if constexpr (Rows::kIsOfLabels) {
      rows.template put<Rows>(Rows::row(round), rows.changes(round), turned[0][row], turned[1][row]);
    } else {
      const auto sites = rows.sites(round);
      const unsigned carries = carries_of(sites, 0, Rows::of_row());
      if (Rows::has_word()) put_carried(turned[0][row], Rows::word(), sites, carries);
    }
  }
  __syncthreads();
  slab.write(volume, volume.word, turned[0]);
  if constexpr (Rows::kIsOfLabels) slab.write(volume, volume.along_z, turned[1]);
  fathom::cuda::wait_for_last();  // tables of near sites may be filled meanwhile
}

}  // namespace fathom::grid::cuda::volume
