// Boxes of a tree's nodes, from sites and from the boxes below.
#pragma once

#include <algorithm>
#include <limits>

#include "points/tree.h"

namespace fathom::points::cpu {

/// One node's place in its level's boxes: low coordinate k at [2k · kFan], high at [(2k + 1) · kFan].
template <class T>
T* box_at(Level& level, int axes, std::int64_t node) {
  return reinterpret_cast<T*>(level.boxes.data()) + node / kFan * (2 * axes * kFan) + node % kFan;
}

inline Level make_level(const Tree& tree, std::int64_t count) {
  Level level;
  level.count = count;
  level.boxes = Array(tree.dtype, {(count + kFan - 1) / kFan, tree.axes, 2, kFan});
  std::fill_n(level.boxes.data(), level.boxes.bytes(), std::byte{0});  // the last group's rest is read, and ignored
  if (tree.storage == Storage::sorted) level.lowest.resize(static_cast<std::size_t>(count));
  return level;
}

template <class T>
struct Bounds {
  T low = std::numeric_limits<T>::max();
  T high = std::numeric_limits<T>::lowest();
  void add(T x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  void put(T* box, int axis) const {
    box[2 * axis * kFan] = low;
    box[(2 * axis + 1) * kFan] = high;
  }
};

/// A node above the leaves, from its children.
template <class T>
void box_node(Tree& tree, std::size_t number, std::int64_t node) {
  Level &level = tree.levels[number], &below = tree.levels[number - 1];
  const std::int64_t first = node * kFan, end = std::min(first + kFan, below.count);
  for (int k = 0; k < tree.axes; ++k) {
    Bounds<T> bounds;
    for (std::int64_t child = first; child < end; ++child) {
      const T* box = box_at<T>(below, tree.axes, child);
      bounds.add(box[2 * k * kFan]);
      bounds.add(box[(2 * k + 1) * kFan]);
    }
    bounds.put(box_at<T>(level, tree.axes, node), k);
  }
  if (!below.lowest.empty())
    level.lowest[static_cast<std::size_t>(node)] =
        *std::min_element(below.lowest.begin() + first, below.lowest.begin() + end);
}

}  // namespace fathom::points::cpu
