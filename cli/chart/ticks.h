// Round numbers for scales and isolines.
#pragma once

#include <string>
#include <vector>

namespace fathom::cli {

/// Multiples of a step, which is 1, 2 or 5 times a power of ten; 0: there is one value only.
struct Ticks {
  double step = 1;
  std::vector<double> values;

  /// With as many decimals as the step has.
  std::string label(double value) const;
};

/// At most `most` ticks from `low` to `high`, both included; one where they are equal; none where there is no range.
/// @param least_step  no ticks closer than this
Ticks ticks_between(double low, double high, int most, double least_step = 0);

}  // namespace fathom::cli
