// How the ways between two points along the axes make a distance.
#pragma once

namespace fathom::points {

enum class Metric {
  euclidean,   ///< √Σ wayₖ²
  taxicab,     ///< Σ wayₖ
  chessboard,  ///< the longest of them
};

}  // namespace fathom::points
