// Offsets to nearest sites, by values written down: the sign, the way over periodic borders, the rounding, no site.
// Random problems are in random_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "run.h"

namespace fathom::test {
namespace {

using grid::Border;

/// Of one line with one site.
Results offsets_on_line(std::int64_t length, std::int64_t site, const grid::DistanceOptions& options,
                        const Wanted& wanted) {
  std::vector<bool> sites(static_cast<std::size_t>(length));
  if (site >= 0) sites[static_cast<std::size_t>(site)] = true;
  return run(mask_array(sites, {length}).view(), options, wanted);
}

std::vector<double> values_of(const Array& array) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < array.size(); ++i) values.push_back(value_at(array, i));
  return values;
}

TEST(Offsets, AreSiteMinusElement) {
  const Results results = offsets_on_line(5, 1, {.spacing = {0.5}}, {.offset = DType::float32});
  EXPECT_EQ(values_of(*results.offset), (std::vector<double>{0.5, 0, -0.5, -1, -1.5}));
}

TEST(Offsets, GoTheShortWay) {
  const grid::DistanceOptions periodic{.border = {Border::periodic}};
  // Of two ways of the same length the one inside.
  EXPECT_EQ(values_of(*offsets_on_line(6, 1, periodic, {.offset = DType::float32}).offset),
            (std::vector<double>{1, 0, -1, -2, -3, 2}));
  EXPECT_EQ(values_of(*offsets_on_line(6, 5, periodic, {.offset = DType::float64}).offset),
            (std::vector<double>{-1, -2, 3, 2, 1, 0}));
  EXPECT_EQ(values_of(*offsets_on_line(5, 4, periodic, {.offset = DType::float32}).offset),
            (std::vector<double>{-1, -2, 2, 1, 0}));
}

TEST(Offsets, AreRoundedOnce) {
  for (const double spacing : {0.1, 1.0 / 3, 1e-30, 123456.789}) {
    const Wanted wanted{.nearest = DType::int32, .offset = DType::float32};
    const Results single = offsets_on_line(40, 3, {.spacing = {spacing}}, wanted);
    const Results twice = offsets_on_line(40, 3, {.spacing = {spacing}}, {.offset = DType::float64});
    for (int x = 0; x < 40; ++x) {
      EXPECT_EQ(twice.offset->as<double>().data()[x], (3 - x) * spacing);
      EXPECT_EQ(single.offset->as<float>().data()[x], static_cast<float>((3 - x) * spacing));
    }
  }
}

TEST(Offsets, AreNanWithoutSite) {
  const Results none = offsets_on_line(9, -1, {}, {.offset = DType::float32});
  for (std::uint32_t i = 0; i < 9; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, none.offset->data() + 4 * i, sizeof bits);
    EXPECT_EQ(bits, 0x7FC00000u);
  }
  const Results near =
      offsets_on_line(9, 4, {.max_distance = 2}, {.distance = DType::float32, .offset = DType::float64});
  for (int x = 0; x < 9; ++x) {
    const double offset = near.offset->as<double>().data()[x];
    if (std::abs(x - 4) <= 2) EXPECT_EQ(offset, 4 - x);
    else EXPECT_TRUE(std::isnan(offset));
  }
  // Beyond a border of sites there is no index, and no offset.
  const Results border = offsets_on_line(9, 4, {.border = {Border::sites}}, {.offset = DType::float32});
  EXPECT_TRUE(std::isnan(border.offset->as<float>().data()[0]));
  EXPECT_EQ(border.offset->as<float>().data()[3], 1);
}

/// Offsets are made of the caller's coordinates, of either width, or where they lie.
TEST(Offsets, BesideCoordinatesAreTheSame) {
  const std::vector<bool> sites = [] {
    std::vector<bool> mask(40 * 50);
    for (std::size_t i = 0; i < mask.size(); i += 77) mask[i] = true;
    return mask;
  }();
  const Array input = mask_array(sites, {40, 50});
  for (const std::vector<Border>& border : {std::vector<Border>{}, {Border::open, Border::periodic}})
    for (const DType real : {DType::float32, DType::float64}) {
      const grid::DistanceOptions options{.spacing = {2, 3}, .border = border, .region = {{3, 37}, {1, 50}}};
      const Results alone = run(input.view(), options, {.offset = real});
      for (const DType whole : {DType::int32, DType::int64}) {
        const Results beside = run(input.view(), options, {.coordinates = whole, .offset = real});
        EXPECT_TRUE(equal(*alone.offset, *beside.offset));
        EXPECT_TRUE(equal(*beside.coordinates, *run(input.view(), options, {.coordinates = whole}).coordinates));
      }
    }
}

}  // namespace
}  // namespace fathom::test
