// The arithmetic on single elements, over all values where there are few.
#include "support.h"

namespace fathom::io::test {
namespace {

/// Powers and fractions spelled out, apart from the code's bits.
double half_value(unsigned half) {
  const double sign = (half >> 15) != 0 ? -1 : 1;
  const int exponent = static_cast<int>((half >> 10) & 31);
  const double fraction = (half & 1023) / 1024.0;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
}

TEST(Convert, EveryHalf) {
  for (unsigned half = 0; half < 65536; ++half) {
    const float value = half_to_float(static_cast<std::uint16_t>(half));
    const double expected = half_value(half);
    if (std::isnan(expected)) EXPECT_TRUE(std::isnan(value));
    else EXPECT_EQ(value, expected);
    EXPECT_EQ(std::signbit(value), (half >> 15) != 0);
  }
}

TEST(Convert, LuminanceKeepsGray) {
  for (int v = 0; v < 256; ++v) {
    const auto gray = static_cast<std::uint8_t>(v);
    EXPECT_EQ(luminance(gray, gray, gray), gray);
  }
  for (int v = 0; v < 65536; ++v) {
    const auto gray = static_cast<std::uint16_t>(v);
    EXPECT_EQ(luminance(gray, gray, gray), gray);
    EXPECT_EQ(luminance(static_cast<std::int16_t>(v), static_cast<std::int16_t>(v), static_cast<std::int16_t>(v)),
              static_cast<std::int16_t>(v));
  }
  for (std::uint32_t v : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) EXPECT_EQ(luminance(v, v, v), v);
  for (std::int32_t v : {INT32_MIN, -1, 0, INT32_MAX}) EXPECT_EQ(luminance(v, v, v), v);
}

TEST(Convert, LuminanceRoundsTheWeightedSum) {
  for (int r = 0; r < 256; r += 5)
    for (int g = 0; g < 256; g += 3)
      for (int b = 0; b < 256; b += 7) {
        const double exact = (19595.0 * r + 38470.0 * g + 7471.0 * b) / 65536;
        EXPECT_EQ(luminance(static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(g), static_cast<std::uint8_t>(b)),
                  std::floor(exact + 0.5));
        EXPECT_NEAR(luminance(double(r), double(g), double(b)), exact, 0.01);
      }
}

TEST(Convert, SwapsBytes) {
  EXPECT_EQ(swap_bytes(std::uint16_t{0x1234}), 0x3412);
  EXPECT_EQ(swap_bytes(std::uint32_t{0x12345678}), 0x78563412u);
  EXPECT_EQ(swap_bytes(std::uint64_t{0x0123456789abcdef}), 0xefcdab8967452301u);
  EXPECT_EQ(swap_bytes(swap_bytes(1.5)), 1.5);
  std::uint16_t values[] = {0x0102, 0x0304};
  swap_all(reinterpret_cast<std::byte*>(values), 2, 2);
  EXPECT_EQ(values[1], 0x0403);
}

TEST(Sizes, FormatBytes) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16.0 EiB");
}

TEST(ByteSource, SeeksInAndOutOfItsBuffer) {
  std::vector<std::byte> bytes(200000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  MemorySource source("memory", std::span<const std::byte>(bytes));
  std::mt19937 random(3);
  std::vector<std::byte> out(70000);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t at = round % 3 == 0 ? random() % bytes.size()
                                          : std::min<std::size_t>(source.position() + random() % 50, bytes.size());
    const std::size_t count = round % 5 == 0 ? random() % out.size() : random() % 100;
    source.seek(at);
    if (round % 2 == 0) {
      const auto head = source.peek(std::min<std::size_t>(count, ByteSource::kLookAhead));
      ASSERT_TRUE(std::equal(head.begin(), head.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)));
    }
    const std::size_t got = source.read(out.data(), count);
    ASSERT_EQ(got, std::min(count, bytes.size() - at));
    ASSERT_EQ(std::memcmp(out.data(), bytes.data() + at, got), 0);
    ASSERT_EQ(source.position(), at + got);
  }
}

}  // namespace
}  // namespace fathom::io::test
