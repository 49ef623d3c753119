// Queries shared out to threads in stretches of neighbours, so that one's answer helps the next.
#pragma once

#include <cstdint>
#include <functional>

#include "core/parallel.h"
#include "points/cloud.h"
#include "core/curve_keys.h"

namespace fathom::points::cpu {

/// Places [begin, end) in the order of a curve through queries from the first on; without an order, as they come.
struct Stretch {
  std::int64_t first = 0;
  const std::uint64_t* order = nullptr;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t query_at(std::int64_t i) const { return first + (order ? index_in(order[i]) : i); }
};

/// How many queries are put in order at a time, with curve_order_bytes() of scratch inside the limit; 0: none are.
std::int64_t ordered_at_once(std::int64_t count, std::size_t scratch_limit);

/// @param monitor  told of one unit for each query
void for_each_stretch(const Cloud& queries, std::int64_t ordered, int threads, Monitor& monitor,
                      const std::function<void(const Stretch&)>& body);

}  // namespace fathom::points::cpu
