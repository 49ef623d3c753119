// Numbers as pixels: rounded and saturated. Shared by host and device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/root.hd.h"

namespace fathom::stream {

/// Rounded to nearest, ties to even, and saturated to the type's range; NaN becomes 0 in integers, and true is what is
/// not 0.
template <class T>
FATHOM_HD T saturated(double value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0 && value == value;
  else if constexpr (std::is_same_v<T, float>) return static_cast<float>(value);
  else {
    constexpr double kMost = sizeof(T) == 1 ? 255 : 65535;
    constexpr double kWhole = 0x1p52;  // from which on doubles are whole
    const double kept = value > 0 ? (value < kMost ? value : kMost) : 0;
    return static_cast<T>(static_cast<std::int32_t>(kept + kWhole - kWhole));
  }
}

}  // namespace fathom::stream
