// Arithmetic on single elements while they are read: byte order, half floats, luminance.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace fathom::io {

template <class T>
T load(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class T>
T swap_bytes(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    auto bits = std::bit_cast<Bits>(value);
    if constexpr (sizeof(T) == 2) bits = __builtin_bswap16(bits);
    else if constexpr (sizeof(T) == 4) bits = __builtin_bswap32(bits);
    else bits = __builtin_bswap64(bits);
    return std::bit_cast<T>(bits);
  }
}

/// Swaps the bytes of `count` elements of `size` bytes in place.
inline void swap_all(std::byte* data, std::size_t count, std::size_t size) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < count; ++i) {
      const T swapped = swap_bytes(load<T>(data + i * sizeof(T)));
      std::memcpy(data + i * sizeof(T), &swapped, sizeof(T));
    }
  };
  if (size == 2) run(std::uint16_t{0});
  if (size == 4) run(std::uint32_t{0});
  if (size == 8) run(std::uint64_t{0});
}

/// Samples of 1, 2 and 4 bits, the highest bits of a byte first, as the table has them.
/// @param first  sample of the row to begin with
inline void unpack_bits(const std::byte* row, std::size_t first, std::size_t count, int bits,
                        const std::array<std::uint8_t, 16>& table, std::uint8_t* to) {
  const unsigned mask = (1u << bits) - 1;
  const auto per_byte = static_cast<std::size_t>(8 / bits);
  for (std::size_t i = first; i < first + count; ++i) {
    const auto byte = std::to_integer<unsigned>(row[i / per_byte]);
    const unsigned shift = 8 - static_cast<unsigned>(bits) * (static_cast<unsigned>(i % per_byte) + 1);
    *to++ = table[(byte >> shift) & mask];
  }
}

/// Eight bool a byte, the first one highest; the last byte is filled up with zeros.
inline void pack_bits(const std::byte* from, std::size_t count, std::byte* to) {
  std::fill_n(to, (count + 7) / 8, std::byte{0});
  for (std::size_t x = 0; x < count; ++x) to[x / 8] |= (from[x] & std::byte{1}) << (7 - x % 8);
}

/// Any byte but 0 means true in most files, yet a C++ bool must be 0 or 1.
inline void make_bools(std::byte* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) data[i] = std::byte{data[i] != std::byte{0}};
}

/// IEEE 754 binary16 to binary32; exact.
inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1f;
  const std::uint32_t mantissa = half & 0x3ff;
  if (exponent == 0) {  // zero and subnormal: mantissa · 2⁻²⁴
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 31 ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

/// Gray value of a colour, Rec. 601: 0.299 R + 0.587 G + 0.114 B. For integers the weights are 19595, 38470 and 7471
/// of 65536, rounded half up, so that a gray (v, v, v) stays v; alpha plays no part.
template <class T>
T luminance(T red, T green, T blue) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(0.299 * static_cast<double>(red) + 0.587 * static_cast<double>(green) +
                          0.114 * static_cast<double>(blue));
  } else {
    static_assert(sizeof(T) <= 4);
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint64_t, std::uint32_t>>;
    const Wide sum = Wide{19595} * static_cast<Wide>(red) + Wide{38470} * static_cast<Wide>(green) +
                     Wide{7471} * static_cast<Wide>(blue) + Wide{32768};
    return static_cast<T>(sum >> 16);
  }
}

}  // namespace fathom::io
