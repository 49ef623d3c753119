// Where an element of a grid lies among words of bits that are little cubes: 64 children of a word, 8 × 8 or 4 × 4 × 4.
// Shared by host and device.
#pragma once

#include <cstdint>

#include "points/cone.hd.h"
#include "points/measure.hd.h"

namespace fathom::points {

/// Indices along the axes; in 2D the last is 0, as extents are 1.
template <class Index>
struct CellOf {
  Index at[3] = {};

  FATHOM_HD Index& operator[](int axis) { return at[axis]; }
  FATHOM_HD Index operator[](int axis) const { return at[axis]; }
};
using Cell = CellOf<std::int64_t>;
using ShortCell = CellOf<std::int32_t>;  ///< inside of a grid, whose extents int32 holds

/// Bits of a coordinate that tell places in a word.
FATHOM_HD constexpr int word_shift(int axes) { return axes == 2 ? 3 : 2; }
FATHOM_HD constexpr int word_side(int axes) { return 1 << word_shift(axes); }

/// @param count  up to 64
FATHOM_HD constexpr std::uint64_t bits_below(int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// The word that a cell is a child of.
template <class Index>
FATHOM_HD CellOf<Index> parent_of(const CellOf<Index>& cell, int axes) {
  const int shift = word_shift(axes);
  return {{cell[0] >> shift, cell[1] >> shift, cell[2] >> shift}};
}

/// How many words have so many cells as children.
FATHOM_HD inline Cell words_for(const Cell& extents, int axes) {
  Cell words{{1, 1, 1}};
  for (int k = 0; k < axes; ++k) words[k] = (extents[k] + word_side(axes) - 1) >> word_shift(axes);
  return words;
}

/// A cell's bit in its word: row-major, so that ids rise with the bits.
template <class Index>
FATHOM_HD int bit_of(const CellOf<Index>& cell, int axes) {
  int bit = 0;
  for (int k = 0; k < axes; ++k) bit = bit << word_shift(axes) | static_cast<int>(cell[k] & (word_side(axes) - 1));
  return bit;
}

/// Where a bit lies along an axis of its word.
FATHOM_HD inline int step_of(int bit, int axis, int axes) {
  return bit >> (word_shift(axes) * (axes - 1 - axis)) & (word_side(axes) - 1);
}

template <class Index>
FATHOM_HD CellOf<Index> child_of(const CellOf<Index>& word, int bit, int axes) {
  CellOf<Index> cell;
  for (int k = 0; k < axes; ++k) cell[k] = (word[k] << word_shift(axes)) + step_of(bit, k, axes);
  return cell;
}

/// Bits of a word's cells, 2^shift elements wide, that hold an element from `low` to `high` along each axis.
FATHOM_HD inline std::uint64_t bits_within(const ShortCell& low, const ShortCell& high, const ShortCell& word,
                                           int shift, int axes) {
  const int side = word_side(axes);
  std::uint64_t bits = ~std::uint64_t{0};
  for (int k = 0, row = 64; k < axes; ++k, row /= side) {  // of so many bits is a row of cells along the axis
    const std::int32_t base = word[k] * side;
    const int first = larger((low[k] >> shift) - base, 0), last = smaller((high[k] >> shift) - base, side - 1);
    if (first > last) return 0;
    const std::uint64_t in_row = bits_below((last + 1) * (row / side)) ^ bits_below(first * (row / side));
    bits &= in_row * (~std::uint64_t{0} / bits_below(row));
  }
  return bits;
}

/// Row-major.
FATHOM_HD inline std::int64_t count_of(const Cell& extents) { return extents[0] * extents[1] * extents[2]; }
template <class Index>
FATHOM_HD std::int64_t linear_index(const CellOf<Index>& cell, const Cell& extents, int axes) {
  std::int64_t index = cell[0];
  for (int k = 1; k < axes; ++k) index = index * extents[k] + cell[k];
  return index;
}

FATHOM_HD inline Cell cell_at(std::int64_t index, const Cell& extents, int axes) {
  Cell cell;
  for (int k = axes - 1; k > 0; index /= extents[k--]) cell[k] = index % extents[k];
  cell[0] = index;
  return cell;
}

/// Squared way along an axis from `at` to a cell that is 2^shift elements wide. One that the grid's end cuts off is no
/// closer: a bound all the same.
template <class Value>
FATHOM_HD Value square_to_cell(double at, std::int64_t cell, int shift) {
  using Step = Difference<Value>;
  const auto low = static_cast<Step>(cell << shift), high = static_cast<Step>(((cell + 1) << shift) - 1);
  return square<Value>(way_to_interval(static_cast<Step>(at), low, high, Step{0}));
}

/// The elements of such a cell.
struct CellBox {
  Cell low, high;  ///< the first and the last

  FATHOM_HD static CellBox of(const Cell& cell, int shift, const Cell& extents, int axes) {
    CellBox box;
    for (int k = 0; k < axes; ++k) {
      box.low[k] = cell[k] << shift;
      box.high[k] = smaller(((cell[k] + 1) << shift) - 1, extents[k] - 1);
    }
    return box;
  }
};

/// False only if no element of a box is in the cone of a query at `place`.
FATHOM_HD inline bool may_hold(const ConeOfQuery& cone, const double* place, const CellBox& box, int axes) {
  double from[3], to[3];
  for (int k = 0; k < axes; ++k) {
    from[k] = static_cast<double>(box.low[k]) - place[k];
    to[k] = static_cast<double>(box.high[k]) - place[k];
  }
  return may_hold(cone, from, to, axes);
}

/// Whether an element at squared distance d2 is.
FATHOM_HD inline bool holds(const ConeOfQuery& cone, const double* place, const Cell& element, double d2, int axes) {
  double offset[3];
  for (int k = 0; k < axes; ++k) offset[k] = static_cast<double>(element[k]) - place[k];
  return holds(cone, offset, d2, axes);
}

}  // namespace fathom::points
