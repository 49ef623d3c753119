// From the words of one side of a signed volume to those of the other: its sites are the elements that were none.
//
// Work mapping: thread = row along x, so that neighbours along z are read and written together. Phase 1: bits, and
// steps to sites on the left, from left to right; phase 2: steps to the right, from right to left. Both take eight
// words at a time, all of which are on their way together; the last eight stay in registers in between.
//
// The pass along y of the first side, which reads no words, turns them at its end, where its own blocks are few: it has
// turning_blocks() more, behind those of its tiles. Kernels have a way for these if may_turn_words(); the host has no
// such blocks for others (search_near_along_y()), and turns by a kernel of its own where not all columns are solved
// together, so that no pass finds words of the other side (VolumeEngine::solve()).
// Cost: 1/4 byte is read for an element, and as much written; up to twice that in long rows.
#pragma once

#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kTurnBlock = 128;

/// The words of a row.
class RowOfWords {
 public:
  /// @param row  of all rows, those in padding along z, too: it is the fastest axis
  __device__ RowOfWords(const Volume& v, std::int64_t row)
      : step_(std::int64_t{v.ny} * v.depth), first_(v.word + row / step_ * v.words * step_ + row % step_) {}

  __device__ uint2& operator[](int w) const { return first_[w * step_]; }

 private:
  const std::int64_t step_;
  uint2* const first_;
};

/// How many blocks turn all rows.
inline __host__ __device__ std::int64_t turning_blocks(const Volume& v) {
  return (v.items * v.ny * v.depth + kTurnBlock - 1) / kTurnBlock;
}

/// Whether the pass along y that writes such results can turn words besides, which VolumePasses::turns_words asks for.
inline constexpr __host__ __device__ bool may_turn_words(Writing writing) { return writing == Writing::one_side; }

/// A thread's row. @param block  of turning_blocks(), of kTurnBlock threads or more
__device__ inline void turn_row(const Volume& v, std::int64_t block) {
  constexpr int kTogether = 8;
  const std::int64_t index = block * kTurnBlock + threadIdx.x;
  if (threadIdx.x >= kTurnBlock || index >= v.items * v.ny * v.depth || index % v.depth >= v.nz) return;
  const RowOfWords row(v, index);
  uint2 words[kTogether];
  const auto read = [&](int first) {
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (first + k < v.words) words[k] = row[first + k];
  };
  const auto write = [&](int first) {
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (first + k < v.words) row[first + k] = words[k];
  };
  unsigned left = kNoneInWord, right = kNoneInWord;  // steps from the next word's end to the last site
  const int last = (v.words - 1) / kTogether * kTogether;
  for (int first = 0; first <= last; first += kTogether) {
    read(first);
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const unsigned bits = ~words[k].x & first_bits(v.nx - (first + k) * 32);
      words[k] = make_uint2(bits, left);
      left = bits ? static_cast<unsigned>(__clz(static_cast<int>(bits))) + 1 : min(left + 32, kNoneInWord);
    }
    if (first < last) write(first);
  }
  for (int first = last; first >= 0; first -= kTogether) {
    if (first < last) read(first);
#pragma unroll
    for (int k = kTogether - 1; k >= 0; --k) {
      if (first + k >= v.words) continue;
      words[k].y |= right << 16;
      right = words[k].x ? static_cast<unsigned>(__ffs(static_cast<int>(words[k].x))) : min(right + 32, kNoneInWord);
    }
    write(first);
  }
}

}  // namespace fathom::grid::cuda::volume
