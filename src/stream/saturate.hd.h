// Numbers as pixels: rounded and saturated. Shared by host and device.
#pragma once

#include <cmath>
#include <type_traits>

#include "core/root.hd.h"

namespace fathom::stream {

/// Rounded to nearest, ties to even, and saturated to the type's range; NaN becomes 0 in integers, and true is what is not
/// 0.
template <class T>
FATHOM_HD T saturated(double value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0 && value == value;
  else if constexpr (std::is_same_v<T, float>) return static_cast<float>(value);
  else {
    constexpr double kMost = sizeof(T) == 1 ? 255 : 65535;
    const double whole = std::nearbyint(value);
    return whole > 0 ? static_cast<T>(whole < kMost ? whole : kMost) : T{0};
  }
}

}  // namespace fathom::stream
