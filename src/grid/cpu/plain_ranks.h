// Near distances with real spacings in 8 bits: their ranks.
//
// With any spacing, the squared distances of all sites that lie a few rows and columns away are known beforehand. A
// byte says which of them, in rising order, so that the lesser of two bytes is that of the nearer site. What a way along
// a row makes of the distance along its column is then no sum but a look-up, and so is a distance.
//
// Source: Fathom's. Cost: some thousand steps for a table; a look-up of 16 bytes in registers in place of a sum.
#pragma once

#include <cstdint>

#include "grid/cpu/plain_values.h"

namespace fathom::grid::cpu::plain {

struct Ranks {
  static constexpr int kRows = 16;  ///< of steps; the last one: no site, or too far
  static constexpr int kColumns = 256;
  static constexpr std::uint8_t kUnranked = 255;

  std::uint8_t at[kColumns][kRows];  ///< rank of a site so many columns away, and so many rows
  float distance[kColumns];          ///< by rank
  std::uint32_t told[kColumns];      ///< bounds on them, in units, by rank
  int span;                          ///< columns within which ranks are found
  int reach;                         ///< up to which all distances have a rank, in units
};

void fill(const RealAxis& slow, const RealAxis& fast, Ranks& ranks);

}  // namespace fathom::grid::cpu::plain
