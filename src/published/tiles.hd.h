// Stitching and distances of tiles: what a thread does. cpu/tiles.cpp and cuda/tiles.cu say who does it.
//
// Source: Norman Pellet, "Some super-simple benchmarked GPU kernels that nobody really cares about – yet are relevant
// for my activity", slides, of CUDA 10.2. Cases 1 and 2 stitch copies of a small tile, the repeater, into a large one,
// the target: along both axes, or at all i·u + j·v of two vectors. Either a pixel of the target looks for what covers
// it, or a pixel of the repeater, or a copy of it, goes to where it belongs. Case 3 finds, for z = f(d), squared
// distances to white pixels that are near: white pixels tell those around them, or black ones look around.
// Cost: of what each loops over. A modulo is cheap beside memory that is written out of order.
// Slips of the slides that are corrected here:
//   - case 2.4: startY has u's part (`gridV * u.y` there);
//   - case 3.1 and black: the loops reach +R, where they end before it, and only what lies within R counts: there the
//     corners of the square count, too, for white, and for black what is farther than R is as what is at R;
//   - cases 1.3 and 2.2: an index that counts along rows is advanced down columns, so that the repeater is transposed;
//   - case 2.2: the bounds of u and v are those of the target's corners; copies that begin before the target's first
//     row or column, and reach into it, are counted, too;
//   - cases 2.1 and 2.3: dot products with normalized vectors find u and v of a pixel only where u and v are
//     perpendicular, in float not everywhere, and casts round negative ones up. Here they are quotients of whole
//     numbers, rounded down.
// Departs in that tiles need not be squares, nor known when the code is compiled; the target is 0 at first; 2.2 leaves
// it where the repeater is 0, as 2.4 does; in the counters of 32 bits of blended copies; and in that "white (block
// spread)" is missing, of which the slides show no code.
#pragma once

#include <cstdint>

#include "core/root.hd.h"
#include "fathom/published/tiles.h"

namespace fathom::published {

template <class T>
struct Tile {
  T* data = nullptr;
  int width = 0, height = 0;
  std::int64_t pitch = 0;  ///< elements from one row to the next

  FATHOM_HD T& at(int x, int y) const { return data[y * pitch + x]; }
  FATHOM_HD bool contains(std::int64_t x, std::int64_t y) const { return x >= 0 && y >= 0 && x < width && y < height; }
};

/// Case 1.4: what a pixel of the target shows.
FATHOM_HD inline void look_up(const Tile<float>& target, const Tile<const float>& repeater, int x, int y) {
  target.at(x, y) = repeater.at(x % repeater.width, y % repeater.height);
}

/// Case 1.6: where a pixel of the repeater is shown.
FATHOM_HD inline void show(const Tile<float>& target, const Tile<const float>& repeater, int x, int y) {
  const float value = repeater.at(x, y);
  for (int to_y = y; to_y < target.height; to_y += repeater.height)
    for (int to_x = x; to_x < target.width; to_x += repeater.width) target.at(to_x, to_y) = value;
}

struct Vector {
  std::int64_t x, y;
};

FATHOM_HD inline std::int64_t cross(Vector a, Vector b) { return a.x * b.y - a.y * b.x; }

FATHOM_HD inline std::int64_t floor_of(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t quotient = numerator / denominator;
  return quotient - (numerator % denominator != 0 && (numerator < 0) != (denominator < 0));
}

/// The steps of a lattice.
struct Steps {
  Vector u, v;

  FATHOM_HD Vector place(std::int64_t i, std::int64_t j) const { return {i * u.x + j * v.x, i * u.y + j * v.y}; }
  /// The parallelogram between steps in which a place lies.
  FATHOM_HD std::int64_t along_u(Vector place) const { return floor_of(cross(place, v), cross(u, v)); }
  FATHOM_HD std::int64_t along_v(Vector place) const { return floor_of(cross(u, place), cross(u, v)); }
};

/// Steps that reach places of a rectangle, and perhaps one more on each side.
struct StepBounds {
  std::int64_t u_min = 0, u_max = 0, v_min = 0, v_max = 0;

  FATHOM_HD void update(const Steps& steps, Vector corner) {
    const std::int64_t u = steps.along_u(corner), v = steps.along_v(corner);
    u_min = u < u_min ? u : u_min;
    u_max = u + 1 > u_max ? u + 1 : u_max;
    v_min = v < v_min ? v : v_min;
    v_max = v + 1 > v_max ? v + 1 : v_max;
  }
};

/// Of a rectangle that holds (0, 0), both corners included.
FATHOM_HD inline StepBounds bounds_of(const Steps& steps, Vector first, Vector last) {
  StepBounds bounds;
  bounds.update(steps, first);
  bounds.update(steps, {last.x, first.y});
  bounds.update(steps, {first.x, last.y});
  bounds.update(steps, last);
  return bounds;
}

/// Cases 2.1 and 2.3: the mean of what covers a pixel of the target.
/// @param around  steps from a place to those whose copies may cover it
FATHOM_HD inline void blend(const Tile<float>& target, const Tile<const float>& repeater, const Steps& steps,
                            const StepBounds& around, int x, int y) {
  const std::int64_t i = steps.along_u({x, y}), j = steps.along_v({x, y});
  float sum = 0;
  int count = 0;
  for (std::int64_t u = around.u_min; u <= around.u_max; ++u)
    for (std::int64_t v = around.v_min; v <= around.v_max; ++v) {
      const Vector start = steps.place(i + u, j + v);
      if (!repeater.contains(x - start.x, y - start.y)) continue;
      const float value = repeater.at(static_cast<int>(x - start.x), static_cast<int>(y - start.y));
      if (value != 0) {
        sum += value;
        ++count;
      }
    }
  if (count > 0) target.at(x, y) = sum / static_cast<float>(count);
}

/// Cases 2.2 and 2.4: what a copy covers. @param put  called with a pixel of the target and its value
template <class Put>
FATHOM_HD void place_copy(const Tile<float>& target, const Tile<const float>& repeater, Vector start, const Put& put) {
  for (int y = 0; y < repeater.height; ++y)
    for (int x = 0; x < repeater.width; ++x) {
      if (!target.contains(start.x + x, start.y + y)) continue;
      const float value = repeater.at(x, y);
      if (value != 0) put(target.at(static_cast<int>(start.x + x), static_cast<int>(start.y + y)), value);
    }
}

inline constexpr std::uint32_t kBeyond = ~0u;  ///< no white pixel within reach

/// Case 3, white: what a white pixel tells the pixels around it. @param lower  called with a pixel's squared distance
/// and what it is at most
template <NearVariant kVariant, class Lower>
FATHOM_HD void tell_around(const Tile<const float>& source, const Tile<std::uint32_t>& squared, int reach, int x, int y,
                           const Lower& lower) {
  if (source.at(x, y) == 0) return;
  const int width = source.width, height = source.height;
  int x_from = -reach, x_to = reach, y_from = -reach, y_to = reach;
  if constexpr (kVariant == NearVariant::neighbour_check) {
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1 && source.at(x - 1, y) != 0 && source.at(x + 1, y) != 0 &&
        source.at(x, y - 1) != 0 && source.at(x, y + 1) != 0) {
      squared.at(x, y) = 0;
      return;
    }
  }
  if constexpr (kVariant == NearVariant::improved) {
    if (x == 0 || source.at(x - 1, y) != 0) x_from = 0;
    if (x == width - 1 || source.at(x + 1, y) != 0) x_to = 0;
    if (y == 0 || source.at(x, y - 1) != 0) y_from = 0;
    if (y == height - 1 || source.at(x, y + 1) != 0) y_to = 0;
  }
  for (int dy = y_from; dy <= y_to; ++dy)
    for (int dx = x_from; dx <= x_to; ++dx) {
      const int distance = dx * dx + dy * dy;
      if (distance > reach * reach || !source.contains(x + dx, y + dy)) continue;
      std::uint32_t& known = squared.at(x + dx, y + dy);
      if constexpr (kVariant != NearVariant::white)
        if (known < static_cast<std::uint32_t>(distance)) continue;
      lower(known, static_cast<std::uint32_t>(distance));
    }
}

/// Case 3, black: what a black pixel finds around it.
FATHOM_HD inline void look_around(const Tile<const float>& source, const Tile<std::uint32_t>& squared, int reach, int x,
                                  int y) {
  if (source.at(x, y) != 0) {
    squared.at(x, y) = 0;
    return;
  }
  std::uint32_t least = kBeyond;
  for (int dy = -reach; dy <= reach; ++dy)
    for (int dx = -reach; dx <= reach; ++dx) {
      const int distance = dx * dx + dy * dy;
      if (distance > reach * reach || static_cast<std::uint32_t>(distance) > least) continue;
      if (!source.contains(x + dx, y + dy)) continue;
      if (source.at(x + dx, y + dy) != 0) least = static_cast<std::uint32_t>(distance);
    }
  squared.at(x, y) = least;
}

/// The profile of case 3 that is the distance itself.
FATHOM_HD inline float root_of(std::uint32_t squared) {
  return squared == kBeyond ? static_cast<float>(INFINITY) : rounded_sqrt<float>(squared);
}

}  // namespace fathom::published
