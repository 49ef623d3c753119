// Sets of sites on a device, through the call for host arrays: the same bytes as the CPU and the brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cases.h"
#include "fathom/core/device.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using points::QueryOptions;
using points::SiteSet;
using points::SiteSetOptions;
using points::Storage;

class CudaPoints : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device, or a build without CUDA";
  }
};

PointAnswers answers_of(Backend backend, PointProblem& problem, DType distance) {
  problem.set.execution.backend = problem.query.execution.backend = backend;
  return nearest(problem, distance, static_cast<int>(problem.seed % 3));
}

void check_random(std::uint64_t first_seed, int count, std::int64_t most_sites, bool oracle) {
  for (int i = 0; i < scaled(count); ++i) {
    const std::uint64_t seed = seed_to_replay().value_or(first_seed + static_cast<std::uint64_t>(i));
    PointProblem problem = random_point_problem(seed, most_sites);
    SCOPED_TRACE(describe(problem));
    const DType distance = seed % 2 ? DType::float32 : DType::float64;
    try {
      const PointAnswers answers = answers_of(Backend::cuda, problem, distance);
      ASSERT_TRUE(
          equal(oracle ? brute_force(problem, distance) : answers_of(Backend::cpu, problem, distance), answers));
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
    if (seed_to_replay()) return;
  }
}

TEST_F(CudaPoints, TinyProblems) { check_random(1, 2000, 40, true); }
TEST_F(CudaPoints, SmallProblems) { check_random(100000, 1000, 400, true); }
TEST_F(CudaPoints, MediumProblems) { check_random(200000, 150, 3000, true); }
TEST_F(CudaPoints, LargeProblems) { check_random(400000, 100, 200000, false); }

SiteSet resident(const AnyConstView& sites, Storage storage, std::int64_t every = 1) {
  SiteSetOptions options;
  options.storage = storage;
  options.every = every;
  options.execution.backend = Backend::cuda;
  return SiteSet(sites, options);
}

constexpr Storage kStorages[] = {Storage::plain, Storage::boxed, Storage::sorted};

/// Every spread at a size with several levels of boxes, from few queries, which share out the sites, to many.
TEST_F(CudaPoints, Spreads) {
  for (int i = 0; i < scaled(2 * kSpreads); ++i) {
    Random random(static_cast<std::uint64_t>(i) + 1);
    PointProblem problem;
    problem.seed = static_cast<std::uint64_t>(i);
    problem.spread = static_cast<Spread>(i % kSpreads);
    const DType dtype = pick<DType>(random, {DType::int32, DType::float32, DType::float64});
    const std::int64_t queries = pick<std::int64_t>(random, {1, 7, 300, 5000});
    problem.sites = make_points(problem.spread, dtype, 50000 + 11 * i, 3, random);
    problem.queries = make_points(i % 2 ? problem.spread : Spread::uniform, dtype, queries, 3, random);
    problem.query.k = i % 3 ? 1 : 1 + static_cast<int>(below(random, 64));
    SCOPED_TRACE(describe(problem));
    const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float32);
    for (Storage storage : kStorages) {
      problem.set.storage = storage;
      ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float32))) << static_cast<int>(storage);
    }
  }
}

/// Plain sets of so many sites that the groups of queries with many to look into are measured again.
TEST_F(CudaPoints, PlainWithLongLists) {
  for (int i = 0; i < scaled(2 * kSpreads); ++i) {
    Random random(static_cast<std::uint64_t>(i) + 200);
    PointProblem problem;
    problem.seed = static_cast<std::uint64_t>(i);
    problem.spread = static_cast<Spread>(i % kSpreads);
    problem.set.storage = Storage::plain;
    for (DType dtype : {DType::int32, DType::float32, DType::float64}) {
      problem.sites = make_points(problem.spread, dtype, (i < kSpreads ? 100000 : 20000) + i, 3, random);
      problem.queries = make_points(i % 2 ? Spread::uniform : problem.spread, dtype, 300, 3, random);
      SCOPED_TRACE(describe(problem));
      const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float32);
      ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float32)));
    }
  }
}

/// Voxels of a shell, about as far from queries in its middle as float16 can tell, where that is not exact any more;
/// and queries anywhere: few voxels, more than lists hold, and more than the table does.
TEST_F(CudaPoints, RoundedProducts) {
  Random random(9);
  constexpr std::int64_t kQueries = 300;
  for (std::int64_t sites : {500, 30000, 300000})
    for (double radius : {40.0, 50.0, 400.0}) {
      PointProblem problem;
      problem.set.storage = Storage::plain;
      problem.sites = Array(DType::int32, {sites, 3});
      for (std::int64_t i = 0; i < sites; ++i) {
        double at[3], square = 0;
        for (int k = 0; k < 3; ++k) {
          at[k] = static_cast<double>(below(random, 2001)) - 1000;
          square += at[k] * at[k];
        }
        const double scale = radius / std::max(std::sqrt(square), 1.0);
        for (int k = 0; k < 3; ++k) store(problem.sites, 3 * i + k, std::round(at[k] * scale));
      }
      problem.queries = Array(DType::int32, {kQueries, 3});
      for (std::int64_t i = 0; i < 3 * kQueries; ++i) {
        const std::int64_t reach = i < kQueries ? 2 : 500;
        store(problem.queries, i, static_cast<double>(below(random, 2 * reach + 1)) - static_cast<double>(reach));
      }
      const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float32);
      ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float32))) << sites << ' ' << radius;
    }
}

/// Blocks of queries that each go their own way: at voxels, between them, and beyond what products serve. There are so
/// many that the sites are shared out to an odd number of teams on many devices.
TEST_F(CudaPoints, BlocksOfUnlikeQueries) {
  constexpr std::int64_t kBlock = 512;
  Random random(12);
  for (std::int64_t sites : {200, 30000, 100000})
    for (std::int64_t blocks : {5, 7}) {
      PointProblem problem;
      problem.set.storage = Storage::plain;
      problem.sites = Array(DType::int32, {sites, 3});
      const auto coordinate = [&] { return static_cast<double>(below(random, 2001)) - 1000; };
      for (std::int64_t i = 0; i < 3 * sites; ++i) store(problem.sites, i, coordinate());
      const std::int64_t queries = blocks * kBlock - 100;
      problem.queries = Array(DType::float32, {queries, 3});
      for (std::int64_t i = 0; i < 3 * queries; ++i) {
        const std::int64_t way = i / (3 * kBlock) % 3;
        store(problem.queries, i, way == 0 ? coordinate() : way == 1 ? coordinate() + 0.5 : 5 * coordinate());
      }
      const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float32);
      ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float32))) << sites << ' ' << blocks;
    }
}

/// Sites that are nearly all copies of others: of so few places that the first sites are at all of them, and of more.
TEST_F(CudaPoints, SitesAtFewPlaces) {
  Random random(10);
  for (std::int64_t count : {9000, 60000, 300000})
    for (int places : {8, 2000})
      for (DType dtype : {DType::int32, DType::float32, DType::float64}) {
        PointProblem problem;
        problem.set.storage = Storage::plain;
        const Array centers = make_points(Spread::uniform, dtype, places, 3, random);
        const auto row = static_cast<std::size_t>(centers.bytes()) / static_cast<std::size_t>(places);
        problem.sites = Array(dtype, {count, 3});
        for (std::int64_t i = 0; i < count; ++i)
          std::copy_n(centers.data() + static_cast<std::size_t>(below(random, places)) * row, row,
                      problem.sites.data() + static_cast<std::size_t>(i) * row);
        problem.queries = make_points(Spread::uniform, dtype, 300, 3, random);
        const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float32);
        ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float32))) << count << ' ' << places;
      }
}

/// Queries in the middle of a shell, in sets whose other sites, anywhere outside of it, suit products (trial.h).
TEST_F(CudaPoints, HardQueriesOfEasySets) {
  constexpr std::int64_t kQueries = 600;
  Random random(11);
  for (std::int64_t count : {20000, 100000, 300000})
    for (DType dtype : {DType::int32, DType::float32, DType::float64}) {
      PointProblem problem;
      problem.set.storage = Storage::plain;
      problem.sites = shell_in_cube(count, dtype, random);
      problem.queries = Array(dtype, {kQueries, 3});
      for (std::int64_t i = 0; i < 3 * kQueries; ++i) {
        const double reach = i < kQueries ? 3 : 900;
        store(problem.queries, i, reach * (static_cast<double>(below(random, 2001)) / 1000 - 1));
      }
      const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float32);
      ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float32))) << count;
    }
}

/// Queries off whole numbers by so little that it is lost where they are measured from the middle of the sites, all of
/// a block.
TEST_F(CudaPoints, QueriesNearlyAtVoxels) {
  constexpr std::int64_t kSites = 2000, kQueries = 300;
  for (const std::int64_t step : {1, 7}) {  // neighbours in one group of sites, and in different ones
    PointProblem problem;
    problem.set.storage = Storage::plain;
    problem.sites = Array(DType::int32, {kSites, 3});
    for (std::int64_t i = 0; i < kSites; ++i) {  // even numbers, in steps
      const auto place = static_cast<double>(i * step % (kSites / 2));
      for (int k = 0; k < 3; ++k) store(problem.sites, 3 * i + k, k == 0 ? 2 * place : 0);
    }
    problem.queries = Array(DType::float64, {kQueries, 3});
    for (std::int64_t i = 0; i < kQueries; ++i) {
      const auto between = static_cast<double>(2 * (i % 60) + 1);
      const double at = std::nextafter(between, i % 3 == 0 ? 0.0 : i % 3 == 1 ? 1e9 : between);
      for (int k = 0; k < 3; ++k) store(problem.queries, 3 * i + k, k == 0 ? at : 0);
    }
    const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float64);
    ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float64))) << step;
  }
}

/// Sites nearer to one another than float32, or a lattice over all of them, can tell apart: on the lattice, where
/// queries are among the sites; and in float32, where one is far away, or so far that float32 has no square of its
/// distance.
TEST_F(CudaPoints, SitesCloseTogether) {
  Random random(8);
  constexpr std::int64_t kSites = 20000, kQueries = 600;
  for (DType dtype : {DType::float32, DType::float64})
    for (double way : {1e-10, 1e-9, 1e-8, 1e-5}) {
      const Array places = make_points(Spread::uniform, DType::float64, kSites / 8, 3, random);
      const auto near = [&](std::int64_t i, int k) {
        return coordinate(places, i % places.shape()[0], k) + way * static_cast<double>(below(random, 20));
      };
      PointProblem problem;
      problem.sites = Array(dtype, {kSites, 3});
      problem.queries = Array(DType::float64, {kQueries, 3});
      for (std::int64_t i = 0; i < kSites; ++i)
        for (int k = 0; k < 3; ++k) store(problem.sites, 3 * i + k, near(i, k));
      for (std::int64_t i = 0; i < kQueries; ++i)
        for (int k = 0; k < 3; ++k) store(problem.queries, 3 * i + k, near(i, k));
      problem.set.storage = Storage::plain;
      for (double far : {0.0, 100.0, 1e25}) {
        store(problem.queries, 3 * 7, far);
        const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float64);
        ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float64))) << way << ' ' << far;
      }
    }
}

/// So many queries that they are put along the curve, where each starts from the answer before it, and looks at leaves
/// that are listed for it and its neighbours; of more sites, those of some are too many.
TEST_F(CudaPoints, ManyQueries) {
  for (int i = 0; i < scaled(kSpreads); ++i) {
    Random random(static_cast<std::uint64_t>(i) + 100);
    PointProblem problem;
    problem.seed = static_cast<std::uint64_t>(i);
    problem.spread = static_cast<Spread>(i);
    const DType dtype = pick<DType>(random, {DType::int32, DType::float32, DType::float64});
    const std::int64_t sites = i % 3 ? 20000 : 500000;
    problem.sites = make_points(problem.spread, dtype, sites, 3, random);
    problem.queries = make_points(i % 2 ? problem.spread : Spread::uniform, dtype, 140000, 3, random);
    for (double radius : {1e300, 0.01}) {
      problem.query.radius = radius;
      SCOPED_TRACE(describe(problem));
      const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float32);
      for (Storage storage : {Storage::boxed, Storage::sorted}) {
        problem.set.storage = storage;
        ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float32))) << static_cast<int>(storage);
      }
    }
  }
}

/// Many queries of sites that lie at one place or equally far, and some that are so far away that float32, or double,
/// does not tell sites apart.
TEST_F(CudaPoints, ManyQueriesThatFloatsHardlyTell) {
  for (DType dtype : {DType::int32, DType::float32}) {
    Random random(120);
    const auto whole_points = [&](std::int64_t count, std::int64_t axes, std::int64_t extent, bool far) {
      Array points(dtype, {count, axes});
      for (std::int64_t i = 0; i < axes * count; ++i) {
        const std::int64_t x = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
        const std::int64_t at = far && i / 3000 % 5 == 4 ? (x - extent / 2) << 24 : x;
        if (dtype == DType::int32) points.as<std::int32_t>().data()[i] = static_cast<std::int32_t>(at);
        else points.as<float>().data()[i] = static_cast<float>(at) + (i / 3000 % 5 == 3 ? 0x1p-18f : 0.f);
      }
      return points;
    };
    for (std::int64_t axes : {2, 3}) {
      PointProblem problem;
      problem.sites = whole_points(30000, axes, 50, false);
      problem.queries = whole_points(140000, axes, 60, true);
      for (double radius : {1e300, 1.5}) {
        problem.query.radius = radius;
        SCOPED_TRACE(describe(problem));
        const PointAnswers expected = answers_of(Backend::cpu, problem, DType::float64);
        ASSERT_TRUE(equal(expected, answers_of(Backend::cuda, problem, DType::float64)));
      }
    }
  }
}

/// The device says that it did the work, bounds its answers by themselves, and keeps what the header says.
TEST_F(CudaPoints, Reports) {
  Random random(5);
  const std::int64_t count = 100000;
  for (DType dtype : {DType::float32, DType::float64}) {
    const Array sites = make_points(Spread::uniform, dtype, count, 3, random);
    const Array queries = make_points(Spread::uniform, dtype, 100, 3, random);
    Array distance(DType::float64, {100}), lower(DType::float64, {100});
    for (Storage storage : kStorages) {
      const SiteSet set = resident(sites.view(), storage);
      EXPECT_TRUE(set.on_device());
      EXPECT_EQ(set.size(), count);
      const points::QueryReport report = set.nearest(queries.view(), {}, {distance.view(), {}, {}, lower.view()});
      EXPECT_EQ(report.backend, Backend::cuda);
      EXPECT_FALSE(report.device.empty());
      EXPECT_TRUE(equal(distance, lower));
      const double own = storage == Storage::sorted ? 0 : static_cast<double>(sites.bytes());
      const double most = storage == Storage::sorted ? (dtype == DType::float32 ? 17.1 : 30) : 0.3;
      EXPECT_LE((static_cast<double>(set.bytes()) - own) / static_cast<double>(count), most);
    }
  }
}

TEST_F(CudaPoints, MasksAndBatches) {
  Random random(6);
  const Shape shape{40, 50, 60};
  const Array mask = mask_array(scatter(shape, 0.01, random), shape, DType::uint8, false);
  const Array queries = make_points(Spread::uniform, DType::int32, 200, 3, random);
  const Array batch = make_points(Spread::uniform, DType::float32, 3 * 500, 2, random);
  const Array batch_queries = make_points(Spread::uniform, DType::float32, 3 * 70, 2, random);
  const AnyConstView clouds(batch.data(), DType::float32, {3, 500, 2});
  const AnyConstView cloud_queries(batch_queries.data(), DType::float32, {3, 70, 2});
  for (Storage storage : kStorages) {
    SiteSetOptions options;
    options.storage = storage;
    options.every = 2;
    const auto ask = [&](Backend backend, Array& site, Array& sites) {
      options.execution.backend = backend;
      points::QueryOutputs outputs;
      outputs.site = site.view();
      SiteSet::of_mask(mask.view(), options).nearest(queries.view(), {}, outputs);
      outputs.site = sites.view();
      QueryOptions query;
      query.k = 5;
      SiteSet(clouds, options).nearest(cloud_queries, query, outputs);
    };
    Array site(DType::int64, {200}), right(DType::int64, {200});
    Array sites(DType::int32, {3, 70, 5}), right_sites(DType::int32, {3, 70, 5});
    ask(Backend::cpu, right, right_sites);
    ask(Backend::cuda, site, sites);
    EXPECT_TRUE(equal(right, site) && equal(right_sites, sites)) << static_cast<int>(storage);
  }
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "not refused";
}

TEST_F(CudaPoints, Refusals) {
  Random random(7);
  Array sites = make_points(Spread::uniform, DType::float32, 5000, 3, random);
  const Array queries = make_points(Spread::uniform, DType::float32, 10, 3, random);
  Array distance(DType::float32, {10});
  points::QueryOutputs outputs;
  outputs.distance = distance.view();
  const SiteSet set = resident(sites.view(), Storage::plain), host(sites.view());
  QueryOptions options;
  options.execution.backend = Backend::cpu;
  EXPECT_EQ(refusal([&] { set.nearest(queries.view(), options, outputs); }),
            "the sites are in a device's memory, where the backend cpu cannot work; use auto or cuda");
  options.execution.backend = Backend::cuda;
  EXPECT_EQ(refusal([&] { host.nearest(queries.view(), options, outputs); }),
            "the sites are in the host's memory; build the set with the backend cuda, or use auto or cpu");
  options.work_limit = 1;
  EXPECT_EQ(refusal([&] { set.nearest(queries.view(), options, outputs); }),
            "a work limit needs boxes to bound what was not looked at; use storage boxed or sorted");
  options.work_limit = 0;
  const auto scratch_of = [&](std::size_t limit) {
    options.execution.scratch_limit = limit;
    return set.nearest(queries.view(), options, outputs).scratch_bytes;
  };
  const std::size_t at_once = scratch_of(SIZE_MAX), needed = scratch_of(at_once - 1);  // in batches
  EXPECT_LT(needed, at_once);
  const std::string refused = refusal([&] { scratch_of(1); });
  const std::string words = "the scratch limit of 1 bytes is too small; the smallest that works here is ";
  EXPECT_EQ(refused.substr(0, words.size()), words);
  const std::size_t least = std::stoul(refused.substr(words.size()));
  EXPECT_EQ(scratch_of(least), least);
  EXPECT_NE(refusal([&] { scratch_of(least - 1); }), "");
  sites.as<float>().data()[3 * 4999 + 1] = NAN;
  for (Storage storage : kStorages)
    EXPECT_EQ(refusal([&] { resident(sites.view(), storage); }),
              "site 4999 has a coordinate that is not finite; leave such points out");
}

}  // namespace
}  // namespace fathom::test
