// The lower envelope of volume_envelope.cuh for lines that are longer than its keys reach.
//
// A candidate is its value g + i² and its index i, apart. A scan tells only the least value; which candidate it is
// from, the first of several, tells a second scan, which only the anchors need.
//
// Work mapping and source: as there. Cost: the same, and another scan for each anchor; half as much shared memory
// again.
#pragma once

#include "grid/cuda/volume_envelope.cuh"

namespace fathom::grid::cuda {

inline __host__ __device__ int fine_anchors(int rows) { return coarse_steps(rows) * (kCoarse / kFine) + 1; }

/// Bytes of dynamic shared memory.
inline __host__ __device__ std::size_t long_envelope_memory(int rows) {
  return static_cast<std::size_t>(row_groups(rows)) * 8 * 16 * (sizeof(unsigned) + sizeof(std::uint16_t)) +
         static_cast<std::size_t>(fine_anchors(rows)) * 16 * 2 * sizeof(unsigned);
}

/// Blocks have 1024 threads: with fewer, units of 16 lanes could not take all of a line.
class LongEnvelope {
 public:
  static constexpr int kThreads = 1024, kChunk = 32;
  static constexpr bool kSmall = false;

  __device__ LongEnvelope(unsigned* memory, int rows)
      : values_(memory),
        least_(values_ + row_groups(rows) * 8 * 16),
        place_(least_ + fine_anchors(rows) * 16),
        indices_(reinterpret_cast<std::uint16_t*>(place_ + fine_anchors(rows) * 16)),
        n_(rows),
        lane_(static_cast<int>(threadIdx.x) % 16),
        unit_(static_cast<int>(threadIdx.x) / 16) {}

  /// See Envelope::run().
  template <class Load, class Store>
  __device__ void run(Load&& load, Store&& store) {
    keep_candidates(load);
    find_coarse_anchors();
    find_fine_anchors();
    for (int q = unit_; q - unit_ % 2 < row_groups(n_); q += kUnits) {  // both units of a warp go round as often
      const bool is_there = q < row_groups(n_);
      unsigned best[8];
      if (is_there && count_ > 0) {
        scan<8, 1>(q * 8, place(q), place(q + 1), 1, best);
#pragma unroll
        for (int j = 0; j < 8; ++j) best[j] += static_cast<unsigned>((q * 8 + j) * (q * 8 + j)) - kBias;
      } else {
#pragma unroll
        for (int j = 0; j < 8; ++j) best[j] = kNone32;
      }
      store(q * 8, best, is_there ? min(8, n_ - q * 8) : 0);
    }
    __syncthreads();
  }

 private:
  static constexpr int kUnits = kThreads / 16;
  static_assert(kUnits * kChunk >= kLongestAxis);
  static constexpr unsigned kBias = kLongestAxis * kLongestAxis;  ///< keeps g + i² − 2xi from falling below 0

  __device__ unsigned& least(int fine) const { return least_[fine * 16 + lane_]; }
  __device__ unsigned& place(int fine) const { return place_[fine * 16 + lane_]; }

  template <class Load>
  __device__ void keep_candidates(Load&& load) {
    const int chunks = (n_ + kChunk - 1) / kChunk;
    const bool active = unit_ < chunks;
    unsigned* counts = place_;  // until there are anchors; beyond what other units still load, even of short lines
    unsigned height[kChunk], mask = 0;
    if (active) {
      load(height, unit_ * kChunk, lane_);
      mask = Candidates<kChunk>::of(height);
      counts[unit_ * 16 + lane_] = static_cast<unsigned>(__popc(mask));
    }
    __syncthreads();
    count_ = 0;
    int first = 0;
    for (int k = 0; k < chunks; ++k) {
      if (k == unit_) first = count_;
      count_ += static_cast<int>(counts[k * 16 + lane_]);
    }
    int at = first * 16 + lane_;
#pragma unroll
    for (int r = 0; r < kChunk; ++r) {
      if (!(mask >> r & 1)) continue;
      const auto i = static_cast<unsigned>(unit_ * kChunk + r);
      values_[at] = height[r] + (kBias - static_cast<unsigned>(r * r)) + i * i;
      indices_[at] = static_cast<std::uint16_t>(i);
      at += 16;
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < fine_anchors(n_) * 16; i += kThreads)
      least_[i] = place_[i] = kNoKey;
    __syncthreads();
  }

  /// best[j] = least value at x0 + j·kStep, less the square of that, of the candidates first, first + step, … ≤ last.
  template <int kCount, int kStep>
  __device__ void scan(int x0, unsigned first, unsigned last, unsigned step, unsigned* best) const {
#pragma unroll
    for (int j = 0; j < kCount; ++j) best[j] = kNoKey;
    for (unsigned p = first; p <= last; p += 2 * step) {
      const At a(*this, p), b(*this, min(p + step, last));
#pragma unroll
      for (int j = 0; j < kCount; ++j)
        best[j] = __vimin3_u32(best[j], a.value(x0 + j * kStep), b.value(x0 + j * kStep));
    }
  }
  /// A candidate's value at x, less x².
  struct At {
    unsigned own, index;
    __device__ At(const LongEnvelope& e, unsigned p)
        : own(e.values_[p * 16 + static_cast<unsigned>(e.lane_)]),
          index(e.indices_[p * 16 + static_cast<unsigned>(e.lane_)]) {}
    __device__ unsigned value(int x) const { return own + index * (0u - 2 * static_cast<unsigned>(x)); }
  };

  /// Anchors `fine`, `fine` + kApart, … at x0, x0 + kStep, …: the first of the candidates that are as near as the
  /// nearest. By all threads; those whose `last` is before `first` have no part in it.
  template <int kCount, int kStep, int kApart>
  __device__ void find_anchors(int fine, int count, int x0, unsigned first, unsigned last, unsigned step) const {
    const bool takes_part = first <= last && last != kNoKey;
    unsigned best[kCount];
    if (takes_part) {
      scan<kCount, kStep>(x0, first, last, step, best);
#pragma unroll
      for (int j = 0; j < kCount; ++j)
        if (j < count) atomicMin(&least(fine + j * kApart), best[j]);
    }
    __syncthreads();
    if (!takes_part) return;
#pragma unroll
    for (int j = 0; j < kCount; ++j)
      if (j < count) best[j] = least(fine + j * kApart);
    for (unsigned p = first; p <= last; p += step) {
      const At candidate(*this, p);
#pragma unroll
      for (int j = 0; j < kCount; ++j)
        if (j < count && candidate.value(x0 + j * kStep) == best[j]) atomicMin(&place(fine + j * kApart), p);
    }
  }

  /// The units share the candidates.
  __device__ void find_coarse_anchors() const {
    const int anchors = coarse_steps(n_) + 1;
    for (int s = 0; s < anchors; s += 9)
      find_anchors<9, kCoarse, kCoarse / kFine>(s * (kCoarse / kFine), min(9, anchors - s), s * kCoarse,
                                                static_cast<unsigned>(unit_), static_cast<unsigned>(count_) - 1,
                                                kUnits);
    __syncthreads();
  }
  /// The units share the intervals and the candidates of each.
  __device__ void find_fine_anchors() const {
    const int intervals = coarse_steps(n_);
    int shift = 0;
    while (intervals << (shift + 1) <= kUnits) ++shift;
    const int k = unit_ >> shift;
    unsigned first = 1, last = 0;
    if (k < intervals && count_ > 0) {
      first = place(k * 8) + static_cast<unsigned>(unit_ & ((1 << shift) - 1));
      last = place(k * 8 + 8);
    }
    find_anchors<7, kFine, 1>(k * 8 + 1, 7, k * kCoarse + kFine, first, last, 1u << shift);
    __syncthreads();
  }

  unsigned *values_, *least_, *place_;
  std::uint16_t* indices_;
  const int n_, lane_, unit_;
  int count_ = 0;
};

}  // namespace fathom::grid::cuda
