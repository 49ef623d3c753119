// From exact squared distances to the numbers users see. Shared by host and device: same bits everywhere.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define FATHOM_HD __host__ __device__
#else
#define FATHOM_HD
#endif

namespace fathom::grid {

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

/// The double nearest to √d2, for every d2. Up to 2⁵³ the hardware's root is that; beyond, d2 is no double, and the root
/// is rounded by hand from 62 bits of it and a sticky bit.
FATHOM_HD inline double exact_sqrt(std::uint64_t d2) {
  if (d2 <= kExactInDouble) return std::sqrt(static_cast<double>(d2));
  const Wide scaled = static_cast<Wide>(d2) << 60;
  std::uint64_t root = integer_sqrt(scaled);  // √d2 · 2³⁰, 57 to 62 bits
  // A root whose dropped bits look like an exact half is above the half if anything was cut off.
  if (static_cast<Wide>(root) * root != scaled) root |= 1;
  return std::ldexp(static_cast<double>(root), -30);
}

/// Distance in units of the spacing: the correctly rounded root, times the spacing in double, rounded once to Float.
/// √ of at most 53 bits rounded to double and then to float equals √ rounded to float (53 ≥ 2·24 + 2).
template <class Float>
FATHOM_HD Float distance_from_squared(std::uint64_t d2, double unit) {
  return static_cast<Float>(exact_sqrt(d2) * unit);
}

}  // namespace fathom::grid
