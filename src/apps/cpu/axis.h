// Integer medial axes of images whose nearest sites are known.
#pragma once

#include "apps/images.h"
#include "apps/lattice3.h"
#include "fathom/apps/medial_axis.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps::cpu {

/// One image. What is not wanted has no data.
struct AxisProblem {
  Lattice3 lattice;
  Pruning pruning;
  double gamma;
  Ties ties;
  ImageRows<const std::byte> nearest;  ///< int32 or int64, by its size
  ImageRows<std::byte> axis;           ///< bytes
  ImageRows<std::byte> witness;        ///< int32 or int64, by its size
  InstructionSet instruction_set;
  int threads;
};

void find_axis(const AxisProblem& problem, const Execution& execution);

/// Most bytes that find_axis() takes.
std::size_t axis_bytes(const Lattice3& lattice, int threads);

}  // namespace fathom::apps::cpu
