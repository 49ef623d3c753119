// Decides how a graph is computed: in which parts, what is kept, and what memory that takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fathom/stream/evaluator.h"

namespace fathom::stream {

/// @throws InvalidArgument as Evaluator
Plan make_plan(const NodeRef& root, const EvaluatorOptions& options);

/// The smallest rectangle that holds both.
inline Rectangle around(const Rectangle& a, const Rectangle& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.y0, b.y0), std::min(a.x0, b.x0), std::max(a.y1, b.y1), std::max(a.x1, b.x1)};
}

/// Parts that entries must deliver so that one of them can deliver one: of each entry, the smallest rectangle around.
/// @param below_sweeps  also for the masks of those that sweep
std::vector<Rectangle> needs_of(const Plan& plan, std::size_t number, const Rectangle& part, bool below_sweeps = true);

}  // namespace fathom::stream
