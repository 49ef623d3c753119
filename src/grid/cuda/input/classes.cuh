// How elements are told apart on the device: sites from others, or labels from one another.
#pragma once

#include <type_traits>

#include "grid/cuda/input/layout.cuh"
#include "grid/element.hd.h"

namespace fathom::grid::cuda {

/// As what labels are told apart: floats as numbers, where NaN differs from everything; all else by its bits.
template <class T>
using Label = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>>;

struct Classes {
  ElementRule site;        ///< masks
  ElementRule inside;      ///< signed fields
  ElementRule background;  ///< label 0
  DType dtype = DType::uint8;
  bool by_label = false;
  bool boundaries = false;  ///< each element looks for the nearest element of another class; else all look for sites
  bool pins = false;        ///< label 0 has distance 0
  bool border_is_inside = false;  ///< what lies beyond a `sites` border is of the inside class

  static Classes of(const Problem& problem) {
    const DType dtype = problem.input.dtype();
    const bool by_label = problem.sites.rule == Sites::Rule::labels;
    const bool by_zero = problem.sites.rule == Sites::Rule::zero;
    const ElementRule nonzero = element_rule(dtype, {Sites::Rule::nonzero, 0});
    const ElementRule site = by_label ? ElementRule{} : element_rule(dtype, problem.sites);
    return {.site = site,
            .inside = by_label || by_zero ? nonzero : site,
            .background = element_rule(dtype, {Sites::Rule::zero, 0}),
            .dtype = dtype,
            .by_label = by_label,
            .boundaries = by_label || problem.signed_distance,
            .pins = by_label && !problem.signed_distance,
            .border_is_inside = !by_label && !by_zero};
  }

  /// Whether the elements at two offsets of an item are of different classes.
  FATHOM_HD bool differ(const std::byte* item, std::int64_t a, std::int64_t b) const {
    if (by_label) return elements_differ(dtype, item, a, b);
    return fulfils(site, item, a) != fulfils(site, item, b);
  }
};

}  // namespace fathom::grid::cuda
