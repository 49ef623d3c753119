// Squares between the passes of volumes with spacings in a unit, in 16 bits beside the results' memory: of eight rows
// of half a tile where all fit.
//
// For large volumes whose rows of results begin inside sectors of memory: of squares in place of results there,
// neighbours write a part of a sector each, which takes several times as long. These are whole sectors, and half as
// much to read. Only words that have all columns are kept so, whose rows are read eight columns at a time.
// Lines along z that may have some are narrow, and of each eight of their rows it is told whether they do.
//
// Work mapping: along z half warp = eight rows, lane = column; along y thread = eight columns of a row. Cost: 4 bytes
// are moved per element between the passes.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

class SquaresAside {
 public:
  __device__ SquaresAside(const Volume& v, const HalfTile& half) : v_(v), half_(half) {}

  static __device__ bool fits(unsigned square) { return square <= 0xFFFFu; }
  /// Whether a line along z may have some, of so many halves of whose rows, of all, a square fits: elsewhere they are
  /// but a question more.
  __device__ bool serve(int fitting, int all) const {
    return half_.tile.word * 32 + 32 <= v_.nx && fitting * 8 >= all * 7;
  }

  /// Along z, keeps a column's eight rows from z on, if those of half the warp all fit. By whole warps.
  /// @param count  of the rows that there are
  /// @returns whether they do
  __device__ bool keep(int z, const unsigned* squares, int count) const {
    const unsigned too_large = __ballot_sync(kAllLanes, !fits(greatest_of_eight(squares)));
    const bool all_fit = (too_large >> (lane_id() & 16) & 0xFFFFu) == 0;
    const int y = half_.tile.line;
    if (lane_id() % 16 == 0 && count > 0) beyond(z)[y] = all_fit ? 0 : kBeyond16;
    if (!all_fit) return false;
    std::uint16_t* to = narrow_half(v_, half_, z, y) + lane_id() % 16;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += 2 * v_.pairs_of_plane)
      if (j < count) *to = static_cast<std::uint16_t>(squares[j]);
    return true;
  }

  /// Along y, a row's kind, of what is told of its line: narrow only if its squares lie aside.
  __device__ TileKind kind(int y, TileKind of_line) const {
    return of_line == kNarrow && __ldg(beyond(half_.tile.line) + y) != 0 ? kWide : of_line;
  }
  /// Along y, where the squares of row 0 would lie, two columns, of which one is the thread's; from row to row, kStep.
  __device__ const std::uint32_t* two_of_first() const {
    return v_.narrow_row(half_.tile.item, half_.tile.word, half_.tile.line, 0) + half_.first / 2 + threadIdx.x % 16 / 2;
  }
  static constexpr int kStep = 16;
  /// The thread's of two.
  static __device__ unsigned own_of(unsigned two) { return threadIdx.x % 2 ? two >> 16 : two & 0xFFFFu; }
  /// Eight columns of a row, two to a number. @param second  from the eighth on
  __device__ uint4 eight(int y, int second) const {
    return __ldcs(reinterpret_cast<const uint4*>(narrow_half(v_, half_, half_.tile.line, y)) + second);
  }

 private:
  /// Beyond, of eight rows along z, for each y.
  __device__ std::uint8_t* beyond(int z) const {
    return v_.beyond_row(half_.tile.item, half_.tile.word, half_.first / 16, z);
  }

  const Volume& v_;
  const HalfTile& half_;
};

}  // namespace fathom::grid::cuda::volume
