// The naive band on the CPU: every point of the lattice against every triangle (Landgraf 2016, Figure 1.3). A job is a
// row. Cost: O(lattice · triangles), and 8 bytes a point of the lattice.
#include <algorithm>
#include <limits>
#include <string>

#include "core/parallel.h"
#include "fathom/core/error.h"
#include "published/cpu/band.h"

namespace fathom::published::cpu {

std::vector<double> squares_of(const BandProblem& problem, const BandOptions& options, BandFound& found) {
  const std::int64_t(&shape)[3] = problem.grid.shape;
  const double bytes = 8.0 * static_cast<double>(shape[0]) * static_cast<double>(shape[1]) *
                       static_cast<double>(shape[2]);
  const std::size_t most = options.execution.scratch_limit.value_or(std::size_t{1} << 62);
  if (bytes > static_cast<double>(most))
    throw InvalidArgument("an array of the whole lattice takes more than " + std::to_string(most) +
                          " bytes; give more, or take a smaller lattice or the octree");
  found.scratch_bytes = static_cast<std::size_t>(bytes);
  return std::vector<double>(found.scratch_bytes / sizeof(double), std::numeric_limits<double>::infinity());
}

void take_squares(const BandProblem& problem, const std::vector<double>& squares, BandFound& found) {
  const std::int64_t(&shape)[3] = problem.grid.shape;
  const Box all{{0, 0, 0}, {shape[0], shape[1], shape[2]}};
  std::vector<BandFound::Point>& points = found.parts.emplace_back();
  for (std::int64_t n = 0; n < all.count(); ++n)
    if (const double squared = squares[static_cast<std::size_t>(n)]; squared <= problem.limit)
      points.push_back(BandFound::point(all.place(n), squared));
}

BandFound naive(const BandProblem& problem, const BandOptions& options, int threads) {
  BandFound found;
  std::vector<double> squares = squares_of(problem, options, found);
  const std::int64_t(&shape)[3] = problem.grid.shape;
  const Primitives& mesh = problem.mesh;
  timed(found.phases, "comparisons", [&] {
    parallel_jobs(options.execution, threads, shape[1] * shape[2], [&](int, std::int64_t row) {
      for (std::int64_t x = 0; x < shape[0]; ++x) {
        const Vec3 point = problem.grid.point(x, row % shape[1], row / shape[1]);
        double& best = squares[static_cast<std::size_t>(row * shape[0] + x)];
        for (std::int64_t face = 0; face < mesh.face_count; ++face)
          best = std::min(best, mesh::nearest_of(mesh.faces[face], point).squared);
      }
    });
  });
  found.visited = shape[0] * shape[1] * shape[2] * mesh.face_count;
  take_squares(problem, squares, found);
  return found;
}

}  // namespace fathom::published::cpu
