// Rows of half a tile, from where they lie between the passes of volumes with any spacings to shared memory.
//
// Copies that go past the registers are all on their way at once, where registers hold a part of a thread's rows, so
// that a block waits once: where rows begin inside sectors of memory, that is most of what its pass takes. Where words
// go one by one, and not all lie there, they go by registers.
//
// Work mapping: thread = four neighbours of a row where these are aligned, else one. Cost: each word is moved once, and
// read again by its thread, to be counted.
#pragma once

#include "core/cuda/async_copy.cuh"
#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Where the words of half a tile's rows lie.
struct RowsOfHalf {
  const std::uint32_t* first;  ///< of the first row, that of the first column
  std::int64_t stride;         ///< from row to row
  int columns;                 ///< that there are; beyond these, the last one is taken again
  int step = 1;                ///< from column to column: 2 where they lie in results of 64 bits

  /// Whether each four words may be copied at once.
  __device__ bool are_fours() const {
    return step == 1 && columns >= 16 && reinterpret_cast<std::uintptr_t>(first) % sizeof(uint4) == 0 &&
           stride % 4 == 0;
  }
  __device__ const std::uint32_t* at(int row, int column) const {
    return first + row * stride + min(column, columns - 1) * step;
  }
};

/// Begins to copy the rows of half a tile that are kept, four words at a time, and fills the others. By all threads of
/// the block. @param kind_of  as fill_rows() has it
template <int kThreads, class Word, class KindOf>
__device__ void begin_rows(const WindowRows<Word>& rows, int n, const RowsOfHalf& from, KindOf&& kind_of) {
  const int first = static_cast<int>(threadIdx.x) / 4, column = static_cast<int>(threadIdx.x) % 4 * 4;
#pragma unroll 4
  for (int r = first; r < n; r += kThreads / 4) {
    unsigned* to = rows.at(r, column);
    const TileKind kind = kind_of(r);
    const unsigned other = kind == kFull ? 0 : Word::kNone;
    if (keeps_rows(kind)) fathom::cuda::copy_async<sizeof(uint4)>(to, from.at(r, column));
    else *reinterpret_cast<uint4*>(to) = make_uint4(other, other, other, other);
  }
}

/// Waits for those copies. @param take  as fill_rows() has it
template <int kThreads, class Word, class Take>
__device__ void finish_rows(const WindowRows<Word>& rows, int n, Take&& take) {
  const int first = static_cast<int>(threadIdx.x) / 4, column = static_cast<int>(threadIdx.x) % 4 * 4;
  fathom::cuda::wait_for_copies();
#pragma unroll 4
  for (int r = first; r < n; r += kThreads / 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(rows.at(r, column));
    take(four.x), take(four.y), take(four.z), take(four.w);
  }
}

/// Fills the rows of half a tile. By all threads of the block, before a barrier. Where words go one by one, what is asked
/// for each costs more than copies gain.
/// @param kind_of  of a row: whether its words lie there, or all are 0, or none has a site
/// @param take     takes each word, by the thread that has filled it
template <int kThreads, class Word, class KindOf, class Take>
__device__ void fill_rows(const WindowRows<Word>& rows, int n, const RowsOfHalf& from, KindOf&& kind_of, Take&& take) {
  if (from.are_fours()) {
    begin_rows<kThreads>(rows, n, from, kind_of);
    return finish_rows<kThreads>(rows, n, take);
  }
  const int column = static_cast<int>(threadIdx.x) % 16;
  const auto word_of = [&](int r) {
    const TileKind kind = kind_of(r);
    return keeps_rows(kind) ? __ldcs(from.at(r, column)) : kind == kFull ? 0 : Word::kNone;
  };
  const auto put = [&](int r, unsigned word) {
    take(word);
    rows.put(r, column, word);
  };
  take_rows<8>(static_cast<int>(threadIdx.x) / 16, kThreads / 16, n, word_of, put);
}

}  // namespace fathom::grid::cuda::volume
