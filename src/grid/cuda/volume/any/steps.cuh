// What lies between the passes of volumes with any spacings: how many steps it is to the site that is nearest in the
// same plane, in a word. Its square in double, as the CPU has it, follows from these; where sites are near, no square
// in double is asked for at all.
//
// There, passes search in keys: squares in fixed point, and behind them steps. What a step adds along each axis is a
// number of a table, so that keys of steps along several axes add up, and the least key is of the nearest site – but
// for sites whose squares are about as large. Which these are follows from the spacings alone: tables say of all near
// sites where another one with no lesser key may be nearer. There, and where sites are far, squares in double decide.
//
// In doubt is a distance, not a square: two squares that are equal as real numbers may differ in double's last bit, yet
// hardly ever in float's. In a plane that is asked for all distances from it that there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/output/limits.cuh"
#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Keys with so many bits for steps behind the square: of up to kSteps steps of the least spacing, whose squares take
/// kPlaces binary places. Two of them do not wrap when they add up.
/// @tparam kNearSteps  from so many of these on, sites are not near
template <int kStepBits, int kSquareBits, int kMostSteps, int kNearSteps = kMostSteps>
struct Keys {
  static constexpr int kBits = kStepBits, kSteps = kMostSteps, kPlaces = kSquareBits, kNear = kNearSteps;
  static constexpr std::uint32_t kEnd =  ///< and more: not near
      std::min<std::uint64_t>(std::uint64_t{kNear * kNear} << (kPlaces + kBits), (1u << 31) - (1u << kBits));

  std::uint32_t of[kSteps + 2];  ///< so many steps along an axis; the last is kEnd

  /// @param ratio  of the axis' squared spacing to the least
  /// @param step   what is added behind the square
  static Keys along(double ratio, std::uint32_t step) {
    Keys keys;
    for (std::uint32_t i = 0; i <= kSteps + 1; ++i) keys.of[i] = along(ratio, step, i);
    return keys;
  }
  /// Of i steps.
  static __host__ __device__ std::uint32_t along(double ratio, std::uint32_t step, std::uint32_t i) {
    const double square = std::rint(ratio * (1 << kPlaces) * (i * i));
    const bool is_near = square < (kEnd >> kBits);
    return is_near ? (static_cast<std::uint32_t>(square) << kBits) + i * step : kEnd;
  }
  /// Of so many steps of the least spacing.
  static __host__ __device__ constexpr std::uint32_t of_steps(std::uint32_t steps) {
    return steps * steps << (kPlaces + kBits);
  }
  static __host__ __device__ int square_of(std::uint32_t key) { return static_cast<int>(key >> kBits); }
  /// A site with a key that is larger by more is no nearer: rounding moves a square by half a place for each axis.
  static constexpr int kSlack = 3;
  static __device__ bool may_be_nearer(int difference) { return difference >= 0 && difference <= kSlack; }
  /// The steps along an axis whose square this is, roughly. @param inverse  1 / the axis' ratio
  static __device__ int steps_of(int square, float inverse) {
    constexpr float kMagic = 8388608.0f;  // 2²³: integers below are its last bits
    const float one = inverse * (4.0f / (1 << kPlaces));
    const float shifted = __uint_as_float(static_cast<unsigned>(square) >> 2 | 0x4B000000u);
    float root;
    asm("sqrt.approx.ftz.f32 %0,%1;" : "=f"(root) : "f"(fmaf(shifted, one, -kMagic * one)));
    return __float_as_int(root + kMagic) - 0x4B000000;
  }
};
using PlaneKeys = Keys<6, 13, 64>;       ///< of sites in a plane; behind the square: steps along y
using VolumeKeys = Keys<9, 12, 24, 22>;  ///< of all sites; behind the square: the number of the steps along y and x
inline constexpr int kPairs = 1 << VolumeKeys::kBits;
static_assert(VolumeKeys::kNear * VolumeKeys::kNear <= kPairs);
/// The number of a near pair of steps.
inline __host__ __device__ int pair_of(int y, int x) { return y * VolumeKeys::kNear + x; }
inline constexpr int kPlanePairs = PlaneKeys::kSteps * PlaneKeys::kSteps;

__device__ inline std::uint32_t squared(int steps) {
  const auto n = static_cast<std::uint32_t>(steps);
  return n * n;
}

/// Spacings and what follows from them.
struct AnySpacing {
  double z, y, x;  ///< squares
  float scale;     ///< of distances
  double least_in_plane = std::min(y, x), least = std::min(z, least_in_plane);
  double y_in_plane = y / least_in_plane, x_in_plane = x / least_in_plane;  ///< to the least
  /// Of the ratios to the least.
  float inverse_z = static_cast<float>(least / z), inverse_x = static_cast<float>(least_in_plane / x);
  /// One square in halves of another.
  float halves_z_of_y = static_cast<float>(2 * y / z), halves_z_of_x = static_cast<float>(2 * x / z),
        halves_y_of_x = static_cast<float>(2 * x / y);
  IntegerFactor times_z{z}, times_y{y}, times_x{x};
  PlaneKeys plane_y = PlaneKeys::along(y_in_plane, 1);
  VolumeKeys volume_z = VolumeKeys::along(z / least, 0);

  /// Keys of i steps in a plane, where lanes ask for different ones: to compute them takes less time than to copy them
  /// from where constants are.
  __device__ std::uint32_t plane_key_y(unsigned i) const { return PlaneKeys::along(y_in_plane, 1, i); }
  __device__ std::uint32_t plane_key_x(unsigned i) const { return PlaneKeys::along(x_in_plane, 0, i); }
  /// As the CPU adds them up.
  __device__ double square(int y_steps, int x_steps) const {
    return times_x * squared(x_steps) + times_y * squared(y_steps);
  }
  __device__ double square(int z_steps, int y_steps, int x_steps) const {
    return square(y_steps, x_steps) + times_z * squared(z_steps);
  }
};

/// How many squares of steps there are in double along lines of so many rows, to both sides, in a table: so a row that
/// is offered to eight takes eight loads that need not wait for each other, in place of eight products of integers that
/// are made doubles first. That of no steps is the one with the number of rows. Behind a line's last row, a group of
/// eight may end, and a warp have one more.
inline __host__ __device__ constexpr int step_squares(int rows) { return 2 * rows + 16; }

/// What is found out about near sites before all else (volume/any/tabulate.cuh).
struct alignas(double) StepTables {
  std::uint32_t pair[kPairs];                  ///< VolumeKeys by their last bits: of a pair of steps
  float distance[VolumeKeys::kNear * kPairs];  ///< [steps along z][as above]; less than 0: in doubt
  std::uint32_t plane[kPlanePairs];            ///< [steps along y][along x]: words of Steps, or kInDoubt

  /// step_squares() along z, and along y, lie behind the rest.
  static std::size_t bytes(int nz, int ny) {
    return sizeof(StepTables) + static_cast<std::size_t>(step_squares(nz) + step_squares(ny)) * sizeof(double);
  }
  __device__ double* squares() { return reinterpret_cast<double*>(this + 1); }
  __device__ const double* along_z() const { return reinterpret_cast<const double*>(this + 1); }
  __device__ const double* along_y(int nz) const { return along_z() + step_squares(nz); }
};

/// The steps to a site in the same plane. Far words hold both with their signs, if these are asked for.
struct Steps {
  static constexpr int kFarBits = 12;
  static constexpr unsigned kFar = 1u << 31, kNone = kFar | 1u << (2 * kFarBits);
  static constexpr unsigned kAtSite = 0;                           ///< of the first near pair
  static constexpr unsigned kHere = kFar, kInDoubt = 0xFFFFFFFFu;  ///< no word is as large
  static_assert(kLongestKeyed <= 1 << (kFarBits - 1));

  int y, x;

  /// @param word  a far one
  __device__ explicit Steps(unsigned word) : y(at(word >> kFarBits)), x(at(word)) {}
  static __device__ unsigned far_word_of(int y, int x) {
    constexpr unsigned kAll = (1u << kFarBits) - 1;
    return kFar | (static_cast<unsigned>(y) & kAll) << kFarBits | (static_cast<unsigned>(x) & kAll);
  }
  static __device__ unsigned word_of(const StepTables& tables, int y, int x) {
    return max(y, x) < VolumeKeys::kNear ? __ldg(tables.pair + pair_of(y, x)) : far_word_of(y, x);
  }
  /// The far word of the same steps.
  static __device__ unsigned far(unsigned word) {
    const auto pair = static_cast<int>(word % kPairs);
    return word >= kFar ? word : far_word_of(pair / VolumeKeys::kNear, pair % VolumeKeys::kNear);
  }

 private:
  static __device__ int at(unsigned word) { return static_cast<int>(word << (32 - kFarBits)) >> (32 - kFarBits); }
};

__device__ inline float root_of_exact(double square) { return static_cast<float>(sqrt(square)); }

/// What windows compare: along y keys, along z words of steps, which are no less than their end where they are no keys.
/// To keys none wraps when it is added.
template <class KeysOfLine>
struct WindowKeys : WindowSites {
  static constexpr unsigned kNone = std::is_same_v<KeysOfLine, VolumeKeys> ? Steps::kNone : KeysOfLine::kEnd;
  static constexpr unsigned kSquare = 1, kStep = 0;
  static_assert(kNone >= KeysOfLine::kEnd && KeysOfLine::kEnd + kNone > kNone);

  const KeysOfLine& keys;  ///< of steps along the line

  __device__ explicit WindowKeys(const KeysOfLine& k) : keys(k) {}
  __device__ unsigned square_of_steps(int steps) const { return keys.of[steps]; }
  static __device__ unsigned largest(const unsigned* eight) { return greatest_of_eight(eight); }
};

template <class KeysOfLine>
using KeyRows = WindowRows<WindowKeys<KeysOfLine>>;

}  // namespace fathom::grid::cuda::volume
