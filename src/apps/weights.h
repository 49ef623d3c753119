// Weights of elements as integers, so that sums do not depend on their order.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/row_access.h"

namespace fathom::apps {

inline constexpr std::uint16_t kMostWeight = 65535;

struct Weights {
  Shape shape;
  std::vector<std::uint16_t> values;  ///< dense; empty: 1 everywhere
  std::int64_t positive = 0;          ///< how many are not 0
  std::int64_t total = 0;
  double scale = 1;  ///< what the given ones were multiplied by

  std::int64_t width() const { return shape.back(); }
  /// The row of the last axis with this number; null: all 1.
  const std::uint16_t* row(std::int64_t number) const {
    return values.empty() ? nullptr : values.data() + number * width();
  }
};

/// @throws InvalidArgument they differ
void check_weights_shape(const Shape& given, const Shape& shape);

/// @param given  as voronoi() takes it, or not given
/// @throws InvalidArgument a weight that is negative, not finite, or an integer beyond 65535
Weights weights_of(const AnyConstView& given, const Shape& shape);

/// Counts and adds up what `values` hold.
void tally(Weights& weights);

/// Where the sum of squares of a region passes 64 bits.
[[noreturn]] void throw_moments_too_large();

/// The shape of a grid that is some times as fine.
Shape finer(const Shape& shape, int supersample);

}  // namespace fathom::apps
