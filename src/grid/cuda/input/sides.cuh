// Signed fields by the fast engines: the distances of each side to the other, from words of its own, in two runs that
// leave each other's results alone. Labels need but one: each looks for the others, whatever the sign. So do volumes
// with unequal spacings, which take the sides as two labels, but for their words.
#pragma once

#include "grid/cuda/engine.h"
#include "grid/cuda/input/classes.cuh"
#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/output/limits.cuh"
#include "grid/cuda/output/writing.cuh"

namespace fathom::grid::cuda {

/// Whether a problem, if it is signed, can be solved so.
inline bool serves_sides(const Problem& p) {
  return !p.signed_distance || has_labels(p) || (is_float_field(p, kNoAxis) && !wants_site(p));
}

/// How many words there are of each element.
inline std::size_t sides_of(const Problem& p) { return p.signed_distance && !has_labels(p) ? 2 : 1; }

/// Side 0 is that of the elements inside, 1 of those outside. Without a sign there is one.
/// @param is_first  whether the other one is written over it
inline Side side_of(const Problem& p, std::size_t side, bool is_first = false) {
  const float unit = p.isotropic ? 1.0f : static_cast<float>(p.unit);
  const float half = p.signed_distance && p.surface == Surface::faces ? 0.5f : 0.0f;
  if (sides_of(p) == 1) return {.scale = unit, .half = half};
  const bool inside = side == 0;
  return {.scale = inside ? -unit : unit, .half = half, .is_first = is_first};
}

/// The sites of a side: the elements of the other one; where there is no sign, the problem's.
inline Mask sites_of(const Problem& p, const Input& input, std::size_t side) {
  const ElementRule rule = p.signed_distance ? Classes::of(p).inside : element_rule(input.dtype, p.sites);
  return {input, rule, p.signed_distance && side == 0, MemoryRange::of(input)};
}

/// How a problem's results are written.
/// @param floats         whether they are floats; `aligned`: and all rows aligned
/// @param signed_labels  whether signed labels are written as floats: with equal spacings and without limits
inline Writing writing_of(const Problem& p, bool floats, bool aligned, bool signed_labels = false) {
  if (wants_site(p)) return has_labels(p) ? Writing::label_sites : Writing::sites;
  if (has_labels(p) && floats && !p.signed_distance) return Writing::labels;
  if (has_labels(p))
    return signed_labels && floats && p.isotropic && !has_limits(p) ? Writing::signed_labels : Writing::general_labels;
  if (!floats) return Writing::general;
  if (p.signed_distance) return Writing::one_side;
  return aligned ? Writing::aligned : Writing::unaligned;
}

}  // namespace fathom::grid::cuda
