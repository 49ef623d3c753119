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

/// What is asked of a pair of neighbours. There are no branches: the loops over it become vectors.
template <class Number>
struct PairTest {
  Number weight[3];    ///< of squared steps along z, y, x; integers: not used, for all are 1
  Way<Number> toward;  ///< from the element to the neighbour: a step of 1 along one axis
  Number most;         ///< constant pruning: what squared distances between sites must be more than
  Number below;        ///< what the side must be more than: 0, or the value below it if ties count
  double gamma2;       ///< γ²
  double step;         ///< h: length of the step to the neighbour
  double constant;     ///< C h²
};

template <int kAxes, class Number>
FATHOM_HD inline Number dot(const PairTest<Number>& test, const Way<Number>& a, const Way<Number>& b) {
  Number z = a.z * b.z, y = a.y * b.y, x = a.x * b.x;
  if constexpr (std::is_floating_point_v<Number>) {
    z *= test.weight[0];
    y *= test.weight[1];
    x *= test.weight[2];
  }
  return kAxes == 3 ? z + (y + x) : y + x;
}

/// f − g, for an element with the way `own` to f and a neighbour with the way `other` to g.
template <class Number>
FATHOM_HD inline Way<Number> between_sites(const PairTest<Number>& test, const Way<Number>& own,
                                           const Way<Number>& other) {
  return {own.z - other.z - test.toward.z, own.y - other.y - test.toward.y, own.x - other.x - test.toward.x};
}

/// Whether an element m belongs to the axis because of a neighbour n.
template <Pruning kPruning, int kAxes, class Number>
FATHOM_HD inline bool joins(const PairTest<Number>& test, const Way<Number>& own, const Way<Number>& other) {
  const Way<Number> apart = between_sites(test, own, other);
  const Way<Number> sum{own.z + other.z, own.y + other.y, own.x + other.x};  // f + g − m − n
  const Number steps = (kAxes == 3 ? apart.z * apart.z : Number{0}) + apart.y * apart.y + apart.x * apart.x;
  const Number length = dot<kAxes>(test, apart, apart), side = dot<kAxes>(test, apart, sum);
  bool is_apart;
  if constexpr (kPruning == Pruning::constant) is_apart = length > test.most;
  else if constexpr (kPruning == Pruning::linear) is_apart = length > test.gamma2 * dot<kAxes>(test, sum, sum);
  else
    is_apart = length > test.step * std::sqrt(dot<kAxes>(test, sum, sum)) - 2 * dot<kAxes>(test, test.toward, apart) +
                            test.constant;
  return (steps > 1) & is_apart & (side > test.below);
}

}  // namespace fathom::apps
