// Roots of integers, faster than the compiler's and rounded as correctly.
#pragma once

#include <cstdint>

namespace fathom::grid::cuda {

/// 1/√d2, roughly. Nothing is so small that it could be flushed to 0; without .ftz this would take three instructions
/// more.
__device__ inline float inverse_root(float d2) {
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0,%1;" : "=f"(inverse) : "f"(d2));
  return inverse;
}

/// √d2 for integers below 2²⁴, correctly rounded: the estimate and one step of Newton's in fused arithmetic. With
/// `less` = ½ √d2 − ½ for 1 ≤ d2 < 2²¹, rounded as in double and then to float: the estimate less a half is exact.
__device__ inline float small_root(float d2, float less = 0) {
  const float inverse = inverse_root(d2 + 1e-30f), root = d2 * inverse;
  return fmaf(fmaf(-root, root, d2), 0.5f * inverse, root - less);
}

/// Integers below 2²³, and 2²³: the last bits of floats then. Enough where differences are asked for.
__device__ inline float shifted_float(std::uint32_t integer) { return __uint_as_float(integer | 0x4B000000u); }

/// Integers below 2²³: faster than a conversion.
__device__ inline float small_float(std::uint32_t integer) { return shifted_float(integer) - 8388608.0f; }

/// An integer in double, which is faster than a conversion, too.
__device__ inline double exact_double(std::uint32_t integer) {
  return __hiloint2double(0x43300000, static_cast<int>(integer)) - 0x1p52;
}

/// By which integers are multiplied, rounded as in double: 2⁵² times it are exact, and taken off as it is rounded.
class IntegerFactor {
 public:
  IntegerFactor() = default;
  __host__ __device__ explicit IntegerFactor(double factor) : factor_(factor), behind_(-0x1p52 * factor) {}
  __device__ friend double operator*(const IntegerFactor& f, std::uint32_t integer) {
    return fma(f.factor_, __hiloint2double(0x43300000, static_cast<int>(integer)), f.behind_);
  }

 private:
  double factor_, behind_;
};

/// √d2 for squares of integers, below 2²³.
__device__ inline int root_of_square(std::uint32_t d2) {
  const float inverse = inverse_root(small_float(d2) + 1e-30f);
  return __float_as_int(fmaf(small_float(d2), inverse, 8388608.0f)) - 0x4B000000;
}

/// √d2 or −√d2 for squares of integers below 2²².
__device__ inline int signed_root_of_square(std::uint32_t d2, bool is_positive) {
  constexpr float kMiddle = 12582912.0f;  // 1.5 · 2²³: integers on both sides of it are the last bits
  float root;
  asm("sqrt.approx.ftz.f32 %0,%1;" : "=f"(root) : "f"(small_float(d2)));
  const unsigned turned = __float_as_uint(root) ^ unsigned { is_positive } << 31;
  return __float_as_int(kMiddle - __uint_as_float(turned)) - __float_as_int(kMiddle);
}

inline constexpr std::uint32_t kLeastLarge = 1u << 16;

/// √d2, correctly rounded, from kLeastLarge on. From 2²⁴ on an integer is no float, and the root of the nearest one is
/// up to 0.36 of a float's steps off: what the last step of Newton's rounds down is right, or one step too low. With R
/// the 24 bits of that and d2 as many places up as R² is, the root lies nearest to R while R² + R − d2 is not negative.
/// That is all that is left, and it fits 32 bits, so that nothing above them need be computed.
__device__ inline float large_root(std::uint32_t d2) {
  const auto nearest = static_cast<float>(d2);
  const float inverse = inverse_root(nearest), estimate = nearest * inverse;
  const std::uint32_t bits = __float_as_uint(__fmaf_rd(fmaf(-estimate, estimate, nearest), 0.5f * inverse, estimate));
  const std::uint32_t root = (bits & 0x7FFFFFu) | 0x800000u, places = 2 * (23 + 127 - (bits >> 23));
  const std::uint32_t left = root * root + root - (d2 << places);
  return __uint_as_float(bits + (left >> 31));
}

/// √d2, correctly rounded.
__device__ inline float root_of(std::uint32_t d2) {
  return d2 < 1u << 24 ? small_root(static_cast<float>(d2)) : large_root(d2);
}

/// √squares, rounded to double and then to float, of positive numbers that are far from the ends of double's range.
/// Newton's steps lead to all but the last of double's bits; these are asked for only where they may matter to a float.
/// The first estimate has 20 bits, so that one step is less than 2¹⁴ of double's last places off; two are taken where
/// many roots are computed at once, as one in doubt costs all of them.
template <int kCount>
__device__ inline void roots_of(const double (&squares)[kCount], float (&roots)[kCount]) {
  constexpr bool kOneStep = kCount <= 2;
  constexpr unsigned kBehind = 1u << 29, kDoubt = kOneStep ? 1u << 14 : 1u << 10;  // of the bits behind a float's
  bool in_doubt = false;
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    double inverse;
    asm("rsqrt.approx.ftz.f64 %0,%1;" : "=d"(inverse) : "d"(squares[j]));
    const double half = 0.5 * inverse;
    double root = squares[j] * inverse;
    root = fma(fma(-root, root, squares[j]), half, root);
    if constexpr (!kOneStep) root = fma(fma(-root, root, squares[j]), half, root);
    const unsigned behind = static_cast<unsigned>(__double2loint(root)) & (kBehind - 1);
    in_doubt |= behind - (kBehind / 2 - kDoubt) < 2 * kDoubt;
    roots[j] = static_cast<float>(root);
  }
  if (!in_doubt) return;
#pragma unroll
  for (int j = 0; j < kCount; ++j) roots[j] = static_cast<float>(sqrt(squares[j]));
}

/// √d2 − ½, rounded as in double and then to float, for d2 ≥ 1.
__device__ inline float root_to_face(std::uint32_t d2) {
  if (d2 < 1u << 21) return small_root(static_cast<float>(d2), 0.5f);
  return static_cast<float>(sqrt(static_cast<double>(d2)) - 0.5);
}

}  // namespace fathom::grid::cuda
