// How several devices share a call, without any.
#include "points/shares.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace fathom::points {
namespace {

using Borders = std::vector<std::int64_t>;

TEST(Shares, EqualUntilAllAreMeasured) {
  Shares shares(3);
  EXPECT_EQ(shares.cut(9), (Borders{0, 3, 6, 9}));
  shares.measured(0, 1000000, 1);
  shares.measured(1, 2000000, 1);
  EXPECT_EQ(shares.cut(9), (Borders{0, 3, 6, 9}));
}

TEST(Shares, EachAccordingToItsSpeed) {
  Shares shares(3);
  shares.measured(0, 100000, 4);
  shares.measured(1, 100000, 1);
  shares.measured(2, 100000, 2);
  EXPECT_EQ(shares.cut(7000), (Borders{0, 1000, 5000, 7000}));
}

/// Devices of which one is three times as fast end up with parts that take equally long, from a wrong start, too.
TEST(Shares, SettleWhereAllTakeEquallyLong) {
  Shares shares(2);
  const double rates[] = {1e6, 3e6};
  shares.measured(0, 1000000, 0.01);  // 100 times too fast
  for (int call = 0; call < 20; ++call) {
    const Borders borders = shares.cut(1000000);
    for (std::size_t i = 0; i < 2; ++i)
      shares.measured(i, borders[i + 1] - borders[i], static_cast<double>(borders[i + 1] - borders[i]) / rates[i]);
  }
  EXPECT_LT(std::abs(shares.cut(1000000)[1] - 250000), 1000);
}

TEST(Shares, NobodyIsLeftOutAndNothingIsLost) {
  Shares shares(2);
  shares.measured(0, 1000000, 1e-3);
  shares.measured(1, 1000000, 1e3);
  const Borders borders = shares.cut(1000000);
  EXPECT_GT(borders[2] - borders[1], 10000);
  for (std::int64_t count : {0, 1, 2, 3, 1000003}) {
    const Borders some = shares.cut(count);
    EXPECT_EQ(some.front(), 0);
    EXPECT_EQ(some.back(), count);
    EXPECT_LE(some[1], count);
  }
}

TEST(Shares, SmallCallsTellNothing) {
  Shares shares(2);
  shares.measured(0, 10, 1);
  shares.measured(1, 10, 100);
  shares.measured(1, 1000000, 0);
  EXPECT_EQ(shares.cut(10), (Borders{0, 5, 10}));
}

}  // namespace
}  // namespace fathom::points
