// Masks that studies of distance transforms make, and how they run Fathom and the published algorithms on them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "fathom/published/distance.h"
#include "reproduce/measure.h"

namespace fathom::cli {

/// An image of n × n, or a volume of n × n × n.
inline Shape square(std::int64_t n) { return {n, n}; }
inline Shape cube(std::int64_t n) { return {n, n, n}; }

/// uint8, 0 where `is_site` says so of a random number in [0, 1) and the linear index.
Array make_mask(const Shape& shape, const std::function<bool(double random, std::int64_t index)>& is_site);
/// Sites at random.
Array random_mask(const Shape& shape, double density);
/// An image of one site in ten, in rows that are shifted by three against one another.
Array uniform_mask(std::int64_t n);

/// What Fathom makes of a mask, and how long it takes.
struct Exact {
  Array distances;     ///< float32
  double seconds = 0;  ///< of an array of the device or the host to another
  double copy = 0;     ///< seconds of copying the distances there
};
Exact exact_of(const Machine& machine, const Array& mask);

/// What a published algorithm makes of it.
struct Published {
  published::DistanceReport report;
  double seconds = 0;  ///< of its phases
  double wrong = 0;    ///< share of elements that are farther than they should be
  double largest = 0;  ///< by how much, in elements
};
/// @throws InternalError an exact algorithm gives other distances than Fathom
Published published_of(const Array& mask, const Exact& exact, const published::DistanceOptions& options,
                       const std::string& name);

inline constexpr double kMilli = 1e3;

}  // namespace fathom::cli
