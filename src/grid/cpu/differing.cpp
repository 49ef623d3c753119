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

/// Bit i: test(i's vector) holds for its lane.
template <class T, class Test>
HWY_INLINE std::uint32_t word_of(Test&& test) {
  const hn::CappedTag<T, kWord> d;
  std::uint32_t word = 0;
  for (int i = 0; i < kWord; i += static_cast<int>(hn::Lanes(d))) {
    std::uint8_t bits[sizeof(std::uint64_t)] = {};  // as many as StoreMaskBits may write
    hn::StoreMaskBits(d, test(d, i), bits);
    std::uint32_t lanes;
    std::memcpy(&lanes, bits, sizeof lanes);
    word |= lanes << i;
  }
  return word;
}

template <class T>
HWY_INLINE std::uint32_t compare_word(const T* a, const T* b) {
  return ~word_of<T>([=](auto d, int i) { return hn::Eq(hn::LoadU(d, a + i), b ? hn::LoadU(d, b + i) : hn::Zero(d)); });
}

template <class T>
HWY_INLINE std::uint32_t touching_word(const T* a, const T* b, std::uint32_t background) {
  return ~(background | word_of<T>([=](auto d, int i) {
             const auto second = hn::LoadU(d, b + i);
             return hn::Or(hn::Eq(hn::LoadU(d, a + i), second), hn::Eq(second, hn::Zero(d)));
           }));
}

/// Calls visitor(w, a, b) with the elements of word w, zeros behind the end.
template <class T, class Visitor>
HWY_INLINE void each_word(const std::byte* first, const std::byte* second, std::int64_t count, Visitor&& visitor) {
  const T* a = reinterpret_cast<const T*>(first);
  const T* b = reinterpret_cast<const T*>(second);
  std::int64_t w = 0;
  for (; count >= kWord; count -= kWord, a += kWord) {
    visitor(w++, a, b);
    if (b) b += kWord;
  }
  if (count <= 0) return;
  T rest[2][kWord] = {};
  std::copy_n(a, count, rest[0]);
  if (b) std::copy_n(b, count, rest[1]);
  visitor(w, rest[0], rest[1]);
}

template <class T>
HWY_NOINLINE void compare(const std::byte* first, const std::byte* second, std::int64_t count, std::uint32_t* words) {
  each_word<T>(first, second, count, [=](std::int64_t w, const T* a, const T* b) { words[w] = compare_word(a, b); });
}

template <class T>
HWY_NOINLINE void touch(const std::byte* first, const std::byte* second, const std::uint32_t* background,
                        std::int64_t count, std::uint32_t* words) {
  each_word<T>(first, second, count,
               [=](std::int64_t w, const T* a, const T* b) { words[w] = touching_word(a, b, background[w]); });
}

/// Calls visitor(TypeTag<T>{}) with a type of the same size, whose equality is the same.
template <class Visitor>
void visit_comparable(DType dtype, Visitor&& visitor) {
  if (dtype == DType::float32) return visitor(TypeTag<float>{});
  if (dtype == DType::float64) return visitor(TypeTag<double>{});
  switch (size_of(dtype)) {
    case 1: return visitor(TypeTag<std::uint8_t>{});
    case 2: return visitor(TypeTag<std::uint16_t>{});
    case 4: return visitor(TypeTag<std::uint32_t>{});
    default: return visitor(TypeTag<std::uint64_t>{});
  }
}

void compare_any(DType dtype, const std::byte* a, const std::byte* b, std::int64_t count, std::uint32_t* words) {
  visit_comparable(dtype, [=](auto tag) { compare<typename decltype(tag)::type>(a, b, count, words); });
}
void touch_any(DType dtype, const std::byte* a, const std::byte* b, const std::uint32_t* background, std::int64_t count,
               std::uint32_t* words) {
  visit_comparable(dtype, [=](auto tag) { touch<typename decltype(tag)::type>(a, b, background, count, words); });
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void differing(DType dtype, const std::byte* a, const std::byte* b, std::int64_t count, std::uint32_t* words,
               InstructionSet set) {
  FATHOM_COMPILED_FOR(set, compare_any)(dtype, a, b, count, words);
}
void touching(DType dtype, const std::byte* a, const std::byte* b, const std::uint32_t* background, std::int64_t count,
              std::uint32_t* words, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, touch_any)(dtype, a, b, background, count, words);
}

}  // namespace fathom::grid::cpu
#endif
