// Distances to triangles in float, about the middle of a tile: a filter with a proved margin.
//
// Seen from a triangle, a point has a height over its plane and, for each side, a way outward across it and one along
// it. All seven are affine functions of the point, with gradients of length 1; they are computed in float64 about the
// tile's middle and in units of its radius, and rounded once. With R, the farthest that a corner is from the middle in
// these units, and u = 2⁻²⁴, a function is wrong by at most δ = 4u·(R + 3): its constant's rounding, those of the
// gradient and of the point, and three roundings of fused steps. A point counts as inside the prism if all its ways
// outward are below −δ: it is, then. Otherwise the distance is that to the nearest of the three sides, which for a
// point inside is no farther than 2δ. So the distance is wrong by at most 6δ, the formula of triangle.hd.h by at most
// 2⁻²²·R: kMargin is for both.
#pragma once

#include <cstdint>

#include "mesh/triangle.hd.h"

namespace fathom::mesh::cuda {

constexpr float kMargin = 0x1p-18f;        ///< of R + 3
constexpr float kInsideMargin = 0x1p-21f;  ///< the same for δ, with room
constexpr double kMostFlat = 0x1p14;       ///< R + 3 beyond which the filter is of no use

/// x·gradient + constant.
struct alignas(16) Affine {
  float x, y, z, constant;

  __device__ float at(float px, float py, float pz) const { return fmaf(x, px, fmaf(y, py, fmaf(z, pz, constant))); }
};

/// A triangle as points near the middle see it.
struct Flat {
  Affine height, outward[3], along[3];
  float length[3];
  std::uint32_t place;  ///< in the tree
  Affine gap;           ///< so that lanes that read one each do not meet in the same banks
};

__device__ inline Affine affine(Vec3 gradient, Vec3 through, double unit) {
  return {static_cast<float>(gradient.x), static_cast<float>(gradient.y), static_cast<float>(gradient.z),
          static_cast<float>(-dot(gradient, through) * unit)};
}

/// @param triangle  with a face
/// @param unit      1 / radius
__device__ inline void flatten(const Triangle& triangle, Vec3 middle, double unit, Flat& flat) {
  const Vec3 a = triangle.a - middle, b = triangle.b - middle;
  const Vec3 sides[3] = {triangle.b - triangle.a, triangle.a - triangle.c, triangle.c - triangle.b};  // ab, ca, bc
  const Vec3 froms[3] = {a, triangle.c - middle, b};
  const Vec3 normal = cross(sides[0], triangle.c - triangle.a);
  const Vec3 upward = sqrt(triangle.per_normal) * normal;
  flat.height = affine(upward, a, unit);
  const double per[3] = {triangle.per_ab, triangle.per_ac, triangle.per_bc};
  for (int k = 0; k < 3; ++k) {
    const Vec3 way = sqrt(per[k]) * sides[k];
    flat.along[k] = affine(way, froms[k], unit);
    flat.outward[k] = affine(cross(way, upward), froms[k], unit);
    flat.length[k] = static_cast<float>(sqrt(dot(sides[k], sides[k])) * unit);
  }
}

struct FlatDistance {
  float squared;
  bool in_prism;  ///< certainly
};

/// @param inside_margin  kInsideMargin · (R + 3)
__device__ inline FlatDistance distance_to(const Flat& flat, float x, float y, float z, float inside_margin) {
  const float height = flat.height.at(x, y, z);
  float most_outward = -INFINITY, beside = INFINITY;
  for (int k = 0; k < 3; ++k) {
    const float outward = flat.outward[k].at(x, y, z), along = flat.along[k].at(x, y, z);
    const float beyond = fmaxf(fmaxf(-along, along - flat.length[k]), 0.0f);
    most_outward = fmaxf(most_outward, outward);
    beside = fminf(beside, fmaf(outward, outward, beyond * beyond));
  }
  const bool in_prism = most_outward < -inside_margin;
  return {fmaf(height, height, in_prism ? 0.0f : beside), in_prism};
}

}  // namespace fathom::mesh::cuda
