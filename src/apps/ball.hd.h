// Open balls on a lattice: a ball of squared radius R covers the elements whose squared distance from its middle is
// below R. Squares are uint32 or uint64 where spacings are equal, in their unit, else double. Shared by host and
// device.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/root.hd.h"

namespace fathom::apps {

/// Squared distances on a lattice. One order of the sums, so that who asks does not matter.
template <class T>
struct Measure {
  explicit Measure(const std::array<double, 3>& weights) {
    for (std::size_t k = 0; k < 3; ++k) weight[k] = static_cast<T>(weights[k]);
  }
  FATHOM_HD T operator()(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return weight[0] * static_cast<T>(z * z) + weight[1] * static_cast<T>(y * y) + weight[2] * static_cast<T>(x * x);
  }
  T weight[3];
};

/// What a ball's squared distances must be less than. Radii that differ by less than rounding can tell count as
/// touching, where spacings differ.
template <class T>
FATHOM_HD T bound_of(T squared) {
  if constexpr (std::is_floating_point_v<T>) return squared * (1 - 0x1p-40);
  else return squared;
}

/// The squared distance in an image without a site.
template <class T>
inline constexpr T kNoSite = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                         : std::numeric_limits<T>::max();

/// Of a ball; with equal spacings in units of that.
template <class Float, class T>
FATHOM_HD Float diameter(T squared, double spacing) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<Float>(2 * std::sqrt(squared));
  else return 2 * distance_from_squared<Float>(squared, spacing);
}

}  // namespace fathom::apps
