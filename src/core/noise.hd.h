// Random values by what they are for, not by how many were drawn: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)
// of the seed, row and column. Shared by host and device.
#pragma once

#include <cstdint>

#include "core/root.hd.h"

namespace fathom {

FATHOM_HD inline std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

FATHOM_HD inline std::uint64_t noise_row(std::uint64_t seed, std::int64_t y) {
  return mixed(mixed(seed) + static_cast<std::uint64_t>(y));
}
FATHOM_HD inline std::uint64_t noise_bits(std::uint64_t row, std::int64_t x) {
  return mixed(row + static_cast<std::uint64_t>(x) * 0x9e3779b97f4a7c15u);
}

}  // namespace fathom
