#include "grid/cpu/roots.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/roots.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "grid/cpu/to_float-inl.h"
#include "grid/value.hd.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void put(bool stream, hn::Vec<D> values, D d, float* out) {
  stream ? hn::Stream(values, d, out) : hn::StoreU(values, d, out);
}

/// Whether whole vectors can be written past the caches, which takes aligned addresses.
HWY_INLINE bool can_stream(bool wanted, const float* out) {
  return wanted && reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
}

/// Elements of a line of the cache.
constexpr int kLine = 64 / sizeof(float);

/// Of `count` elements, those before the first that begins a line of the cache.
HWY_INLINE int before_line(const float* out, int count) {
  const auto place = reinterpret_cast<std::uintptr_t>(out) / sizeof(float);
  return std::min(count, static_cast<int>(-place % kLine));
}

template <class D32>
HWY_INLINE hn::Vec<D32> load_i32(D32 d, const std::int32_t* values) {
  return hn::LoadU(d, values);
}
template <class D32>
HWY_INLINE hn::Vec<D32> load_i32(D32 d, const std::uint16_t* values) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint16_t, D32>(), values));
}

/// Roots of integers below 2²⁴, which are exact in float, times a unit that is 1 unless spacings are unequal. Streams
/// whole lines of the cache. What is left of a line at either end is copied: a store, though masked, that reaches into
/// a streamed line costs more than all else. Zeros are passed over, since roots cost more than what is asked for them.
template <class T>
HWY_INLINE void small_roots(const T* squared, int count, float unit, bool stream, float* out) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<std::int32_t, decltype(df)> di;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(df));
  const auto scale = hn::Set(df, unit);
  const auto roots_at = [&](int i) {
    const auto values = load_i32(di, squared + i);
    if (hn::AllTrue(di, hn::Eq(values, hn::Zero(di)))) return hn::Zero(df);
    return hn::Mul(hn::Sqrt(hn::ConvertTo(df, values)), scale);
  };
  if (count < kStep) {
    for (int i = 0; i < count; ++i) out[i] = std::sqrt(static_cast<float>(squared[i])) * unit;
    return;
  }
  const auto copy = [&](int begin, int end) {  // at most a vector
    alignas(64) float roots[kStep];
    const int from = std::min(begin, count - kStep);
    hn::Store(roots_at(from), df, roots);
    std::copy_n(roots + (begin - from), end - begin, out + begin);
  };
  const int begin = stream ? before_line(out, count) : 0, step = stream ? kLine : kStep;
  const int end = begin + (count - begin) / step * step;
  for (int i = 0; i < begin; i += kStep) copy(i, std::min(begin, i + kStep));
  for (int i = begin; i < end; i += kStep) put(stream, roots_at(i), df, out + i);
  for (int i = end; i < count; i += kStep) copy(i, std::min(count, i + kStep));
}

/// Roots of any integers, through double.
HWY_INLINE void large_roots(const std::int32_t* squared, int count, float unit, float* out) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const hn::Rebind<std::int32_t, decltype(dd)> di;
  const int step = static_cast<int>(hn::Lanes(dd));
  const auto scale = hn::Set(df, unit);
  const auto none = hn::Set(dd, static_cast<double>(no_value<std::int32_t>())),
             infinity = hn::Set(dd, no_value<double>());
  int i = 0;
  for (; i + step <= count; i += step) {
    const auto d2 = hn::PromoteTo(dd, hn::LoadU(di, squared + i));
    const auto root = hn::Sqrt(hn::IfThenElse(hn::Lt(d2, none), d2, infinity));
    hn::StoreU(hn::Mul(to_float(dd, root), scale), df, out + i);
  }
  for (; i < count; ++i) {
    const auto root = static_cast<float>(std::sqrt(static_cast<double>(squared[i])));
    out[i] = squared[i] >= no_value<std::int32_t>() ? __builtin_inff() : root * unit;
  }
}

void roots_of_i32(const std::int32_t* squared, int count, float unit, bool stream, float* out) {
  constexpr std::int32_t kExactInFloat = 1 << 24;
  std::int32_t largest = 0;
  for (int i = 0; i < count; ++i) largest = squared[i] > largest ? squared[i] : largest;
  largest < kExactInFloat ? small_roots(squared, count, unit, stream, out) : large_roots(squared, count, unit, out);
}

void roots_of_u16(const RootRows& rows, float unit, bool stream) {
  for (int r = 0; r < rows.rows; ++r)
    small_roots(rows.squared + r * rows.pitch, rows.count, unit, stream, rows.out + r * rows.out_pitch);
}

void roots_of_f64(const double* squared, int count, bool stream, float* out) {
  stream = can_stream(stream, out);
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> df;
  const int step = static_cast<int>(hn::Lanes(dd));
  int i = 0;
  for (; i + step <= count; i += step) put(stream, to_float(dd, hn::Sqrt(hn::LoadU(dd, squared + i))), df, out + i);
  for (; i < count; ++i) out[i] = static_cast<float>(std::sqrt(squared[i]));
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void roots(const std::int32_t* squared, int count, float unit, bool stream, float* out, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, roots_of_i32)(squared, count, unit, stream, out);
}
void roots(const RootRows& rows, float unit, bool stream, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, roots_of_u16)(rows, unit, stream);
}
void roots(const double* squared, int count, bool stream, float* out, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, roots_of_f64)(squared, count, stream, out);
}
void finish_roots() { hwy::FlushStream(); }

}  // namespace fathom::grid::cpu
#endif
