#include "grid/cpu/items.h"

#include <algorithm>

#include "core/parallel.h"

namespace fathom::grid::cpu {

namespace {

/// An item costs about as much as so many elements before its first one is looked at.
constexpr std::int64_t kItemOverhead = 1024;
/// Calling another thread costs as much as transforming some ten thousand elements.
constexpr std::int64_t kWorthAThread = std::int64_t{1} << 15;
/// Fewer elements than that are done sooner than another thread has heard of them.
constexpr std::int64_t kFewestForAThread = std::int64_t{1} << 12;
/// Larger items keep all threads busy by themselves; shared out they would only take more scratch, and be slow to stop.
constexpr std::int64_t kLargestShared = std::int64_t{1} << 22;

void one_after_the_other(std::int64_t items, const Execution& execution, const ItemBody& body) {
  Execution part = execution;
  for (std::int64_t item = 0; item < items; ++item) {
    if (execution.progress)
      part.progress = [&execution, item, items](double share) {
        execution.progress((static_cast<double>(item) + share) / static_cast<double>(items));
      };
    body(0, item, part);
  }
}

}  // namespace

Crew divide(int threads, std::int64_t items, std::int64_t elements) {
  const bool many = threads > 1 && items >= threads;
  const bool shared =
      many && elements <= kLargestShared && items * (elements + kItemOverhead) >= threads * kWorthAThread;
  if (shared) return {threads, 1};
  return {1, static_cast<int>(std::clamp<std::int64_t>(elements / kFewestForAThread, 1, threads))};
}

Crew smaller(Crew crew) {
  if (crew.items_at_once > 1) --crew.items_at_once;
  else if (crew.threads_each > 1) --crew.threads_each;
  return crew;
}

void each_item(const Crew& crew, std::int64_t items, const Execution& execution, const ItemBody& body) {
  if (crew.items_at_once == 1) return one_after_the_other(items, execution, body);
  Execution part = execution;
  part.progress = nullptr;  // told item by item: shares of items at work together would not rise
  Monitor monitor(execution, items);
  parallel_jobs(crew.items_at_once, items, [&](int place, std::int64_t item) {
    body(place, item, part);
    monitor.advance(1);
  });
}

}  // namespace fathom::grid::cpu
