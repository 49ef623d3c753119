// What the last pass of a transposed volume finds of a tile, in shared memory, and writes: the lines of a tile are rows
// of the output, which lie one behind the other, so that only the two ends of a tile share sectors of memory with its
// neighbours.
//
// Work mapping: warp = row, whose neighbours are written by neighbouring lanes from multiples of 128 bytes on; of an
// envelope, which finds eight neighbours with each lane, warp = sixteen neighbours of sixteen rows, turned in shared
// memory. Cost: one load from shared memory and one store per element.
#pragma once

#include "grid/cuda/volume/gaps.cuh"

namespace fathom::grid::cuda::volume {

/// What was found of sixteen lines, or of twice as many in 16 bits, two in a word, and goes to the output, in shared
/// memory. There are gaps behind neighbours, groups of eight and pairs of groups, so that lanes meet different banks,
/// be it those that read neighbours of a line or those that write two groups.
class FoundWords {
  static constexpr int kPitch = 17, kGroup = 8 * kPitch + 8;  ///< words

 public:
  static constexpr int kNext = 4 * kGroup;  ///< from an element to the 32nd behind

  static __host__ __device__ std::size_t memory(int length) {
    return static_cast<std::size_t>((row_groups(length) + 3) / 4) * 4 * kGroup * sizeof(unsigned);
  }
  __device__ explicit FoundWords(void* memory) : memory_(static_cast<unsigned*>(memory)) {}

  /// Eight neighbours. @param lane  of half a warp
  __device__ void put(int group, int lane, const unsigned (&words)[8]) const {
    unsigned* to = memory_ + start(group) + lane;
#pragma unroll
    for (int j = 0; j < 8; ++j) to[j * kPitch] = words[j];
  }
  /// From element x on.
  __device__ const unsigned* from(int lane, int x) const { return memory_ + start(x >> 3) + (x & 7) * kPitch + lane; }

 private:
  static __device__ int start(int group) { return group * kGroup + (group & 2) * 4; }

  unsigned* memory_;
};

/// What windows find of all rows. By all threads. @returns whether they find it everywhere
template <int kThreads, class Word>
__device__ bool find_near(const WindowRows<Word>& rows, int length, const FoundWords& found) {
  __shared__ int work;
  if (threadIdx.x == 0) work = 0;
  __syncthreads();
  const int lane = lane_id() % 16;
  bool failed = false;
  for (int q0 = static_cast<int>(threadIdx.x) / 32 * 2; q0 < rows.groups && !failed; q0 += kThreads / 16) {
    const int q = min(q0 + lane_id() / 16, rows.groups - 1);
    GapWindow<Word> window(rows, q, lane);
    failed = !window.search(&work, GapWindow<Word>::budget_of(length));
    if (!failed) found.put(q, lane, window.best);
  }
  return !__syncthreads_or(failed);
}

/// A row of results by a warp, from multiples of 128 bytes on.
///
/// @param row      where its floats go
/// @param results  from an element on, of each 32nd: results(x)(k)
/// @param store    takes them: store(x, result)
template <class Results, class Store>
__device__ void write_row(const float* row, int length, Results&& results, Store&& store) {
  constexpr int kTogether = 4;  // stores of a lane, for which all is computed before the first
  const auto floats = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(row) / sizeof(float));
  const auto write = [&](int x, auto is_there) {
    const auto result = results(x);
    decltype(result(0)) found[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (is_there(x + 32 * k)) found[k] = result(k);
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (is_there(x + 32 * k)) store(x + 32 * k, found[k]);
  };
  for (int first = -static_cast<int>(floats % 32); first < length; first += 32 * kTogether) {
    if (first >= 0 && first + 32 * kTogether <= length) write(first + lane_id(), [](int) { return true; });
    else write(first + lane_id(), [length](int x) { return x >= 0 && x < length; });
  }
}

/// Eight neighbours of a line by each lane, turned so that neighbours in memory are stored by neighbouring lanes. By
/// whole warps: lanes of the lower half have sixteen lines, those of the upper half the neighbours behind.
template <class T>
class TurnedLines {
 public:
  static constexpr int kPitch = 9;  ///< of a lane, so that lanes meet different banks

  /// @param of_warp  shared, of all warps
  __device__ explicit TurnedLines(T (*of_warp)[32 * kPitch]) : of_warp_(of_warp[threadIdx.x / 32]) {}

  /// @param store  takes, of each second line, that `lane_id() % 16` places behind the first: store(k, value), k being
  ///               even, and the line k + lane_id() / 16
  template <class Of, class Store>
  __device__ void turn(Of&& value, Store&& store) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) of_warp_[lane_id() * kPitch + j] = value(j);
    __syncwarp();
    const T* from = of_warp_ + (lane_id() & 8) * 2 * kPitch + lane_id() / 16 * kPitch + lane_id() % 8;
#pragma unroll
    for (int k = 0; k < 16; k += 2, from += 2 * kPitch) store(k, *from);
    __syncwarp();
  }

 private:
  T* const of_warp_;
};

/// Float distances of a tile.
template <int kThreads>
class LineWriter {
 public:
  __device__ LineWriter(const Volume& v, const Volume::Tile& tile)
      : lines(min(32, v.nx - tile.word * 32)),
        length(v.ny),
        first_line_(tile.word * 32),
        rows_(v.distance.row(v.first_item + tile.item, tile.line, first_line_)) {}

  /// All rows, a warp each. @param results  of a line, from an element on: results(line)(x)(k), as write_row() asks
  template <class Results>
  __device__ void write_rows(Results&& results) const {
    for (int line = static_cast<int>(threadIdx.x) / 32; line < lines; line += kThreads / 32)
      write_row(row(line), length, results(line), [to = row(line)](int x, float result) { __stcs(to + x, result); });
  }

  /// Up to eight neighbours of a line by each lane, as TurnedLines has them. Every line has a site.
  ///
  /// @param first   neighbour, which is there or not
  /// @param column  of the volume: the line
  template <bool kSpaced, bool kSmall>
  __device__ void write_column(int first, int column, const unsigned* squares, int /*count*/) const {
    static_assert(!kSpaced && kSmall);
    __shared__ float turned[kThreads / 32][32 * TurnedLines<float>::kPitch];
    const int x = __shfl_sync(kAllLanes, first, 0) + lane_id() % 16;
    const int line = column - lane_id() % 16 - first_line_ + lane_id() / 16;
    float* to = row(line) + x;
    const int count = x < length ? lines - line : 0;
    TurnedLines<float>(turned).turn([&](int j) { return small_root(small_float(squares[j])); },
                                    [&](int k, float result) {
                                      if (k < count) *to = result;
                                      to += 2 * length;
                                    });
  }

  const int lines, length;

 private:
  __device__ float* row(int line) const { return rows_ + line * length; }

  const int first_line_;
  float* const rows_;
};

}  // namespace fathom::grid::cuda::volume
