// The lower envelope of the parabolas of a line's rows, as far as its two uses go the same way: where sites are far and
// squares are integers (volume/envelope.cuh), and with any spacings, where integers only bound the nearest rows
// (volume/any/brackets.cuh).
//
// Of each row that may be the nearest somewhere, a candidate, there is a key: its value with i² behind it, for row i,
// and in the last bits i. At row x the key is less by 2xi: one multiply and add per evaluation, and the winner's index
// comes along. As the winner never moves backwards when x grows, the winners at two places bound those between: first
// at every 64th row, from all candidates; then at every 8th, from those between. Of long lines every 256th is first.
//
// Work mapping: a unit of as many lanes as there are lines, lane = line, a block's units together.
// Source: the monotone-matrix search of Aggarwal et al. 1987, in place of the intersections of Felzenszwalb &
// Huttenlocher 2012, so that nothing is decided by a quotient.
#pragma once

#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kKeyBits = 10;  ///< of an index, but in short lines
inline constexpr unsigned kKeyIndex = (1u << kKeyBits) - 1;
inline constexpr unsigned kNoKey = 0xFFFFFFFFu;
inline constexpr int kCoarse = 64, kFine = 8;  ///< rows between anchors

inline __host__ __device__ int coarse_steps(int rows) { return (rows + kCoarse - 1) / kCoarse; }
/// Anchors of so many rows, and one behind the last. @tparam kFirst  rows between those that are first
template <int kFirst = kCoarse>
__host__ __device__ int anchors_of(int rows) {
  return (rows + kFirst - 1) / kFirst * (kFirst / kFine) + 1;
}

/// @tparam Envelope  place_of(key), among the candidates; slope_at(row), what a key is less for each index; index_of(key).
///                   Where a key does not tell these: first_of(key) and last_of(key), candidate(place)
/// @tparam kScale    what i² is multiplied by
/// @tparam kOfBlock  lines
template <class Envelope, int kThreads, int kMostRows, int kBits, int kScale, int kFirst = kCoarse, int kOfBlock = 16>
class Anchors {
 public:
  static constexpr int kLines = kOfBlock, kUnits = kThreads / kLines;

 protected:
  __device__ Anchors(unsigned* keys, unsigned* anchors, int rows)
      : keys_(keys), anchors_(anchors), n_(rows), lane_(thread() % kLines), unit_(thread() / kLines) {}

  struct Candidate {
    unsigned key, index;
  };
  /// Of a place in memory, of what its key tells.
  __device__ Candidate candidate(int place) const { return {keys_[place], envelope().index_of(keys_[place])}; }
  __device__ int first_of(unsigned key) const { return envelope().place_of(key); }
  __device__ int last_of(unsigned key) const { return envelope().place_of(key); }

  /// Of a group of eight rows, that at its first.
  __device__ unsigned& anchor(int group) const { return anchors_[group * kLines + lane_]; }

  /// By all threads of the block, before a barrier.
  __device__ void forget_anchors() const {
    auto* four = reinterpret_cast<uint4*>(anchors_);
    for (int i = thread(); i < anchors_of<kFirst>(n_) * (kLines / 4); i += kThreads)
      four[i] = make_uint4(kNoKey, kNoKey, kNoKey, kNoKey);
  }
  /// Likewise, between barriers.
  __device__ void find_anchors() const {
    find_first_anchors();
    __syncthreads();
    if constexpr (kFirst != kCoarse) find_anchors_between<kFirst, kCoarse>();
    find_anchors_between<kCoarse, kFine>();
  }

  /// best[j] = least key at x0 + j·kStep among the candidates first, first + step, … ≤ last, of which there is one. For
  /// neighbours (kStep = 1) step is 1, and a key behind the last may be among them.
  ///
  /// @param flip  kKeyIndex: indices are taken from the other end, so that the last of several is least
  template <int kCount, int kStep>
  __device__ void scan(int x0, int first, int last, int step, unsigned* best, unsigned flip = 0) const {
    const unsigned slope = envelope().slope_at(x0);
    const int end = last * kLines + lane_;
    const auto offer_two = [&](int p, auto&& offer) {
      const int next = kStep == 1 ? p + kLines : min(p + kLines * step, end);  // a candidate more does no harm
      const Candidate a = envelope().candidate(p), b = envelope().candidate(next);
      const unsigned at_a = (a.key ^ flip) + a.index * slope, at_b = (b.key ^ flip) + b.index * slope;
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        const unsigned rise = 0u - (static_cast<unsigned>(2 * kScale * j * kStep) << kBits);
        offer(j, at_a + kept(a.index) * rise, at_b + kept(b.index) * rise);
      }
    };
    int p = first * kLines + lane_;
    offer_two(p, [&](int j, unsigned a, unsigned b) { best[j] = min(a, b); });
#pragma unroll 1
    for (p += 2 * kLines * step; p <= end; p += 2 * kLines * step)
      offer_two(p, [&](int j, unsigned a, unsigned b) { best[j] = __vimin3_u32(best[j], a, b); });
  }

  unsigned *const keys_, *const anchors_;
  const int n_, lane_, unit_;
  int count_ = 0;  ///< candidates

 private:
  /// First anchors of the longest line, and how many of them are found at once: up to nine.
  static constexpr int kAll = kMostRows / kFirst + 1, kRounds = (kAll + 8) / 9,
                       kAtOnce = (kAll + kRounds - 1) / kRounds;

  __device__ const Envelope& envelope() const { return *static_cast<const Envelope*>(this); }

  /// The units share the candidates.
  __device__ void find_first_anchors() const {
    if (unit_ >= count_) return;
    constexpr int kInterval = kFirst / kFine;
    const int anchors = (n_ + kFirst - 1) / kFirst + 1;
#pragma unroll 1
    for (int s = 0; s < kRounds * kAtOnce; s += kAtOnce) {
      unsigned best[kAtOnce];
      scan<kAtOnce, kFirst>(s * kFirst, unit_, count_ - 1, kUnits, best);
      unsigned* to = &anchor(s * kInterval);
      const auto put = [&](int count) {
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j)
          if (j < count) atomicMin(to + j * kInterval * kLines, best[j]);
      };
      if (s + kAtOnce <= anchors) put(kAtOnce);  // mostly, without a question for each
      else put(anchors - s);
    }
  }
  /// The units share the intervals and, where there are more units, the candidates of each.
  /// @tparam kFrom, kTo  rows between those that there are, and that are sought
  template <int kFrom, int kTo>
  __device__ void find_anchors_between() const {
    constexpr int kInterval = kFrom / kFine, kStep = kTo / kFine, kSought = kFrom / kTo - 1;
    const int intervals = (n_ + kFrom - 1) / kFrom;
    int shift = 0;
    while (intervals << (shift + 1) <= kUnits) ++shift;
    for (int id = unit_; id < intervals << shift; id += kUnits) {
      const int k = id >> shift, part = id & ((1 << shift) - 1);
      if (count_ == 0) continue;
      const int first = envelope().first_of(anchor(k * kInterval)) + part;
      const int last = envelope().last_of(anchor((k + 1) * kInterval));
      if (first > last) continue;
      unsigned best[kSought];
      scan<kSought, kTo>(k * kFrom + kTo, first, last, 1 << shift, best);
#pragma unroll
      for (int j = 0; j < kSought; ++j) atomicMin(&anchor(k * kInterval + (1 + j) * kStep), best[j]);
    }
    __syncthreads();
  }
};

}  // namespace fathom::grid::cuda::volume
