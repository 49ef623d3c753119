// From values to colours, with the ticks that the colour bar, the isolines and a curve's axis share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "chart/colour_map.h"
#include "chart/ticks.h"

namespace fathom::cli {

inline constexpr Colour kInk{0.13, 0.14, 0.17};
inline constexpr Colour kFaint{0.42, 0.44, 0.48};
inline constexpr Colour kRule{0.72, 0.73, 0.76};
inline constexpr Colour kSite{0.905, 0.895, 0.875};     // what distances are measured from: paper, not colour
inline constexpr Colour kUnreached{0.95, 0.95, 0.96};  // under the hatching of elements without a site
inline constexpr Colour kHatch{0.80, 0.81, 0.84};

/// Lowest and highest finite value; low > high: none.
struct Extremes {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class Scale {
 public:
  /// @param low, high  extremes of the values shown; low > high: there are none
  /// @param each_side  of signed values: colours go as far below 0 as above, however much less there is
  Scale(double low, double high, bool is_signed, int most_ticks, bool each_side = false);

  bool empty() const { return !(low_ <= high_); }
  bool is_signed() const { return is_signed_; }
  double low() const { return low_; }
  double high() const { return high_; }
  const Ticks& ticks() const { return ticks_; }
  Colour colour(double value) const;
  /// Ink that stands out from the colour of the value.
  Colour ink_on(double value) const;

 private:
  double low_;
  double high_;
  bool is_signed_;
  bool each_side_;
  Ticks ticks_;
};

}  // namespace fathom::cli
