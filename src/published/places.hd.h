// Places of sites in one word, as the papers keep them in texels. Shared by host and device.
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom::published {

inline constexpr std::uint32_t kNone = ~0u;  ///< no site

enum Axis { kX, kY, kZ };

struct Point {
  int x, y, z;
};

/// Coordinates of 15 bits in an image; of a volume, 11, 11 and 10. Squared distances have 31 bits.
struct Places {
  int bits = 15;  ///< of x and of y each
  int width = 1, height = 1, depth = 1;

  FATHOM_HD std::uint32_t pack(Point p) const {
    return static_cast<std::uint32_t>(p.x) | static_cast<std::uint32_t>(p.y) << bits |
           static_cast<std::uint32_t>(p.z) << 2 * bits;
  }
  FATHOM_HD Point unpack(std::uint32_t place) const {
    const std::uint32_t mask = (1u << bits) - 1;
    return {static_cast<int>(place & mask), static_cast<int>(place >> bits & mask),
            static_cast<int>(place >> 2 * bits)};
  }
  FATHOM_HD int coordinate(std::uint32_t place, Axis axis) const {
    const Point p = unpack(place);
    return axis == kX ? p.x : axis == kY ? p.y : p.z;
  }

  FATHOM_HD std::int64_t size() const { return std::int64_t{width} * height * depth; }
  FATHOM_HD std::int64_t index(Point p) const { return (std::int64_t{p.z} * height + p.y) * width + p.x; }
  FATHOM_HD Point point(std::int64_t index) const {
    const std::int64_t row = index / width;
    return {static_cast<int>(index % width), static_cast<int>(row % height), static_cast<int>(row / height)};
  }
};

FATHOM_HD inline int squared(int n) { return n * n; }

FATHOM_HD inline int squared_distance(Point a, Point b) {
  return squared(a.x - b.x) + squared(a.y - b.y) + squared(a.z - b.z);
}

/// Which of two sites is nearer to a point; of equally near ones the first.
FATHOM_HD inline std::uint32_t nearer(const Places& places, Point from, std::uint32_t first, std::uint32_t second) {
  if (second == kNone) return first;
  if (first == kNone) return second;
  return squared_distance(places.unpack(second), from) < squared_distance(places.unpack(first), from) ? second : first;
}

/// A site as a line sees it: how far along the line, and the square of how far beside it.
struct Beside {
  int along, square;
};

/// Whether a and c dominate b, which lies between them along a line: it is nowhere on the line the nearest. Two sites
/// that are p and q along the line, with squares P and Q beside it, are equally near at x = (q² − p² + Q − P) / 2(q − p);
/// before it p is nearer, behind it q. So b is the nearest from where it meets a up to where it meets c, if these come in
/// that order. The quotients are compared by whole products.
FATHOM_HD inline bool dominate(Beside a, Beside c, Beside b) {
  const auto boundary = [](Beside p, Beside q) {  // x times 2(q − p)
    return std::int64_t{q.along} * q.along - std::int64_t{p.along} * p.along + q.square - p.square;
  };
  return boundary(a, b) * (c.along - b.along) > boundary(b, c) * (b.along - a.along);
}

}  // namespace fathom::published
