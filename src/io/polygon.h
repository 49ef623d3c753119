// Polygons in space as triangles.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fathom::io {

using Point = std::array<double, 3>;
using Corners = std::array<std::int64_t, 3>;

/// Cuts a polygon of n ≥ 3 corners into n − 2 triangles of the same orientation. Every edge of the polygon is one of
/// theirs, so that polygons which meet in edges still do: corners in line are kept. Those without a sensible plane,
/// that cross themselves, or that have NaN give some n − 2 triangles.
/// @param triangles  numbers of corners, set
/// @return false: it is concave and has so many corners that cutting it might take long
/// Cost: O(n) where a fan from the first corner covers it, else for each corner those of the r reflex ones that lie in
/// its ear's stretch of one axis: O(n log n) in most polygons, at most O(n r).
bool triangulate(std::span<const Point> polygon, std::vector<Corners>& triangles);

}  // namespace fathom::io
