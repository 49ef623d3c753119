// The lower envelope of volume/envelope.cuh for lines in which a value and an index take more than 32 bits; and the
// lengths up to which lines of the other axes of such volumes have keys that hold both, as there.
//
// A candidate is its value g + i², of 24 bits, and its index i, apart. Keys hold the value and eight bits more, which
// tell an anchor's winner: among eight candidates that lie together, or, where an anchor is sought among fewer than 256
// of them, by its place. Anchors are found in one stage more: at every 256th row first, from all candidates.
//
// Work mapping and source: as there, in blocks of 256 threads and more; of the last anchors two units take those
// between two others. Cost: the same, another stage, and candidates that are tried because they lie beside a winner;
// half as much shared memory again.
#pragma once

#include "grid/cuda/volume/envelope.cuh"

namespace fathom::grid::cuda::volume {

/// Lines of up to so many rows along z, and along y, have keys that hold squares of long axes, too.
inline constexpr int kShortAlongZ = 512, kShortAlongY = 256;
static_assert((kLongestAxis + 31) * (kLongestAxis + 31) + kShortAlongZ * kShortAlongZ + kKeyBias <
              (1u << (32 - index_bits(kShortAlongZ))));
static_assert(2 * kLongestAxis * kLongestAxis + kShortAlongY * kShortAlongY + kKeyBias <
              (1u << (32 - index_bits(kShortAlongY))));

/// The envelope of such short lines.
template <int kThreads, int kChunk>
class ShortEnvelope : public Envelope<kThreads, kChunk> {
 public:
  using Envelope<kThreads, kChunk>::Envelope;
  static constexpr bool kSmall = false;
};

inline constexpr int kDistant = 256;  ///< rows between the first anchors

inline __host__ __device__ int distant_steps(int rows) { return (rows + kDistant - 1) / kDistant; }

/// Shared memory of a block for kLines lines.
template <int kLines>
struct LongLines {
  static constexpr int kCountsPitch = 20;  ///< words of a line's, so that lanes meet different banks

  unsigned* keys;          ///< [candidates][kLines], a row more
  unsigned* coarse;        ///< [anchors][kLines]: keys
  unsigned* fine;          ///< [anchors][kLines]: places
  unsigned* counts;        ///< [kLines][kCountsPitch]: of chunks, a byte each
  std::uint16_t* indices;  ///< as keys

  __device__ LongLines(unsigned* memory, int rows)
      : keys(memory),
        coarse(keys + candidates(rows) * kLines),
        fine(coarse + coarse_anchors(rows) * kLines),
        counts(fine + fine_anchors(rows) * kLines),
        indices(reinterpret_cast<std::uint16_t*>(counts + kCountsPitch * kLines)) {}

  static __host__ __device__ int coarse_anchors(int rows) { return distant_steps(rows) * (kDistant / kCoarse) + 1; }

  /// Bytes.
  static __host__ __device__ std::size_t memory(int rows) {
    const int per_line = coarse_anchors(rows) + fine_anchors(rows) + kCountsPitch;
    return static_cast<std::size_t>(candidates(rows)) * kLines * (sizeof(unsigned) + sizeof(std::uint16_t)) +
           static_cast<std::size_t>(per_line) * kLines * sizeof(unsigned);
  }

 private:
  static __host__ __device__ int candidates(int rows) { return row_groups(rows) * 8 + 1; }
  static __host__ __device__ int fine_anchors(int rows) { return coarse_steps(rows) * (kCoarse / kFine) + 1; }
};

/// Units of as many lanes as there are lines take all of a line at once: 16 lines have up to twice as many rows as
/// blocks have threads.
/// @tparam kOfBlock  lines: 16, or eight, so that two blocks fit a multiprocessor, one of which waits less for the
/// other
template <int kThreads, int kOfBlock = 16>
class LongEnvelope {
 public:
  static constexpr int kLines = kOfBlock;
  static constexpr int kChunk = 32;
  static constexpr bool kSmall = false;

  __device__ LongEnvelope(unsigned* memory, int rows)
      : lines_(memory, rows),
        n_(rows),
        lane_(static_cast<int>(threadIdx.x) % kLines),
        unit_(static_cast<int>(threadIdx.x) / kLines) {}

  /// See Envelope::run().
  template <class Load, class Store>
  __device__ void run(Load&& load, Store&& store) {
    if (keep_candidates(load)) {
      find_distant_anchors();
      find_coarse_anchors();
      find_fine_anchors();
    }
    for (int q = unit_; q - unit_ % kOfWarp < row_groups(n_); q += kUnits) {  // a warp's units go round as often
      const bool is_there = q < row_groups(n_);
      unsigned best[8];
      if (is_there && count_ > 0) {
        scan<8, 1>(q * 8, {fine(q).first, fine(q + 1).last}, 1, best, [](unsigned key, int) { return key; });
#pragma unroll
        for (int j = 0; j < 8; ++j)
          best[j] = (best[j] >> kNumberBits) + static_cast<unsigned>((q * 8 + j) * (q * 8 + j)) - kBias;
      } else {
#pragma unroll
        for (int j = 0; j < 8; ++j) best[j] = kept(constant_);
      }
      store(q * 8, best, is_there ? min(8, n_ - q * 8) : 0);
    }
    __syncthreads();
  }

 private:
  using Lines = LongLines<kLines>;
  static constexpr int kUnits = kThreads / kLines, kOfWarp = 32 / kLines, kLongestLine = kUnits * kChunk;
  static constexpr unsigned kBias = kLongestAxis * kLongestAxis;  ///< keeps g + i² − 2xi from falling below 0
  static constexpr int kNumberBits = 8, kTogether = 8;            ///< candidates of a number
  static_assert(kLongestAxis / kTogether <= 1 << kNumberBits);
  static_assert(kUnits % 16 == 0 && kLongestLine % kDistant == 0 && kLongestLine <= kLongestAxis);
  /// Of two axes a square is at most 2 · 2047², and in padding no anchor is before row 0.
  static_assert(2 * (kLongestAxis - 1) * (kLongestAxis - 1) + (kLongestAxis - 1) * (kLongestAxis - 1) + kBias <
                (1u << (32 - kNumberBits)) - 1);

  /// Candidates among which a winner is.
  struct Places {
    int first, last;
  };

  __device__ unsigned& coarse(int anchor) const { return lines_.coarse[anchor * kLines + lane_]; }
  /// Of an anchor whose key is numbered by kTogether.
  __device__ Places places_of(unsigned key) const {
    const int first = static_cast<int>(key % (1u << kNumberBits)) * kTogether;
    return {first, min(first + kTogether, count_) - 1};
  }
  __device__ Places fine(int anchor) const {
    const unsigned places = lines_.fine[anchor * kLines + lane_];
    return {static_cast<int>(places & 0xFFFFu), static_cast<int>(places >> 16)};
  }
  __device__ void put_fine(int anchor, Places places) const {
    lines_.fine[anchor * kLines + lane_] = static_cast<unsigned>(places.first | places.last << 16);
  }

  /// @returns whether there are any, or may be: none where all lines are constant
  template <class Load>
  __device__ bool keep_candidates(Load&& load) {
    unsigned height[kChunk], mask = 0;
    bool same = true;
    if (unit_ * kChunk < n_) {
      load(height, unit_ * kChunk, lane_);
      mask = Candidates<kChunk>::of(height);
      same = Candidates<kChunk>::are_same(height, mask, n_ - unit_ * kChunk);
    }
    auto* counts = reinterpret_cast<std::uint8_t*>(lines_.counts + lane_ * Lines::kCountsPitch);
    counts[unit_] = static_cast<std::uint8_t>(__popc(mask));
    for (int i = static_cast<int>(threadIdx.x); i < Lines::coarse_anchors(n_) * kLines; i += kThreads)
      lines_.coarse[i] = kNoKey;
    if (__syncthreads_and(same) && are_constant(height[0])) return false;
    int at = count_candidates() * kLines + lane_;
    const auto i0 = static_cast<unsigned>(unit_ * kChunk);
    unsigned rest = (kBias + i0 * i0) << kNumberBits;  // of row r besides its height: i² − r² = i0² + 2·i0·r
#pragma unroll
    for (unsigned r = 0; r < kChunk; ++r) {
      if (mask >> r & 1) {
        lines_.keys[at] = (height[r] << kNumberBits) + rest;
        lines_.indices[at] = static_cast<std::uint16_t>(i0 + r);
        at += kLines;
      }
      rest = kept(rest + (i0 << (kNumberBits + 1)));
    }
    if (unit_ == 0) lines_.keys[count_ * kLines + lane_] = kNoKey, lines_.indices[count_ * kLines + lane_] = 0;
    __syncthreads();
    return true;
  }
  /// Whether lines in whose chunks all is the same are constant, all of them. By all threads.
  /// @param value  of the first row of the unit's chunk
  __device__ bool are_constant(unsigned value) {
    const bool has_chunk = unit_ * kChunk < n_;
    if (has_chunk) lines_.keys[unit_ * kLines + lane_] = value;
    __syncthreads();
    const unsigned of_line = lines_.keys[lane_];
    const bool are = __syncthreads_and(!has_chunk || value == of_line);
    if (are) constant_ = of_line;
    return are;
  }
  /// Of the line. @returns how many lie before the unit's chunk
  __device__ int count_candidates() {
    constexpr unsigned kOnes = 0x01010101;
    const auto* counts = reinterpret_cast<const uint4*>(lines_.counts + lane_ * Lines::kCountsPitch);
    unsigned before = 0, all = 0;
#pragma unroll
    for (int k = 0; k < kUnits / 16; ++k) {
      const uint4 sixteen = counts[k];
      const unsigned fours[4] = {sixteen.x, sixteen.y, sixteen.z, sixteen.w};
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const int chunk = k * 16 + w * 4;
        all = __dp4a(fours[w], kOnes, all);
        if (chunk + 4 <= unit_) before = __dp4a(fours[w], kOnes, before);
        else if (chunk < unit_) before = __dp4a(fours[w], kOnes >> ((chunk + 4 - unit_) * 8), before);
      }
    }
    count_ = static_cast<int>(all);
    return static_cast<int>(before);
  }

  /// best[j] = least key at x0 + j·kStep of the candidates first, first + step, … ≤ last. For neighbours (kStep = 1)
  /// step is 1, and what is behind the last may be among them.
  ///
  /// @param numbered  adds to a candidate's key what is told of its place: numbered(key, place)
  template <int kCount, int kStep, class Numbered>
  __device__ void scan(int x0, Places places, int step, unsigned* best, Numbered&& numbered) const {
    unsigned slope[kCount];
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      best[j] = kNoKey;
      slope[j] = kept(0u - (static_cast<unsigned>(x0 + j * kStep) << (kNumberBits + 1)));
    }
#pragma unroll 1
    for (int p = places.first; p <= places.last; p += 2 * step) {
      const int next = kStep == 1 ? p + 1 : min(p + step, places.last);  // a candidate more does no harm
      const unsigned a = numbered(lines_.keys[p * kLines + lane_], p), i = lines_.indices[p * kLines + lane_];
      const unsigned b = numbered(lines_.keys[next * kLines + lane_], next), k = lines_.indices[next * kLines + lane_];
#pragma unroll
      for (int j = 0; j < kCount; ++j) best[j] = __vimin3_u32(best[j], a + i * slope[j], b + k * slope[j]);
    }
  }

  /// Coarse anchors anchor, anchor + kApart, … from candidates that units share. By those that have a part of them.
  template <int kCount, int kApart>
  __device__ void offer_coarse_anchors(int anchor, Places places, int step) const {
    unsigned best[kCount];
    const auto numbered = [](unsigned key, int place) { return key + static_cast<unsigned>(place / kTogether); };
    scan<kCount, kCoarse * kApart>(anchor * kCoarse, places, step, best, numbered);
#pragma unroll
    for (int j = 0; j < kCount; ++j)
      if (anchor + j * kApart < Lines::coarse_anchors(n_)) atomicMin(&coarse(anchor + j * kApart), best[j]);
  }
  /// The units share all candidates.
  __device__ void find_distant_anchors() const {
    if (unit_ < count_)
      offer_coarse_anchors<kLongestLine / kDistant + 1, kDistant / kCoarse>(0, {unit_, count_ - 1}, kUnits);
    __syncthreads();
  }
  /// The units share the intervals and the candidates of each.
  __device__ void find_coarse_anchors() const {
    constexpr int kInterval = kDistant / kCoarse, kSharing = kDistant / kChunk;
    const int anchor = unit_ / kSharing * kInterval;
    if (anchor + kInterval < Lines::coarse_anchors(n_) && count_ > 0) {
      const int first = places_of(coarse(anchor)).first, last = places_of(coarse(anchor + kInterval)).last;
      offer_coarse_anchors<kInterval - 1, 1>(anchor + 1, {first + unit_ % kSharing, last}, kSharing);
    }
    __syncthreads();
  }
  /// Pairs of units share the intervals, both units of one its candidates.
  __device__ void find_fine_anchors() const {
    constexpr int kInterval = kCoarse / kFine;
    static_assert(kUnits / 2 * kCoarse == kLongestLine);
    const int k = unit_ / 2, steps = coarse_steps(n_);
    const Places none{0, -1}, before = k < steps ? places_of(coarse(k)) : none;
    const Places behind = k < steps && count_ > 0 ? places_of(coarse(k + 1)) : none;
    const int first = before.first;
    const bool are_few = behind.last - first < 1 << kNumberBits;
    const int shift = are_few ? 0 : 3;
    static_assert(kTogether == 1 << 3);
    unsigned best[kInterval - 1];
    scan<kInterval - 1, kFine>(
        k * kCoarse + kFine, {first + unit_ % 2, behind.last}, 2, best,
        [shift](unsigned key, int place) { return key | (static_cast<unsigned>(place) >> shift & 255u); });
#pragma unroll
    for (int j = 0; j < kInterval - 1; ++j) {
      const unsigned key = min(best[j], __shfl_xor_sync(kAllLanes, best[j], kLines));
      const int place = first + ((static_cast<int>(key) - first) & 255);
      if (k < steps && unit_ % 2 == 0) put_fine(k * kInterval + 1 + j, are_few ? Places{place, place} : places_of(key));
    }
    if (k < steps && unit_ % 2 == 0) put_fine(k * kInterval, before);
    else if (k + 1 == steps) put_fine(steps * kInterval, behind);
    __syncthreads();
  }

  const Lines lines_;
  const int n_, lane_, unit_;
  int count_ = 0;
  unsigned constant_ = kNone32;  ///< of lines without candidates
};

}  // namespace fathom::grid::cuda::volume
