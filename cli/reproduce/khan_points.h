// Maps and reductions beside Fathom's sets of sites: what the steps of Khan & Zahran measure.
#pragma once

#include <cstdint>

#include "fathom/core/array.h"
#include "fathom/points/site_set.h"
#include "fathom/published/map_reduce.h"
#include "reproduce/study.h"

namespace fathom::cli {

/// Fathom's set of some sites, where the machine works.
points::SiteSet make_set(const Machine& machine, const Array& sites, std::int64_t every = 1);

/// One map and reduction, once its distances are Fathom's.
struct Reduced {
  Array distance;  ///< float32
  published::MapReduceReport report;
  double seconds;  ///< as the paper counts: with the copy of the queries, without that of the sites
  double own;      ///< Fathom, with the copies of queries and distances
};
/// @param set   of the same sites
/// @param runs  at most
Reduced reduce(const points::SiteSet& set, const Array& sites, const Array& queries,
               const published::MapReduceOptions& options, int runs = 5);

/// Whole coordinates from 0 to side − 1: [count, 3] int32.
Array random_points(std::int64_t count, std::int32_t side, std::uint64_t seed);

}  // namespace fathom::cli
