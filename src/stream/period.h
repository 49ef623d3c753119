// Where rasters repeat themselves: plane lattices in Hermite normal form, made of (0, width) and (height, skew).
#pragma once

#include <optional>

#include "fathom/stream/node.h"

namespace fathom::stream {

/// The lattice of all i·u + j·v, without a region.
/// @param u, v  (y, x), not parallel; coordinates below 2³¹
Period period_of(const std::array<std::int64_t, 2>& u, const std::array<std::int64_t, 2>& v);

/// What both have in common; nothing where that is too large to matter, or they share no region.
std::optional<Period> common(const std::optional<Period>& a, const std::optional<Period>& b);

/// Of a raster of one value.
inline Period uniform(const Rectangle& region) { return {1, 1, 0, region}; }

/// The same raster at another place.
inline std::optional<Period> moved(std::optional<Period> period, std::int64_t dy, std::int64_t dx) {
  if (period) period->region = period->region.moved(dy, dx);
  return period;
}

/// Inside a rectangle.
inline std::optional<Period> within(std::optional<Period> period, const Rectangle& part) {
  if (period) period->region = intersection(period->region, part);
  return period && !period->region.empty() ? period : std::nullopt;
}

inline std::int64_t modulo(std::int64_t a, std::int64_t n) { return (a % n + n) % n; }
/// a · b mod n, a and b ≥ 0, without overflow.
std::int64_t modulo_of_product(std::int64_t a, std::int64_t b, std::int64_t n);
inline std::int64_t floor_divide(std::int64_t a, std::int64_t n) { return (a - modulo(a, n)) / n; }

}  // namespace fathom::stream
