// Nearest sites in the chessboard metric. Shared by host and device.
//
// All sites on the surface of a box are equally near, so the lowest of them does not follow from the nearest sites of
// rows and planes, as it does in the other metrics. But the distance D of an element says which box holds its nearest
// sites and no other: the lowest site in the box of half-width D is the answer. The pass along the slowest axis already
// found that site's first coordinate; the others are searched in order, row by row, each row in O(1) from its words.
// Cost per element: O(1) for 2 axes, O(D) for 3, O(D^(axes − 2)) at worst. Where rows lie along another axis than the
// caller's last, all rows of the box are searched, of which there are few.
#pragma once

#include <cstdint>

#include "grid/line_word.hd.h"
#include "grid/value.hd.h"

namespace fathom::grid {

/// The coordinates at most `half_width` from `centre`, ascending: two ranges where they wrap round a periodic axis.
struct ChessboardWindow {
  std::int64_t begin[2], end[2];

  ChessboardWindow() = default;  // of axes that are not there: nothing is
  FATHOM_HD ChessboardWindow(std::int64_t centre, std::int64_t half_width, std::int64_t extent, bool periodic) {
    const std::int64_t low = centre - half_width, high = centre + half_width + 1;
    begin[0] = low > 0 ? low : 0;
    end[0] = high < extent ? high : extent;
    begin[1] = end[1] = 0;
    if (!periodic || (low >= 0 && high <= extent)) return;
    if (high - low >= extent) {
      begin[0] = 0;
      end[0] = extent;
    } else if (low < 0) {
      begin[1] = low + extent;
      end[1] = extent;
    } else {
      begin[0] = 0;
      end[0] = high - extent;
      begin[1] = low;
      end[1] = extent;
    }
  }

  /// The coordinate behind one of the window; −1 behind the last.
  FATHOM_HD std::int64_t next(std::int64_t at) const {
    ++at;
    if (at == end[0] && begin[1] < end[1] && at <= begin[1]) return begin[1];
    return at == end[0] || at == end[1] ? -1 : at;
  }
};

/// The first element of [x, end) of a row that is a site to another; −1: there is none.
///
/// @param word_of  the word of an element of the row, of which bits and what lies behind are read
/// @param is_site  of an element that is not before any set bit of the range
template <class WordOf, class IsSite>
FATHOM_HD std::int64_t first_site_in_row(std::int64_t x, std::int64_t end, std::int64_t extent, WordOf&& word_of,
                                         IsSite&& is_site) {
  while (x < end) {
    if (is_site(x)) return x;
    // The next set bit: a site, or an element of another class than the one before it.
    const auto word = word_of(x);
    const auto j = static_cast<int>(x % kWordElements);
    const std::uint32_t behind = word.bits & ~(0xFFFFFFFFu >> (31 - j));
    x = behind ? x - j + lowest_bit(behind) : word.right;
    if (x < 0 || x >= extent) return -1;
  }
  return -1;
}

template <class V, int kMostRank>
struct ChessboardBoxes {
  int rank = 0;
  std::int64_t extent[kMostRank] = {};
  std::int64_t index_step[kMostRank] = {};  ///< of the caller's linear indices, along each axis
  AxisCost<V> cost[kMostRank];
  bool periodic[kMostRank] = {};

  /// Linear index of the lowest site at distance `value` of the element at `at`; −1 if there is none.
  /// @param slowest   the lowest coordinate along axis 0 of such sites
  /// @param first_in  first_site_in_row() of [x, end) of the row at some coordinates: first_in(here, row, x, end)
  template <class FirstIn>
  FATHOM_HD std::int64_t find(const std::int64_t* at, V value, std::int64_t slowest, FirstIn&& first_in) const {
    const int last = rank - 1;
    ChessboardWindow window[kMostRank];
    std::int64_t here[kMostRank], found = -1;
    for (int k = 0; k <= last; ++k) {
      // A site with the lowest coordinate along axis 0 has the lowest index if no other axis is slower.
      const bool is_known = k == 0 && index_step[0] >= index_step[last];
      window[k] = is_known ? ChessboardWindow(slowest, 0, extent[0], false)
                           : ChessboardWindow(at[k], steps_within(k, value), extent[k], periodic[k]);
      here[k] = window[k].begin[0];
    }
    for (;;) {
      std::int64_t row = 0, index = 0;
      for (int k = 0; k < last; ++k) row = row * extent[k] + here[k], index += here[k] * index_step[k];
      for (int r = 0; r < 2; ++r) {
        const std::int64_t x = first_in(here, row, window[last].begin[r], window[last].end[r]);
        if (x < 0) continue;
        const std::int64_t site = index + x * index_step[last];
        if (index_step[last] == 1) return site;  // no other can have a lower index
        if (found < 0 || site < found) found = site;
      }
      int k = last - 1;
      for (; k >= 0; --k) {
        here[k] = window[k].next(here[k]);
        if (here[k] >= 0) break;
        here[k] = window[k].begin[0];
      }
      if (k < 0) return found;
    }
  }

 private:
  FATHOM_HD std::int64_t steps_within(int k, V value) const {
    auto steps = static_cast<std::int64_t>(value / cost[k].weight);
    while (steps > 0 && cost[k](steps) > value) --steps;
    while (cost[k](steps + 1) <= value && steps < extent[k]) ++steps;
    return steps;
  }
};

}  // namespace fathom::grid
