// Why the steps pass no solid voxel. With ρ for half a voxel's diagonal, a voxel that the ray meets at parameter t has
// its centre c within ρ of the ray's point p(t). Let q be where the ray is now.
//
//   pointwise  |q − c| ≤ t + ρ, so t ≥ d − ρ for the distance d from q to the nearest centre.
//   field      The field is known at the centre v of the voxel that q lies in, |q − v| ≤ ρ: t ≥ d(v) − 2ρ.
//   cone       c lies no farther than ρ from the ray: in the cylinder with round ends about it. So t ≥ d − ρ for the
//              distance d to the nearest centre in that cylinder, or in any set around it, as with a cone.
//
// A margin covers rounding: 1e-6 of a voxel for places, 1e-6 of d for distances held as float. Shared by host and
// device: same bits everywhere.
#pragma once

#include <cmath>

#include "core/root.hd.h"

namespace fathom::apps {

inline constexpr double kVoxelRadius = 0x1.bb67ae8584caap-1;  ///< ρ = √3 / 2
inline constexpr double kStepMargin = 1e-6;

/// Length of way on which no ray meets a voxel whose centre is so far, at a place that is known so well; +inf stays.
FATHOM_HD inline double safe_step(double distance, double reach) {
  return std::fmax(0.0, distance * (1 - kStepMargin) - reach - kStepMargin);
}

}  // namespace fathom::apps
