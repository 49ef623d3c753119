// Nearest sites in the chessboard metric.
//
// All sites on the surface of a box are equally near, so the lowest of them does not follow from the nearest sites of
// rows and planes, as it does in the other metrics. But the distance D of an element says which box holds its nearest
// sites and no other: the lowest site in the box of half-width D is the answer. The pass along the slowest axis already
// found that site's first coordinate; the others are searched in order, row by row, each row in O(1) from its words.
// Cost per element: O(1) for 2 axes, O(D) for 3, O(D^(axes − 2)) at worst. Where rows lie along another axis than the
// caller's last, all rows of the box are searched, of which there are few.
#pragma once

#include <cstdint>

#include "grid/cpu/classes.h"
#include "grid/metric.h"
#include "grid/cpu/row_words.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

template <class V>
class ChessboardNearest {
 public:
  /// @param words  of all rows, row-major, strips_of(last extent) per row
  ChessboardNearest(const Problem& problem, const Classes& classes, const RowWord* words);

  /// Linear index of the lowest site at distance `value` of the element at `at`.
  /// @param slowest  the lowest coordinate along axis 0 of such sites
  std::int64_t find(const PerAxis<std::int64_t>& at, V value, std::int64_t slowest) const;

 private:
  struct Query;
  bool search(Query& query, int axis, std::int64_t row, std::int64_t index) const;
  bool try_coordinate(Query& query, int axis, std::int64_t row, std::int64_t index, std::int64_t coordinate) const;
  bool search_row(Query& query, std::int64_t row, std::int64_t index, const Range& range) const;
  bool in_class(const Query& query, std::int64_t row, std::int64_t x) const;

  const Problem& p_;
  const Classes& classes_;
  const RowWord* words_;
  PerAxis<AxisCost<V>> cost_;
};

}  // namespace fathom::grid::cpu
