// Solid voxels as bits, and how a ray passes them. Shared by host and device.
#pragma once

#include <cstdint>

#include "apps/ray.hd.h"

namespace fathom::apps {

FATHOM_HD inline std::int64_t words_of_row(std::int64_t extent) { return (extent + 63) / 64; }

/// What is solid in a row: how much, and between which columns.
struct SolidRow {
  std::int32_t count = 0, first = INT32_MAX, last = -1;

  /// The next word. @param bits, low, high  how many are set in it, and the first and the last
  FATHOM_HD void take(std::int32_t begin, std::uint64_t word, int bits, int low, int high) {
    if (word == 0) return;
    count += bits;
    if (last < 0) first = begin + low;
    last = begin + high;
  }
};

/// Bits in rows of whole words; the lowest bit comes first.
struct Voxels {
  const std::uint64_t* words;
  std::int64_t row_words;
  std::int32_t extents[3];

  FATHOM_HD bool operator()(std::int32_t z, std::int32_t y, std::int32_t x) const {
    const std::uint64_t word = words[(static_cast<std::int64_t>(z) * extents[1] + y) * row_words + x / 64];
    return word >> (x % 64) & 1;
  }
  /// Outside of the volume nothing is solid.
  FATHOM_HD bool anywhere(std::int32_t z, std::int32_t y, std::int32_t x) const {
    return z >= 0 && z < extents[0] && y >= 0 && y < extents[1] && x >= 0 && x < extents[2] && (*this)(z, y, x);
  }
};

enum class Met { nothing, solid, end };

/// Goes from voxel `at` to the first solid one, through every face that is crossed until parameter `until`; faces
/// crossed at once come in the order of the axes. `at` is then the voxel that was reached.
FATHOM_HD inline Met walk(const Ray& ray, const Voxels& voxels, double until, std::int32_t* at) {
  double exits[3];
  for (int k = 0; k < 3; ++k) exits[k] = exit_of(ray, k, at[k]);
  for (;;) {
    if (voxels(at[0], at[1], at[2])) return Met::solid;
    int k = exits[1] < exits[0] ? 1 : 0;
    if (exits[2] < exits[k]) k = 2;
    if (exits[k] > until) return Met::nothing;
    const Course course = course_of(ray, k, voxels.extents[k]);
    at[k] += course.sign;
    if (at[k] == course.end) return Met::end;
    exits[k] = exit_of(ray, k, at[k]);
  }
}

/// The voxel in which the ray is at parameter t. False: it has left the volume.
FATHOM_HD inline bool find_voxel(const Ray& ray, const Voxels& voxels, double t, std::int32_t* at) {
  bool inside = true;
  for (int k = 0; k < 3; ++k) {
    at[k] = index_at(ray, k, t, voxels.extents[k]);
    inside = inside && at[k] != course_of(ray, k, voxels.extents[k]).end;
  }
  return inside;
}

/// Parameter at which the ray enters a voxel on its way.
FATHOM_HD inline double entry_of(const Ray& ray, const Voxels& voxels, const std::int32_t* at) {
  double entry = 0;
  for (int k = 0; k < 3; ++k) {
    const Course course = course_of(ray, k, voxels.extents[k]);
    if (ray.direction[k] != 0 && at[k] != course.first) entry = std::fmax(entry, exit_of(ray, k, at[k] - course.sign));
  }
  return entry;
}

}  // namespace fathom::apps
