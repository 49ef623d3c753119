// Nearest sites in the chessboard metric.
//
// All sites on the surface of a box are equally near, so the lowest of them does not follow from the nearest sites of
// rows and planes, as it does in the other metrics. But the distance D of an element says which box holds its nearest
// sites and no other: the lowest site in the box of half-width D is the answer. The pass along the slowest axis already
// found that site's first coordinate; the others are searched in order, row by row, each row in O(1) from its words.
// Cost per element: O(1) for 2 axes, O(D) for 3, O(D^(axes − 2)) at worst.
#pragma once

#include "grid/cuda/general/line_words.h"
#include "grid/cuda/input/classes.cuh"
#include "grid/value.hd.h"

namespace fathom::grid::cuda::general {

/// The coordinates at most `half_width` from `centre`, ascending: two ranges where they wrap round a periodic axis.
struct Window {
  std::int64_t begin[2] = {0, 0}, end[2] = {0, 0};

  Window() = default;
  __device__ Window(std::int64_t centre, std::int64_t half_width, std::int64_t extent, bool periodic) {
    const std::int64_t low = centre - half_width, high = centre + half_width + 1;
    begin[0] = low > 0 ? low : 0;
    end[0] = high < extent ? high : extent;
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

  __device__ std::int64_t first() const { return begin[0]; }
  /// The coordinate behind one of the window; −1 behind the last.
  __device__ std::int64_t next(std::int64_t at) const {
    ++at;
    if (at == end[0] && begin[1] < end[1] && at <= begin[1]) return begin[1];
    return at == end[0] || at == end[1] ? -1 : at;
  }
};

template <class V>
struct ChessboardNearest {
  Input input;
  Classes classes;
  LineWords rows;  ///< along the last axis
  std::int64_t first_item = 0;
  std::int64_t rows_of_item = 1;
  AxisCost<V> cost[kMaxSpaceRank];
  bool periodic[kMaxSpaceRank] = {};

  /// Linear index of the lowest site at distance `value` of the element at `at`.
  /// @param slowest  coordinate of that site along axis 0
  __device__ std::int64_t find(std::int64_t item, const std::int64_t* at, V value, std::int64_t slowest) const {
    const int last = input.rank - 1;
    Window window[kMaxSpaceRank];
    std::int64_t here[kMaxSpaceRank];
    here[0] = slowest;
    for (int k = 1; k <= last; ++k) {
      window[k] = Window(at[k], steps_within(k, value), input.extent[k], periodic[k]);
      here[k] = window[k].first();
    }
    for (;;) {
      std::int64_t row = 0;
      for (int k = 0; k < last; ++k) row = row * input.extent[k] + here[k];
      for (int r = 0; r < 2; ++r) {
        const std::int64_t x = search_row(item, at, here, row, window[last].begin[r], window[last].end[r]);
        if (x >= 0) return row * input.extent[last] + x;
      }
      int k = last - 1;
      for (; k >= 1; --k) {
        here[k] = window[k].next(here[k]);
        if (here[k] >= 0) break;
        here[k] = window[k].first();
      }
      if (k < 1) return -1;
    }
  }

 private:
  __device__ std::int64_t steps_within(int k, V value) const {
    auto steps = static_cast<std::int64_t>(value / cost[k].weight);
    while (steps > 0 && cost[k](steps) > value) --steps;
    while (cost[k](steps + 1) <= value && steps < input.extent[k]) ++steps;
    return steps;
  }

  __device__ std::int64_t search_row(std::int64_t item, const std::int64_t* at, const std::int64_t* here,
                                     std::int64_t row, std::int64_t x, std::int64_t end) const {
    while (x < end) {
      const std::int64_t i = rows.at(item * rows_of_item + row, 0, static_cast<std::int32_t>(x));
      if (in_class(item, at, here, i, x)) return x;
      // The next set bit: a site, or an element of another class than the one before it.
      const auto j = static_cast<int>(x % kWordElements);
      const std::uint32_t behind = rows.bits[i] & ~(0xFFFFFFFFu >> (31 - j));
      const std::int64_t next = behind ? x - j + lowest_bit(behind) : rows.right[i];
      if (next < 0 || next >= rows.lines.extent) return -1;
      x = next;
    }
    return -1;
  }

  /// Whether the element at x of the row is what the element at `at` looks for.
  __device__ bool in_class(std::int64_t item, const std::int64_t* at, const std::int64_t* here, std::int64_t word,
                           std::int64_t x) const {
    if (!classes.boundaries) return rows.bits[word] >> (x % kWordElements) & 1;
    const int last = input.rank - 1;
    std::int64_t own = input.items.offset(first_item + item), other = own + x * input.stride[last];
    bool same = at[last] == x;
    for (int k = 0; k < last; ++k) {
      other += here[k] * input.stride[k];
      same &= here[k] == at[k];
    }
    for (int k = 0; k <= last; ++k) own += at[k] * input.stride[k];
    // Where label 0 is pinned, an element with distance 0 finds itself.
    if (same) return classes.pins && fulfils(classes.background, input.data, own);
    return classes.differ(input.data, own, other);
  }
};

}  // namespace fathom::grid::cuda::general
