// Roots of exact squared distances, where rounding twice would show: beyond 2⁵³, which no array small enough reaches.
#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "core/root.hd.h"
#include "oracle.h"

namespace fathom::test {
namespace {

void check(std::uint64_t d2) {
  ASSERT_EQ(distance_from_squared<float>(d2, 1), rounded_root<float>(d2)) << d2;
  ASSERT_EQ(distance_from_squared<double>(d2, 1), rounded_root<double>(d2)) << d2;
}

TEST(Root, RandomNumbersOfEveryLength) {
  Random random(1);
  for (int i = 0; i < scaled(300000); ++i) check(random() >> (random() % 64));
}

TEST(Root, SquaresAndTheirNeighbours) {
  Random random(2);
  for (int i = 0; i < scaled(100000); ++i) {
    const std::uint64_t root = (random() >> 32) >> (random() % 32);
    for (std::uint64_t delta : {UINT64_MAX, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}})
      check(root * root + delta);
  }
}

TEST(Root, NearTheMiddleOfTwoFloats) {
  Random random(3);
  for (int i = 0; i < scaled(100000); ++i) {
    // 25 significant bits, the last one set: halfway between two floats.
    const std::uint64_t middle = ((std::uint64_t{1} << 24 | (random() & 0xffffff)) | 1) << (random() % 8);
    for (std::uint64_t delta : {UINT64_MAX, std::uint64_t{0}, std::uint64_t{1}}) check(middle * middle + delta);
  }
}

TEST(Root, Ends) {
  for (std::uint64_t d2 : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 53, (std::uint64_t{1} << 53) + 1,
                           std::uint64_t{1} << 62, std::uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 1})
    check(d2);
}

TEST(Root, TimesSpacing) {
  Random random(4);
  for (int i = 0; i < scaled(20000); ++i) {
    const std::uint64_t d2 = random() >> (random() % 64);
    const double unit = pick<double>(random, {0.5, 0.1, 1e-7, 1e8, 3});
    ASSERT_EQ(distance_from_squared<double>(d2, unit), rounded_root<double>(d2) * unit) << d2;
    ASSERT_EQ(distance_from_squared<float>(d2, unit), static_cast<float>(rounded_root<double>(d2) * unit)) << d2;
  }
}

}  // namespace
}  // namespace fathom::test
