// Squared distances in lanes of double, by the steps of triangle.hd.h: many triangles to one point, or one triangle to
// many points.
#if defined(FATHOM_MESH_CPU_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_MESH_CPU_LANES_INL_H
#undef FATHOM_MESH_CPU_LANES_INL_H
#else
#define FATHOM_MESH_CPU_LANES_INL_H
#endif

#include <hwy/highway.h>

#include <limits>

#include "mesh/tree.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::mesh::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, kFan>;
using Lane = hn::Vec<Doubles>;
inline constexpr Doubles kDoubles;

struct Vec3s {
  Lane x, y, z;
};

HWY_INLINE Vec3s set(Vec3 p) { return {hn::Set(kDoubles, p.x), hn::Set(kDoubles, p.y), hn::Set(kDoubles, p.z)}; }
HWY_INLINE Vec3s minus(const Vec3s& p, const Vec3s& q) {
  return {hn::Sub(p.x, q.x), hn::Sub(p.y, q.y), hn::Sub(p.z, q.z)};
}
HWY_INLINE Lane dot(const Vec3s& p, const Vec3s& q) {
  return hn::Add(hn::Add(hn::Mul(p.x, q.x), hn::Mul(p.y, q.y)), hn::Mul(p.z, q.z));
}
HWY_INLINE Vec3s cross(const Vec3s& p, const Vec3s& q) {
  return {hn::Sub(hn::Mul(p.y, q.z), hn::Mul(p.z, q.y)), hn::Sub(hn::Mul(p.z, q.x), hn::Mul(p.x, q.z)),
          hn::Sub(hn::Mul(p.x, q.y), hn::Mul(p.y, q.x))};
}

/// What the steps need of triangles, one in each lane or the same in all.
struct Triangles {
  Vec3s a, b, c, ab, ac, bc, normal;
  Vec3s in_ab, in_ac, in_bc;  ///< in the triangle's plane, away from each side's third corner
  Lane per_normal, per_ab, per_ac, per_bc;
};

/// Lanes [first, first + Lanes) of a block.
HWY_INLINE Triangles load(const Block& block, std::size_t first) {
  const auto row = [&](const double* of) { return hn::LoadU(kDoubles, of + first); };
  const auto corner = [&](std::size_t k) {
    return Vec3s{row(block.corners[k]), row(block.corners[k + 1]), row(block.corners[k + 2])};
  };
  Triangles t;
  t.a = corner(0);
  t.b = corner(3);
  t.c = corner(6);
  t.ab = minus(t.b, t.a);
  t.ac = minus(t.c, t.a);
  t.bc = minus(t.c, t.b);
  t.normal = cross(t.ab, t.ac);
  t.in_ab = cross(t.normal, t.ab);
  t.in_ac = cross(t.ac, t.normal);
  t.in_bc = cross(t.normal, t.bc);
  t.per_normal = row(block.per[0]);
  t.per_ab = row(block.per[1]);
  t.per_ac = row(block.per[2]);
  t.per_bc = row(block.per[3]);
  return t;
}

/// The inside of an edge from u, less the point; elsewhere `least`.
HWY_INLINE Lane meet_edge(Lane least, const Vec3s& u, const Vec3s& edge, Lane per) {
  const Lane zero = hn::Zero(kDoubles);
  const Lane along = hn::Mul(hn::Sub(zero, dot(u, edge)), per);
  const Vec3s way = {hn::Add(u.x, hn::Mul(along, edge.x)), hn::Add(u.y, hn::Mul(along, edge.y)),
                     hn::Add(u.z, hn::Mul(along, edge.z))};
  const auto within = hn::And(hn::Gt(along, zero), hn::Lt(along, hn::Set(kDoubles, 1)));
  return hn::IfThenElse(within, hn::Min(least, dot(way, way)), least);
}

/// The squared distances.
HWY_INLINE Lane squared(const Triangles& t, const Vec3s& point) {
  const Lane zero = hn::Zero(kDoubles);
  const Vec3s a = minus(t.a, point), b = minus(t.b, point);
  const auto face = hn::And(hn::And(hn::Gt(t.per_normal, zero), hn::Le(dot(t.in_ab, a), zero)),
                            hn::And(hn::Le(dot(t.in_ac, a), zero), hn::Le(dot(t.in_bc, b), zero)));
  const Lane height = dot(a, t.normal);
  const Lane plane = hn::Mul(hn::Mul(height, t.per_normal), height);
  if (hn::AllTrue(kDoubles, face)) return plane;
  const Vec3s c = minus(t.c, point);
  Lane least = hn::Min(hn::Min(dot(a, a), dot(b, b)), dot(c, c));
  least = meet_edge(least, a, t.ab, t.per_ab);
  least = meet_edge(least, a, t.ac, t.per_ac);
  least = meet_edge(least, b, t.bc, t.per_bc);
  return hn::IfThenElse(face, plane, least);
}

}  // namespace fathom::mesh::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
