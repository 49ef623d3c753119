// Whether a neighbour makes an element part of the integer medial axis. Shared by host and device.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/root.hd.h"
#include "fathom/apps/medial_axis.h"

namespace fathom::apps {

/// Ways from elements to their nearest sites, in steps along each axis.
template <class Number>
struct Way {
  Number z, y, x;
};

/// What is asked of a pair of neighbours along one axis. Numbers are integers where spacings are equal: squared lengths
/// then are in steps.
template <class Number>
struct PairTest {
  Number weight[3];    ///< of squared steps along z, y, x; integers: not used
  double gamma2;       ///< γ²; constant pruning: in steps² where numbers are integers
  double constant;     ///< C
  double step;         ///< h: length of the step to the neighbour
  int axis;            ///< along which the neighbour lies
  Number toward;       ///< 1 where the neighbour comes after the element, else −1
  bool takes_ties;
};

template <int kAxes, class Number>
FATHOM_HD inline Number dot(const PairTest<Number>& test, const Way<Number>& a, const Way<Number>& b) {
  if constexpr (std::is_floating_point_v<Number>) {
    const Number plane = test.weight[1] * (a.y * b.y) + test.weight[2] * (a.x * b.x);
    return kAxes < 3 ? plane : test.weight[0] * (a.z * b.z) + plane;
  } else {
    const Number plane = a.y * b.y + a.x * b.x;
    return kAxes < 3 ? plane : a.z * b.z + plane;
  }
}

/// f − g, for an element with the way `own` to f and a neighbour with the way `other` to g.
template <class Number>
FATHOM_HD inline Way<Number> between_sites(const PairTest<Number>& test, const Way<Number>& own,
                                           const Way<Number>& other) {
  return {own.z - other.z - (test.axis == 0 ? test.toward : Number{0}),
          own.y - other.y - (test.axis == 1 ? test.toward : Number{0}),
          own.x - other.x - (test.axis == 2 ? test.toward : Number{0})};
}

template <Pruning kPruning, int kAxes, class Number>
FATHOM_HD inline bool joins(const PairTest<Number>& test, const Way<Number>& own, const Way<Number>& other) {
  const Way<Number> apart = between_sites(test, own, other);
  const Way<Number> sum{own.z + other.z, own.y + other.y, own.x + other.x};  // f + g − m − n
  Number steps = apart.y * apart.y + apart.x * apart.x;
  if constexpr (kAxes == 3) steps += apart.z * apart.z;
  const Number length = dot<kAxes>(test, apart, apart), side = dot<kAxes>(test, apart, sum);
  const bool on_this_side = (side > 0) | ((side == 0) & test.takes_ties);
  bool is_apart = steps > 1;
  if constexpr (kPruning == Pruning::constant) {
    is_apart &= length > static_cast<Number>(test.gamma2);
  } else {
    const auto way = static_cast<double>(dot<kAxes>(test, sum, sum)), real = static_cast<double>(length);
    if constexpr (kPruning == Pruning::linear) {
      is_apart &= real > test.gamma2 * way;
    } else {
      const Number along = test.axis == 0 ? apart.z : test.axis == 1 ? apart.y : apart.x;
      const double back = 2 * static_cast<double>(test.toward * along) * (test.step * test.step);
      is_apart &= real > test.step * std::sqrt(way) - back + test.constant * (test.step * test.step);
    }
  }
  return is_apart & on_this_side;
}

}  // namespace fathom::apps
