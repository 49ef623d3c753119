// A batch: many arrays of one shape behind the leading axes of the views.
#pragma once

#include <cstdint>

#include "fathom/grid/distance.h"
#include "grid/problem.h"

namespace fathom::grid {

/// The leading axes, and their strides in each output; in elements.
struct Batch : PerOutput<Strides> {
  Shape shape;  ///< of rank 0 where there is no batch: one item
  Strides input;

  std::int64_t count() const { return element_count(shape); }
};

/// Views of a batch's first item, and the steps to the others.
struct Items {
  AnyConstView input;
  DistanceOutputs outputs;
  Batch batch;
};

/// Looks at types and shapes alone, not at memory.
/// @throws InvalidArgument the leading axes of the views do not fit one another
Items split_batch(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs);

/// The problem of item `item`, given that of the first.
Problem item_of(const Problem& first, const Batch& batch, std::int64_t item);

}  // namespace fathom::grid
