// Isolines of a sampled surface by marching squares (Lorensen & Cline 1987, in two dimensions), chained to long lines.
#pragma once

#include <vector>

namespace fathom::cli {

struct Point {
  double x = 0;
  double y = 0;
};

/// Closed lines end where they begin.
using Polyline = std::vector<Point>;

/// Lines where the surface passes `level`. Sample (x, y) is values[y · width + x]; squares with a NaN corner have none.
std::vector<Polyline> isolines(const std::vector<float>& values, int width, int height, double level);

}  // namespace fathom::cli
