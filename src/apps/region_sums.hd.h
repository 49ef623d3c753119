// What a run of elements adds to the sums of its region. Shared by host and device.
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom::apps {

inline constexpr int kMostAxes = 3;

/// Places of a region's sums in its record: elements, Σ w, Σ w (p − s)ₖ, and, if wanted, Σ w (p − s)ᵢ (p − s)ⱼ, i ≤ j.
struct SumLayout {
  int axes = 2;
  bool seconds = false;

  FATHOM_HD int first() const { return 2; }
  FATHOM_HD int second() const { return 2 + axes; }
  FATHOM_HD int fields() const { return second() + (seconds ? axes * (axes + 1) / 2 : 0); }
};

/// Sums along a row from its beginning, in arithmetic modulo 2⁶⁴: differences are exact where they fit.
struct RowPrefix {
  std::uint64_t mass = 0, first = 0, second = 0;  ///< Σ w, Σ w x, Σ w x²

  /// `count` elements of one weight from x on.
  template <bool kSeconds>
  FATHOM_HD void add(std::uint64_t weight, std::uint64_t x, std::uint64_t count) {
    const std::uint64_t pairs = count * (count - 1) / 2;  // Σ j for j < count
    mass += weight * count;
    first += weight * (count * x + pairs);
    if constexpr (kSeconds) second += weight * (count * x * x + 2 * x * pairs + pairs * (2 * count - 1) / 3);
  }
};

/// The sums of elements begin ≤ x < end of a row, about a site.
/// @param before, after  prefixes at begin and end
/// @param offset  [axes − 1] of the row from the site along the outer axes
/// @param site    its place along the row
/// @param sums    [fields()]
FATHOM_HD inline void sum_run(const SumLayout& layout, const RowPrefix& before, const RowPrefix& after,
                              std::int64_t elements, const std::int64_t* offset, std::int64_t site,
                              std::int64_t* sums) {
  const std::uint64_t mass = after.mass - before.mass, x = static_cast<std::uint64_t>(site);
  const std::uint64_t raw = after.first - before.first, along = raw - x * mass;
  const int outer = layout.axes - 1;
  sums[0] = elements;
  sums[1] = static_cast<std::int64_t>(mass);
  for (int k = 0; k < outer; ++k)
    sums[layout.first() + k] = static_cast<std::int64_t>(mass * static_cast<std::uint64_t>(offset[k]));
  sums[layout.first() + outer] = static_cast<std::int64_t>(along);
  if (!layout.seconds) return;
  std::int64_t* to = sums + layout.second();
  for (int i = 0; i < outer; ++i) {
    for (int j = i; j < outer; ++j)
      *to++ = static_cast<std::int64_t>(mass * static_cast<std::uint64_t>(offset[i] * offset[j]));
    *to++ = static_cast<std::int64_t>(along * static_cast<std::uint64_t>(offset[i]));
  }
  *to = static_cast<std::int64_t>(after.second - before.second - 2 * x * raw + x * x * mass);
}

}  // namespace fathom::apps
