// Borders of sites and the maximum distance, where results are float distances.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "grid/cuda/input/classes.cuh"
#include "grid/metric.h"
#include "grid/problem.h"

namespace fathom::grid::cuda {

/// Square of an axis' spacing, in units.
inline std::int64_t weight_of(const Problem& p, int axis) {
  const std::int64_t multiple = p.multiple[static_cast<std::size_t>(axis)];
  return multiple * multiple;
}

/// The same, in units where there is one, else in the caller's.
inline double exact_weight(const Problem& p, int axis) {
  return p.integral ? static_cast<double>(weight_of(p, axis)) : axis_cost<double>(p, axis).weight;
}

/// These, of the axes of a volume.
struct ExactWeights {
  double z, y, x;

  static ExactWeights of(const Problem& p) { return {exact_weight(p, 0), exact_weight(p, 1), exact_weight(p, 2)}; }
};

/// Whether some axis is periodic.
inline bool is_periodic(const Problem& p) {
  const auto end = p.border.begin() + p.rank;
  return std::find(p.border.begin(), end, Border::periodic) != end;
}

/// Whether squares in double are far from the ends of their range, with a spacing's square.
inline bool fits_doubles(double weight) { return weight >= 0x1p-200 && weight <= 0x1p200; }

/// Whether the maximum distance drops anything: it may be more than what fits the array.
inline bool drops_any(const Problem& p) {
  if (!p.integral) return !std::isinf(p.max_distance);
  double most = 0;
  for (int k = 0; k < p.rank; ++k)
    most += static_cast<double>(weight_of(p, k)) * static_cast<double>(p.extent(k)) * static_cast<double>(p.extent(k));
  return static_cast<double>(largest_kept<std::int64_t>(p)) < most;
}

inline constexpr int kNoAxis = -1;

/// Whether results are floats to which at most borders and a maximum distance are missing, of all that the input has
/// along axes other than `cut`: what is kept and what is not must not have the same root, nor the same root times a
/// unit.
inline bool is_float_field(const Problem& p, int cut) {
  const DistanceOutputs& out = p.outputs;
  bool whole = true;
  for (int k = 0; k < p.rank; ++k) whole &= k == cut || p.region_extent(k) == p.extent(k);
  const std::int64_t most = std::int64_t{1} << (p.isotropic ? 22 : 20);
  const bool roots_tell = !drops_any(p) || largest_kept<std::int64_t>(p) < most;
  return out.distance.present() && out.distance.dtype() == DType::float32 && !out.squared.present() && whole &&
         (p.unit == 1 || !p.isotropic) && roots_tell;
}

inline bool has_limits(const Problem& p) {
  const auto end = p.border.begin() + p.rank;
  return drops_any(p) || std::find(p.border.begin(), end, Border::sites) != end;
}

/// What borders of sites and a maximum distance make of a float distance, in arrays of up to three axes.
struct Limits {
  std::int32_t extent[3] = {1, 1, 1};
  bool sites_beyond[3] = {false, false, false};
  std::int32_t multiple[3] = {1, 1, 1};  ///< spacings, in units
  float unit = 1;
  float farthest = 0;  ///< distances beyond become infinite
  float half = 0;      ///< of signed fields, from an element's centre to its faces, where those have distance 0
  bool is_signed = false;
  bool border_is_inside = false;  ///< of signed fields: it is a site to the others

  static Limits of(const Problem& p) {
    Limits limits;
    for (int k = 0; k < p.rank; ++k) {
      const int axis = 3 - p.rank + k;
      limits.extent[axis] = static_cast<std::int32_t>(p.extent(k));
      limits.sites_beyond[axis] = p.border[static_cast<std::size_t>(k)] == Border::sites;
      limits.multiple[axis] = static_cast<std::int32_t>(p.multiple[static_cast<std::size_t>(k)]);
    }
    limits.unit = static_cast<float>(p.unit);
    limits.is_signed = p.signed_distance;
    limits.border_is_inside = Classes::of(p).border_is_inside;
    limits.half = p.signed_distance && p.surface == Surface::faces ? 0.5f : 0.0f;
    const double kept =
        std::sqrt(static_cast<double>(largest_kept<std::int64_t>(p))) - static_cast<double>(limits.half);
    limits.farthest = drops_any(p) ? static_cast<float>(kept) * limits.unit : no_value<float>();
    return limits;
  }

  /// From the elements `first` to `last` along an axis, in units.
  __device__ std::int32_t to_border(int axis, std::int32_t first, std::int32_t last) const {
    return sites_beyond[axis] ? min(first + 1, extent[axis] - last) * multiple[axis] : INT32_MAX;
  }
  __device__ std::int32_t to_border(int axis, std::int32_t at) const { return to_border(axis, at, at); }

  /// @param border  steps to the nearest, in units
  __device__ float of(float d, float border) const {
    const bool looks = border < 1e9f && !(is_signed && (d < 0) == border_is_inside);
    const float least = looks ? fminf(fabsf(d), border * unit - half) : fabsf(d);
    return copysignf(least > farthest ? __int_as_float(0x7F800000) : least, d);
  }
};

}  // namespace fathom::grid::cuda
