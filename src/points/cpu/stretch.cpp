#include "points/cpu/stretch.h"

#include <algorithm>
#include <vector>

#include "points/cpu/extent.h"
#include "core/curve_order.h"

namespace fathom::points::cpu {

namespace {

constexpr std::int64_t kMostOrdered = std::int64_t{1} << 20;
constexpr std::int64_t kWorthOrdering = 64;  ///< fewer queries gain nothing from it
constexpr std::int64_t kStretch = 256;

/// Part of a cloud: points [first, first + count).
Cloud slice(Cloud cloud, std::int64_t first, std::int64_t count) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(cloud.axes); ++k)
    cloud.data[k] += first * cloud.step[k] * static_cast<std::int64_t>(size_of(cloud.dtype));
  cloud.count = count;
  return cloud;
}

std::vector<std::uint64_t> order_of(const Cloud& queries, int threads) {
  const Execution silent;
  Monitor unwatched(silent, queries.count);
  return curve_order(queries, extent_of(queries, "query", threads), threads, unwatched);
}

}  // namespace

std::int64_t ordered_at_once(std::int64_t count, std::size_t scratch_limit) {
  const auto fits =
      static_cast<std::int64_t>(std::min<std::size_t>(scratch_limit, SIZE_MAX / 2) / curve_order_bytes(1));
  const std::int64_t ordered = std::min({count, kMostOrdered, fits});
  return ordered < kWorthOrdering ? 0 : ordered;
}

void for_each_stretch(const Cloud& queries, std::int64_t ordered, int threads, Monitor& monitor,
                      const std::function<void(const Stretch&)>& body) {
  const std::int64_t step = ordered > 0 ? ordered : queries.count;
  for (std::int64_t first = 0; first < queries.count; first += step) {
    const std::int64_t count = std::min(step, queries.count - first);
    std::vector<std::uint64_t> order;
    if (ordered > 0) order = order_of(slice(queries, first, count), threads);
    parallel_jobs(threads, (count + kStretch - 1) / kStretch, [&](int, std::int64_t number) {
      const std::int64_t begin = number * kStretch, end = std::min(begin + kStretch, count);
      body({first, ordered > 0 ? order.data() : nullptr, begin, end});
      monitor.advance(end - begin);
    });
  }
}

}  // namespace fathom::points::cpu
