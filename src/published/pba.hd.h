// The Parallel Banding Algorithm: what a thread does. cpu/pba.cpp and cuda/pba.cu say who does it when.
//
// Source: Cao, Tang, Mohamed & Tan, "Parallel Banding Algorithm to Compute Exact Distance Transform with the GPU",
// 2010. Pictures: docs/algorithms.md.
// An image has lines along each of its axes. In three phases each element finds the nearest of the sites along a line:
//   1. band sweeping: the nearest site in the line itself. A line is cut into m1 bands, a thread sweeps a band to and
//      fro; the ends of bands tell one another; each element looks at the ends of its band (section 4.1);
//   2. hierarchical merging: which of what phase 1 (or a former axis) found along a line is the nearest of any element
//      of it, the proximate sites. A thread keeps a stack for each of m2 bands, doubly linked lists in the image; then
//      pairs of bands are merged (section 4.2, Algorithm 1);
//   3. block colouring: m3 threads give m3 elements at a time the one of the proximate sites that is nearest to each
//      (section 4.3).
// An image takes phase 1 along y, and 2 and 3 along x; a volume 1 along z, 2 and 3 along y, and again along x.
// Cost: O(N) for phases 1 and 2, O(m3 · N) at worst for phase 3.
// Departs in that neighbouring threads work on neighbouring columns, for which images are transposed between phases;
// in that heads and tails of lists have arrays of their own, where the paper puts them into the bands' first and last
// elements; and in that ties are decided by the comparison of whole numbers alone: the lower coordinate wins.
#pragma once

#include "published/places.hd.h"

namespace fathom::published {

inline constexpr int kEnd = -1;  ///< of a list

/// Columns of an array [slices, height, width]: which axes of the image they are, and which elements.
struct Columns {
  Places places;
  int width, height, slices, first_slice;
  Axis along, across, behind;  ///< the image's axes of height, width and slices
  int bands;

  FATHOM_HD std::int64_t count() const { return std::int64_t{width} * slices; }
  FATHOM_HD int band_height() const { return (height + bands - 1) / bands; }
  FATHOM_HD int begin(int band) const { return least(band * band_height(), height); }
  /// The element in a row of a column.
  FATHOM_HD std::int64_t at(std::int64_t column, int row) const {
    return (column / width * height + row) * width + column % width;
  }
  FATHOM_HD int row_of(std::uint32_t place) const { return places.coordinate(place, along); }
  /// A site as the column sees it.
  FATHOM_HD Beside beside(std::int64_t column, std::uint32_t place) const {
    return {places.coordinate(place, along),
            squared(places.coordinate(place, across) - static_cast<int>(column % width)) +
                squared(places.coordinate(place, behind) - first_slice - static_cast<int>(column / width))};
  }

 private:
  FATHOM_HD static int least(int a, int b) { return a < b ? a : b; }
};

// Phase 1

/// Of two sites of a column, the nearer to a row; of equally near ones the first.
FATHOM_HD inline std::uint32_t nearer_to(const Columns& columns, int row, std::uint32_t first, std::uint32_t second) {
  if (second == kNone) return first;
  if (first == kNone) return second;
  const int to_first = columns.row_of(first) - row, to_second = columns.row_of(second) - row;
  return squared(to_second) < squared(to_first) ? second : first;
}

/// The nearest site in the band of each of its elements, of which those that are sites hold their own places so far.
FATHOM_HD inline void sweep_band(const Columns& columns, std::uint32_t* nearest, std::int64_t column, int band) {
  const int begin = columns.begin(band), end = columns.begin(band + 1);
  std::uint32_t last = kNone;
  for (int row = begin; row < end; ++row) {
    std::uint32_t& own = nearest[columns.at(column, row)];
    if (own == kNone) own = last;
    else last = own;
  }
  last = kNone;
  for (int row = end - 1; row >= begin; --row) {
    std::uint32_t& own = nearest[columns.at(column, row)];
    if (own != kNone && columns.row_of(own) == row) last = own;
    else own = nearer_to(columns, row, own, last);
  }
}

/// What an element knows besides from the ends of its band, which know of the other bands.
FATHOM_HD inline std::uint32_t from_ends(const Columns& columns, int row, std::uint32_t own, std::uint32_t first,
                                         std::uint32_t last) {
  return nearer_to(columns, row, nearer_to(columns, row, first, own), last);
}

// Phase 2

/// Rows of the one before and the one behind it in a list.
struct Link {
  std::int16_t before, behind;
};

/// Proximate sites of columns as doubly linked lists: those that are the nearest of any place in the column. An element
/// of a list is known by its row, where the site that was found for that row stands, and its links.
struct Lists {
  Columns columns;
  const std::uint32_t* found;  ///< along other axes
  Link* links;
  int *heads, *tails;  ///< [bands, columns]

  FATHOM_HD int& head(std::int64_t column, int band) const { return heads[band * columns.count() + column]; }
  FATHOM_HD int& tail(std::int64_t column, int band) const { return tails[band * columns.count() + column]; }
  FATHOM_HD Link& link(std::int64_t column, int row) const { return links[columns.at(column, row)]; }

  /// Takes from the top of a stack, which is a list from behind, what is dominated by the one below it and a new one.
  /// @returns what is on top then
  FATHOM_HD int without_dominated(std::int64_t column, int top, std::uint32_t site) const {
    const Beside c = columns.beside(column, site);
    while (top != kEnd) {
      const int below = link(column, top).before;
      if (below == kEnd) break;
      if (!dominate(beside(column, below), c, beside(column, top))) break;
      top = below;
    }
    return top;
  }
  FATHOM_HD Beside beside(std::int64_t column, int row) const {
    return columns.beside(column, found[columns.at(column, row)]);
  }
  /// Puts the site of a row onto a stack.
  FATHOM_HD void push(std::int64_t column, int top, int row) const {
    link(column, row).before = static_cast<std::int16_t>(top);
    if (top != kEnd) link(column, top).behind = static_cast<std::int16_t>(row);
  }
};

/// The proximate sites of a band by itself.
FATHOM_HD inline void stack_band(const Lists& lists, std::int64_t column, int band) {
  const Columns& columns = lists.columns;
  int head = kEnd, top = kEnd;
  for (int row = columns.begin(band); row < columns.begin(band + 1); ++row) {
    const std::uint32_t site = lists.found[columns.at(column, row)];
    if (site == kNone) continue;
    top = lists.without_dominated(column, top, site);
    lists.push(column, top, row);
    if (top == kEnd) head = row;
    top = row;
  }
  if (top != kEnd) lists.link(column, top).behind = kEnd;
  lists.head(column, band) = head;
  lists.tail(column, band) = top;
}

/// Algorithm 1: the lists of two bands become one, which the upper band has then. The upper list is a stack, onto which
/// the lower list's sites are put one after the other; each takes away from the top what it and the one below dominate.
/// Sites of one band dominate none of each other, so that once two of the lower band are on top (line 12) the rest of its
/// list stands as it is.
FATHOM_HD inline void merge_bands(const Lists& lists, std::int64_t column, int upper, int lower) {
  const Columns& columns = lists.columns;
  int next = lists.head(column, lower), top = lists.tail(column, upper);
  if (next == kEnd) return;
  if (top == kEnd) lists.head(column, upper) = next;
  while (next != kEnd) {
    top = lists.without_dominated(column, top, lists.found[columns.at(column, next)]);
    lists.push(column, top, next);
    if (top >= columns.begin(lower)) break;  // the site below it is of the lower band, too
    top = next;
    next = lists.link(column, next).behind;
  }
  lists.tail(column, upper) = lists.tail(column, lower);
}

// Phase 3

/// Whether the second of two rows' sites is nearer to a row than the first.
FATHOM_HD inline bool is_second_nearer(const Lists& lists, std::int64_t column, int row, int first, int second) {
  const Beside a = lists.beside(column, first), b = lists.beside(column, second);
  return squared(b.along - row) + b.square < squared(a.along - row) + a.square;
}

}  // namespace fathom::published
