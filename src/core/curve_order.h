// Points in the order of a Hilbert curve.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "core/cloud.h"
#include "core/curve_keys.h"

namespace fathom {

/// Bytes that curve_order() takes for its result and while it works.
inline std::size_t curve_order_bytes(std::int64_t count) { return static_cast<std::size_t>(count) * 16; }

/// Indices of a cloud's points, at most 2³² of them, along a Hilbert curve through their box; equal points ascend.
/// Points that the curve's 30 bits cannot tell apart are ordered by a curve through their own box, if there are many.
/// @param box      of all points
/// @param monitor  told of `count` units of work
std::vector<std::uint64_t> curve_order(const Cloud& cloud, const Box& box, int threads, Monitor& monitor);

}  // namespace fathom
