// Winding numbers: along a line along x the number starts with 0 and changes by 1 at each triangle that it passes.
// The tree says which triangles it may meet, exact predicates which ones it passes, and behind which point of the line.
//
// Source: crossing numbers with signs; simulation of simplicity where lines meet edges (see predicates.hd.h).
// Cost: O(log n + blocks of triangles met) a line; each crossing's place is estimated, then checked. 3 µs a line of a
// million triangles.
#include "mesh/cpu/winding.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fathom/core/error.h"
#include "mesh/predicates.hd.h"

namespace fathom::mesh {

namespace {

/// A line along x, as wide as snapping moves numbers.
struct Beam {
  Vec3 point;
  double low_y, high_y, low_z, high_z;

  explicit Beam(Vec3 snapped_point)
      : point(snapped_point),
        low_y(point.y - kGrain),
        high_y(point.y + kGrain),
        low_z(point.z - kGrain),
        high_z(point.z + kGrain) {}
};

/// Of a group of boxes those that the moved line may meet, as bits. It meets none that only touches it from below.
unsigned boxes_met(const Boxes& boxes, const Beam& beam) {
  unsigned met = 0;
  for (unsigned i = 0; i < kFan; ++i)
    met |= static_cast<unsigned>((boxes.low[1][i] <= beam.high_y) & (boxes.high[1][i] > beam.low_y) &
                                 (boxes.low[2][i] <= beam.high_z) & (boxes.high[2][i] > beam.low_z))
           << i;
  return met;
}

/// The same for the triangles of a block.
unsigned triangles_met(const Block& block, const Beam& beam) {
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
};

/// Calls visitor(Crossing) for all triangles that the line passes.
/// @param filter  of a group of boxes, the bits of those that matter
template <class Filter, class Visitor>
void visit_crossings(const Surface& surface, const Tree& tree, const Beam& beam, const Filter& filter,
                     const Visitor& visitor) {
  const auto visit_block = [&](std::size_t number) {
    const std::size_t begin = number * kFan;
    for (unsigned met = triangles_met(tree.blocks[number], beam); met != 0; met &= met - 1) {
      const std::size_t place = begin + static_cast<std::size_t>(std::countr_zero(met));
      if (place >= static_cast<std::size_t>(tree.count)) return;
      const Triangle triangle = tree.triangle(static_cast<std::int64_t>(place));
      Crossing crossing{snapped(triangle.a), snapped(triangle.b), snapped(triangle.c), 0, 0};
      crossing.direction = passing(crossing.a, crossing.b, crossing.c, beam.point);
      if (crossing.direction == 0) continue;
      const bool turned = !is_ascending(surface.corners[static_cast<std::size_t>(tree.ids[place])]);
      crossing.by = turned ? crossing.direction : -crossing.direction;
      visitor(crossing);
    }
  };
  struct Group {
    std::size_t level, number;
  } open[kFan * 12];  // 2³¹ triangles have 11 levels
  int count = 0;
  open[count++] = {tree.levels.size() - 1, 0};
  while (count > 0) {
    const Group group = open[--count];
    for (unsigned met = filter(tree.levels[group.level][group.number]); met != 0; met &= met - 1) {
      const std::size_t child = group.number * kFan + static_cast<std::size_t>(std::countr_zero(met));
      if (group.level == 0) visit_block(child);
      else open[count++] = {group.level - 1, child};
    }
  }
}

/// The lowest i of [low, high] for which holds(i), which holds from some i on; `high` if it does for none below.
/// Asks once or twice where the guess is right.
template <class Holds>
std::int64_t first_that(std::int64_t low, std::int64_t high, double guess, const Holds& holds) {
  const auto start = !(guess > static_cast<double>(low)) ? low
                     : guess < static_cast<double>(high) ? static_cast<std::int64_t>(guess)
                                                         : high;
  if (start == high || holds(start)) {
    high = start;
    for (std::int64_t step = 1; low < high; step *= 2) {
      const std::int64_t i = std::max(low, high - step);
      if (!holds(i)) {
        low = i + 1;
        break;
      }
      high = i;
    }
  } else {
    low = start + 1;
    for (std::int64_t step = 1; low < high; step *= 2) {
      const std::int64_t i = std::min(high, low + step) - 1;
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
double estimated_x(const Crossing& crossing, Vec3 p) {
  const Vec3 a = crossing.a - p, b = crossing.b - p, c = crossing.c - p;
  const double of_a = b.y * c.z - b.z * c.y, of_b = c.y * a.z - c.z * a.y, of_c = a.y * b.z - a.z * b.y;
  return p.x + (a.x * of_a + b.x * of_b + c.x * of_c) / (of_a + of_b + of_c);
}

/// The first point of the line that lies behind the triangle; the number of points if none does.
std::int64_t first_behind(const Crossing& crossing, const Lattice& lattice, Vec3 line) {
  const auto guess = [&](double x) { return std::ceil((x - lattice.origin[0]) / lattice.spacing[0]); };
  const auto [least, most] = std::minmax({crossing.a.x, crossing.b.x, crossing.c.x});
  const auto first_at = [&](std::int64_t low, double x) {
    return first_that(low, lattice.shape[0], guess(x), [&](std::int64_t i) { return snapped(lattice.at(0, i)) >= x; });
  };
  const std::int64_t low = first_at(0, least), high = first_at(low, most);
  if (low == high) return low;
  line.x = least;
  return first_that(low, high, guess(estimated_x(crossing, line)), [&](std::int64_t i) {
    return meets_before(crossing.a, crossing.b, crossing.c, crossing.direction,
                        {snapped(lattice.at(0, i)), line.y, line.z});
  });
}

/// Sets the bits [begin, end).
void set_bits(std::uint64_t* bits, std::int64_t begin, std::int64_t end) {
  for (std::int64_t word = begin / 64; word * 64 < end; ++word) {
    std::uint64_t mask = ~std::uint64_t{0};
    if (begin > word * 64) mask &= ~std::uint64_t{0} << (begin - word * 64);
    if (end < word * 64 + 64) mask &= ~(~std::uint64_t{0} << (end - word * 64));
    bits[word] |= mask;
  }
}

}  // namespace

bool is_inside(std::int32_t winding, WindingRule rule) {
  switch (rule) {
    case WindingRule::even_odd: return winding % 2 != 0;
    case WindingRule::positive: return winding > 0;
    default: return winding != 0;
  }
}

void winding_line(const Surface& surface, const Tree& tree, const Lattice& lattice, std::int64_t j, std::int64_t k,
                  WindingRule rule, std::uint64_t* bits, LineScratch& scratch) {
  std::fill_n(bits, (lattice.shape[0] + 63) / 64, 0);
  auto& changes = scratch.changes;
  changes.clear();
  const Beam beam(snapped(Vec3{0, lattice.at(1, j), lattice.at(2, k)}));
  visit_crossings(
      surface, tree, beam, [&](const Boxes& boxes) { return boxes_met(boxes, beam); },
      [&](const Crossing& crossing) {
        changes.push_back({first_behind(crossing, lattice, beam.point), crossing.by});
      });
  std::sort(changes.begin(), changes.end(), [](const auto& p, const auto& q) { return p.at < q.at; });
  std::int32_t winding = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    winding += changes[i].by;
    if (i + 1 < changes.size() && is_inside(winding, rule)) set_bits(bits, changes[i].at, changes[i + 1].at);
  }
  if (winding != 0) throw InternalError("a line leaves the mesh less often than it enters it; the mesh is not closed");
}

std::int32_t winding_at(const Surface& surface, const Tree& tree, Vec3 point) {
  const Beam beam(snapped(point));
  std::int32_t winding = 0;
  const auto filter = [&](const Boxes& boxes) {
    unsigned met = boxes_met(boxes, beam);
    for (unsigned i = 0; i < kFan; ++i)
      if (boxes.low[0][i] > beam.point.x + kGrain) met &= ~(1u << i);
    return met;
  };
  visit_crossings(surface, tree, beam, filter, [&](const Crossing& crossing) {
    const auto& [a, b, c, direction, by] = crossing;
    if (std::max({a.x, b.x, c.x}) <= beam.point.x || meets_before(a, b, c, direction, beam.point)) winding += by;
  });
  return winding;
}

}  // namespace fathom::mesh
