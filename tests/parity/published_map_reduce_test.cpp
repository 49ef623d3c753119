// Map and reduction as published against points' own answers, on the CPU, on a device, and on one that is emulated.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/core/device.h"
#include "fathom/points/site_set.h"
#include "fathom/published/map_reduce.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

class MapReduce : public testing::Test {
 protected:
  void SetUp() override {
    if (kBackend == Backend::cuda && device_count() == 0) GTEST_SKIP() << "there is no CUDA device";
  }
  static constexpr Backend kBackend = Backend::FATHOM_TEST_BACKEND;
};

struct Reduced {
  explicit Reduced(std::int64_t queries) : distance(DType::float64, {queries}), site(DType::int64, {queries}) {
    poison(distance);
    poison(site);
  }
  Array distance, site;
  published::MapReduceReport report;
};

Reduced reduce(const Array& sites, const Array& queries, published::MapReduceOptions options, Backend backend) {
  options.execution.backend = backend;
  Reduced found(queries.shape()[0]);
  found.report =
      published::map_reduce(sites.view(), queries.view(), options, {found.distance.view(), found.site.view()});
  EXPECT_EQ(found.report.backend, backend);
  EXPECT_EQ(found.report.exact, options.every == 1);
  return found;
}

/// What a SiteSet says.
Reduced expected(const Array& sites, const Array& queries, const published::MapReduceOptions& options) {
  points::SiteSetOptions set;
  set.every = options.every;
  set.execution.backend = Backend::cpu;
  points::QueryOptions query;
  query.cone.directions = options.directions;
  query.cone.half_angle = options.half_angle;
  Reduced found(queries.shape()[0]);
  points::QueryOutputs outputs;
  outputs.distance = found.distance.view();
  outputs.site = found.site.view();
  points::SiteSet(sites.view(), set).nearest(queries.view(), query, outputs);
  return found;
}

/// As in the paper: elements of a volume with so many along each axis.
Array elements(std::int64_t side, std::int64_t count, int axes, Random& random) {
  Array points(DType::int32, {count, axes});
  for (std::int64_t at = 0; at < points.size(); ++at) store(points, at, static_cast<double>(below(random, side)));
  return points;
}

TEST_F(MapReduce, AnswersAsASiteSetDoes) {
  for (int i = 0; i < scaled(400); ++i) {
    Random random(seed_to_replay().value_or(static_cast<std::uint64_t>(i) + 54000));
    const auto spread = static_cast<Spread>(below(random, kSpreads));
    const bool whole = chance(random, .4), mixed = chance(random, .1);
    const std::int64_t side = pick<std::int64_t>(random, {3, 30, 512, 32768});
    const DType type = pick<DType>(random, {DType::float32, DType::float64});
    const int axes = chance(random, .8) ? 3 : 2;
    const std::int64_t n = 1 + below(random, 900), m = 1 + below(random, chance(random, .2) ? 600 : 40);
    const Array sites = whole ? elements(side, n, axes, random) : make_points(spread, type, n, axes, random),
                queries = whole != mixed ? elements(side, m, axes, random) : make_points(spread, type, m, axes, random);
    published::MapReduceOptions options;
    options.kernels = static_cast<int>(1 + below(random, 12));
    options.streams = static_cast<int>(1 + below(random, 5));
    options.tile = 32 * static_cast<int>(1 + below(random, 8));
    options.atomic = chance(random, .4);
    options.every = chance(random, .3) ? 1 + below(random, 30) : 1;
    options.execution.threads = static_cast<int>(1 + below(random, 3));
    Array directions;
    if (chance(random, .3)) {
      directions = Array(pick<DType>(random, {DType::float32, DType::float64}),
                         {chance(random, .5) ? 1 : queries.shape()[0], axes});
      for (std::int64_t at = 0; at < directions.size(); ++at)
        store(directions, at, static_cast<double>(below(random, 7)) - 3.5);
      options.directions = directions.view();
      options.half_angle = pick<double>(random, {0, .01, .4, 1, 2, 3.1, std::numbers::pi});
    }
    if (kBackend == Backend::cuda && chance(random, .3)) options.devices = {0, 0};
    SCOPED_TRACE("seed " + std::to_string(i + 54000) + ", " + name_of(spread) + ", " +
                 std::string(name_of(sites.dtype())) + ", " + std::string(name_of(queries.dtype())) + ", " +
                 to_string(sites.shape()) + ", " + to_string(queries.shape()) + ", every " +
                 std::to_string(options.every));
    const Reduced found = reduce(sites, queries, options, kBackend);
    const Reduced wanted = expected(sites, queries, options);
    ASSERT_TRUE(equal(found.distance, wanted.distance));
    ASSERT_TRUE(equal(found.site, wanted.site));
  }
}

/// What the paper counts: N · m numbers from one kernel, J · N / K · m from several, none with atomic operations.
TEST_F(MapReduce, KernelsAndStreamsBoundTheMemory) {
  Random random(3);
  const Array sites = elements(512, 1280, 3, random), queries = elements(512, 8, 3, random);
  const auto bytes = [&](int kernels, int streams, bool atomic) {
    published::MapReduceOptions options;
    options.kernels = kernels;
    options.streams = streams;
    options.tile = 32;
    options.atomic = atomic;
    const Reduced found = reduce(sites, queries, options, kBackend);
    EXPECT_EQ(found.report.tiles, 40);
    return found.report.intermediate_bytes;
  };
  EXPECT_EQ(bytes(1, 1, false), 40 * 8 * 4);
  EXPECT_EQ(bytes(10, 2, false), 8 * 8 * 4);
  EXPECT_EQ(bytes(10, 3, false), 12 * 8 * 4);
  EXPECT_EQ(bytes(10, 10, false), 40 * 8 * 4);
  EXPECT_EQ(bytes(1, 2, false), 40 * 8 * 4);
  EXPECT_EQ(bytes(2147483647, 1, false), 1 * 8 * 4);
  EXPECT_EQ(bytes(1, 1, true), 0);
}

TEST_F(MapReduce, PerforationIsMeasured) {
  Array sites(DType::float64, {4, 3}), queries(DType::float64, {2, 3});
  for (std::int64_t at = 0; at < 12; ++at) store(sites, at, at % 3 == 0 ? static_cast<double>(at) : 0);
  for (std::int64_t at = 0; at < 6; ++at) store(queries, at, at == 0 ? 4 : at == 3 ? 7 : 0);
  published::MapReduceOptions options;
  options.every = 2;
  options.measure_error = true;
  // Sites at 0, 3, 6, 9; without those at 3 and 9 the query at 4 finds 2 in place of 1, that at 7 what it found before.
  const Reduced found = reduce(sites, queries, options, kBackend);
  EXPECT_EQ(found.report.error, 50);
  EXPECT_EQ(value_at(found.site, 0), 2);
  options.every = 1;
  EXPECT_EQ(reduce(sites, queries, options, kBackend).report.error, 0);
}

TEST_F(MapReduce, DevicesShareTheSites) {
  if (kBackend == Backend::cpu) GTEST_SKIP() << "devices alone share";
  Random random(4);
  const Array sites = make_points(Spread::uniform, DType::float32, 9000, 3, random),
              queries = make_points(Spread::uniform, DType::float32, 20, 3, random);
  published::MapReduceOptions options;
  options.devices = {0, 0, 0};
  const Reduced found = reduce(sites, queries, options, kBackend), wanted = expected(sites, queries, options);
  EXPECT_TRUE(equal(found.distance, wanted.distance));
  EXPECT_TRUE(equal(found.site, wanted.site));
  ASSERT_EQ(found.report.shares.size(), 3u);
  double sum = 0;
  for (const double share : found.report.shares) {
    EXPECT_GT(share, 0);
    sum += share;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST_F(MapReduce, Empty) {
  const Array none(DType::int32, {0, 3});
  Random random(5);
  const Array some = elements(9, 3, 3, random);
  const Reduced found = reduce(none, some, {}, kBackend);
  EXPECT_EQ(value_at(found.distance, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(value_at(found.site, 0), -1);
  EXPECT_TRUE(reduce(some, none, {}, kBackend).report.phases.empty());
}

TEST_F(MapReduce, WhatIsRefused) {
  Random random(6);
  const Array sites = make_points(Spread::uniform, DType::float64, 9, 3, random),
              flat = make_points(Spread::uniform, DType::float64, 9, 2, random);
  const auto refused = [&](const Array& queries, published::MapReduceOptions options, const std::string& says) {
    options.execution.backend = kBackend;
    Array distance(DType::float32, {queries.shape()[0]});
    poison(distance);
    EXPECT_EQ(refusal([&] {
                published::map_reduce(sites.view(), queries.view(), options, {distance.view(), {}});
              }),
              says);
    EXPECT_TRUE(is_poisoned(distance));
  };
  refused(flat, {}, "the sites have 3 coordinates, the queries 2; give as many");
  refused(sites, {.kernels = 0}, "the number of kernels is 0; it must be from 1 to 2147483647");
  refused(sites, {.streams = 65}, "the number of streams is 65; it must be from 1 to 64");
  refused(sites, {.tile = 48}, "the tile is 48; it must be a multiple of 32");
  refused(sites, {.every = 0}, "the step of perforation is 0; it must be from 1 to 2147483647");
  refused(sites, {.half_angle = 4}, "the half-angle is 4.000000; it must be from 0 to pi");
  Array direction(DType::float64, {1, 3});
  for (std::int64_t at = 0; at < 3; ++at) store(direction, at, 0);
  refused(sites, {.directions = direction.view()}, "direction 0 is not finite, or has no length; give another");
  refused(sites, {.directions = flat.view()},
          "the directions are float64 with the shape 9 × 2; they must be float32 or float64, [m, 3] for m queries, or "
          "[1, 3]");
  if (kBackend == Backend::cpu)
    refused(sites, {.devices = {0}}, "devices are named for the backend cpu; leave them out, or ask for cuda");
  published::MapReduceOptions small;
  small.execution.scratch_limit = 100;
  refused(sites, small,
          "the scratch limit of 100 bytes is too small for 10 kernels, which take 792; more kernels take less");
  Array far = make_points(Spread::uniform, DType::float64, 9, 3, random);
  store(far, 4, std::numeric_limits<double>::quiet_NaN());
  refused(far, {}, "query 1 has a coordinate that is not finite; leave such points out");

  Array apart(DType::int32, {2, 3}), distance(DType::float32, {2});
  for (std::int64_t at = 0; at < 6; ++at) store(apart, at, at == 3 ? 70000 : 0);
  EXPECT_EQ(refusal([&] {
              published::map_reduce(apart.view(), apart.view(), {}, {distance.view(), {}});
            }),
            "the integer coordinates lie up to 70000 apart, but squares of 32 bits hold 65535; give them as float64");
}

}  // namespace
}  // namespace fathom::test
