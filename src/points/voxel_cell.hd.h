// Where an element of a grid lies among words of bits that are little cubes: 64 children of a word, 8 × 8 or 4 × 4 × 4.
// Shared by host and device.
#pragma once

#include <cstdint>

#include "points/cone.hd.h"
#include "points/measure.hd.h"

namespace fathom::points {

/// Indices along the axes; in 2D the last is 0, as extents are 1.
struct Cell {
  std::int64_t at[3] = {};

  FATHOM_HD std::int64_t& operator[](int axis) { return at[axis]; }
  FATHOM_HD std::int64_t operator[](int axis) const { return at[axis]; }
};

/// Bits of a coordinate that tell places in a word.
FATHOM_HD constexpr int word_shift(int axes) { return axes == 2 ? 3 : 2; }
FATHOM_HD constexpr int word_side(int axes) { return 1 << word_shift(axes); }

/// The word that a cell is a child of.
FATHOM_HD inline Cell parent_of(const Cell& cell, int axes) {
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
FATHOM_HD inline int bit_of(const Cell& cell, int axes) {
  std::int64_t bit = 0;
  for (int k = 0; k < axes; ++k) bit = bit << word_shift(axes) | (cell[k] & (word_side(axes) - 1));
  return static_cast<int>(bit);
}

/// Where a bit lies along an axis of its word.
FATHOM_HD inline int step_of(int bit, int axis, int axes) {
  return bit >> (word_shift(axes) * (axes - 1 - axis)) & (word_side(axes) - 1);
}

FATHOM_HD inline Cell child_of(const Cell& word, int bit, int axes) {
  Cell cell;
  for (int k = 0; k < axes; ++k) cell[k] = (word[k] << word_shift(axes)) + step_of(bit, k, axes);
  return cell;
}

/// Row-major.
FATHOM_HD inline std::int64_t count_of(const Cell& extents) { return extents[0] * extents[1] * extents[2]; }
FATHOM_HD inline std::int64_t linear_index(const Cell& cell, const Cell& extents, int axes) {
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
