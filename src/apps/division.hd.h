// Quotients of indices by numbers that stay the same. Shared by host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "core/root.hd.h"

namespace fathom::apps {

/// Division of natural numbers by one from 1 to 2³⁰: of those below 2³¹ by a multiplication (Granlund & Montgomery
/// 1994), of others as it is.
struct Division {
  Division() = default;
  explicit Division(std::int64_t by)
      : divisor(by),
        shift(static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(by - 1)))),
        factor(static_cast<std::uint32_t>(
            (std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - divisor_bits()) / divisor_bits() + 1)) {}

  FATHOM_HD std::int32_t operator()(std::int32_t n) const {
    const auto whole = static_cast<std::uint32_t>(n);
    const auto part = static_cast<std::uint32_t>(std::uint64_t{factor} * whole >> 32);
    return static_cast<std::int32_t>((part + whole) >> shift);
  }
  FATHOM_HD std::int64_t operator()(std::int64_t n) const { return n / divisor; }

  std::int64_t divisor = 1;
  std::uint32_t shift = 0, factor = 1;

 private:
  std::uint64_t divisor_bits() const { return static_cast<std::uint64_t>(divisor); }
};

}  // namespace fathom::apps
