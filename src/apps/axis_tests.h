// The tests of the integer medial axis that a lattice and its options come to.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "apps/axis_pair.hd.h"
#include "apps/lattice3.h"

namespace fathom::apps {

/// Integers hold (2 · the diagonal + 1)², which bounds what products of ways come to.
inline bool axis_fits_int32(const Lattice3& lattice) { return lattice.squared_diagonal() < 0x1p28; }

/// For the neighbours before and behind along z, y and x. Integers where the pruning is constant and spacings are
/// equal.
template <class Number>
std::array<PairTest<Number>, 6> pair_tests(const Lattice3& lattice, double gamma, Ties ties) {
  const double unit = lattice.is_isotropic() ? lattice.spacing[2] : 1, in_units = gamma / unit;
  const double most = std::min(in_units * in_units, static_cast<double>(std::numeric_limits<Number>::max() / 2));
  const Number before_zero = std::is_floating_point_v<Number> ? -std::numeric_limits<Number>::denorm_min() : Number{-1};
  std::array<PairTest<Number>, 6> tests;
  for (std::size_t k = 0; k < tests.size(); ++k) {
    const Number toward = k % 2 == 0 ? Number{-1} : Number{1};
    const double step = std::sqrt(lattice.weights()[k / 2]);
    tests[k] = {.weight = {static_cast<Number>(lattice.weights()[0]), static_cast<Number>(lattice.weights()[1]),
                           static_cast<Number>(lattice.weights()[2])},
                .toward = {k < 2 ? toward : 0, k / 2 == 1 ? toward : 0, k / 2 == 2 ? toward : 0},
                .most = static_cast<Number>(most),
                .below = ties == Ties::both || k % 2 == 1 ? before_zero : Number{0},
                .gamma2 = gamma * gamma,
                .step = step,
                .constant = (lattice.rank == 3 ? 1.5 : 1) * step * step};
  }
  return tests;
}

}  // namespace fathom::apps
