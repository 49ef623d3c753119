// Answers one cloud's queries with threads.
#pragma once

#include "core/parallel.h"
#include "points/request.h"
#include "points/tree.h"

namespace fathom::points::cpu {

/// How the work is cut so that its scratch stays inside a limit.
struct Cut {
  int threads = 1;
  std::int64_t ordered = 0;  ///< queries that are put along a curve at a time; 0: none are
  std::int64_t batch = 0;    ///< without boxes: queries that pass over the sites together
  std::size_t scratch_bytes = 0;
};

/// @throws InvalidArgument nothing fits the limit
Cut cut_work(const Tree& tree, const Request& request, const Execution& execution, int threads);

/// @param wide     distances need more than 53 bits
/// @param monitor  told of one unit for each query
void answer_queries(const Tree& tree, const Request& request, bool wide, const Cut& cut, InstructionSet instruction_set,
                    Monitor& monitor);

}  // namespace fathom::points::cpu
