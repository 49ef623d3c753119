// Triangles and boxes by eights, as lanes and teams take them.
#pragma once

#include <cstdint>

#include "mesh/triangle.hd.h"

namespace fathom::mesh {

inline constexpr int kFan = 8;          ///< children of a node, triangles of a block
inline constexpr int kMostLevels = 12;  ///< of a tree over blocks: 2³¹ triangles have 11

/// Numbers of kFan triangles: for lanes, one row of kFan for each member of Triangle.
struct Block {
  double corners[9][kFan];  ///< a, b, c: x, y, z of each
  double per[4][kFan];      ///< normal, ab, ac, bc
};

/// Triangle i of a block.
FATHOM_HD inline Triangle triangle_at(const Block& block, int i) {
  const double(&x)[9][kFan] = block.corners;
  return {{x[0][i], x[1][i], x[2][i]},
          {x[3][i], x[4][i], x[5][i]},
          {x[6][i], x[7][i], x[8][i]},
          block.per[0][i],
          block.per[1][i],
          block.per[2][i],
          block.per[3][i]};
}

/// Boxes of kFan siblings; a place without a node has low = +inf and high = −inf.
struct Boxes {
  double low[3][kFan];
  double high[3][kFan];
};

/// Whether corners run as the ascending ones do, and not the other way.
FATHOM_HD inline bool is_ascending(const std::int32_t* corners) {
  return (corners[0] < corners[1]) + (corners[1] < corners[2]) + (corners[2] < corners[0]) == 2;
}

/// Places of a triangle's corners in ascending order of their vertices.
struct Ascending {
  int at[3];
};
FATHOM_HD inline Ascending ascending(const std::int32_t* corners) {
  int first = 0, second = 1, third = 2, other;
  if (corners[second] < corners[first]) other = first, first = second, second = other;
  if (corners[third] < corners[second]) other = second, second = third, third = other;
  if (corners[second] < corners[first]) other = first, first = second, second = other;
  return {{first, second, third}};
}

}  // namespace fathom::mesh
