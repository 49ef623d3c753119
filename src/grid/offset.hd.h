// The way from an element to its nearest site, from the site's coordinates: along each axis steps times spacing.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/root.hd.h"

namespace fathom::grid {

/// Of two elements along an axis; where it is periodic over its border, unless the way inside is as short.
/// @param extent  of the axis
FATHOM_HD inline std::int64_t steps_to(std::int64_t site, std::int64_t at, std::int64_t extent, bool is_periodic) {
  const std::int64_t steps = site - at;
  if (is_periodic && 2 * steps > extent) return steps - extent;
  if (is_periodic && 2 * steps < -extent) return steps + extent;
  return steps;
}

/// "No site": NaN, of the same bits wherever it is made.
template <class Out>
FATHOM_HD Out no_offset() {
  const std::conditional_t<sizeof(Out) == 4, std::uint32_t, std::uint64_t> bits =
      sizeof(Out) == 4 ? 0x7FC00000 : 0x7FF8000000000000;
  Out none;
  memcpy(&none, &bits, sizeof none);
  return none;
}

/// In units of the spacing: the product in double, rounded once to the output's type.
template <class Out>
FATHOM_HD Out offset_of(std::int64_t steps, double spacing) {
  return static_cast<Out>(static_cast<double>(steps) * spacing);
}

}  // namespace fathom::grid
