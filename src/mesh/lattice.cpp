#include "fathom/mesh/lattice.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.h"
#include "fathom/core/error.h"

namespace fathom::mesh {

namespace {

constexpr std::int64_t kMostPoints = 2147483647;

Point spacing_of(const Bounds& bounds, const LatticeOptions& options) {
  if (options.resolution.has_value() == options.spacing.has_value())
    throw InvalidArgument(options.spacing ? "resolution and spacing were given; give one of them"
                                          : "neither resolution nor spacing was given; give one of them");
  if (options.spacing) {
    for (double h : *options.spacing)
      if (!(h > 0) || !std::isfinite(h)) throw InvalidArgument("a spacing is not finite or not above 0");
    return *options.spacing;
  }
  if (*options.resolution < 2)
    throw InvalidArgument("the resolution is " + std::to_string(*options.resolution) + "; give 2 points or more");
  double longest = 0;
  for (std::size_t k = 0; k < 3; ++k) longest = std::max(longest, bounds.high[k] - bounds.low[k]);
  if (!(longest > 0))
    throw InvalidArgument("the mesh is a single point, which a resolution cannot divide; give a spacing");
  const double h = longest / static_cast<double>(*options.resolution - 1);
  return {h, h, h};
}

/// Steps that reach over a length; what rounding has added does not count as one.
double steps_over(double length, double spacing) { return std::ceil(length / spacing * (1 - 0x1p-40)); }

double margin_of(const LatticeOptions& options, double spacing) {
  if (!options.cutoff) return static_cast<double>(options.margin);
  const double steps = std::ceil(*options.cutoff / spacing);
  if (!(steps >= 0 && steps < static_cast<double>(kMostPoints)))
    throw InvalidArgument("the cutoff is below 0, or more than 2147483647 steps of the lattice");
  return steps + 1;
}

}  // namespace

Lattice lattice_around(const Bounds& bounds, const LatticeOptions& options) {
  Lattice lattice;
  lattice.spacing = spacing_of(bounds, options);
  if (options.margin < 0) throw InvalidArgument("the margin is negative; give 0 points or more");
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string axis(1, "xyz"[k]);
    if (options.shape && ((*options.shape)[k] < 1 || (*options.shape)[k] > kMostPoints))
      throw InvalidArgument("the lattice's shape has " + std::to_string((*options.shape)[k]) + " points along " + axis +
                            "; give 1 to 2147483647");
    const double h = lattice.spacing[k], margin = margin_of(options, h);
    const double first = options.resolution ? bounds.low[k] : h * std::floor(bounds.low[k] / h);
    lattice.origin[k] = options.origin ? (*options.origin)[k] : first - margin * h;
    if (!(std::abs(lattice.origin[k]) <= 1e150))
      throw InvalidArgument("the lattice's origin along " + axis + " is not finite or beyond 1e150");
    if (options.origin && !options.shape && lattice.origin[k] > bounds.high[k])
      throw InvalidArgument("the lattice's origin along " + axis + ", " + text(lattice.origin[k]) +
                            ", is beyond the mesh, which reaches from " + text(bounds.low[k]) + " to " +
                            text(bounds.high[k]) + "; give one before its end, or a shape");
    // Counted from the box, where the origin is not given: the margin's rounding must not add a point.
    const double steps = options.origin ? steps_over(bounds.high[k] - lattice.origin[k], h) + margin
                                        : steps_over(bounds.high[k] - first, h) + 2 * margin;
    const double points = 1 + std::max(0.0, steps);
    if (!(options.shape || points <= static_cast<double>(kMostPoints)))
      throw InvalidArgument("the lattice would have more than 2147483647 points along " + axis +
                            "; give a larger spacing or a smaller resolution");
    lattice.shape[k] = options.shape ? (*options.shape)[k] : static_cast<std::int64_t>(points);
  }
  return lattice;
}

}  // namespace fathom::mesh
