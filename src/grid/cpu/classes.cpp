#include "grid/cpu/classes.h"

#include <array>
#include <cstring>

#include "grid/cpu/differing.h"
#include "grid/cpu/site_mask.h"

namespace fathom::grid::cpu {

namespace {

using Bytes = std::array<std::uint8_t, 32>;

std::uint32_t site_bits(DType dtype, const Sites& sites, const std::byte* elements, int count) {
  Bytes bytes{};
  site_mask(elements, dtype, count, sites, bytes.data());
  return pack_bits(bytes.data());
}

constexpr Sites kBackground{Sites::Rule::zero, 0};

}  // namespace

std::uint32_t pack_bits(const std::uint8_t* bytes) {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + 8 * i, 8);
    // Moves bit 8k to bit 56 + k: byte k's flag lands in the top byte, no two terms meet.
    bits |= static_cast<std::uint32_t>((eight * 0x0102040810204080u) >> 56) << (8 * i);
  }
  return bits;
}

Classes::Classes(const Problem& problem, InstructionSet instruction_set)
    : dtype_(problem.input.dtype()),
      set_(instruction_set),
      sites_(problem.sites),
      by_label_(problem.sites.rule == Sites::Rule::labels),
      boundaries_(by_label_ || problem.signed_distance),
      pins_(by_label_ && !problem.signed_distance) {}

void Classes::row_bytes(const std::byte* row, std::int64_t count, std::uint8_t* bytes) const {
  if (!by_label_) return site_mask(row, dtype_, count, sites_, bytes);
  bytes[0] = 0;
  cpu::flag_differing(dtype_, row, row + size_of(dtype_), count - 1, bytes + 1, set_);
}

bool Classes::differ(const std::byte* a, const std::byte* b) const {
  std::array<std::uint32_t, kRun / 32> words;
  differing(a, b, 1, words.data());
  return words[0] != 0;
}

void Classes::flag_differing(const std::byte* a, const std::byte* b, std::int64_t count, std::uint8_t* flags) const {
  if (by_label_) return cpu::flag_differing(dtype_, a, b, count, flags, set_);
  std::array<std::uint8_t, kRun> others{};
  site_mask(a, dtype_, count, sites_, flags);
  site_mask(b, dtype_, count, sites_, others.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) flags[i] ^= others[i];
}

void Classes::differing(const std::byte* a, const std::byte* b, int count, std::uint32_t* words) const {
  std::array<std::uint8_t, kRun> flags{};
  flag_differing(a, b, count, flags.data());
  for (int w = 0; w < kRun / 32; ++w) words[w] = pack_bits(flags.data() + 32 * w);
}

std::uint32_t Classes::background(const std::byte* elements, int count) const {
  return site_bits(dtype_, kBackground, elements, count);
}

void Classes::inside(const std::byte* elements, std::int64_t count, std::uint8_t* bytes) const {
  const bool nonzero = by_label_ || sites_.rule == Sites::Rule::zero;
  site_mask(elements, dtype_, count, nonzero ? Sites{Sites::Rule::nonzero, 0} : sites_, bytes);
}

bool Classes::border_is_inside() const { return !by_label_ && sites_.rule != Sites::Rule::zero; }

}  // namespace fathom::grid::cpu
