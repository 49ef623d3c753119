// What the command says about arrays: which labels, which values. Each function passes once over a dense array.
#pragma once

#include <cstdint>

#include "fathom/core/view.h"

namespace fathom::cli {

/// Different labels, without the background 0.
std::int64_t count_labels(const AnyConstView& data);

/// The values of an array. Extremes are of the finite values; lowest > highest if there are none.
struct ValueRange {
  double lowest = 0;
  double highest = 0;
  std::int64_t nan = 0;
  std::int64_t infinite = 0;

  bool has_finite() const { return lowest <= highest; }
};

ValueRange value_range(const AnyConstView& data);

/// The first element that is infinite or NaN; the number of elements if there is none.
std::int64_t first_not_finite(const AnyConstView& data);

/// The same of a field of distances, where the maximum of an integer type means "no site" and counts as infinite.
ValueRange field_range(const AnyConstView& field);

}  // namespace fathom::cli
