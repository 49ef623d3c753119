// Place of a cell along a Hilbert curve, without branches, so that loops over points become vector code.
// Source: J. Skilling, "Programming the Hilbert curve", 2004. Cost: O(bits · axes) operations per cell.
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom::points {

/// Bits of a cell along each axis: keys have 30 bits in 2D and 3D.
inline constexpr int hilbert_bits(int axes) { return 30 / axes; }

/// @param cell  one number below 2^hilbert_bits(Axes) per axis; spent
template <int Axes>
FATHOM_HD inline std::uint32_t hilbert_key(std::uint32_t (&cell)[Axes]) {
  constexpr int kBits = hilbert_bits(Axes);
  for (int bit = kBits - 1; bit > 0; --bit) {
    const std::uint32_t low = (1u << bit) - 1;
    for (int k = 0; k < Axes; ++k) {
      const std::uint32_t set = 0u - (cell[k] >> bit & 1u);  // all ones: invert the lower bits; else exchange them
      const std::uint32_t exchanged = (cell[0] ^ cell[k]) & low & ~set;
      cell[k] ^= exchanged;
      cell[0] ^= exchanged | (low & set);
    }
  }
  for (int k = 1; k < Axes; ++k) cell[k] ^= cell[k - 1];  // Gray code
  std::uint32_t flip = 0;
  for (int bit = kBits - 1; bit > 0; --bit) flip ^= (0u - (cell[Axes - 1] >> bit & 1u)) & ((1u << bit) - 1);
  std::uint32_t key = 0;
  for (int bit = kBits - 1; bit >= 0; --bit)
    for (int k = 0; k < Axes; ++k) key = key << 1 | ((cell[k] ^ flip) >> bit & 1u);
  return key;
}

}  // namespace fathom::points
