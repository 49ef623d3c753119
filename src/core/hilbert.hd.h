// Place of a cell along a Hilbert curve, in steps without branches, so that loops over cells become vector code.
// Source: J. Skilling, "Programming the Hilbert curve", 2004. Cost: O(bits · axes) operations per cell.
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom {

/// Bits of a cell along each axis: keys have 30 bits in 2D and 3D, long ones 60.
FATHOM_HD constexpr int hilbert_bits(int axes, int key_bits = 30) { return key_bits / axes; }

/// All ones where the bit is set, else 0.
FATHOM_HD inline std::uint32_t spread(std::uint32_t value, int bit) { return 0u - (value >> bit & 1u); }

/// Turns the curve below one bit: where it is set along an axis, the lower bits of the first axis are inverted, else
/// exchanged with that axis's. `first` and `other` may be the same.
FATHOM_HD inline void hilbert_turn(std::uint32_t& first, std::uint32_t& other, int bit) {
  const std::uint32_t low = (1u << bit) - 1, set = spread(other, bit);
  const std::uint32_t exchanged = (first ^ other) & low & ~set;
  other ^= exchanged;
  first ^= exchanged | (low & set);
}

/// What the last axis's Gray code flips in all axes.
template <int kBits>
FATHOM_HD inline std::uint32_t hilbert_flip(std::uint32_t last) {
  std::uint32_t flip = 0;
  for (int bit = kBits - 1; bit > 0; --bit) flip ^= spread(last, bit) & ((1u << bit) - 1);
  return flip;
}

/// Bits in runs of `half`, each followed by room for those of the other axes.
template <class Key>
FATHOM_HD constexpr Key spaced_runs(int axes, int half) {
  Key runs = 0;
  for (int bit = 0; bit < static_cast<int>(8 * sizeof(Key)); ++bit)
    if (bit % (half * axes) < half) runs |= Key{1} << bit;
  return runs;
}

/// Moves the bits of a number below 2^(2·kHalf) so far apart that those of other axes fit between them.
template <int kAxes, int kHalf, class Key>
FATHOM_HD inline Key spaced(Key value) {
  if constexpr (kHalf > 0) {
    constexpr Key kRuns = spaced_runs<Key>(kAxes, kHalf);
    return spaced<kAxes, kHalf / 2>((value | value << kHalf * (kAxes - 1)) & kRuns);
  }
  return value;
}

/// @tparam Key   std::uint32_t for kKeyBits 30, std::uint64_t for 60
/// @param cell  one number below 2^hilbert_bits(kAxes, kKeyBits) per axis; spent
template <int kAxes, int kKeyBits = 30, class Key = std::uint32_t>
FATHOM_HD inline Key hilbert_key(std::uint32_t (&cell)[kAxes]) {
  constexpr int kBits = hilbert_bits(kAxes, kKeyBits);
  for (int bit = kBits - 1; bit > 0; --bit)
    for (int k = 0; k < kAxes; ++k) hilbert_turn(cell[0], cell[k], bit);
  for (int k = 1; k < kAxes; ++k) cell[k] ^= cell[k - 1];  // Gray code
  const std::uint32_t flip = hilbert_flip<kBits>(cell[kAxes - 1]);
  constexpr int kHalf = kBits > 16 ? 16 : 8;
  Key key = 0;
  for (int k = 0; k < kAxes; ++k) key = key << 1 | spaced<kAxes, kHalf>(Key{cell[k] ^ flip});
  return key;
}

}  // namespace fathom
