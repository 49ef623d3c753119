// From the nearest triangle of a point to the numbers that the caller asked for. Shared by host and device: same bits
// everywhere.
#pragma once

#include <cmath>
#include <cstdint>

#include "fathom/mesh/triangle_set.h"
#include "mesh/block.hd.h"

namespace fathom::mesh {

/// What a mesh's answers need of it, in whatever memory.
struct MeshView {
  const Block* blocks = nullptr;
  const std::int32_t* ids = nullptr;
  const Vec3* vertices = nullptr;
  const std::int32_t* corners = nullptr;  ///< [triangle, 3]
  const Vec3* edge_normals = nullptr;     ///< [triangle, 3]; null unless pseudonormals make the sign, as the next
  const Vec3* vertex_normals = nullptr;
  /// [place, 6]: names of edges and corners as Surface's, but by places; null on the host, and of huge meshes.
  const std::uint32_t* features = nullptr;
  const Vec3* normals = nullptr;  ///< [place]: (b − a) × (c − a); null where the names are
};

/// The triangle at a place of the tree.
FATHOM_HD inline Triangle triangle_at(const MeshView& mesh, std::int64_t place) {
  return triangle_at(mesh.blocks[place / kFan], static_cast<int>(place % kFan));
}

FATHOM_HD inline Vec3 unit(Vec3 way) {
  const double length = std::sqrt(dot(way, way));
  return length > 0 ? (1 / length) * way : Vec3();
}

/// Of the triangle at a place, of length 1, to the side from which its corners run counter-clockwise; 0 where it has no
/// face.
FATHOM_HD inline Vec3 face_normal_at(const MeshView& mesh, std::int64_t place) {
  const std::int32_t* const corners = mesh.corners + 3 * std::int64_t{mesh.ids[place]};
  const Vec3 a = mesh.vertices[corners[0]];
  const Vec3 normal = cross(mesh.vertices[corners[1]] - a, mesh.vertices[corners[2]] - a);
  return triangle_at(mesh, place).per_normal > 0 ? unit(normal) : Vec3();
}

/// The angle-weighted normal of a part of it, of any length.
FATHOM_HD inline Vec3 pseudonormal_at(const MeshView& mesh, std::int64_t place, Part part) {
  const std::int64_t id = mesh.ids[place];
  const int number = static_cast<int>(part);
  if (part == Part::face) return face_normal_at(mesh, place);
  if (part <= Part::bc) return mesh.edge_normals[3 * id + number - static_cast<int>(Part::ab)];
  const std::int32_t* const corners = mesh.corners + 3 * id;
  return mesh.vertex_normals[corners[ascending(corners).at[number - static_cast<int>(Part::a)]]];
}

/// Whether a point is inside, by the pseudonormal of what is nearest.
FATHOM_HD inline bool is_behind(const MeshView& mesh, std::int64_t place, const Nearest& nearest) {
  if (nearest.part != Part::face) return dot(nearest.way, pseudonormal_at(mesh, place, nearest.part)) > 0;
  const Triangle triangle = triangle_at(mesh, place);  // its normal will do, of whatever length
  const double outward = dot(nearest.way, cross(triangle.b - triangle.a, triangle.c - triangle.a));
  return is_ascending(mesh.corners + 3 * std::int64_t{mesh.ids[place]}) ? outward > 0 : outward < 0;
}
FATHOM_HD inline bool is_behind(const MeshView& mesh, std::int64_t place, Vec3 point) {
  return is_behind(mesh, place, nearest_of(triangle_at(mesh, place), point));
}

/// Corners as they are, the rest of edges from their ends, and of faces from the point.
FATHOM_HD inline Vec3 closest_of(const Triangle& triangle, const Nearest& nearest, Vec3 point) {
  switch (nearest.part) {
    case Part::a: return triangle.a;
    case Part::b: return triangle.b;
    case Part::c: return triangle.c;
    case Part::ab: return triangle.a + nearest.weights[1] * (triangle.b - triangle.a);
    case Part::ac: return triangle.a + nearest.weights[2] * (triangle.c - triangle.a);
    case Part::bc: return triangle.b + nearest.weights[2] * (triangle.c - triangle.b);
    default: return point + nearest.way;
  }
}
FATHOM_HD inline Vec3 closest_at(const MeshView& mesh, std::int64_t place, Vec3 point) {
  const Triangle triangle = triangle_at(mesh, place);
  return closest_of(triangle, nearest_of(triangle, point), point);
}

FATHOM_HD inline Feature feature_of(Part part) {
  return part == Part::face ? Feature::face : part <= Part::bc ? Feature::edge : Feature::vertex;
}

/// An output: where the answer to question (i, j, k) goes.
struct Place {
  std::byte* data = nullptr;  ///< null: not wanted
  DType dtype = DType::float32;
  std::int64_t step[3] = {};  ///< in elements

  FATHOM_HD std::int64_t at(const std::int64_t (&index)[3]) const {
    return index[0] * step[0] + index[1] * step[1] + index[2] * step[2];
  }
  FATHOM_HD void put(std::int64_t at, double value) const {
    if (dtype == DType::float32) reinterpret_cast<float*>(data)[at] = static_cast<float>(value);
    else reinterpret_cast<double*>(data)[at] = value;
  }
  FATHOM_HD void put(std::int64_t at, Vec3 value) const {
    put(at, value.x);
    put(at + 1, value.y);
    put(at + 2, value.z);
  }
  FATHOM_HD void put_whole(std::int64_t at, std::int64_t value) const {
    if (dtype == DType::int32) reinterpret_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(value);
    else if (dtype == DType::int64) reinterpret_cast<std::int64_t*>(data)[at] = value;
    else reinterpret_cast<std::uint8_t*>(data)[at] = static_cast<std::uint8_t>(value);
  }
};

struct Places {
  Place distance, triangle, closest, barycentric, feature, gradient, inside;

  /// Whether more is wanted than what a search finds.
  FATHOM_HD bool details() const { return closest.data || barycentric.data || feature.data || gradient.data; }
  /// Whether it matters on which side a point is.
  bool sided() const { return distance.data || gradient.data || inside.data; }
  bool only_inside() const { return !distance.data && !triangle.data && !details(); }
};

struct Answer {
  std::int64_t index[3];  ///< of the question
  Vec3 point;
  std::int64_t place;  ///< of the nearest triangle in the tree
  double squared;
  bool inside;
};

FATHOM_HD inline void put_details(const MeshView& mesh, const Places& to, const Answer& answer) {
  const Triangle triangle = triangle_at(mesh, answer.place);
  const Nearest nearest = nearest_of(triangle, answer.point);
  if (to.closest.data) to.closest.put(to.closest.at(answer.index), closest_of(triangle, nearest, answer.point));
  if (to.barycentric.data) {
    const Ascending order = ascending(mesh.corners + 3 * std::int64_t{mesh.ids[answer.place]});
    for (int k = 0; k < 3; ++k) to.barycentric.put(to.barycentric.at(answer.index) + order.at[k], nearest.weights[k]);
  }
  if (to.feature.data)
    to.feature.put_whole(to.feature.at(answer.index), static_cast<std::int64_t>(feature_of(nearest.part)));
  if (to.gradient.data)
    to.gradient.put(to.gradient.at(answer.index), nearest.squared > 0 ? unit((answer.inside ? 1 : -1) * nearest.way)
                                                                      : face_normal_at(mesh, answer.place));
}

FATHOM_HD inline void put(const MeshView& mesh, const Places& to, const Answer& answer) {
  if (to.distance.data) {
    double distance = std::sqrt(answer.squared);
    if (to.distance.dtype == DType::float32) distance = static_cast<float>(distance);  // what gets 0 has no sign
    to.distance.put(to.distance.at(answer.index), answer.inside && distance > 0 ? -distance : distance);
  }
  if (to.triangle.data) to.triangle.put_whole(to.triangle.at(answer.index), mesh.ids[answer.place]);
  if (to.inside.data) to.inside.put_whole(to.inside.at(answer.index), answer.inside || answer.squared == 0);
  if (to.details()) put_details(mesh, to, answer);
}

/// Of a point with a coordinate that is no number to count with: infinitely far from no triangle.
FATHOM_HD inline void put_none(const Places& to, const std::int64_t (&index)[3]) {
  constexpr double kNone = NAN;
  if (to.distance.data) to.distance.put(to.distance.at(index), INFINITY);
  if (to.triangle.data) to.triangle.put_whole(to.triangle.at(index), -1);
  if (to.closest.data) to.closest.put(to.closest.at(index), Vec3{kNone, kNone, kNone});
  if (to.barycentric.data) to.barycentric.put(to.barycentric.at(index), Vec3{kNone, kNone, kNone});
  if (to.feature.data) to.feature.put_whole(to.feature.at(index), static_cast<std::int64_t>(Feature::face));
  if (to.gradient.data) to.gradient.put(to.gradient.at(index), Vec3{kNone, kNone, kNone});
  if (to.inside.data) to.inside.put_whole(to.inside.at(index), 0);
}

}  // namespace fathom::mesh
