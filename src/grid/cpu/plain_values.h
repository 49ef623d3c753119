// What the fast engine compares. Where distances alone are asked for: squared distances. Where the nearest site is asked
// for: keys, which say where it is as well, a sum of
//   squared distance · 2^square,
//   (site's row − element's) along the slow axis · 2^slow, the same along the middle axis · 2^middle,
//   1 if the site lies behind the element along the fast axis, and a bias that keeps all parts above zero.
// The least key is that of the nearest site with the lowest index: of equal distances rows decide, then the side. What
// is left of the squared distance is the square of the offset along the fast axis, so that keys say all. No two sites
// have the same key. A step along an axis adds a number to a key as it does to a squared distance, and keys are as
// strictly Monge: all that windows, searches and walks rest upon.
//
// All lengths are in the unit of which spacings are multiples. Where they have none: squared distances in the caller's
// units, in double, as the general engine adds them up; those of near sites by rank, see plain_ranks.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace fathom::grid::cpu::plain {

/// "No site" among distances along the slow axis: that bit is set. True distances stay below, see plain_serves().
inline constexpr std::uint16_t kNoSite16 = 0x8000;
/// "No site" among squared distances of 32 bits; all true ones are smaller.
inline constexpr std::uint32_t kNoSite32 = 0x80000000;

/// "Infinitely far" in the arithmetic of T. Doubles are keys below 2⁵¹, exact with room for sums.
template <class T>
inline constexpr T kNone = static_cast<T>(~T{0});
template <>
inline constexpr std::uint32_t kNone<std::uint32_t> = kNoSite32;
template <>
inline constexpr double kNone<double> = 0x1p51;

/// Types of values: with the least bits, where all sites are very near; for most; where nothing is known.
struct OfDistances {
  using Tiny = std::uint8_t;
  using Narrow = std::uint16_t;
  using Wide = std::uint32_t;
  static constexpr bool kSquares = true, kKeys = false, kReal = false;
};
struct OfSites {
  using Tiny = std::uint16_t;
  using Narrow = std::uint32_t;
  using Wide = double;
  static constexpr bool kSquares = false, kKeys = true, kReal = false;
};
struct OfReals {
  using Tiny = std::uint8_t;
  using Narrow = double;
  using Wide = double;
  static constexpr bool kSquares = false, kKeys = false, kReal = true;
};

/// Room for the rounding of real distances where bounds are derived from them.
inline constexpr double kRoundedUp = 1 + 0x1p-40;

/// An axis in the caller's units.
struct RealAxis {
  double weight = 0;     ///< spacing²; 0: values are not real
  double unit = 1;       ///< that bounds count in
  double tolerance = 0;  ///< above the rounding of any squared distance

  /// Steps of a way along the axis within `reach` units.
  double steps(double reach) const { return reach * unit / std::sqrt(weight) * kRoundedUp; }
};

/// Where the parts of values are; all zero where they are squared distances.
struct Layout {
  int square = 0, slow = 0, middle = 0;  ///< bits below each part
  int reach = 0;                         ///< bound on distances under which values are exact

  std::int64_t bias() const { return square == 0 ? 0 : half(slow, square) + half(middle, slow); }
  /// Value of a bare squared distance.
  std::int64_t of_square(std::int64_t squared) const { return squared << square; }

 private:
  static constexpr std::int64_t half(int from, int to) { return to > from ? std::int64_t{1} << (to - 1) : 0; }
};

/// Smallest r with r² ≥ d2.
int root_up(std::int64_t d2);

/// What steps along one axis add to values of type T.
template <class T>
struct Steps {
  using Number = std::conditional_t<sizeof(T) == 8, double, std::int64_t>;
  const T* at = nullptr;                 ///< at[d]: from a candidate to an element d behind it, −n ≤ d ≤ n
  const std::uint32_t* twice = nullptr;  ///< 16 bits in both halves, which is cheaper to broadcast
  int square = 0;                        ///< as in Layout
  int multiple = 1;                      ///< units of a step
  std::int64_t offset = 0;               ///< at[d] has a part −d · offset
  bool keys = false;
  RealAxis real;

  /// Largest value with a distance of at most `reach`, short of "infinitely far".
  T limit(int reach) const {
    if (real.weight > 0) return static_cast<T>(std::min(std::pow(reach * real.unit, 2) * kRoundedUp, 0x1p50));
    const std::int64_t limit = ((static_cast<std::int64_t>(reach) * reach + 1) << square) - 1;
    return static_cast<T>(std::min<std::int64_t>(limit, static_cast<std::int64_t>(kNone<T>) - 1));
  }
  /// Most steps within values that differ by `rest`.
  int span(T rest) const {
    if (real.weight > 0) return static_cast<int>(std::sqrt(static_cast<double>(rest) / real.weight) * kRoundedUp);
    return root_up((static_cast<std::int64_t>(rest) + (std::int64_t{1} << square) - 1) >> square) / multiple;
  }
  /// Half by which the values of a candidate's neighbours may bend downwards so that it is still needed.
  T corner() const {
    if (real.weight > 0) return static_cast<T>(real.weight + real.tolerance);
    return static_cast<T>(std::min<Number>(bend() - 1 + keys, kMost));
  }
  /// What bounds distances to come: the squared distance in a value, or real distances in units.
  std::uint32_t told(T value) const {
    if (value >= kNone<T>) return kNoSite32;
    if (real.weight > 0) return real_told(static_cast<double>(value), real.unit);
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> square);
  }
  static std::uint32_t real_told(double squared, double unit) {
    return static_cast<std::uint32_t>(std::sqrt(squared) / unit * kRoundedUp) + 1;
  }
  /// Half the second difference of `at`.
  Number bend() const {
    if (real.weight > 0) return static_cast<Number>(real.weight);
    return static_cast<Number>((std::int64_t{multiple} * multiple) << square);
  }

  static constexpr Number kMost = sizeof(T) == 2 ? 0xFFFF : std::int64_t{1} << (sizeof(T) == 4 ? 30 : 52);
};

/// The same for the types that searches use.
struct AxisSteps {
  Steps<std::uint16_t> of16;
  Steps<std::uint32_t> of32;
  Steps<double> of64;

  template <class T>
  const Steps<T>& of() const {
    if constexpr (sizeof(T) == 2) return of16;
    else if constexpr (sizeof(T) == 4) return of32;
    else return of64;
  }
};

}  // namespace fathom::grid::cpu::plain
