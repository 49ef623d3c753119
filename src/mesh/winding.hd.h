// Winding numbers: along a line along x the number starts with 0 and changes by 1 at each triangle that it passes.
// The tree says which triangles it may meet, exact predicates which ones it passes, and behind which point of the line.
// Shared by host and device: same answers everywhere.
//
// Source: crossing numbers with signs; simulation of simplicity where lines meet edges (see predicates.hd.h).
// Cost: O(log n + blocks of triangles met) a line; each crossing's place is estimated, then checked. 3 µs a line of a
// million triangles.
#pragma once

#include <cmath>
#include <cstdint>

#include "mesh/predicates.hd.h"
#include "mesh/tree_view.hd.h"

namespace fathom::mesh {

/// A line along x, as wide as snapping moves numbers.
struct Beam {
  Vec3 point;
  double low_y, high_y, low_z, high_z;

  FATHOM_HD explicit Beam(Vec3 snapped_point)
      : point(snapped_point),
        low_y(point.y - kGrain),
        high_y(point.y + kGrain),
        low_z(point.z - kGrain),
        high_z(point.z + kGrain) {}
};

/// Of a group of boxes those that the moved line may meet, as bits. It meets none that only touches it from below.
FATHOM_HD inline unsigned boxes_met(const Boxes& boxes, const Beam& beam) {
  unsigned met = 0;
  for (unsigned i = 0; i < kFan; ++i)
    met |= static_cast<unsigned>((boxes.low[1][i] <= beam.high_y) & (boxes.high[1][i] > beam.low_y) &
                                 (boxes.low[2][i] <= beam.high_z) & (boxes.high[2][i] > beam.low_z))
           << i;
  return met;
}

/// The same for the triangles of a block.
FATHOM_HD inline unsigned triangles_met(const Block& block, const Beam& beam) {
  const auto& x = block.corners;
  unsigned met = 0;
  for (unsigned i = 0; i < kFan; ++i)
    met |= static_cast<unsigned>(((x[1][i] <= beam.high_y) | (x[4][i] <= beam.high_y) | (x[7][i] <= beam.high_y)) &
                                 ((x[1][i] > beam.low_y) | (x[4][i] > beam.low_y) | (x[7][i] > beam.low_y)) &
                                 ((x[2][i] <= beam.high_z) | (x[5][i] <= beam.high_z) | (x[8][i] <= beam.high_z)) &
                                 ((x[2][i] > beam.low_z) | (x[5][i] > beam.low_z) | (x[8][i] > beam.low_z)))
           << i;
  return met;
}

/// A triangle that the line passes.
struct Crossing {
  Vec3 a, b, c;
  int direction;    ///< sign of the x of (b − a) × (c − a)
  std::int32_t by;  ///< what it adds to the winding number of what is behind it

  FATHOM_HD double least_x() const { return a.x < b.x ? (a.x < c.x ? a.x : c.x) : (b.x < c.x ? b.x : c.x); }
  FATHOM_HD double most_x() const { return a.x > b.x ? (a.x > c.x ? a.x : c.x) : (b.x > c.x ? b.x : c.x); }
};

/// Calls visitor(Crossing) for the triangles of a block that the line passes.
template <class Visitor>
FATHOM_HD void visit_block(const TreeView& tree, std::int64_t number, const Beam& beam, Visitor& visitor) {
  for (unsigned met = triangles_met(tree.mesh.blocks[number], beam); met != 0; met &= met - 1) {
    const std::int64_t place = number * kFan + lowest_bit(met);
    if (place >= tree.count) return;
    const Triangle triangle = triangle_at(tree.mesh, place);
    Crossing crossing{snapped(triangle.a), snapped(triangle.b), snapped(triangle.c), 0, 0};
    crossing.direction = passing(crossing.a, crossing.b, crossing.c, beam.point);
    if (crossing.direction == 0) continue;
    const bool turned = !is_ascending(tree.mesh.corners + 3 * std::int64_t{tree.mesh.ids[place]});
    crossing.by = turned ? crossing.direction : -crossing.direction;
    visitor(crossing);
  }
}

/// Calls visitor(Crossing) for all triangles that the line passes.
/// @param end_x  triangles whose box begins beyond it do not matter
template <class Visitor>
FATHOM_HD void visit_crossings(const TreeView& tree, const Beam& beam, double end_x, Visitor& visitor) {
  struct Group {
    int level;
    std::int64_t number;
  } open[kFan * kMostLevels];
  int count = 0;
  open[count++] = {tree.level_count - 1, 0};
  while (count > 0) {
    const Group group = open[--count];
    const Boxes& boxes = tree.levels[group.level][group.number];
    for (unsigned met = boxes_met(boxes, beam); met != 0; met &= met - 1) {
      const int i = lowest_bit(met);
      if (boxes.low[0][i] > end_x) continue;
      const std::int64_t child = group.number * kFan + i;
      if (group.level == 0) visit_block(tree, child, beam, visitor);
      else open[count++] = {group.level - 1, child};
    }
  }
}

/// The lowest i of [low, high] for which holds(i), which holds from some i on; `high` if it does for none below.
/// Asks once or twice where the guess is right.
template <class Holds>
FATHOM_HD std::int64_t first_that(std::int64_t low, std::int64_t high, double guess, const Holds& holds) {
  const auto start = !(guess > static_cast<double>(low)) ? low
                     : guess < static_cast<double>(high) ? static_cast<std::int64_t>(guess)
                                                         : high;
  if (start == high || holds(start)) {
    high = start;
    for (std::int64_t step = 1; low < high; step *= 2) {
      const std::int64_t i = high - step > low ? high - step : low;
      if (!holds(i)) {
        low = i + 1;
        break;
      }
      high = i;
    }
  } else {
    low = start + 1;
    for (std::int64_t step = 1; low < high; step *= 2) {
      const std::int64_t i = (low + step < high ? low + step : high) - 1;
      if (holds(i)) {
        high = i;
        break;
      }
      low = i + 1;
    }
  }
  while (low < high) {
    const std::int64_t i = low + (high - low) / 2;
    if (holds(i)) high = i;
    else low = i + 1;
  }
  return low;
}

/// About where the line meets the triangle: of no bearing on the result.
FATHOM_HD inline double estimated_x(const Crossing& crossing, Vec3 p) {
  const Vec3 a = crossing.a - p, b = crossing.b - p, c = crossing.c - p;
  const double of_a = b.y * c.z - b.z * c.y, of_b = c.y * a.z - c.z * a.y, of_c = a.y * b.z - a.z * b.y;
  return p.x + (a.x * of_a + b.x * of_b + c.x * of_c) / (of_a + of_b + of_c);
}

/// The first point of the line that lies behind the triangle; the number of points if none does.
FATHOM_HD inline std::int64_t first_behind(const Crossing& crossing, const Grid& grid, Vec3 line) {
  const auto guess = [&](double x) { return std::ceil((x - grid.origin[0]) / grid.spacing[0]); };
  const auto first_at = [&](std::int64_t low, double x) {
    return first_that(low, grid.shape[0], guess(x), [&](std::int64_t i) { return snapped(grid.at(0, i)) >= x; });
  };
  const std::int64_t low = first_at(0, crossing.least_x()), high = first_at(low, crossing.most_x());
  if (low == high) return low;
  line.x = crossing.least_x();
  return first_that(low, high, guess(estimated_x(crossing, line)), [&](std::int64_t i) {
    return meets_before(crossing.a, crossing.b, crossing.c, crossing.direction,
                        {snapped(grid.at(0, i)), line.y, line.z});
  });
}

/// What of winding numbers is inside.
FATHOM_HD inline bool is_inside(std::int32_t winding, WindingRule rule) {
  switch (rule) {
    case WindingRule::even_odd: return winding % 2 != 0;
    case WindingRule::positive: return winding > 0;
    default: return winding != 0;
  }
}

/// Sets the bits [begin, end).
FATHOM_HD inline void set_bits(std::uint64_t* bits, std::int64_t begin, std::int64_t end) {
  for (std::int64_t word = begin / 64; word * 64 < end; ++word) {
    std::uint64_t mask = ~std::uint64_t{0};
    if (begin > word * 64) mask &= ~std::uint64_t{0} << (begin - word * 64);
    if (end < word * 64 + 64) mask &= ~(~std::uint64_t{0} << (end - word * 64));
    bits[word] |= mask;
  }
}

/// The first changes of the winding number behind some point of a line, in ascending order.
struct Changes {
  static constexpr int kMost = 24;
  std::int64_t after = -1;  ///< only those behind it
  std::int64_t at[kMost];   ///< first points behind the surface, each once
  std::int32_t by[kMost];
  int count = 0;
  bool more = false;  ///< than those

  FATHOM_HD void add(std::int64_t point, std::int32_t change) {
    if (point <= after) return;
    int i = count;
    while (i > 0 && at[i - 1] > point) --i;
    if (i > 0 && at[i - 1] == point) {
      by[i - 1] += change;
      return;
    }
    if (count == kMost) more = true;
    if (i == kMost) return;
    count = count < kMost ? count + 1 : kMost;
    for (int last = count - 1; last > i; --last) {
      at[last] = at[last - 1];
      by[last] = by[last - 1];
    }
    at[i] = point;
    by[i] = change;
  }
};

/// Sets bit i of `bits` where point (i, j, k) of the lattice is inside, else clears it, for a whole line along x.
/// A point on the surface counts as one a trifle farther along x (then y, then z). Lines with many crossings are
/// visited once for each Changes::kMost of them.
/// @param bits  words of 64 points, ⌈grid.shape[0] / 64⌉ of them; bits beyond the line are cleared
/// @return the winding number behind all of the surface: 0, if it is closed
FATHOM_HD inline std::int32_t winding_line(const TreeView& tree, const Grid& grid, std::int64_t j, std::int64_t k,
                                           std::uint64_t* bits) {
  for (std::int64_t word = 0; word * 64 < grid.shape[0]; ++word) bits[word] = 0;
  const Beam beam(snapped(grid.point(0, j, k)));
  std::int32_t winding = 0;
  constexpr double kEverywhere = INFINITY;
  for (std::int64_t at = -1;;) {
    Changes changes;
    changes.after = at;
    const auto visitor = [&](const Crossing& crossing) {
      changes.add(first_behind(crossing, grid, beam.point), crossing.by);
    };
    visit_crossings(tree, beam, kEverywhere, visitor);
    for (int i = 0; i < changes.count; ++i) {
      if (is_inside(winding, tree.rule)) set_bits(bits, at, changes.at[i]);
      winding += changes.by[i];
      at = changes.at[i];
    }
    if (!changes.more) return winding;
  }
}

/// Winding number at any point: 1 inside a surface that runs counter-clockwise seen from outside; on it as above.
FATHOM_HD inline std::int32_t winding_at(const TreeView& tree, Vec3 point) {
  const Beam beam(snapped(point));
  std::int32_t winding = 0;
  const auto visitor = [&](const Crossing& crossing) {
    if (crossing.most_x() <= beam.point.x ||
        meets_before(crossing.a, crossing.b, crossing.c, crossing.direction, beam.point))
      winding += crossing.by;
  };
  visit_crossings(tree, beam, beam.point.x + kGrain, visitor);
  return winding;
}

}  // namespace fathom::mesh
