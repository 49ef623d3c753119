// From exact squared distances to the numbers users see. Shared by host and device: same bits everywhere.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define FATHOM_HD __host__ __device__
#else
#define FATHOM_HD
#endif

namespace fathom {

/// Largest squared distance that a double holds exactly.
inline constexpr std::uint64_t kExactInDouble = std::uint64_t{1} << 53;

__extension__ using Wide = unsigned __int128;

/// Largest r with r² ≤ n, by digits: rare and small, so simple.
FATHOM_HD inline std::uint64_t integer_sqrt(Wide n) {
  std::uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t trial = root | (std::uint64_t{1} << bit);
    if (static_cast<Wide>(trial) * trial <= n) root = trial;
  }
  return root;
}

/// The Float nearest to √d2, for every d2 below 2⁶⁸, rounded once. Up to 2⁵³ the hardware's root in double is rounded
/// correctly, and may be rounded again to float (53 ≥ 2·24 + 2 bits). Beyond, d2 is no double, and its root may lie so
/// close to the middle of two floats that double would hold the middle: it is rounded by hand from 57 to 64 bits and a
/// sticky bit.
template <class Float>
FATHOM_HD Float rounded_wide_sqrt(Wide d2) {
  if (d2 <= kExactInDouble) return static_cast<Float>(std::sqrt(static_cast<double>(d2)));
  const Wide scaled = d2 << 60;
  std::uint64_t root = integer_sqrt(scaled);  // √d2 · 2³⁰
  // A root whose dropped bits look like an exact half is above the half if anything was cut off.
  if (static_cast<Wide>(root) * root != scaled) root |= 1;
  return std::ldexp(static_cast<Float>(root), -30);
}

template <class Float>
FATHOM_HD Float rounded_sqrt(std::uint64_t d2) {
  return rounded_wide_sqrt<Float>(d2);
}

FATHOM_HD inline double exact_sqrt(std::uint64_t d2) { return rounded_sqrt<double>(d2); }

/// Distance in units of the spacing: the correctly rounded root; with a spacing other than 1, the root in double times
/// the spacing, rounded to Float.
template <class Float>
FATHOM_HD Float distance_from_squared(std::uint64_t d2, double unit) {
  return unit == 1 ? rounded_sqrt<Float>(d2) : static_cast<Float>(exact_sqrt(d2) * unit);
}

/// The same where the unit is only what spacings are multiples of, so that nobody counts on the last bit: rounded
/// thrice, but in the arithmetic of Float. Relative error below 2⁻²².
template <class Float>
FATHOM_HD Float scaled_distance(std::uint64_t d2, double unit) {
  return rounded_sqrt<Float>(d2) * static_cast<Float>(unit);
}

}  // namespace fathom
