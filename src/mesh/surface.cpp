// Reads a caller's mesh: checks it, brings it to float64, joins vertices that are equal in value, and counts its edges.
#include "mesh/surface.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/text.h"
#include "fathom/core/error.h"

namespace fathom::mesh {

namespace {

void check_rows(const AnyConstView& view, const char* name, DType first, DType second) {
  const std::string title = std::string("the ") + name;
  if (!view.present() || view.rank() != 2 || view.shape()[1] != 3)
    throw InvalidArgument(title + " must have the shape [n, 3], not " +
                          (view.present() ? to_string(view.shape()) : "none"));
  if (view.dtype() != first && view.dtype() != second)
    throw InvalidArgument(title + " are " + std::string(name_of(view.dtype())) + "; give " +
                          std::string(name_of(first)) + " or " + std::string(name_of(second)));
  if (view.shape()[0] > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(title + " are " + std::to_string(view.shape()[0]) + "; at most 2147483647 are counted");
}

template <class T>
std::vector<Vec3> read_vertices(const HostView<const T>& view) {
  std::vector<Vec3> vertices(static_cast<std::size_t>(view.shape()[0]));
  for (std::int64_t i = 0; i < view.shape()[0]; ++i) {
    const T* row = view.data() + i * view.strides()[0];
    for (int k = 0; k < 3; ++k)
      if (!(std::abs(static_cast<double>(row[k])) <= kLargestCoordinate))
        throw InvalidArgument("vertex " + std::to_string(i) + " has the coordinate " +
                              text(static_cast<double>(row[k])) + "; coordinates must be finite, and at most 1e70");
    // The sum makes −0 the 0 that it equals.
    vertices[static_cast<std::size_t>(i)] = {static_cast<double>(row[0]) + 0, static_cast<double>(row[1]) + 0,
                                             static_cast<double>(row[2]) + 0};
  }
  return vertices;
}

/// For each vertex the lowest number of those equal to it.
std::vector<std::int32_t> lowest_equals(const std::vector<Vec3>& vertices) {
  constexpr std::int32_t kFree = -1;
  const std::size_t size = std::bit_ceil(2 * vertices.size() + 1);
  std::vector<std::int32_t> table(size, kFree), lowest(vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    std::uint64_t hash = 0;
    for (const double x : {vertices[i].x, vertices[i].y, vertices[i].z}) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    std::size_t at = hash & (size - 1);
    while (table[at] != kFree && !(vertices[static_cast<std::size_t>(table[at])] == vertices[i]))
      at = (at + 1) & (size - 1);
    if (table[at] == kFree) table[at] = static_cast<std::int32_t>(i);
    lowest[i] = table[at];
  }
  return lowest;
}

/// visitor(vertex's number) for each corner.
template <class T, class Visitor>
void visit_corners(const HostView<const T>& view, std::int64_t vertices, const Visitor& visitor) {
  for (std::int64_t i = 0; i < view.shape()[0]; ++i)
    for (std::int64_t k = 0; k < 3; ++k) {
      const T index = view.data()[i * view.strides()[0] + k];
      if (index < 0 || index >= vertices)
        throw InvalidArgument("triangle " + std::to_string(i) + " names vertex " + std::to_string(index) +
                              "; there are " + std::to_string(vertices) + ", counted from 0");
      visitor(static_cast<std::int64_t>(index));
    }
}

template <class Visitor>
void visit_corners(const Triangles& mesh, const Visitor& visitor) {
  const std::int64_t vertices = mesh.vertices.shape()[0];
  if (mesh.triangles.dtype() == DType::int32) visit_corners(mesh.triangles.as<std::int32_t>(), vertices, visitor);
  else visit_corners(mesh.triangles.as<std::int64_t>(), vertices, visitor);
}

template <class T>
Bounds bounds_of(const HostView<const T>& vertices, const Triangles& mesh) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Bounds bounds{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
  visit_corners(mesh, [&](std::int64_t vertex) {
    const T* const at = vertices.data() + vertex * vertices.strides()[0];
    if (!std::isfinite(at[0]) || !std::isfinite(at[1]) || !std::isfinite(at[2])) return;
    for (std::size_t k = 0; k < 3; ++k) {
      const double x = static_cast<double>(at[k]) + 0;  // no -0
      bounds.low[k] = std::min(bounds.low[k], x);
      bounds.high[k] = std::max(bounds.high[k], x);
    }
  });
  return bounds;
}

void check_types(const Triangles& mesh) {
  check_rows(mesh.vertices, "vertices", DType::float32, DType::float64);
  check_rows(mesh.triangles, "triangles", DType::int32, DType::int64);
}

/// One side of a triangle, filed under the lower of its vertices.
struct HalfEdge {
  std::int32_t high;      ///< its other vertex
  std::int32_t opposite;  ///< the triangle's third
  std::int32_t triangle;
  std::int8_t side;  ///< 0, 1, 2: ab, ac, bc of Triangle
  bool forward;      ///< whether the triangle passes it from low to high

  friend bool operator<(const HalfEdge& p, const HalfEdge& q) {
    return std::tie(p.high, p.opposite, p.side, p.triangle) < std::tie(q.high, q.opposite, q.side, q.triangle);
  }
};

/// The half-edges of all triangles by their lower vertex: those of vertex v are [starts[v], starts[v + 1]).
struct HalfEdges {
  std::vector<std::int64_t> starts;
  std::vector<HalfEdge> list;
};

template <class Visitor>  // visitor(low vertex, HalfEdge)
void visit_half_edges(const Surface& surface, std::int64_t triangle, const Visitor& visitor) {
  const Corners& corners = surface.corners[static_cast<std::size_t>(triangle)];
  const Ascending order = ascending(corners.data());
  constexpr int kSides[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};  // from, to, opposite
  for (std::int8_t side = 0; side < 3; ++side) {
    const auto vertex = [&](int k) { return corners[static_cast<std::size_t>(order.at[kSides[side][k]])]; };
    if (vertex(0) == vertex(1)) continue;  // no edge
    const int from = order.at[kSides[side][0]], to = order.at[kSides[side][1]];
    visitor(vertex(0), HalfEdge{vertex(1), vertex(2), static_cast<std::int32_t>(triangle), side, to == (from + 1) % 3});
  }
}

HalfEdges half_edges_of(const Surface& surface) {
  HalfEdges edges;
  edges.starts.resize(surface.vertices.size() + 2);
  for (std::int64_t i = 0; i < surface.size(); ++i)
    visit_half_edges(surface, i,
                     [&](std::int32_t low, const HalfEdge&) { ++edges.starts[static_cast<std::size_t>(low) + 2]; });
  for (std::size_t v = 2; v < edges.starts.size(); ++v) edges.starts[v] += edges.starts[v - 1];
  edges.list.resize(static_cast<std::size_t>(edges.starts.back()));
  for (std::int64_t i = 0; i < surface.size(); ++i)
    visit_half_edges(surface, i, [&](std::int32_t low, const HalfEdge& edge) {
      edges.list[static_cast<std::size_t>(edges.starts[static_cast<std::size_t>(low) + 1]++)] = edge;
    });
  edges.starts.pop_back();
  return edges;
}

struct Faces {
  Vec3 normal;       ///< of length 1; 0 without a face
  double angles[3];  ///< at the corners, in the caller's order
};

double angle_between(Vec3 p, Vec3 q) {
  const Vec3 normal = cross(p, q);
  return std::atan2(std::sqrt(dot(normal, normal)), dot(p, q));
}

Faces face_of(const Surface& surface, std::int64_t triangle) {
  const Vec3 a = surface.corner(triangle, 0), b = surface.corner(triangle, 1), c = surface.corner(triangle, 2);
  if (!(make_triangle(a, b, c).per_normal > 0)) return {};
  const Vec3 normal = cross(b - a, c - a);
  return {(1 / std::sqrt(dot(normal, normal))) * normal,
          {angle_between(b - a, c - a), angle_between(c - b, a - b), angle_between(a - c, b - c)}};
}

/// What the half-edges [begin, end) of one edge say.
void count_edge(const HalfEdge* begin, const HalfEdge* end, Topology& topology) {
  const auto forward = std::count_if(begin, end, [](const HalfEdge& edge) { return edge.forward; });
  const auto all = end - begin;
  ++topology.edges;
  topology.open += 2 * forward != all;
  topology.flipped += all == 2 && forward != 1;
  topology.shared += all > 2;
  // Each triangle is counted at its side ac, which also those have of which two corners are one.
  for (const HalfEdge* edge = begin + 1; edge < end; ++edge)
    topology.duplicate += edge->opposite == edge[-1].opposite && edge->side == 1 && edge[-1].side == 1;
}

void set_edge_normals(const HalfEdge* begin, const HalfEdge* end, const std::vector<Faces>& faces,
                      Pseudonormals& pseudonormals) {
  Vec3 sum;
  for (const HalfEdge* edge = begin; edge < end; ++edge)
    sum = sum + faces[static_cast<std::size_t>(edge->triangle)].normal;
  for (const HalfEdge* edge = begin; edge < end; ++edge)
    pseudonormals.edges[static_cast<std::size_t>(edge->triangle)][static_cast<std::size_t>(edge->side)] = sum;
}

std::uint32_t name_of(std::int32_t triangle, Part first, int k) {
  return 8 * static_cast<std::uint32_t>(triangle) + static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(k);
}

/// Names the edge of half-edges [begin, end).
void name_edge(const HalfEdge* begin, const HalfEdge* end, std::vector<Features>& features) {
  const HalfEdge& lowest =
      *std::min_element(begin, end, [](const HalfEdge& p, const HalfEdge& q) { return p.triangle < q.triangle; });
  for (const HalfEdge* edge = begin; edge < end; ++edge)
    features[static_cast<std::size_t>(edge->triangle)][static_cast<std::size_t>(edge->side)] =
        name_of(lowest.triangle, Part::ab, lowest.side);
}

void name_corners(const Surface& surface, std::vector<Features>& features) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> names(surface.vertices.size(), kNone);
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Corners& corners = surface.corners[i];
    const Ascending order = ascending(corners.data());
    for (int k = 0; k < 3; ++k) {
      std::uint32_t& name = names[static_cast<std::size_t>(corners[static_cast<std::size_t>(order.at[k])])];
      if (name == kNone) name = name_of(static_cast<std::int32_t>(i), Part::a, k);
      features[i][static_cast<std::size_t>(3 + k)] = name;
    }
  }
}

void set_vertex_normals(const Surface& surface, const std::vector<Faces>& faces, Pseudonormals& pseudonormals) {
  pseudonormals.vertices.resize(surface.vertices.size());
  for (std::size_t i = 0; i < faces.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3& sum = pseudonormals.vertices[static_cast<std::size_t>(surface.corners[i][k])];
      sum = sum + faces[i].angles[k] * faces[i].normal;
    }
}

void measure(const Surface& surface, Topology& topology) {
  const Vec3 origin = surface.corner(0, 0);
  for (std::int64_t i = 0; i < surface.size(); ++i) {
    const Vec3 a = surface.corner(i, 0) - origin, b = surface.corner(i, 1) - origin, c = surface.corner(i, 2) - origin;
    const Vec3 normal = cross(b - a, c - a);
    topology.area += 0.5 * std::sqrt(dot(normal, normal));
    topology.volume += dot(a, cross(b, c)) / 6;
    topology.degenerate += dot(normal, normal) == 0;
  }
}

}  // namespace

Bounds bounds_of(const Triangles& mesh) {
  check_types(mesh);
  return mesh.vertices.dtype() == DType::float32 ? bounds_of(mesh.vertices.as<float>(), mesh)
                                                 : bounds_of(mesh.vertices.as<double>(), mesh);
}

Surface make_surface(const Triangles& mesh) {
  check_types(mesh);
  if (mesh.triangles.shape()[0] == 0) throw InvalidArgument("the mesh has no triangle; a distance needs one or more");
  Surface surface;
  surface.vertices = mesh.vertices.dtype() == DType::float32 ? read_vertices(mesh.vertices.as<float>())
                                                             : read_vertices(mesh.vertices.as<double>());
  const std::vector<std::int32_t> lowest = lowest_equals(surface.vertices);
  surface.corners.resize(static_cast<std::size_t>(mesh.triangles.shape()[0]));
  std::int32_t* corner = surface.corners.front().data();
  visit_corners(mesh, [&](std::int64_t vertex) { *corner++ = lowest[static_cast<std::size_t>(vertex)]; });
  surface.bounds = bounds_of(mesh);
  return surface;
}

Topology topology_of(const Surface& surface, Pseudonormals* pseudonormals, std::vector<Features>* features,
                     int threads) {
  HalfEdges edges = half_edges_of(surface);
  std::vector<Faces> faces;
  if (pseudonormals) {
    faces.resize(surface.corners.size());
    constexpr std::int64_t kOfJob = 4096;
    parallel_jobs(threads, (surface.size() + kOfJob - 1) / kOfJob, [&](int, std::int64_t job) {
      for (std::int64_t i = job * kOfJob; i < std::min(surface.size(), (job + 1) * kOfJob); ++i)
        faces[static_cast<std::size_t>(i)] = face_of(surface, i);
    });
    pseudonormals->edges.resize(surface.corners.size());
    set_vertex_normals(surface, faces, *pseudonormals);
  }
  if (features) {
    features->resize(surface.corners.size());
    name_corners(surface, *features);
  }
  Topology topology;
  std::vector<bool> used(surface.vertices.size());
  for (const Corners& corners : surface.corners)
    for (const std::int32_t vertex : corners) used[static_cast<std::size_t>(vertex)] = true;
  topology.vertices = std::count(used.begin(), used.end(), true);
  for (std::size_t low = 0; low < surface.vertices.size(); ++low) {
    HalfEdge *const begin = edges.list.data() + edges.starts[low], *const end =
                                                                       edges.list.data() + edges.starts[low + 1];
    std::sort(begin, end);
    for (HalfEdge *first = begin, *last; first < end; first = last) {
      for (last = first; last < end && last->high == first->high;) ++last;
      count_edge(first, last, topology);
      if (pseudonormals) set_edge_normals(first, last, faces, *pseudonormals);
      if (features) name_edge(first, last, *features);
    }
  }
  measure(surface, topology);
  return topology;
}

}  // namespace fathom::mesh
