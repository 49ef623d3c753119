// Where sites are far: the lower envelope of 16 lines at once, in 32 bits (volume/anchors.cuh).
//
// A candidate i with value g is kept as the key (g + i²) · 2ᵇ + i, where indices have b bits. At x its value is the key
// less 2xi · 2ᵇ, plus x². Of lines in which value and index take more than 32 bits, indices are kept apart, and a key
// has eight bits that tell among which eight candidates it is: at the last anchors the best of these is looked for.
//
// Work mapping: a unit of 16 lanes, lane = line, takes kChunk rows into registers. Phase 1: a row stays if it lies below
// chords of g + i² between rows beside it; one that does not is nowhere the best. Phase 2: the kept rows of each line
// move together. Phases 3 and 4: the winners at anchors. Phase 5: those of all rows, between the anchors'.
//
// Source: volume/anchors.cuh. Cost: some 50 operations per element, 80 instructions with loads, addresses and stores.
#pragma once

#include <bit>

#include "grid/cuda/volume/anchors.cuh"

namespace fathom::grid::cuda::volume {

/// Bits of an index in the keys of lines of up to so many rows.
inline constexpr int index_bits(int rows) { return std::bit_width(static_cast<unsigned>(rows - 1)); }

/// Bytes of dynamic shared memory.
inline __host__ __device__ std::size_t envelope_memory(int rows, int chunk) {
  const int words = row_groups(rows) * 8 + chunk + anchors_of(rows) + 3 * ((rows + chunk - 1) / chunk);
  return static_cast<std::size_t>(words) * 16 * sizeof(unsigned);
}

/// Which rows of a chunk may be the nearest somewhere, in bits.
///
/// Those are corners of the lower hull of height = value + row², and a corner lies below each chord from a row before
/// it to one behind. Asked of three chords: between the rows next to it, and from the next on one side to the next but
/// one on the other. Of smooth fields that leaves hardly more than the corners.
///
/// @param kTies  whether those on a chord are kept, too: as near as its ends somewhere, but never nearer
template <int kChunk, bool kTies = false>
class Candidates {
 public:
  /// @param value  becomes the height, of rows counted from the chunk's first
  static __device__ unsigned of(unsigned* value) {
#pragma unroll
    for (unsigned r = 0; r < kChunk; ++r) value[r] = __viaddmin_u32(value[r], r * r, kNoHeight);
    unsigned rise[kChunk], bend[kChunk];  // from each row to the next; less before a row than behind it
#pragma unroll
    for (int r = 0; r + 1 < kChunk; ++r) rise[r] = kept(value[r + 1] - value[r]);
#pragma unroll
    for (int r = 1; r + 1 < kChunk; ++r) bend[r] = kept(kTies ? rise[r] - rise[r - 1] : rise[r - 1] - rise[r]);
    // A row without a site is not below a chord that ends in another, or in one with a site. All is told by signs, so that
    // no predicates are to be joined.
    unsigned mask = 0;
#pragma unroll
    for (int r = kChunk - 1; r >= 0; --r) {
      unsigned is_corner = value[r] - kNoHeight;
      if (r >= 1 && r + 1 < kChunk) {
        const unsigned before = r >= 2 ? 2 * bend[r] + bend[r - 1] : bend[r];
        const unsigned behind = r + 2 < kChunk ? 2 * bend[r] + bend[r + 1] : bend[r];
        is_corner = kTies ? is_corner & ~(bend[r] | before | behind) : bend[r] & before & behind;
      }
      mask = __funnelshift_l(is_corner, mask, 1);
    }
    return mask;
  }

  /// Whether the rows that a chunk has, from what of() left of them, are the same. All are candidates then.
  static __device__ bool are_same(const unsigned* height, unsigned mask, int rows) {
    if (mask != 0xFFFFFFFFu >> (32 - min(rows, kChunk)) || (rows > 1 && height[1] != height[0] + 1)) return false;
    bool same = true;
#pragma unroll
    for (int r = 2; r < kChunk; ++r) same &= r >= rows || height[r] == height[0] + static_cast<unsigned>(r * r);
    return same;
  }

 private:
  static constexpr unsigned kNoHeight = 1u << 28;  ///< no site: above all chords; six times it fits an integer
  static_assert(3 * kLongestAxis * kLongestAxis + kChunk * kChunk < kNoHeight / 4);
};

/// What an envelope finds.
enum class Finding {
  values,
  winners,          ///< value · 2ᵇ + winner (b = kKeyBits), the first of several; kNoKey where there is none
  least_companion,  ///< the same, but of several winners the one with the least companion
};

/// Bits of an index in keys, or of a number of eight candidates.
constexpr int envelope_bits(int most_rows, Finding finding, bool is_indexed) {
  return is_indexed ? 8 : finding == Finding::values ? index_bits(most_rows) : kKeyBits;
}
/// Keeps g + i² − 2xi from falling below 0.
constexpr unsigned key_bias(bool is_indexed) { return is_indexed ? kLongestAxis * kLongestAxis : 1u << 20; }

/// Lines whose values and indices fit a key where other axes are long, along z and along y.
inline constexpr int kShortAlongZ = 512, kShortAlongY = 256;
static_assert((kLongestAxis + 31) * (kLongestAxis + 31) + kShortAlongZ * kShortAlongZ + key_bias(false) <
              (1u << (32 - index_bits(kShortAlongZ))));
static_assert(2 * kLongestAxis * kLongestAxis + kShortAlongY * kShortAlongY + key_bias(false) <
              (1u << (32 - index_bits(kShortAlongY))));

/// @tparam Companion  below 2²²
/// @tparam kIsIndexed  whether indices are apart
/// @tparam kOfBlock    lines of a block: 16; or eight, so that two blocks fit a multiprocessor, one of which waits less
///                     for the other
template <int kThreads, int kChunk, Finding kFinding = Finding::values, class Companion = std::uint16_t,
          bool kIsIndexed = false, int kOfBlock = 16>
class Envelope
    : public Anchors<Envelope<kThreads, kChunk, kFinding, Companion, kIsIndexed, kOfBlock>, kThreads,
                     kThreads / kOfBlock * kChunk, envelope_bits(kThreads / kOfBlock * kChunk, kFinding, kIsIndexed), 1,
                     kIsIndexed ? 256 : kCoarse, kOfBlock> {
  static constexpr int kMostRows = kThreads / kOfBlock * kChunk, kBits = envelope_bits(kMostRows, kFinding, kIsIndexed),
                       kFirst = kIsIndexed ? 256 : kCoarse;  ///< rows between first anchors
  using Base = Anchors<Envelope, kThreads, kMostRows, kBits, 1, kFirst, kOfBlock>;
  using Base::anchor, Base::count_, Base::keys_, Base::lane_, Base::n_, Base::unit_;

 public:
  using Base::kUnits, Base::kLines;
  static constexpr int kThreadsOfBlock = kThreads, kRows = kChunk;  ///< the latter are loaded at once
  static_assert(kUnits % 2 == 0);

  /// Bytes of dynamic shared memory.
  static __host__ __device__ std::size_t memory(int rows) {
    if constexpr (!kIsIndexed) return envelope_memory(rows, kChunk);
    const std::size_t words = anchors_of<kFirst>(rows) + chunks_of(rows);
    return kLines * (words * sizeof(unsigned) + key_rows(rows) * (sizeof(unsigned) + sizeof(std::uint16_t)));
  }

  /// @param companions  [row][16], filled by the loader, if they matter
  __device__ Envelope(unsigned* memory, int rows, const Companion* companions = nullptr)
      : Base(memory, memory + key_rows(rows) * kLines, rows),
        masks_(Base::anchors_ + anchors_of<kFirst>(rows) * kLines),
        indices_(reinterpret_cast<std::uint16_t*>(masks_ + chunks_of(rows) * kLines)),
        companions_(companions ? companions + lane_ : nullptr) {}

  /// @param load   fills a chunk's values: load(values, first row, line)
  /// @param store  takes up to eight results of the lane's line: store(first row, values, how many). By whole warps,
  ///               some of whose lanes may have none.
  template <class Load, class Store>
  __device__ void run(Load&& load, Store&& store) {
    keep_candidates(load);
    Base::find_anchors();
    if constexpr (kIsIndexed) {  // in place of an anchor's key, which of the candidates that it is among is the best
      for (int q = unit_; q <= row_groups(n_) && count_ > 0; q += kUnits) {
        const unsigned slope = slope_at(q * 8);
        const int first = first_of(anchor(q)), last = last_of(anchor(q));
        unsigned best = kNoKey;
        for (int p = first; p <= last; ++p) {
          const auto own = candidate(p * kLines + lane_);
          best = min(best, ((own.key + own.index * slope) & ~kIndex) | static_cast<unsigned>(p - first));
        }
        anchor(q) = static_cast<unsigned>(first) + (best & kIndex);
      }
      __syncthreads();
    }
    // The units of a warp take neighbouring groups, so that where the candidates of one end those of the next begin.
    constexpr int kOfWarp = 32 / kLines;
    const int groups = row_groups(n_), rounds = (groups + kUnits - 1) / kUnits, q0 = unit_ / kOfWarp * kOfWarp * rounds;
    int before = count_ > 0 && q0 < groups ? place_of(anchor(q0)) : 0;
    for (int q = q0 + unit_ % kOfWarp; q < q0 + kOfWarp * rounds; q += kOfWarp) {
      const bool is_there = q < groups, any = is_there && count_ > 0;
      const unsigned searching = __ballot_sync(kAllLanes, any);
      const int last = any ? place_of(anchor(q + 1)) : 0;
      const int beside = kOfWarp == 2 ? __shfl_xor_sync(kAllLanes, last, 16)
                                      : __shfl_sync(kAllLanes, last, (lane_id() + 32 - kLines) % 32);
      const int first = unit_ % kOfWarp != 0 ? beside : before;
      before = beside;
      unsigned best[8];
      if (any) {
        if constexpr (kFinding == Finding::least_companion) scan_by_companions(q * 8, first, last, searching, best);
        else Base::template scan<8, 1>(q * 8, first, last, 1, best);
        unsigned rest = static_cast<unsigned>(q * q * 64) - kBias;  // x² less the bias
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const unsigned value = (best[j] >> kBits) + rest;
          rest += static_cast<unsigned>(2 * (q * 8 + j) + 1);
          best[j] = kFinding == Finding::values ? value : value << kBits | (best[j] & kIndex);
        }
      } else {
#pragma unroll
        for (int j = 0; j < 8; ++j) best[j] = kept(kFinding == Finding::values ? constant_ : kNoKey);
      }
      store(q * 8, best, is_there ? min(8, n_ - q * 8) : 0);
    }
    __syncthreads();
  }

  // As Anchors ask for it.
  __device__ unsigned slope_at(int x) const { return 0u - (static_cast<unsigned>(x) << (kBits + 1)); }
  __device__ unsigned index_of(unsigned key) const { return key & kIndex; }
  __device__ typename Base::Candidate candidate(int place) const {
    if constexpr (kIsIndexed) return {keys_[place], indices_[place]};
    else return Base::candidate(place);
  }
  /// Where indices are apart, of what run() has left.
  __device__ int place_of(unsigned key) const {
    if constexpr (kIsIndexed) return static_cast<int>(key);
    const auto i = static_cast<int>(key & kIndex), chunk = i / kChunk;
    return static_cast<int>(place(chunk)) + __popc(mask(chunk) & lanes_before(i % kChunk));
  }
  __device__ int first_of(unsigned key) const {
    return kIsIndexed ? static_cast<int>(key & kIndex) * kTogether : place_of(key);
  }
  __device__ int last_of(unsigned key) const {
    return kIsIndexed ? min(first_of(key) + kTogether, count_) - 1 : place_of(key);
  }

 private:
  static constexpr unsigned kBias = key_bias(kIsIndexed);
  static constexpr unsigned kIndex = (1u << kBits) - 1;
  static constexpr unsigned kBehindLast = ~kIndex;  ///< a key behind those of the candidates, never the best
  static constexpr int kTogether = 8;               ///< candidates of a number, where indices are apart
  static_assert(!kIsIndexed || (kMostRows <= kLongestAxis && kLongestAxis / kTogether <= 1 << kBits &&
                                kMostRows % kFirst == 0 && kFinding == Finding::values));
  /// Of two axes a square is at most 2 · 2047², and in padding no anchor is before row 0.
  static_assert(!kIsIndexed || 3 * (kLongestAxis - 1) * (kLongestAxis - 1) + kBias < (1u << (32 - kBits)) - 1);

  /// What the number of a chunk's candidates has besides, where all rows are the same.
  static constexpr int kSameChunk = 1 << 16;

  static __host__ __device__ int chunks_of(int rows) { return (rows + kChunk - 1) / kChunk; }
  static __host__ __device__ int key_rows(int rows) { return row_groups(rows) * 8 + (kIsIndexed ? 1 : kChunk); }
  /// Of a chunk: which rows are candidates, the first one's place among all, and how many there are; or the last alone.
  static constexpr int kTold = kIsIndexed ? 1 : 3;
  __device__ unsigned& mask(int chunk) const { return masks_[chunk * (kTold * kLines) + lane_]; }
  __device__ unsigned& place(int chunk) const { return masks_[chunk * (kTold * kLines) + kLines + lane_]; }
  __device__ unsigned& number(int chunk) const { return masks_[(chunk * kTold + kTold - 1) * kLines + lane_]; }

  template <class Load>
  __device__ void keep_candidates(Load&& load) {
    const int chunks = chunks_of(n_);
    const bool active = unit_ < chunks;
    unsigned height[kChunk], candidates = 0;
    if (active) {
      load(height, unit_ * kChunk, lane_);
      using Kept = Candidates<kChunk, kFinding == Finding::least_companion>;
      candidates = Kept::of(height);
      const bool same = kFinding == Finding::values && Kept::are_same(height, candidates, n_ - unit_ * kChunk);
      number(unit_) = static_cast<unsigned>(__popc(candidates)) | (same ? kSameChunk : 0);
      if constexpr (!kIsIndexed) mask(unit_) = candidates;
    }
    Base::forget_anchors();
    __syncthreads();
    int first = candidates_of(0, min(unit_, chunks));
    count_ = first + candidates_of(min(unit_, chunks), chunks);
    const bool may_be_constant = static_cast<unsigned>(count_) / kSameChunk == static_cast<unsigned>(chunks);
    first %= kSameChunk, count_ %= kSameChunk;
    if constexpr (kFinding == Finding::values)
      if (__any_sync(kAllLanes, may_be_constant)) {  // the same in all warps, as they have the same lines
        if (find_constant(height[0], active, may_be_constant)) candidates = 0;
      }
    if (active) {
      if constexpr (!kIsIndexed) place(unit_) = static_cast<unsigned>(first);
      unsigned* to = keys_ + first * kLines + lane_;
      const auto i0 = static_cast<unsigned>(unit_ * kChunk), in_key = kIsIndexed ? 0u : 1u;
      unsigned rest =
          ((kBias + i0 * i0) << kBits) + i0 * in_key;  // of row r besides its height: i² − r² = i0² + 2·i0·r
      const unsigned step = kept((i0 << (kBits + 1)) + in_key);
#pragma unroll
      for (int r = 0; r < kChunk; ++r) {
        if (candidates >> r & 1) {
          *to = (height[r] << kBits) + rest;
          if constexpr (kIsIndexed) {
            const auto at = static_cast<unsigned>(to - keys_);
            *to += at / (kTogether * kLines);
            indices_[at] = static_cast<std::uint16_t>(i0 + r);
          }
          to += kLines;
        }
        rest = kept(rest + step);
      }
    }
    if (unit_ == 0) {
      keys_[count_ * kLines + lane_] = kBehindLast;
      if constexpr (kIsIndexed) indices_[count_ * kLines + lane_] = 0;
    }
    __syncthreads();
  }

  __device__ int candidates_of(int first, int end) const {
    unsigned count = 0;
#pragma unroll 4
    for (int k = first; k < end; ++k) count += number(k);
    return static_cast<int>(count);
  }

  /// Whether the chunks of a line, in each of which all is the same, are all the same. It has no candidates then.
  /// @param value  of the chunk's first row
  __device__ bool find_constant(unsigned value, bool active, bool may_be_constant) {
    if (active) keys_[unit_ * kLines + lane_] = value;
    __syncthreads();
    bool same = may_be_constant;
    for (int k = 1; k < chunks_of(n_); ++k) same &= keys_[k * kLines + lane_] == keys_[lane_];
    if (same) count_ = 0, constant_ = keys_[lane_];
    __syncthreads();
    return same;
  }

  /// As scan(), of eight neighbours and all candidates first … last, by companions. All that are as near as the nearest
  /// are among these: as squares are strictly convex, none lies beyond the first of those of the next anchor. Where
  /// companions rise or fall with the candidates, so do the indices that are compared anyway.
  ///
  /// @param lanes  that call it together: if they differ, none takes a way of its own
  __device__ void scan_by_companions(int x0, int first, int last, unsigned lanes, unsigned* best) const {
    bool rising = true, falling = true;
    unsigned before = companions_[(keys_[min(first, last) * 16 + lane_] & kKeyIndex) * 16];
#pragma unroll 1  // as the compiler unrolls it, it takes longer
    for (int p = first + 1; p <= last; ++p) {
      const unsigned companion = companions_[(keys_[p * 16 + lane_] & kKeyIndex) * 16];
      rising &= companion >= before;
      falling &= companion < before;
      before = companion;
    }
    if (__all_sync(lanes, rising)) return Base::template scan<8, 1>(x0, first, last, 1, best);
    if (!__all_sync(lanes, falling)) return scan_places(x0, first, last, best);
    Base::template scan<8, 1>(x0, first, last, 1, best, kKeyIndex);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] ^= kKeyIndex;
  }
  /// Companions behind the square, with the index behind them, in 64 bits.
  __device__ void scan_places(int x0, int first, int last, unsigned* best) const {
    std::uint64_t least[8];
#pragma unroll
    for (std::uint64_t& place : least) place = UINT64_MAX;
    for (int p = first; p <= last; ++p) {
      const unsigned key = keys_[p * 16 + lane_], i = key & kKeyIndex;
      const unsigned place = unsigned{companions_[i * 16]} << kKeyBits | i;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned value = key - i - i * (static_cast<unsigned>(x0 + j) << (kKeyBits + 1));
        least[j] = min(least[j], std::uint64_t{value} << 32 | place);
      }
    }
#pragma unroll
    for (int j = 0; j < 8; ++j)
      best[j] = static_cast<unsigned>(least[j] >> 32) | (static_cast<unsigned>(least[j]) & kKeyIndex);
  }

  unsigned* const masks_;
  std::uint16_t* const indices_;  ///< as keys, where they are apart
  const Companion* const companions_;
  unsigned constant_ = kNone32;  ///< of a line without candidates
};

/// Of long lines.
template <int kThreads, int kOfBlock = 16>
using LongEnvelope = Envelope<kThreads, 32, Finding::values, std::uint16_t, true, kOfBlock>;

/// Distances along x of 16 lines to shared memory, as the envelope along z wants them. A row more per chunk, so that units
/// meet different banks. @param first  bit of the first line
template <int kThreads, int kChunk>
__device__ void load_along_x(uint4* memory, const uint2* words, int rows, int first, const uint2* of_byte,
                             int beyond = 0) {
  const int t = thread();
  __syncthreads();
#pragma unroll 2
  for (int r = t / 2; r < rows; r += kThreads / 2) {
    const EightDistances eight(__ldg(words + r), first + t % 2 * 8, of_byte, beyond);
    memory[(r + r / kChunk) * 2 + t % 2] = make_uint4(eight.pair[0], eight.pair[1], eight.pair[2], eight.pair[3]);
  }
  __syncthreads();
}
/// From there, of a line's chunk.
template <int kChunk>
__device__ void squares_along_x(const uint4* memory, unsigned* value, int first, int lane, int rows) {
  const auto* distances = reinterpret_cast<const std::uint16_t*>(memory) + (first + first / kChunk) * 16 + lane;
#pragma unroll
  for (int r = 0; r < kChunk; ++r) {
    const unsigned steps = distances[r * 16];
    value[r] = steps * steps;  // of no site, beyond all heights
  }
  if (first + kChunk <= rows) return;  // few chunks have rows that are not there
#pragma unroll
  for (int r = 0; r < kChunk; ++r)
    if (first + r >= rows) value[r] = kNone32;
}

}  // namespace fathom::grid::cuda::volume
