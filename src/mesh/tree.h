// A surface's triangles, neighbours together, in blocks of 8 under a tree of boxes in which the children of node i are
// nodes 8i … 8i + 7 of the level below.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "mesh/block.hd.h"
#include "mesh/surface.h"

namespace fathom::mesh {

struct Tree {
  std::int64_t count = 0;                  ///< triangles
  std::vector<Block> blocks;               ///< the last is filled up with its last triangle
  std::vector<std::int32_t> ids;           ///< [blocks · kFan]: the caller's number of each place's triangle
  std::vector<std::vector<Boxes>> levels;  ///< boxes of blocks first; the last has one group
  double longest_squared = 0;              ///< of all triangles' sides

  std::size_t bytes() const {
    std::size_t sum = blocks.size() * sizeof(Block) + ids.size() * sizeof(std::int32_t);
    for (const auto& level : levels) sum += level.size() * sizeof(Boxes);
    return sum;
  }
  Triangle triangle(std::int64_t place) const {
    return triangle_at(blocks[static_cast<std::size_t>(place / kFan)], static_cast<int>(place % kFan));
  }
};

/// Bytes that building takes beside the tree.
inline std::size_t build_scratch_bytes(std::int64_t triangles) { return static_cast<std::size_t>(triangles) * 40; }

Tree build_tree(const Surface& surface, int threads, Monitor& monitor);

}  // namespace fathom::mesh
