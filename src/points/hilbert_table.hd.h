// The same place along a Hilbert curve (hilbert.hd.h), two bits of each axis at a time: how the curve runs through a
// cube is one of few ways, and a table tells for each of them, and each of the cube's 4 × 4 × 4 cells, the cell's place
// and how the curve runs through it. Cost: a look-up for two bits of all axes.
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom::points {

template <int kAxes>
class HilbertTable {
  static constexpr int kPlaceBits = 2 * kAxes;
  static constexpr unsigned kPlace = (1u << kPlaceBits) - 1;

 public:
  /// For each way its cells, whose indices have two bits for each axis: the place and, above it, the way.
  static constexpr int kEntries = (kAxes == 2 ? 8 : 48) << kPlaceBits;
  std::uint16_t entries[kEntries] = {};

  constexpr HilbertTable() {
    int number_of[144] = {}, ways = 1;  // numbers from 1 on
    Way known[kEntries >> kPlaceBits] = {};
    for (int k = 0; k < kAxes; ++k) known[0].axis[k] = k;
    number_of[known[0].code()] = 1;
    for (int number = 0; number < ways; ++number)
      for (unsigned cell = 0; cell <= kPlace; ++cell) {
        Way way = known[number];
        unsigned place = way.enter(cell >> 1) << kAxes;
        place |= way.enter(cell);
        int& next = number_of[way.code()];
        if (next == 0) known[(next = ++ways) - 1] = way;
        entries[static_cast<unsigned>(number) << kPlaceBits | cell] =
            static_cast<std::uint16_t>(static_cast<unsigned>(next - 1) << kPlaceBits | place);
      }
  }

  /// @tparam kBits    of each axis: an even number
  /// @param entries  those of a table, or a copy
  template <int kBits, class Key>
  FATHOM_HD static Key key(const std::uint16_t* entries, const std::uint32_t (&cell)[kAxes]) {
    static_assert(kBits % 2 == 0);
    Key key = 0;
    unsigned entry = 0;
    for (int bit = kBits - 2; bit >= 0; bit -= 2) {
      unsigned at = 0;
      for (int k = 0; k < kAxes; ++k) at = at << 2 | (cell[k] >> bit & 3);
      entry = entries[(entry & ~kPlace) | at];
      key = key << kPlaceBits | (entry & kPlace);
    }
    return key;
  }

 private:
  /// Which axes have changed places, which of them are inverted, and whether all places are.
  struct Way {
    int axis[kAxes] = {};
    unsigned inverted[kAxes] = {}, flipped = 0;

    constexpr int code() const {
      int code = axis[0] * 3 + axis[1];
      for (int k = 0; k < kAxes; ++k) code = code * 2 + static_cast<int>(inverted[k]);
      return code * 2 + static_cast<int>(flipped);
    }

    /// Goes on into a half of the cube along each axis, the lower of the two bits that `cell` has for it.
    /// @returns its place
    constexpr unsigned enter(unsigned cell) {
      unsigned half[kAxes] = {}, gray = 0, place = 0;
      for (int k = 0; k < kAxes; ++k) {
        half[k] = (cell >> 2 * (kAxes - 1 - axis[k]) & 1) ^ inverted[k];
        gray ^= half[k];
        place = place << 1 | (gray ^ flipped);
      }
      flipped ^= gray;
      for (int k = 0; k < kAxes; ++k) {
        if (half[k] != 0) inverted[0] ^= 1;
        else exchange(k);
      }
      return place;
    }
    constexpr void exchange(int k) {
      const int first = axis[0];
      const unsigned first_inverted = inverted[0];
      axis[0] = axis[k], inverted[0] = inverted[k];
      axis[k] = first, inverted[k] = first_inverted;
    }
  };
};

}  // namespace fathom::points
