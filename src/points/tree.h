// A set's sites as the searches see them: leaves of consecutive sites, in the caller's order or along a Hilbert curve,
// under a tree of boxes in which the children of node i are nodes 8i … 8i + 7 of the level below.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/points/site_set.h"
#include "points/cloud.h"

namespace fathom::points {

inline constexpr int kFan = 8;          ///< children of a node
inline constexpr int kSortedLeaf = 32;  ///< sites of a leaf in sorted order
inline constexpr std::uint32_t kNoId = UINT32_MAX;

/// Sites of a leaf in the caller's order: boxes of 4-byte and 8-byte coordinates take the same 0.22 bytes per site.
inline int boxed_leaf(DType dtype) { return dtype == DType::float64 ? 256 : 128; }

/// Nodes of one height. Boxes lie in groups of kFan siblings: [group][axis][low, high][kFan], of the coordinates' type.
struct Level {
  std::int64_t count = 0;
  Array boxes;
  std::vector<std::uint32_t> lowest;  ///< lowest id below each node; empty in the caller's order, where it is the first
};

struct Tree {
  Storage storage = Storage::plain;
  int axes = 3;
  DType dtype = DType::float32;
  std::int64_t count = 0;
  int leaf = 1;               ///< sites of a leaf
  std::vector<Level> levels;  ///< leaves first; the last has at most kFan nodes. Empty without sites, for `plain`, and
                              ///< for `boxed` where boxes would leave nothing out
  Box extent;                 ///< of all sites

  Array blocks;                    ///< sorted: [leaf][axis][kSortedLeaf], the last leaf filled up with its last site
  std::vector<std::uint32_t> ids;  ///< sorted: id of each site
  Cloud sites;                     ///< otherwise: the sites

  /// Of sorted sites that come and go: how many a leaf holds, the first of its places; the others, which count as sites
  /// everywhere else here, repeat the last. Empty: all places are taken.
  std::vector<std::uint8_t> sizes;
  std::int64_t vacant = 0;  ///< places that repeat

  std::int64_t leaves() const { return (count + leaf - 1) / leaf; }
  /// Of a leaf's places.
  std::int64_t size_of_leaf(std::int64_t number) const {
    return sizes.empty() ? std::min<std::int64_t>(leaf, count - number * leaf)
                         : sizes[static_cast<std::size_t>(number)];
  }
  std::size_t bytes() const {
    std::size_t sum = blocks.bytes() + ids.size() * sizeof(std::uint32_t) + sizes.size();
    for (const Level& level : levels) sum += level.boxes.bytes() + level.lowest.size() * sizeof(std::uint32_t);
    return sum;
  }
};

}  // namespace fathom::points
