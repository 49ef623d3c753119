// A transform of every image of a stack.
#pragma once

#include "fathom/grid/distance.h"
#include "stack.h"
#include "watch.h"

namespace fathom::python {

struct Batch {
  Stack<AnyConstView> input;
  Stack<AnyView> distance;
  Stack<AnyView> squared;
  Stack<AnyView> nearest;
  Stack<AnyView> coordinates;

  std::int64_t size() const { return input.size(); }
  grid::DistanceOutputs outputs(std::int64_t position) const {
    return {distance[position], squared[position], nearest[position], coordinates[position]};
  }
};

/// Transforms all images with the same options. Many images are shared out among the threads, each done by one; few and
/// large ones are done one after the other by all threads. Results do not depend on it.
/// @throws what grid::distance_transform() throws; also for a stack without images
void transform(const Batch& batch, const grid::DistanceOptions& options, Watch& watch);

}  // namespace fathom::python
