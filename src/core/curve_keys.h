// Keys of points along a Hilbert curve.
#pragma once

#include <cstdint>

#include "core/cloud.h"

namespace fathom {

/// An entry of an order: the key above, the point's index below.
inline constexpr int kKeyShift = 32;
inline std::int64_t index_in(std::uint64_t entry) { return static_cast<std::int64_t>(entry & 0xffffffffu); }

/// Replaces the keys of `count` entries by those of their points' cells in a cube around `box`.
void set_curve_keys(const Cloud& cloud, const Box& box, std::uint64_t* entries, std::int64_t count);

}  // namespace fathom
