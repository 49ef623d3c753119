// Borders of sites and the maximum distance, where results are float distances.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "grid/batch.h"
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

/// Whether some axis has it.
inline bool has_border(const Problem& p, Border border) {
  const auto end = p.border.begin() + p.rank;
  return std::find(p.border.begin(), end, border) != end;
}
inline bool is_periodic(const Problem& p) { return has_border(p, Border::periodic); }

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

inline bool has_limits(const Problem& p) { return drops_any(p) || has_border(p, Border::sites); }

/// Applies borders of sites and the maximum distance to float distances that are there already (is_float_field()), of
/// the items from `first_item` on.
void clamp_items(const Problem& p, const Batch& batch, std::int64_t first_item, std::int64_t items,
                 cudaStream_t stream);

}  // namespace fathom::grid::cuda
