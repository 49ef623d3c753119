#include "published/octree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "fathom/core/error.h"

namespace fathom::published {

namespace {

unsigned long long most_units(const BandOptions& options) {
  return std::min<unsigned long long>(kMostUnits, options.execution.scratch_limit.value_or(SIZE_MAX) / 8);
}

struct Node {
  unsigned at;  ///< its first unit
  Region region;
};

/// Takes the points right below a node, and hands the nodes there to below().
template <class Below>
void read_node(const Octree& tree, const Node& node, std::vector<BandFound::Point>& points, const Below& below) {
  const Region& region = node.region;
  for (unsigned octant = 0; octant < 8; ++octant) {
    const unsigned next = tree.references(node.at)[octant];
    if (next == kUnset) continue;
    Region part = region;
    Place corner;
    for (unsigned k = 0; k < 3; ++k) corner.at[k] = region.low[k] + (octant >> k & 1 ? (region.size[k] + 1) / 2 : 0);
    part.enter(corner);
    if (!part.is_point()) {
      below(Node{next, part});
      continue;
    }
    double squared;
    std::memcpy(&squared, tree.units + next, sizeof squared);
    points.push_back(BandFound::point(corner, squared));
  }
}

void read_subtree(const Octree& tree, const Node& node, std::vector<BandFound::Point>& points) {
  read_node(tree, node, points, [&](const Node& below) { read_subtree(tree, below, points); });
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

void read_tree(const Octree& tree, int threads, BandFound& found) {
  constexpr int kLevels = 3;  // of which there may be 8³ subtrees, for as many jobs
  std::vector<Node> nodes{{0, tree.whole}};
  std::vector<BandFound::Point> upper;
  for (int level = 0; level < kLevels; ++level) {
    std::vector<Node> next;
    for (const Node& node : nodes) read_node(tree, node, upper, [&](const Node& below) { next.push_back(below); });
    nodes = std::move(next);
  }
  found.parts.resize(nodes.size());
  parallel_jobs(threads, static_cast<std::int64_t>(nodes.size()), [&](int, std::int64_t job) {
    const auto k = static_cast<std::size_t>(job);
    std::vector<BandFound::Point> points;
    read_subtree(tree, nodes[k], points);
    found.parts[k] = std::move(points);
  });
  found.parts.push_back(std::move(upper));
  // Every unit that was taken is a node's or a leaf's.
  found.nodes = (static_cast<std::int64_t>(*tree.used) - kLeafUnits * found.count()) / kNodeUnits;
}

}  // namespace fathom::published
