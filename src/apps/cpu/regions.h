// Regions on the CPU: sums of each, and where they touch.
#pragma once

#include <vector>

#include "apps/region_sums.hd.h"
#include "apps/weights.h"
#include "fathom/apps/voronoi.h"

namespace fathom::apps::cpu {

/// The nearest sites of a grid, which may be some times as fine as the weights.
struct Regions {
  Shape shape;                  ///< of the grid
  AnyConstView nearest;         ///< int32 or int64, dense: linear index of the nearest site
  const std::int32_t* numbers;  ///< of the site at a linear index; read at sites alone
  const std::int32_t* places;   ///< [n, axes] of the sites, by number
  const Weights& weights;
  int supersample = 1;
};

/// Adds the sums of each region to its record.
/// @param sums  [n, layout.fields()]
/// @throws InvalidArgument second moments pass 64 bits
void sum_regions(const Regions& regions, const SumLayout& layout, std::int64_t* sums, int threads,
                 const Execution& execution);
/// Bytes of scratch that a thread takes for it. @param weights, grid  widths of both
std::size_t row_bytes(std::int64_t weights, std::int64_t grid);

/// Which regions touch. @param face  [axes] size of an element's face across each axis
std::vector<Boundary> boundaries(const Regions& regions, const double* face, int threads, const Execution& execution);

/// The number of each element's site, −1 if there is none. @param to  int32 or int64
void number_regions(const Regions& regions, const AnyView& to, int threads, const Execution& execution);

}  // namespace fathom::apps::cpu
