// The lower envelope of the parabolas of a line's rows, as far as its two uses go the same way: where sites are far and
// squares are integers (volume/envelope.cuh), and with any spacings, where integers only bound the nearest rows
// (volume/any/brackets.cuh).
//
// Of each row that may be the nearest somewhere, a candidate, there is a key: its value with i² behind it, for row i, and
// in the last bits i. At row x the key is less by 2xi: one multiply and add per evaluation, and the winner's index comes
// along. As the winner never moves backwards when x grows, the winners at two places bound those between: first at every
// 64th row, from all candidates; then at every 8th, from those between.
//
// Work mapping: a unit of 16 lanes, lane = line, a block's units together.
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
/// Anchors of so many rows, and one behind the last.
inline __host__ __device__ int anchors_of(int rows) { return coarse_steps(rows) * (kCoarse / kFine) + 1; }

/// @tparam Envelope  place_of(key), among the candidates; slope_at(row), what a key is less for each index; index_of(key)
/// @tparam kScale    what i² is multiplied by
template <class Envelope, int kThreads, int kMostRows, int kBits, int kScale>
class Anchors {
 public:
  static constexpr int kLines = 16, kUnits = kThreads / 16;

 protected:
  __device__ Anchors(unsigned* keys, unsigned* anchors, int rows)
      : keys_(keys),
        anchors_(anchors),
        n_(rows),
        lane_(static_cast<int>(threadIdx.x) % 16),
        unit_(static_cast<int>(threadIdx.x) / 16) {}

  /// Of a group of eight rows, that at its first.
  __device__ unsigned& anchor(int group) const { return anchors_[group * 16 + lane_]; }

  /// By all threads of the block, before a barrier.
  __device__ void forget_anchors() const {
    auto* four = reinterpret_cast<uint4*>(anchors_);
    for (int i = static_cast<int>(threadIdx.x); i < anchors_of(n_) * 4; i += kThreads)
      four[i] = make_uint4(kNoKey, kNoKey, kNoKey, kNoKey);
  }
  /// Likewise, between barriers.
  __device__ void find_anchors() const {
    find_coarse_anchors();
    __syncthreads();
    find_fine_anchors();
    __syncthreads();
  }

  /// best[j] = least key at x0 + j·kStep among the candidates first, first + step, … ≤ last, of which there is one. For
  /// neighbours (kStep = 1) step is 1, and a key behind the last may be among them.
  ///
  /// @param flip  kKeyIndex: indices are taken from the other end, so that the last of several is least
  template <int kCount, int kStep>
  __device__ void scan(int x0, int first, int last, int step, unsigned* best, unsigned flip = 0) const {
    const unsigned slope = envelope().slope_at(x0);
    const int end = last * 16 + lane_;
    const auto offer_two = [&](int p, auto&& offer) {
      const int next = kStep == 1 ? p + 16 : min(p + 16 * step, end);  // a candidate more does no harm
      const unsigned a = keys_[p], b = keys_[next], i = envelope().index_of(a), k = envelope().index_of(b);
      const unsigned at_a = (a ^ flip) + i * slope, at_b = (b ^ flip) + k * slope;
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        const unsigned rise = 0u - (static_cast<unsigned>(2 * kScale * j * kStep) << kBits);
        offer(j, at_a + kept(i) * rise, at_b + kept(k) * rise);
      }
    };
    int p = first * 16 + lane_;
    offer_two(p, [&](int j, unsigned a, unsigned b) { best[j] = min(a, b); });
#pragma unroll 1
    for (p += 32 * step; p <= end; p += 32 * step)
      offer_two(p, [&](int j, unsigned a, unsigned b) { best[j] = __vimin3_u32(best[j], a, b); });
  }

  unsigned *const keys_, *const anchors_;
  const int n_, lane_, unit_;
  int count_ = 0;  ///< candidates

 private:
  /// Coarse anchors of the longest line, and how many of them are found at once: up to nine.
  static constexpr int kAll = kMostRows / kCoarse + 1, kRounds = (kAll + 8) / 9,
                       kAtOnce = (kAll + kRounds - 1) / kRounds;
  static constexpr int kInterval = kCoarse / kFine;

  __device__ const Envelope& envelope() const { return *static_cast<const Envelope*>(this); }

  /// The units share the candidates.
  __device__ void find_coarse_anchors() const {
    if (unit_ >= count_) return;
    const int anchors = coarse_steps(n_) + 1;
#pragma unroll 1
    for (int s = 0; s < kRounds * kAtOnce; s += kAtOnce) {
      unsigned best[kAtOnce];
      scan<kAtOnce, kCoarse>(s * kCoarse, unit_, count_ - 1, kUnits, best);
      unsigned* to = &anchor(s * kInterval);
      const auto put = [&](int count) {
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j)
          if (j < count) atomicMin(to + j * kInterval * 16, best[j]);
      };
      if (s + kAtOnce <= anchors) put(kAtOnce);  // mostly, without a question for each
      else put(anchors - s);
    }
  }
  /// The units share the intervals and, where there are more units, the candidates of each.
  __device__ void find_fine_anchors() const {
    const int intervals = coarse_steps(n_);
    int shift = 0;
    while (intervals << (shift + 1) <= kUnits) ++shift;
    for (int id = unit_; id < intervals << shift; id += kUnits) {
      const int k = id >> shift, part = id & ((1 << shift) - 1);
      if (count_ == 0) continue;
      const int first = envelope().place_of(anchor(k * kInterval)) + part;
      const int last = envelope().place_of(anchor((k + 1) * kInterval));
      if (first > last) continue;
      unsigned best[kInterval - 1];
      scan<kInterval - 1, kFine>(k * kCoarse + kFine, first, last, 1 << shift, best);
#pragma unroll
      for (int j = 0; j < kInterval - 1; ++j) atomicMin(&anchor(k * kInterval + 1 + j), best[j]);
    }
  }
};

}  // namespace fathom::grid::cuda::volume
