// Distances to triangles in float, about the middle of a tile: a filter with a proved margin.
//
// Seen from a triangle, a point has a height over its plane and, for each side, a way outward across it and one along
// it. All seven are affine functions of the point, with gradients of length 1; they are computed in float64 about the
// tile's middle and in units of its radius, and rounded once. With R, the farthest that a corner is from the middle in
// these units, and u = 2⁻²⁴, a function is wrong by at most δ = 4u·(R + 3): its constant's rounding, those of the
// gradient and of the point, and three roundings of fused steps. A point whose ways outward are all below −δ is in the
// prism over the face. One of which some way outward is above δ is not: what is nearest lies on a side, its end if the
// way along is beyond it by more than δ, its inside if both ends are farther than δ along. Points between these cases
// have no nearest part that float can name. So the distance is wrong by at most 6δ, the formula of triangle.hd.h by at
// most 2⁻²²·R: kMargin is for both.
//
// Where float names one part, and no other part is within the margin, float64 finds the same one: the square differs
// from those of the triangle's other parts by far more than it rounds. Sides that are passed over, since a whole brick
// of points lies inward of them by more than δ, are never the nearest, nor as near but for their corners, if no corner
// is sharper than 2⁻¹⁰; of sharper triangles all sides are looked at.
#pragma once

#include <cstdint>

#include "mesh/answer.hd.h"

namespace fathom::mesh::cuda {

constexpr float kMargin = 0x1p-18f;      ///< of R + 3
constexpr float kPartMargin = 0x1p-21f;  ///< the same for δ, with room
constexpr double kMostFlat = 0x1p14;     ///< R + 3 beyond which the filter is of no use
constexpr std::uint32_t kNoName = ~0u;   ///< of parts that float cannot tell
constexpr unsigned kAllSides = 7;

/// x·gradient + constant.
struct alignas(16) Affine {
  float x, y, z, constant;

  __device__ float at(float px, float py, float pz) const { return fmaf(x, px, across(py, pz)); }
  /// What all points of a row have in common.
  __device__ float across(float py, float pz) const { return fmaf(y, py, fmaf(z, pz, constant)); }
  /// Most that it changes from the middle of a box to any point of it.
  __device__ float extent(float half_x, float half_y, float half_z) const {
    return fmaf(fabsf(x), half_x, fmaf(fabsf(y), half_y, fabsf(z) * half_z));
  }
};

/// A triangle as points near the middle see it. Sides are ab, ca and bc; side k ends where side (k + 2) % 3 begins.
struct Flat {
  Affine height, outward[3], along[3];
  float length[3];
  std::uint32_t edge[3], from[3];  ///< names of sides and of where they begin
  std::uint32_t place;             ///< in the tree
  std::uint32_t always;            ///< sides that must be looked at
};

__device__ inline Affine affine(Vec3 gradient, Vec3 through, double unit) {
  return {static_cast<float>(gradient.x), static_cast<float>(gradient.y), static_cast<float>(gradient.z),
          static_cast<float>(-dot(gradient, through) * unit)};
}

constexpr int kFlatParts = 4;  ///< sides, and the rest

/// One part of it.
/// @param triangle  with a face
/// @param features  names of ab, ac, bc, a, b, c
/// @param unit      1 / radius
__device__ inline void flatten(const Triangle& triangle, const std::uint32_t* features, Vec3 middle, double unit, int k,
                               Flat& flat) {
  const Vec3 ab = triangle.b - triangle.a;
  const Vec3 upward = sqrt(triangle.per_normal) * cross(ab, triangle.c - triangle.a);
  if (k == 3) {
    flat.height = affine(upward, triangle.a - middle, unit);
    flat.from[0] = features[3];
    flat.from[1] = features[5];
    flat.from[2] = features[4];
    // The sine of a corner is at least twice the area over the square of the longest side.
    const double shortest_per = fmin(fmin(triangle.per_ab, triangle.per_ac), triangle.per_bc);
    flat.always = triangle.per_normal * 0x1p-20 <= shortest_per * shortest_per ? 0 : kAllSides;
    return;
  }
  const Vec3 side = k == 0   ? ab
                    : k == 1 ? triangle.a - triangle.c
                             : triangle.c - triangle.b,
             from = (k == 0   ? triangle.a
                     : k == 1 ? triangle.c
                              : triangle.b) -
                    middle,
             way = sqrt(k == 0   ? triangle.per_ab
                        : k == 1 ? triangle.per_ac
                                 : triangle.per_bc) *
                   side;
  flat.along[k] = affine(way, from, unit);
  flat.outward[k] = affine(cross(way, upward), from, unit);
  flat.length[k] = static_cast<float>(sqrt(dot(side, side)) * unit);
  flat.edge[k] = features[k];
}

/// The nearest part of a triangle.
struct FlatPart {
  float squared;       ///< of the distance
  std::uint32_t name;  ///< kNoName where float cannot tell
  float other;         ///< square of the distance to the nearest part beside it that may matter
};

/// Of two candidates for the nearest of parts the nearer; `other` for the rest.
__device__ inline void meet(FlatPart& part, float squared, std::uint32_t name) {
  const bool same = name == part.name, nearer = squared < part.squared;
  part.other = same ? part.other : fminf(part.other, fmaxf(part.squared, squared));
  part.squared = fminf(part.squared, squared);
  part.name = nearer ? name : part.name;
}

/// Of points (x[n], y, z), each by itself: meets the nearest part of a triangle.
/// @param sides   that may be nearest to one of them, as bits
/// @param margin  kPartMargin · (R + 3)
template <int kPoints>
__device__ inline void meet(const Flat& flat, unsigned sides, const float (&x)[kPoints], float y, float z, float margin,
                            FlatPart (&parts)[kPoints]) {
  const float height = flat.height.across(y, z);
  float squares[kPoints];
#pragma unroll
  for (int n = 0; n < kPoints; ++n) {
    const float of_point = fmaf(flat.height.x, x[n], height);
    squares[n] = of_point * of_point;
  }
  if (sides == 0) {
#pragma unroll
    for (int n = 0; n < kPoints; ++n) meet(parts[n], squares[n], 8 * flat.place);
    return;
  }
  float most[kPoints];
  FlatPart beside[kPoints];
#pragma unroll
  for (int n = 0; n < kPoints; ++n) {
    most[n] = -INFINITY;
    beside[n] = {INFINITY, kNoName, INFINITY};
  }
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    if (!(sides >> k & 1)) continue;
    const float outward = flat.outward[k].across(y, z), along = flat.along[k].across(y, z), length = flat.length[k];
    const std::uint32_t edge = flat.edge[k], from = flat.from[k], to = flat.from[(k + 2) % 3];
#pragma unroll
    for (int n = 0; n < kPoints; ++n) {
      const float out = fmaf(flat.outward[k].x, x[n], outward), way = fmaf(flat.along[k].x, x[n], along);
      const float after = way - length, beyond = fmaxf(-way, after), past = fmaxf(beyond, 0.0f);
      most[n] = fmaxf(most[n], out);
      meet(beside[n], fmaf(out, out, past * past),
           beyond < -margin  ? edge
           : beyond > margin ? (after > 0 ? to : from)
                             : kNoName);
    }
  }
#pragma unroll
  for (int n = 0; n < kPoints; ++n) {
    const bool inside = most[n] < -margin;
    meet(parts[n], inside ? squares[n] : squares[n] + beside[n].squared,
         inside             ? 8 * flat.place
         : most[n] > margin ? beside[n].name
                            : kNoName);
    if (!inside) parts[n].other = fminf(parts[n].other, squares[n] + beside[n].other);
  }
}

/// Square of the distance to a triangle.
__device__ inline float squared_to(const Flat& flat, float x, float y, float z, float margin) {
  const float height = flat.height.at(x, y, z);
  float most = -INFINITY, beside = INFINITY;
  for (int k = 0; k < 3; ++k) {
    const float out = flat.outward[k].at(x, y, z), way = flat.along[k].at(x, y, z);
    const float past = fmaxf(fmaxf(-way, way - flat.length[k]), 0.0f);
    most = fmaxf(most, out);
    beside = fminf(beside, fmaf(out, out, past * past));
  }
  return fmaf(height, height, most < -margin ? 0.0f : beside);
}

}  // namespace fathom::mesh::cuda
