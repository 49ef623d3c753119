// What morphology does with distances: thresholds, and labels that claim elements. Every function passes once over
// arrays of one shape.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/morphology.h"
#include "fathom/core/array.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"
#include "fathom/grid/distance.h"

namespace fathom::apps::cpu {

/// Who works, and who may stop it.
struct Crew {
  const Execution& execution;
  int threads = 1;
};

/// 1 where a distance is finite, else 0; or the other way round.
/// @param field  float32 or float64
/// @param mask   bool or uint8
void threshold(const AnyConstView& field, bool finite, const AnyView& mask, const Crew& crew);

/// Makes 0 what is where a distance is infinite. @param out  of any type
void clear_far(const AnyConstView& field, const AnyView& out, const Crew& crew);

/// The labels where the distance is infinite, else 0. @param labels, out  of one type
void keep_far(const AnyConstView& field, const AnyConstView& labels, const AnyView& out, const Crew& crew);

/// Makes 0 what is where the input is not 0. @param out  a mask, or of the input's type
void clear_object(const AnyConstView& input, const AnyView& out, const Crew& crew);

/// The input where `out` is 0, else 0: 1 for what is not 0 in a mask, its values in an array of its type.
/// @param is_mask  the former
void keep_what_lacks(const AnyConstView& input, bool is_mask, const AnyView& out, const Crew& crew);

/// 1 where the elements are of the object, else 0: those that are not 0, or that have a label.
/// @param mask  bool or uint8
void mark(const AnyConstView& input, const grid::Sites& object, const AnyView& mask, const Crew& crew);

/// @param from, to  bool or uint8
void copy_mask(const AnyConstView& from, const AnyView& to, const Crew& crew);

/// The labels of one array but 0, the lowest first. @throws Cancelled
std::vector<LabelBox> find_labels(const AnyConstView& labels, const Crew& crew);

/// Gives elements to the label whose squared distance is less than the best so far. @param mask  of those that it
/// covers; absent: all whose distance is not the type's maximum or infinite. @param squared, best  of one type
void claim(const grid::Sites::Value& label, const AnyConstView& mask, const AnyConstView& squared, const AnyView& best,
           const AnyView& out, const Crew& crew);
/// Gives the label the elements that it covers.
void claim(const grid::Sites::Value& label, const AnyConstView& mask, const AnyView& out, const Crew& crew);

/// The largest finite distance; 0 if there is none.
double farthest(const AnyConstView& field, const Crew& crew);

/// 0 everywhere, or the type's maximum or infinity.
void fill(bool most, const AnyView& array, const Crew& crew);

}  // namespace fathom::apps::cpu
