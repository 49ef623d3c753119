// Images and volumes of 1 to 3 axes as volumes of 3, and the weights of their squared distances.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fathom/core/error.h"
#include "fathom/core/shape.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// Extents and spacing along z, y and x; axes that are not there have one element.
struct Lattice3 {
  int rank = 3;
  std::array<std::int64_t, 3> extent{1, 1, 1};
  std::array<double, 3> spacing{1, 1, 1};

  std::int64_t size() const { return extent[0] * extent[1] * extent[2]; }
  /// Equal spacings: squared distances are integers in their unit.
  bool is_isotropic() const {
    for (int k = 3 - rank; k < 3; ++k)
      if (spacing[static_cast<std::size_t>(k)] != spacing[2]) return false;
    return true;
  }
  /// What a step along each axis adds, squared: 1 where spacings are equal.
  std::array<double, 3> weights() const {
    if (is_isotropic()) return {1, 1, 1};
    return {spacing[0] * spacing[0], spacing[1] * spacing[1], spacing[2] * spacing[2]};
  }
  /// Squares of the longest way, in steps.
  double squared_diagonal() const {
    double sum = 0;
    for (std::int64_t n : extent) sum += static_cast<double>(n) * static_cast<double>(n);
    return sum;
  }
};

/// The squared radius up to which a ball covers nothing but the element in its middle.
template <class T>
T least_ball(const Lattice3& lattice) {
  T least = std::numeric_limits<T>::max();
  for (std::size_t k = 0; k < 3; ++k)
    if (lattice.extent[k] > 1) least = std::min(least, static_cast<T>(lattice.weights()[k]));
  return least;
}

}  // namespace fathom::apps
