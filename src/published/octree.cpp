#include "published/octree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "fathom/core/error.h"

namespace fathom::published {

namespace {

unsigned long long most_units(const BandOptions& options) {
  return std::min<unsigned long long>(kMostUnits, options.execution.scratch_limit.value_or(SIZE_MAX) / 8);
}

void read_node(const Octree& tree, unsigned node, const Region& region, BandFound& found) {
  ++found.nodes;
  for (unsigned octant = 0; octant < 8; ++octant) {
    const unsigned next = tree.references(node)[octant];
    if (next == kUnset) continue;
    Region part = region;
    Place corner;
    for (unsigned k = 0; k < 3; ++k) corner.at[k] = region.low[k] + (octant >> k & 1 ? (region.size[k] + 1) / 2 : 0);
    part.enter(corner);
    if (!part.is_point()) {
      read_node(tree, next, part, found);
      continue;
    }
    double squared;
    std::memcpy(&squared, tree.units + next, sizeof squared);
    found.add(corner, squared);
  }
}

}  // namespace

unsigned long long first_capacity(const BandProblem& problem, const BandOptions& options) {
  double area = 0, cell = 1, all = 1;
  for (std::int64_t number = 0; number < problem.mesh.face_count; ++number) {
    const mesh::Triangle& face = problem.mesh.faces[number];
    const Vec3 normal = mesh::cross(face.b - face.a, face.c - face.a);
    area += std::sqrt(mesh::dot(normal, normal)) / 2;
  }
  for (int k = 0; k < 3; ++k) {
    cell *= problem.grid.spacing[k];
    all *= static_cast<double>(problem.grid.shape[k]);
  }
  constexpr double kOfPoint = 2.5, kLeast = 4096;  // a leaf, and its part of the nodes above it
  const double units = kLeast + kOfPoint * std::min(all, 2 * problem.cutoff * area / cell);
  return std::min(most_units(options), units < static_cast<double>(kMostUnits) ? static_cast<unsigned long long>(units)
                                                                               : kMostUnits);
}

unsigned long long next_capacity(unsigned long long before, const BandOptions& options) {
  const unsigned long long most = most_units(options);
  if (before >= most)
    throw InvalidArgument(
        most == kMostUnits ? "the band does not fit into an octree of 32 GiB; take a smaller cutoff or lattice"
                           : "the scratch limit of " + std::to_string(*options.execution.scratch_limit) +
                                 " bytes is too small for the octree; give more, or take a smaller cutoff or lattice");
  return std::min(most, 4 * before);
}

void read_tree(const Octree& tree, BandFound& found) { read_node(tree, 0, tree.whole, found); }

}  // namespace fathom::published
