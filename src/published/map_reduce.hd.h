// Pointwise distances by a map and a reduction: what a thread does, and how the sites are divided.
//
// Source: Khan & Zahran, "Space-efficient Pointwise Computation of the Distance Transform on GPUs". The map takes each
// site s to d(q, s), the reduction takes the minimum. Sites lie in tiles; the map's thread goes over a tile and hands
// on the tile's minimum alone, so that N tiles and m queries leave N · m numbers to be reduced. So that these need not
// all be kept, map and reduction are done by K kernels each, which take turns in J streams: J · ⌈N / K⌉ · m numbers.
// Or the map keeps the minimum itself by atomic operations. At last the results of the streams, and of devices, are
// reduced. Perforated: the map looks at every p-th site alone. Anisotropic: only at sites within an angle of a
// direction.
//
// Departs from the paper
// - in that points may have real coordinates: d² is float64 then, kept by its bits, which order as the numbers do;
// - in that the nearest site is found, too: once more a map, which looks for the site whose d² is the minimum;
// - in that its loops over a tile, which never advance `i`, do;
// - in that the boundary of an angle counts as inside: its cosine is taken 2⁻⁵⁰ less, for the rounding that the paper
//   meets with a small angle;
// - in that speeds of devices are measured at each call, where the paper has 4 : 1.
// Cost: O(n · m), and as many looks again at sites where they are asked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/root.hd.h"

namespace fathom::published {

/// d², ordered: 32 bits between integers, as in the paper; else the bits of a float64.
template <class T>
using Squared = std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t, unsigned long long>;
/// The paper's "maximum datatype value": of no site.
template <class U>
inline constexpr U kFarthest = std::numeric_limits<U>::max();

/// A structure of arrays: all x, all y, all z.
template <class T>
struct PointList {
  const T* axis[3] = {};
  std::int64_t count = 0;
  std::int64_t step = 1;  ///< of perforated points

  FATHOM_HD T at(int k, std::int64_t i) const { return axis[k][i * step]; }
  FATHOM_HD PointList part(std::int64_t first, std::int64_t size) const {
    return {{axis[0] + first * step, axis[1] + first * step, axis[2] + first * step}, size, step};
  }
};

/// Directions that queries look in; without, they look in all.
struct ConeList {
  PointList<double> axes;  ///< of length 1
  double cosine = -2;      ///< of the half-angle, less the boundary's thickness

  bool present() const { return axes.count > 0; }
};

/// A query, and the direction it looks in.
template <class T>
struct Query {
  T at[3];
  double axis[3] = {};
  double cosine = -2;  ///< −2: all directions

  FATHOM_HD Query(const PointList<T>& queries, const ConeList& cones, std::int64_t i)
      : at{queries.at(0, i), queries.at(1, i), queries.at(2, i)} {
    if (cones.axes.count == 0) return;
    for (int k = 0; k < 3; ++k) axis[k] = cones.axes.at(k, i);
    cosine = cones.cosine;
  }
};

/// The mapping function: d² of site `i`, or the farthest where the query does not look.
template <class T>
FATHOM_HD Squared<T> mapped(const Query<T>& query, const PointList<T>& sites, std::int64_t i) {
  using Number = std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t, double>;
  const Number x = static_cast<Number>(sites.at(0, i)) - static_cast<Number>(query.at[0]),
               y = static_cast<Number>(sites.at(1, i)) - static_cast<Number>(query.at[1]),
               z = static_cast<Number>(sites.at(2, i)) - static_cast<Number>(query.at[2]);
  const Number squared = (x * x + y * y) + z * z;  // integers wrap around, which squares do not show
  if (query.cosine > -2 && squared > 0) {
    const double length = std::sqrt(static_cast<double>(squared));
    double cosine = 0;
    for (int k = 0; k < 3; ++k)
      cosine += (static_cast<double>(sites.at(k, i)) - static_cast<double>(query.at[k])) / length * query.axis[k];
    if (cosine < query.cosine) return kFarthest<Squared<T>>;
  }
  Squared<T> bits;
  std::memcpy(&bits, &squared, sizeof bits);
  return bits;
}

/// Map and reduction of a tile in one loop.
template <class T>
FATHOM_HD Squared<T> least_of_tile(const Query<T>& query, const PointList<T>& tile) {
  Squared<T> least = kFarthest<Squared<T>>;
  for (std::int64_t i = 0; i < tile.count; ++i) {
    const Squared<T> squared = mapped(query, tile, i);
    if (squared < least) least = squared;
  }
  return least;
}

/// The first site of a tile that is as near as the nearest; `count` if there is none.
template <class T>
FATHOM_HD std::int64_t first_of_tile(const Query<T>& query, const PointList<T>& tile, Squared<T> least) {
  std::int64_t i = 0;
  while (i < tile.count && mapped(query, tile, i) != least) ++i;
  return i;
}

/// How tiles are divided among kernels, and these among streams.
struct Division {
  std::int64_t sites, tile, kernels, streams;

  std::int64_t tiles() const { return (sites + tile - 1) / tile; }
  std::int64_t tiles_of_kernel() const { return (tiles() + kernels - 1) / kernels; }
  std::int64_t first_tile(std::int64_t kernel) const { return std::min(kernel * tiles_of_kernel(), tiles()); }
  std::int64_t stream(std::int64_t kernel) const { return kernel % streams; }
};

}  // namespace fathom::published
