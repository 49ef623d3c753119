// Sets of voxels: the answers of a SiteSet of the same mask, whatever was edited before.
#include "fathom/points/voxel_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cases.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using points::QueryOptions;
using points::QueryOutputs;
using points::SiteSet;
using points::VoxelSet;

struct Answers {
  Array distance, squared, site, lower;
};

template <class Set>
Answers ask(const Set& set, const Array& queries, const QueryOptions& options) {
  const Shape shape{queries.shape()[0], options.k};
  Answers answers{Array(DType::float32, shape), Array(DType::float64, shape), Array(DType::int64, shape),
                  Array(DType::float64, {queries.shape()[0]})};
  for (Array* array : {&answers.distance, &answers.squared, &answers.site}) poison(*array);
  QueryOutputs outputs{answers.distance.view(), answers.squared.view(), answers.site.view(), {}};
  if (options.k == 1) outputs.lower = answers.lower.view();
  set.nearest(queries.view(), options, outputs);
  return answers;
}

testing::AssertionResult same(const Answers& a, const Answers& b) {
  for (auto member : {&Answers::distance, &Answers::squared, &Answers::site})
    if (const auto result = equal(a.*member, b.*member); !result) return result;
  return testing::AssertionSuccess();
}

/// In and around the grid, on elements and between them.
Array queries_near(const Shape& shape, DType dtype, std::int64_t count, Random& random) {
  Array queries(dtype, {count, shape.rank()});
  for (std::int64_t i = 0; i < queries.size(); ++i) {
    const std::int64_t extent = shape[static_cast<int>(i % shape.rank())];
    const auto whole = static_cast<double>(below(random, 2 * extent + 5) - extent / 2);
    const double part = chance(random, 0.5) ? 0.5 * static_cast<double>(below(random, 3)) : 0.137;
    store(queries, i, dtype == DType::int32 ? whole : whole + part);
  }
  return queries;
}

QueryOptions random_options(int axes, Random& random, Array& direction) {
  QueryOptions options;
  options.k = chance(random, 0.5) ? 1 : 1 + static_cast<int>(below(random, 64));
  if (chance(random, 0.3)) options.radius = pick<double>(random, {0, 1, 2.5, 7});
  options.execution.threads = 1 + static_cast<int>(below(random, 3));
  if (chance(random, 0.3)) {
    direction = Array(DType::float64, {1, axes});
    for (std::int64_t i = 0; i < axes; ++i) store(direction, i, static_cast<double>(below(random, 19)) - 9.3);
    options.cone.directions = direction.view();
    options.cone.half_angle = 0.1 * static_cast<double>(below(random, 31));
    if (chance(random, 0.5)) options.cone.cylinder_radius = 1.7;
  }
  return options;
}

TEST(VoxelSets, AnswerAsSiteSetsDo) {
  for (int i = 0; i < scaled(400); ++i) {
    Random random(static_cast<std::uint64_t>(i) + 1);
    SCOPED_TRACE("seed " + std::to_string(i + 1));
    const auto extent = [&] { return 1 + below(random, 40); };
    const Shape shape = chance(random, 0.3) ? Shape{extent() * 4, extent() * 4} : Shape{extent(), extent(), extent()};
    const auto structure = static_cast<Structure>(below(random, kStructures));
    const Array mask = mask_array(make_sites(structure, shape, random), shape, DType::int16, false);
    const DType dtype = pick<DType>(random, {DType::int32, DType::float32, DType::float64});
    const Array queries = queries_near(shape, dtype, below(random, 100), random);
    Array direction;
    const QueryOptions options = random_options(shape.rank(), random, direction);
    const SiteSet expected = SiteSet::of_mask(mask.view());
    const VoxelSet set = VoxelSet::of_mask(mask.view());
    ASSERT_EQ(set.size(), expected.size());
    ASSERT_TRUE(same(ask(expected, queries, options), ask(set, queries, options)));
  }
}

TEST(VoxelSets, KeepTheirGuarantees) {
  Random random(3);
  const Shape shape{60, 70, 80};
  const Array mask = mask_array(make_sites(Structure::sparse, shape, random), shape, DType::uint8, false);
  const VoxelSet set = VoxelSet::of_mask(mask.view());
  const Array queries = queries_near(shape, DType::float32, 3000, random);
  const Answers exact = ask(set, queries, {});
  QueryOptions relative, absolute, limited;
  relative.relative_error = 0.5;
  absolute.absolute_error = 3;
  limited.work_limit = 1;
  const Answers near = ask(set, queries, relative), within = ask(set, queries, absolute),
                some = ask(set, queries, limited);
  std::int64_t unequal = 0;
  for (std::int64_t q = 0; q < 3000; ++q) {
    const double truth = std::sqrt(value_at(exact.squared, q));
    ASSERT_LE(std::sqrt(value_at(near.squared, q)), 1.5 * truth * (1 + 1e-12));
    ASSERT_LE(std::sqrt(value_at(within.squared, q)), truth + 3 + 1e-12);
    ASSERT_GE(value_at(some.squared, q), value_at(exact.squared, q));
    ASSERT_LE(value_at(some.lower, q), truth);
    for (const Answers* answers : {&near, &within, &some})
      unequal += value_at(answers->squared, q) != value_at(exact.squared, q);
  }
  EXPECT_GT(unequal, 0);  // and it is made use of
}

TEST(VoxelSets, AfterEditsEqualARebuild) {
  constexpr std::int64_t kEdits = 100000, kCheck = 5000;
  Random random(4);
  const Shape shape{40, 50, 60};
  const std::int64_t count = element_count(shape);
  Array mask(DType::uint8, shape);
  std::uint8_t* is_site = mask.as<std::uint8_t>().data();
  std::fill_n(is_site, count, std::uint8_t{0});
  VoxelSet set(shape);
  // Around a few places that come and go, so that words fill and empty; at last all leave.
  for (std::int64_t edit = 1; edit <= kEdits; ++edit) {
    const double leaving = edit > kEdits / 2 ? 0.7 : 0.3;
    const std::int64_t region = edit / 1000 % 7 * (count / 7);
    const auto element = [&] { return chance(random, 0.9) ? region + below(random, 4000) : below(random, count); };
    const std::int64_t a = element(), b = element();
    if (chance(random, 0.2)) {
      ASSERT_EQ(set.move(a, b), is_site[a] == 1);
      if (is_site[a]) is_site[a] = 0, is_site[b] = 1;
    } else if (chance(random, leaving)) {
      ASSERT_EQ(set.remove(a), is_site[a] == 1);
      is_site[a] = 0;
    } else {
      ASSERT_EQ(set.add(a), is_site[a] == 0);
      is_site[a] = 1;
    }
    if (edit % kCheck != 0) continue;
    ASSERT_EQ(set.size(), std::count(is_site, is_site + count, 1));
    const Array queries = queries_near(shape, DType::float64, 60, random);
    QueryOptions options;
    options.k = edit % (2 * kCheck) == 0 ? 1 : 9;
    ASSERT_TRUE(same(ask(SiteSet::of_mask(mask.view()), queries, options), ask(set, queries, options))) << edit;
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(set.remove(all), std::count(is_site, is_site + count, 1));
  EXPECT_EQ(set.size(), 0);
  const Array queries = queries_near(shape, DType::int32, 5, random);
  EXPECT_EQ(value_at(ask(set, queries, {}).distance, 0), INFINITY);
  EXPECT_EQ(set.add(all), count);
  const Array full = mask_array(std::vector<bool>(static_cast<std::size_t>(count), true), shape, DType::uint8, false);
  EXPECT_TRUE(same(ask(SiteSet::of_mask(full.view()), queries, {}), ask(set, queries, {})));
}

/// Differences whose squares double does not hold.
TEST(VoxelSets, AreExactFarAway) {
  VoxelSet set({2, 2, 2});
  set.add(std::vector<std::int64_t>{3, 5, 6});
  Array queries(DType::int32, {2, 3});
  for (std::int64_t i = 0; i < 6; ++i) queries.as<std::int32_t>().data()[i] = i < 3 ? INT32_MAX : INT32_MIN;
  queries.as<std::int32_t>().data()[2] -= 1;
  Array mask = mask_array({false, false, false, true, false, true, true, false}, {2, 2, 2}, DType::uint8, false);
  EXPECT_TRUE(same(ask(SiteSet::of_mask(mask.view()), queries, {}), ask(set, queries, {})));
}

TEST(VoxelSets, TakeABitForEachElement) {
  EXPECT_LE(static_cast<double>(VoxelSet({256, 256, 256}).bytes()) * 8, 1.02 * 256 * 256 * 256);
  EXPECT_LE(static_cast<double>(VoxelSet({4096, 4096}).bytes()) * 8, 1.02 * 4096 * 4096);
}

TEST(VoxelSets, RefuseWhatHasNoMeaning) {
  EXPECT_EQ(refusal([] { VoxelSet({3}); }), "a set of voxels has 2 or 3 axes, not 1");
  EXPECT_EQ(refusal([] {
              VoxelSet({2, std::int64_t{1} << 31});
            }),
            "the extents 2 × 2147483648 pass what int32 coordinates hold");
  VoxelSet set({4, 5});
  EXPECT_EQ(refusal([&] {
              set.add(std::vector<std::int64_t>{3, 20});
            }),
            "there is no element 20 in a set of 4 × 5; give linear indices from 0 to 19");
  EXPECT_EQ(set.size(), 0);
  set.add(1);
  EXPECT_EQ(refusal([&] { set.move(1, -1); }),
            "there is no element -1 in a set of 4 × 5; give linear indices from 0 to 19");
  EXPECT_TRUE(set.contains(1));
  const Array queries(DType::int32, {1, 3});
  EXPECT_EQ(refusal([&] { ask(set, queries, {}); }), "the queries have 3 coordinates, the sites 2");
  QueryOptions options;
  options.execution.backend = Backend::cuda;
  EXPECT_EQ(refusal([&] { ask(set, queries, options); }),
            "sets of voxels have no CUDA backend in this version; use backend auto or cpu");
  VoxelSet none({0, 7, 7});
  Random random(1);
  EXPECT_EQ(value_at(ask(none, queries_near({1, 1, 1}, DType::int32, 3, random), {}).site, 2), -1);
}

}  // namespace
}  // namespace fathom::test
