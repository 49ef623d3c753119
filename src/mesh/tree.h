// A surface's triangles, neighbours together, in blocks of 8 under a tree of boxes in which the children of node i are
// nodes 8i … 8i + 7 of the level below.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "mesh/surface.h"

namespace fathom::mesh {

inline constexpr int kFan = 8;  ///< children of a node, triangles of a block

/// Numbers of kFan triangles: for lanes, one row of kFan for each member of Triangle.
struct Block {
  double corners[9][kFan];  ///< a, b, c: x, y, z of each
  double per[4][kFan];      ///< normal, ab, ac, bc
};

/// Boxes of kFan siblings; a place without a node has low = +inf and high = −inf.
struct Boxes {
  double low[3][kFan];
  double high[3][kFan];
};

struct Tree {
  std::int64_t count = 0;                    ///< triangles
  std::vector<Block> blocks;                 ///< the last is filled up with its last triangle
  std::vector<std::int32_t> ids;             ///< [blocks · kFan]: the caller's number of each place's triangle
  std::vector<std::vector<Boxes>> levels;    ///< boxes of blocks first; the last has one group
  double longest_squared = 0;                ///< of all triangles' sides

  std::size_t bytes() const {
    std::size_t sum = blocks.size() * sizeof(Block) + ids.size() * sizeof(std::int32_t);
    for (const auto& level : levels) sum += level.size() * sizeof(Boxes);
    return sum;
  }
  Triangle triangle(std::int64_t place) const {
    const Block& block = blocks[static_cast<std::size_t>(place / kFan)];
    const auto i = static_cast<std::size_t>(place % kFan);
    const auto corner = [&](std::size_t k) {
      return Vec3{block.corners[3 * k][i], block.corners[3 * k + 1][i], block.corners[3 * k + 2][i]};
    };
    return {corner(0), corner(1), corner(2), block.per[0][i], block.per[1][i], block.per[2][i], block.per[3][i]};
  }
};

/// Bytes that building takes beside the tree.
inline std::size_t build_scratch_bytes(std::int64_t triangles) { return static_cast<std::size_t>(triangles) * 40; }

Tree build_tree(const Surface& surface, int threads, Monitor& monitor);

}  // namespace fathom::mesh
