// Scan conversion of polyhedra on the CPU. A job is a vertex, an edge or a face.
//
// Source: S. Mauch, "A Fast Algorithm for Computing the Closest Point and Distance Transform", 2000, as Landgraf 2016,
// section 1.2.2 and Figure 1.4, tells it. What is nearest to a primitive lies in a polyhedron: over a face in its
// prism; beside an edge in the wedge that its faces and its ends leave; at a vertex in the cone that its edges leave.
// Each polyhedron is turned into the lattice points in it, whose distances to the primitive alone are computed; the
// least of a point stays.
// Departs in that a polyhedron is the half-spaces that bound it, of which a row of the lattice gets the part that lies
// in all; in that wedges and cones follow from these alone, so that meshes may be open, or have edges of many faces;
// and in that polyhedra are wider by 1/256 of a step and of the cutoff, so that nothing is lost where they meet: faces
// that are lower than that, or than 1/32 of their longest side, bound no wedge, and edges that are shorter no cone.
// Cost: O(rows and points of the polyhedra), and 8 bytes a point of the lattice.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "published/cpu/band.h"

namespace fathom::published::cpu {

namespace {

/// Points at most `width` from a plane on the side that the normal, of length 1, points to.
struct HalfSpace {
  Vec3 normal;
  double width;
};

struct Polyhedron {
  Vec3 base;  ///< that widths are from
  std::vector<HalfSpace> sides;
  Box box;
};

/// The places of a row that are in all half-spaces: from the first up to the one before the second.
struct Part {
  std::int64_t begin, end;
};
Part part_of_row(const BandProblem& problem, const Polyhedron& polyhedron, std::int64_t y, std::int64_t z) {
  const Box& box = polyhedron.box;
  const double dy = problem.grid.at(1, y) - polyhedron.base.y, dz = problem.grid.at(2, z) - polyhedron.base.z;
  double first = static_cast<double>(box.low[0]), last = static_cast<double>(box.low[0] + box.size[0] - 1);
  for (const auto& [normal, width] : polyhedron.sides) {
    const double left = width - (normal.y * dy + normal.z * dz);
    if (normal.x == 0 && left < 0) return {0, 0};
    if (normal.x == 0) continue;
    const double bound = problem.steps(0, polyhedron.base.x + left / normal.x);
    if (normal.x > 0) last = std::min(last, std::floor(bound));
    else first = std::max(first, std::ceil(bound));
  }
  if (!(first <= last)) return {0, 0};
  return {static_cast<std::int64_t>(first), static_cast<std::int64_t>(last) + 1};
}

class Mauch {
 public:
  Mauch(const BandProblem& problem, const BandOptions& options, int threads, BandFound& found)
      : problem_(problem), mesh_(problem.mesh), options_(options), threads_(threads), found_(found),
        squares_(squares_of(problem, options, found)) {
    const double(&h)[3] = problem.grid.spacing;
    width_ = (problem.cutoff + std::max({h[0], h[1], h[2]})) / 256 + problem.slack;
  }

  void run() {
    pass("vertices", mesh_.vertex_count, [&](std::int64_t number) {
      return scan_convert(cone_of(number), [&](Vec3 point) {
        return mesh_.squared_to_vertex(number, point, problem_.limit);
      });
    });
    pass("edges", mesh_.edge_count, [&](std::int64_t number) {
      return scan_convert(wedge_of(number), [&](Vec3 point) {
        return mesh_.squared_to_edge(number, point, problem_.limit);
      });
    });
    pass("faces", mesh_.face_count, [&](std::int64_t number) {
      return scan_convert(prism_of(number), [&](Vec3 point) {
        return mesh_.squared_to_face(number, point, problem_.limit);
      });
    });
    take_squares(problem_, squares_, found_);
  }

 private:
  template <class Body>
  void pass(const char* name, std::int64_t count, const Body& body) {
    std::atomic<std::int64_t> visited{0};
    timed(found_.phases, name, [&] {
      parallel_jobs(options_.execution, threads_, count, [&](int, std::int64_t number) { visited += body(number); });
    });
    found_.visited += visited;
  }

  /// @param squared_to  squared_to(point): to the primitive
  /// @returns points that were looked at
  template <class SquaredTo>
  std::int64_t scan_convert(const Polyhedron& polyhedron, const SquaredTo& squared_to) {
    const Box& box = polyhedron.box;
    std::int64_t visited = 0;
    if (box.count() == 0) return 0;
    for (std::int64_t z = box.low[2]; z < box.low[2] + box.size[2]; ++z)
      for (std::int64_t y = box.low[1]; y < box.low[1] + box.size[1]; ++y) {
        const Part part = part_of_row(problem_, polyhedron, y, z);
        visited += part.end - part.begin;
        for (std::int64_t x = part.begin; x < part.end; ++x) {
          const double squared = squared_to(problem_.grid.point(x, y, z));
          if (squared <= problem_.limit) lower(x, y, z, squared);
        }
      }
    return visited;
  }

  void lower(std::int64_t x, std::int64_t y, std::int64_t z, double squared) {
    const std::int64_t at = (z * problem_.grid.shape[1] + y) * problem_.grid.shape[0] + x;
    const std::atomic_ref best(squares_[static_cast<std::size_t>(at)]);
    for (double known = best.load(); squared < known && !best.compare_exchange_weak(known, squared);) continue;
  }

  Box box_around(Vec3 p, Vec3 q) const {
    double low[3], high[3];
    for (int k = 0; k < 3; ++k) {
      const double a = coordinate(p, k), b = coordinate(q, k);
      low[k] = std::min(a, b) - problem_.reach();
      high[k] = std::max(a, b) + problem_.reach();
    }
    return box_between(problem_, low, high);
  }

  Polyhedron cone_of(std::int64_t number) const {
    const Vec3 vertex = mesh_.vertices[number];
    Polyhedron cone{vertex, {}, box_around(vertex, vertex)};
    const Owners& owners = mesh_.of_vertices;
    if (owners.starts[number] == owners.starts[number + 1]) cone.box.size[0] = 0;
    for (std::int64_t k = owners.starts[number]; k < owners.starts[number + 1]; ++k) {
      const mesh::Triangle& face = mesh_.faces[owners.list[k]];
      for (const Vec3 corner : {face.a, face.b, face.c})
        if (const Vec3 way = corner - vertex; mesh::dot(way, way) > width_ * width_)
          cone.sides.push_back({unit(way), width_});
    }
    return cone;
  }

  Polyhedron wedge_of(std::int64_t number) const {
    const Edge& edge = mesh_.edges[number];
    const Vec3 from = mesh_.vertices[edge.from], way = mesh_.vertices[edge.to] - from;
    Polyhedron wedge{from, {}, box_around(from, mesh_.vertices[edge.to])};
    if (!(edge.per > 0)) {
      wedge.box.size[0] = 0;
      return wedge;
    }
    wedge.sides = {{unit(way), std::sqrt(mesh::dot(way, way)) + width_}, {-1 * unit(way), width_}};
    for (std::int64_t k = mesh_.of_edges.starts[number]; k < mesh_.of_edges.starts[number + 1]; ++k) {
      const mesh::Triangle& face = mesh_.faces[mesh_.of_edges.list[k]];
      if (!(face.per_normal > 0)) continue;
      const Vec3 normal = mesh::cross(face.b - face.a, face.c - face.a);
      Vec3 inward = unit(mesh::cross(normal, way));
      double height = 0, longest = 0;
      for (const Vec3 corner : {face.a, face.b, face.c}) {
        const double beyond = mesh::dot(inward, corner - from);
        if (std::abs(beyond) > std::abs(height)) height = beyond;
      }
      for (const Vec3 side : {face.b - face.a, face.c - face.a, face.c - face.b})
        longest = std::max(longest, std::sqrt(mesh::dot(side, side)));
      if (height < 0) inward = -1 * inward;
      const double lowest = std::sqrt(mesh::dot(normal, normal)) / longest;
      if (std::abs(height) > width_ && lowest * 32 > longest) wedge.sides.push_back({inward, width_});
    }
    return wedge;
  }

  Polyhedron prism_of(std::int64_t number) const {
    const mesh::Triangle& face = mesh_.faces[number];
    Polyhedron prism{face.a, {}, box_of_face(problem_, number)};
    if (!(face.per_normal > 0)) return prism;
    const Vec3 ab = face.b - face.a, ac = face.c - face.a, bc = face.c - face.b, normal = mesh::cross(ab, ac);
    const double longest = std::max({mesh::dot(ab, ab), mesh::dot(ac, ac), mesh::dot(bc, bc)});
    const double height = std::sqrt(mesh::reach_of(problem_.limit, longest)) + width_;
    const Vec3 beyond_bc = unit(mesh::cross(bc, normal));
    prism.sides = {{unit(normal), height},
                   {-1 * unit(normal), height},
                   {unit(mesh::cross(ab, normal)), width_},
                   {unit(mesh::cross(normal, ac)), width_},
                   {beyond_bc, mesh::dot(beyond_bc, ab) + width_}};
    return prism;
  }

  const BandProblem& problem_;
  const Primitives& mesh_;
  const BandOptions& options_;
  const int threads_;
  BandFound& found_;
  std::vector<double> squares_;
  double width_;
};

}  // namespace

BandFound mauch(const BandProblem& problem, const BandOptions& options, int threads) {
  BandFound found;
  Mauch(problem, options, threads, found).run();
  return found;
}

}  // namespace fathom::published::cpu
