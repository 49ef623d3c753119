// Where a site goes. Shared by host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "apps/region_sums.hd.h"
#include "core/root.hd.h"

namespace fathom::apps {

/// The element of the grid that a real position lies in, along an axis of `extent` elements as fine.
FATHOM_HD inline std::int32_t element_of(double position, int supersample, std::int64_t extent) {
  const double place = std::floor((position + 0.5) * supersample);
  const auto last = static_cast<double>(extent - 1);
  return static_cast<std::int32_t>(place < 0 ? 0 : place > last ? last : place);
}

/// The position of a centroid: so far from the middle of the site's element of the finer grid.
FATHOM_HD inline double centroid_of(std::int32_t element, std::int64_t first, std::int64_t mass, int supersample) {
  const double fine = static_cast<double>(element) + static_cast<double>(first) / static_cast<double>(mass);
  return (fine + 0.5) / supersample - 0.5;
}

/// first / mass rounded to the nearest integer, a half to the nearer to 0: a site stays where no element is better.
FATHOM_HD inline std::int64_t rounded_step(std::int64_t first, std::int64_t mass) {
  const std::int64_t size = ((first < 0 ? -first : first) * 2 + mass - 1) / (2 * mass);
  return first < 0 ? -size : size;
}

/// Σ w |p − s|², w as integers, in elements of the weights: about the element of the finer grid that stands for each
/// site, then about the site itself.
/// @param sums       [n, layout.fields()], with seconds
/// @param places     [n, axes] of the sites' elements
/// @param positions  [n, axes] of the sites
inline double energy_of(const SumLayout& layout, int supersample, std::int64_t sites, const std::int64_t* sums,
                        const std::int32_t* places, const double* positions) {
  const double fine = 1.0 / supersample;
  double sum = 0;
  for (std::int64_t site = 0; site < sites; ++site, sums += layout.fields()) {
    int square = layout.second();
    for (int axis = 0; axis < layout.axes; ++axis) {
      const double element = (*places++ + 0.5) * fine - 0.5, off = *positions++ - element;
      sum += static_cast<double>(sums[square]) * fine * fine -
             off * (2 * fine * static_cast<double>(sums[layout.first() + axis]) - off * static_cast<double>(sums[1]));
      square += layout.axes - axis;
    }
  }
  for (int axis = 0; axis < layout.axes; ++axis) sum *= fine;
  return sum;
}

}  // namespace fathom::apps
