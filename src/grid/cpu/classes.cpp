#include "grid/cpu/classes.h"

#include <algorithm>
#include <array>

#include "grid/cpu/differing.h"
#include "grid/cpu/site_mask.h"

namespace fathom::grid::cpu {

Classes::Classes(const Problem& problem, InstructionSet instruction_set)
    : dtype_(problem.input.dtype()),
      set_(instruction_set),
      sites_(problem.sites),
      by_label_(problem.sites.rule == Sites::Rule::labels),
      boundaries_(by_label_ || problem.signed_distance),
      pins_(by_label_ && !problem.signed_distance) {}

void Classes::row_bits(const std::byte* row, std::int64_t count, const std::uint32_t* background,
                       std::uint32_t* words) const {
  if (!by_label_) return site_bits(row, count, words);
  std::uint32_t before = 0;
  const std::int64_t end = (count + 31) / 32;
  const std::byte* next = row + size_of(dtype_);
  words[end - 1] = 0;  // there may be no comparison in the last word
  if (pins_) touching(row, next, background, count - 1, words);
  else differing(row, next, count - 1, words);
  for (std::int64_t i = 0; i < end; ++i) {
    std::uint32_t behind = words[i];  // bit j: element j differs from element j + 1
    if (pins_) behind |= background[i] ^ (background[i] >> 1 | (i + 1 < end ? background[i + 1] : 0) << 31);
    if (i + 1 == end) behind &= (1u << (count - 1) % 32) - 1;
    words[i] = behind << 1 | before;
    before = behind >> 31;
  }
}

void Classes::site_bits(const std::byte* row, std::int64_t count, std::uint32_t* words) const {
  std::array<std::uint8_t, kRun> flags;
  const auto element = static_cast<std::int64_t>(size_of(dtype_));
  for (std::int64_t i = 0; i < count; i += kRun, words += kRun / 32) {
    const std::int64_t some = std::min<std::int64_t>(kRun, count - i);
    site_mask(row + i * element, dtype_, some, sites_, flags.data());
    cpu::differing(DType::uint8, reinterpret_cast<const std::byte*>(flags.data()), nullptr, some, words, set_);
  }
}

bool Classes::differ(const std::byte* a, const std::byte* b) const {
  std::uint32_t word;
  differing(a, b, 1, &word);
  return word != 0;
}

void Classes::differing(const std::byte* a, const std::byte* b, std::int64_t count, std::uint32_t* words) const {
  if (by_label_) return cpu::differing(dtype_, a, b, count, words, set_);
  const auto element = static_cast<std::int64_t>(size_of(dtype_));
  std::array<std::uint32_t, kRun / 32> others;
  for (std::int64_t i = 0; i < count; i += kRun, words += kRun / 32) {
    const std::int64_t some = std::min<std::int64_t>(kRun, count - i);
    site_bits(a + i * element, some, words);
    site_bits(b + i * element, some, others.data());
    for (std::int64_t w = 0; w < (some + 31) / 32; ++w) words[w] ^= others[static_cast<std::size_t>(w)];
  }
}

void Classes::touching(const std::byte* a, const std::byte* b, const std::uint32_t* background, std::int64_t count,
                       std::uint32_t* words) const {
  cpu::touching(dtype_, a, b, background, count, words, set_);
}

void Classes::background(const std::byte* elements, std::int64_t count, std::uint32_t* words) const {
  cpu::differing(dtype_, elements, nullptr, count, words, set_);
  for (std::int64_t w = 0; w < (count + 31) / 32; ++w) words[w] = ~words[w];
}

bool Classes::is_background(const std::byte* element) const {
  std::uint32_t word;
  background(element, 1, &word);
  return word & 1;
}

void Classes::inside(const std::byte* elements, std::int64_t count, std::uint8_t* bytes) const {
  const bool nonzero = by_label_ || sites_.rule == Sites::Rule::zero;
  site_mask(elements, dtype_, count, nonzero ? Sites{Sites::Rule::nonzero, 0} : sites_, bytes);
}

bool Classes::border_is_inside() const { return !by_label_ && sites_.rule != Sites::Rule::zero; }

}  // namespace fathom::grid::cpu
