#include "grid/cpu/differing.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/differing.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kWord = 32;

template <class T>
HWY_INLINE std::uint32_t compare_word(const T* a, const T* b) {
  const hn::CappedTag<T, kWord> d;
  std::uint32_t equal = 0;
  for (int i = 0; i < kWord; i += static_cast<int>(hn::Lanes(d))) {
    const auto second = b ? hn::LoadU(d, b + i) : hn::Zero(d);
    std::uint8_t bits[sizeof(std::uint64_t)] = {};  // as many as StoreMaskBits may write
    hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, a + i), second), bits);
    std::uint32_t lanes;
    std::memcpy(&lanes, bits, sizeof lanes);
    equal |= lanes << i;
  }
  return ~equal;
}

template <class T>
HWY_NOINLINE void compare(const std::byte* first, const std::byte* second, std::int64_t count, std::uint32_t* words) {
  const T* a = reinterpret_cast<const T*>(first);
  const T* b = reinterpret_cast<const T*>(second);
  for (; count >= kWord; count -= kWord, a += kWord) {
    *words++ = compare_word(a, b);
    if (b) b += kWord;
  }
  if (count <= 0) return;
  T rest[2][kWord] = {};
  std::copy_n(a, count, rest[0]);
  if (b) std::copy_n(b, count, rest[1]);
  *words = compare_word(rest[0], rest[1]);
}

void compare_any(DType dtype, const std::byte* a, const std::byte* b, std::int64_t count, std::uint32_t* words) {
  if (dtype == DType::float32) return compare<float>(a, b, count, words);
  if (dtype == DType::float64) return compare<double>(a, b, count, words);
  switch (size_of(dtype)) {
    case 1: return compare<std::uint8_t>(a, b, count, words);
    case 2: return compare<std::uint16_t>(a, b, count, words);
    case 4: return compare<std::uint32_t>(a, b, count, words);
    default: return compare<std::uint64_t>(a, b, count, words);
  }
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void differing(DType dtype, const std::byte* a, const std::byte* b, std::int64_t count, std::uint32_t* words,
               InstructionSet set) {
  FATHOM_COMPILED_FOR(set, compare_any)(dtype, a, b, count, words);
}

}  // namespace fathom::grid::cpu
#endif
