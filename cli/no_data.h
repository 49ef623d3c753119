// Elements that hold no data: no sites and not inside, though distances are computed there.
#pragma once

#include <string>

#include "fathom/grid/distance.h"
#include "input.h"
#include "statistics.h"

namespace fathom::cli {

/// distance_transform() where `gaps` says which elements hold no data. A sign is found in two transforms, in which the
/// gaps are outside and inside in turn: every element takes the one in which they are on its own side.
/// @param gaps     uint8, the input's shape and dense: 1 where there is no data
/// @param outputs  dense
/// @throws as distance_transform(); InvalidArgument: of labels
grid::DistanceReport transform_with_gaps(const AnyConstView& input, const Array& gaps,
                                         const grid::DistanceOptions& options, const grid::DistanceOutputs& outputs);

/// Sites of the rule among the elements that hold data.
std::int64_t count_sites_beside(const AnyConstView& input, const grid::Sites& gaps, const grid::Sites& sites);

/// Refuses a value, of --no-data, that elements of the input cannot have; empty: none.
/// @throws InvalidArgument
void check_no_data(const Input& input, const std::string& value);

/// @throws InvalidArgument the type does not hold the value
void check_holds(DType dtype, const std::string& value);

/// Sets the elements of a field where there is no data.
/// @param gaps  of the input; `options` says which part the field is of
/// @return the range of the others
ValueRange fill_gaps(const Array& gaps, const grid::DistanceOptions& options, const std::string& value, Array& field);

}  // namespace fathom::cli
