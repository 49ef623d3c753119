// Answers of the CPU: for points, and for all points of a lattice.
#pragma once

#include "core/parallel.h"
#include "mesh/prepared.h"

namespace fathom::mesh::cpu {

/// How a call runs.
struct Run {
  int threads;
  InstructionSet set;
  const Execution& execution;
};

/// @throws InvalidArgument a number of threads or an instruction set that is not to be had
Run run_of(const Execution& execution);

/// @throws InvalidArgument the scratch limit is below what is needed
void check_scratch(const Execution& execution, std::size_t needed);

/// @param points  [n, 3], float32 or float64, finite
/// @param ordered  whether to answer along a Hilbert curve, for which there must be curve_order_bytes(n)
void answer_points(const PreparedMesh& prepared, const AnyConstView& points, bool ordered, const Places& to,
                   const Run& run);

void answer_lattice(const PreparedMesh& prepared, const Lattice& lattice, const Places& to, const Run& run);

}  // namespace fathom::mesh::cpu
