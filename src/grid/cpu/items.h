// The items of a batch on the CPU. Many small ones are shared out among the threads, each done by one; all others are
// done one after the other by all threads. Results do not depend on it.
#pragma once

#include <cstdint>
#include <functional>

#include "fathom/core/execution.h"

namespace fathom::grid::cpu {

struct Crew {
  int items_at_once = 1;
  int threads_each = 1;

  int threads() const { return items_at_once * threads_each; }
};

/// Fewer threads than given where they would not pay.
/// @param elements  of one item
Crew divide(int threads, std::int64_t items, std::int64_t elements);

/// One thread fewer, as long as there is more than one.
Crew smaller(Crew crew);

/// Runs body(place, item, execution) for every item; `place` < items_at_once names the scratch, and `execution` reports
/// the item's share of the whole.
using ItemBody = std::function<void(int place, std::int64_t item, const Execution& execution)>;
void each_item(const Crew& crew, std::int64_t items, const Execution& execution, const ItemBody& body);

}  // namespace fathom::grid::cpu
