#include "chart/scale.h"

#include <algorithm>
#include <cmath>

namespace fathom::cli {

Scale::Scale(double low, double high, bool is_signed, int most_ticks, bool each_side)
    : low_(low), high_(high), is_signed_(is_signed), each_side_(each_side) {
  if (empty()) return;
  // Distances are measured from 0: the scale begins there, unless the map shows a far corner alone.
  if (!is_signed && low_ < 0.5 * high_) low_ = 0;
  ticks_ = ticks_between(low_, high_, most_ticks);
}

Colour Scale::colour(double value) const {
  if (is_signed_) {
    constexpr double kLeastSide = 0.1;  // of the other
    double reach = std::max(std::abs(low_), std::abs(high_));
    if (each_side_) reach = std::max(std::abs(value < 0 ? low_ : high_), kLeastSide * reach);
    return ColourMap::diverging().at(reach > 0 ? 0.5 + 0.5 * value / reach : 0.5);
  }
  return ColourMap::sequential().at(high_ > low_ ? (value - low_) / (high_ - low_) : 0);
}

Colour Scale::ink_on(double value) const {
  constexpr double kMiddle = 0.66;
  return lightness(colour(value)) < kMiddle ? Colour{1, 1, 1} : Colour{0.08, 0.09, 0.12};
}

}  // namespace fathom::cli
