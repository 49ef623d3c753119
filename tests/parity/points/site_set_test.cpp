// Sets of sites: masks, batches, memory, hard inputs, and what is refused in which words.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numbers>

#include "cases.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using points::QueryOptions;
using points::QueryOutputs;
using points::SiteSet;
using points::SiteSetOptions;
using points::Storage;

constexpr Storage kStorages[] = {Storage::plain, Storage::boxed, Storage::sorted};

SiteSetOptions stored(Storage storage) {
  SiteSetOptions options;
  options.storage = storage;
  return options;
}

TEST(SiteSets, OfAMaskNameElements) {
  Random random(3);
  for (int i = 0; i < scaled(60); ++i) {
    const Shape shape = i % 2 ? Shape{7, 9, 11} : Shape{23, 31};
    const std::vector<bool> marked = scatter(shape, 0.1, random);
    const Array mask = mask_array(marked, shape, i % 3 ? DType::uint8 : DType::float32, false);
    Array queries(DType::int32, {50, shape.rank()});
    for (std::int64_t q = 0; q < queries.size(); ++q)
      queries.as<std::int32_t>().data()[q] = static_cast<std::int32_t>(below(random, 30)) - 5;
    SiteSetOptions options = stored(kStorages[i % 3]);
    options.every = 1 + i % 2;
    const SiteSet set = SiteSet::of_mask(mask.view(), options);
    Array site(DType::int32, {50});
    QueryOutputs outputs;
    outputs.site = site.view();
    set.nearest(queries.view(), {}, outputs);
    for (std::int64_t q = 0; q < 50; ++q) {
      std::int64_t best = INT64_MAX, at = -1, number = 0;
      for (std::int64_t e = 0; e < element_count(shape); ++e) {
        if (!marked[static_cast<std::size_t>(e)] || number++ % options.every) continue;
        const Index place = unravel(e, shape);
        std::int64_t d2 = 0;
        for (int k = 0; k < shape.rank(); ++k) {
          const auto step = static_cast<std::int64_t>(coordinate(queries, q, k)) - place[static_cast<std::size_t>(k)];
          d2 += step * step;
        }
        if (d2 < best) best = d2, at = e;
      }
      ASSERT_EQ(integer_at(site, q), at);
    }
  }
}

TEST(SiteSets, OfBatchesAnswerForEachCloud) {
  Random random(4);
  const Array sites = make_points(Spread::uniform, DType::float32, 5 * 300, 3, random);
  const Array queries = make_points(Spread::uniform, DType::float32, 5 * 40, 3, random);
  for (Storage storage : kStorages) {
    Array distance(DType::float32, {5, 40, 3}), alone(DType::float32, {40, 3});
    QueryOptions options;
    options.k = 3;
    QueryOutputs outputs;
    outputs.distance = distance.view();
    const SiteSet all(AnyConstView(sites.data(), DType::float32, {5, 300, 3}), stored(storage));
    all.nearest(AnyConstView(queries.data(), DType::float32, {5, 40, 3}), options, outputs);
    for (std::int64_t c = 0; c < 5; ++c) {
      outputs.distance = alone.view();
      const SiteSet one(AnyConstView(sites.data() + c * 300 * 12, DType::float32, {300, 3}), stored(storage));
      one.nearest(AnyConstView(queries.data() + c * 40 * 12, DType::float32, {40, 3}), options, outputs);
      EXPECT_EQ(std::memcmp(alone.data(), distance.data() + static_cast<std::size_t>(c) * alone.bytes(), alone.bytes()),
                0);
    }
  }
}

TEST(SiteSets, KeepToTheirBytes) {
  Random random(5);
  constexpr std::int64_t kCount = 300000;
  const Array real = make_points(Spread::uniform, DType::float32, kCount, 3, random);
  const Array fine = make_points(Spread::uniform, DType::float64, kCount, 3, random);
  const auto per_site = [](const Array& sites, Storage storage) {
    return static_cast<double>(SiteSet(sites.view(), stored(storage)).bytes()) / kCount;
  };
  EXPECT_EQ(per_site(real, Storage::plain), 0);
  EXPECT_LE(per_site(real, Storage::boxed), 0.3);
  EXPECT_LE(per_site(real, Storage::sorted), 17.1);
  EXPECT_LE(per_site(fine, Storage::boxed), 0.3);
  EXPECT_LE(per_site(fine, Storage::sorted), 30);
}

/// Boxes that leave nothing out are not kept: searching them takes ten times as long as looking at all sites.
TEST(SiteSets, KeepBoxesOnlyWhereTheyHelp) {
  Random random(12);
  Array sites = make_points(Spread::uniform, DType::float32, 20000, 3, random);
  EXPECT_EQ(SiteSet(sites.view(), stored(Storage::boxed)).bytes(), 0u);
  using Row = std::array<float, 3>;
  auto* rows = reinterpret_cast<Row*>(sites.data());
  std::sort(rows, rows + 20000);  // by the first coordinate: slabs
  EXPECT_GT(SiteSet(sites.view(), stored(Storage::boxed)).bytes(), 0u);
}

TEST(SiteSets, SortedOutliveTheCallersArray) {
  Random random(6);
  PointProblem problem;
  problem.sites = make_points(Spread::uniform, DType::float64, 500, 3, random);
  problem.queries = make_points(Spread::uniform, DType::float64, 50, 3, random);
  const PointAnswers expected = nearest(problem, DType::float64);
  const SiteSet set(problem.sites.view());
  poison(problem.sites);
  Array site(DType::int64, {50, 1});
  QueryOutputs outputs;
  outputs.site = site.view();
  set.nearest(problem.queries.view(), {}, outputs);
  EXPECT_TRUE(equal(site, expected.site));
}

/// Without a look at the lowest id below a node, each of these queries would visit every leaf.
TEST(SiteSets, OfEqualSitesAnswerAtOnce) {
  const Array sites = [] {
    Array made(DType::float32, {2000000, 3});
    for (float& x : std::span(made.as<float>().data(), 6000000)) x = 0.5f;
    return made;
  }();
  Random random(7);
  const Array queries = make_points(Spread::uniform, DType::float32, 20000, 3, random);
  Array site(DType::int64, {20000});
  QueryOutputs outputs;
  outputs.site = site.view();
  const SiteSet set(sites.view());
  const auto start = std::chrono::steady_clock::now();
  set.nearest(queries.view(), {}, outputs);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));  // visiting all takes minutes
  for (std::int64_t q = 0; q < 20000; ++q) ASSERT_EQ(integer_at(site, q), 0);
}

/// Runs of one key that reach over the chunks which threads order: each point must be found, by itself.
TEST(SiteSets, OrderClustersWithThreads) {
  constexpr std::int64_t kCount = 150000;
  Random random(11);
  Array points(DType::float64, {kCount, 3});
  for (std::int64_t i = 0; i < kCount; ++i)  // clusters, of which every second is one point
    for (std::int64_t k = 0; k < 3; ++k)
      points.as<double>().data()[3 * i + k] =
          static_cast<double>((i % 40) * (k + 3) % 11) + 1e-6 * static_cast<double>(below(random, i % 2 ? 1 : 1000));
  Array distance(DType::float32, {kCount});
  QueryOutputs outputs;
  outputs.distance = distance.view();
  for (int repeat = 0; repeat < scaled(10); ++repeat) {
    SiteSetOptions options;
    QueryOptions query;
    options.execution.threads = query.execution.threads = 4;
    poison(distance);
    SiteSet(points.view(), options).nearest(points.view(), query, outputs);
    for (std::int64_t i = 0; i < kCount; ++i) ASSERT_EQ(value_at(distance, i), 0) << "point " << i;
  }
}

TEST(SiteSets, WithoutSitesOrQueries) {
  const Array none(DType::float32, {0, 3}), one(DType::float32, {1, 3});
  for (Storage storage : kStorages) {
    const SiteSet set(none.view(), stored(storage));
    Array distance(DType::float32, {1, 2}), lower(DType::float64, {1}), site(DType::int32, {1, 2});
    const float zero[3] = {};
    QueryOptions options;
    options.k = 2;
    QueryOutputs outputs;
    outputs.distance = distance.view();
    outputs.site = site.view();
    set.nearest(HostView<const float>(zero, {1, 3}), options, outputs);
    EXPECT_EQ(value_at(distance, 0), INFINITY);
    EXPECT_EQ(integer_at(site, 1), -1);
    Array empty(DType::float32, {0});
    QueryOutputs nothing;
    nothing.distance = empty.view();
    EXPECT_EQ(set.nearest(none.view(), {}, nothing).threads, available_threads());
  }
}

TEST(SiteSets, StayInsideTheScratchLimit) {
  Random random(8);
  PointProblem problem;
  problem.sites = make_points(Spread::uniform, DType::float32, 3000, 3, random);
  problem.queries = make_points(Spread::uniform, DType::float32, 3000, 3, random);
  for (Storage storage : kStorages) {
    problem.set.storage = storage;
    problem.query.execution.scratch_limit.reset();
    const PointAnswers free = nearest(problem, DType::float64);
    for (std::size_t limit : {std::size_t{100}, std::size_t{5000}}) {
      problem.query.execution.scratch_limit = limit;
      EXPECT_TRUE(equal(free, nearest(problem, DType::float64)));
      Array site(DType::int64, {3000});
      QueryOutputs outputs;
      outputs.site = site.view();
      EXPECT_LE(SiteSet(problem.sites.view(), problem.set)
                    .nearest(problem.queries.view(), problem.query, outputs)
                    .scratch_bytes,
                limit);
    }
  }
}

TEST(SiteSets, CanBeCancelledAndReport) {
  Random random(9);
  const Array sites = make_points(Spread::uniform, DType::float32, 50000, 3, random);
  const SiteSet set(sites.view());
  Array site(DType::int64, {50000});
  QueryOutputs outputs;
  outputs.site = site.view();
  std::stop_source stop;
  QueryOptions options;
  double reported = 0;
  options.execution.progress = [&](double share) {
    EXPECT_GE(share, reported);
    reported = share;
  };
  set.nearest(sites.view(), options, outputs);
  EXPECT_EQ(reported, 1);
  options.execution.progress = [&](double) { stop.request_stop(); };
  options.execution.stop = stop.get_token();
  EXPECT_THROW(set.nearest(sites.view(), options, outputs), Cancelled);
}

TEST(SiteSets, RefuseBadSites) {
  const auto refused = [](auto values, Shape shape, SiteSetOptions options = {}) {
    return refusal(
        [&] { SiteSet(HostView<const typename decltype(values)::value_type>(values.data(), shape), options); });
  };
  const std::vector<float> six = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(refused(six, {6}), "points are an array [n, d] or [batch, n, d], not of the shape 6");
  EXPECT_EQ(refused(six, {6, 1}), "points have 2 or 3 coordinates, not 1");
  EXPECT_EQ(refused(std::vector<std::int64_t>{1, 2}, {1, 2}), "coordinates are int32, float32 or float64, not int64");
  EXPECT_EQ(refused(std::vector<float>{0, 0, 0, NAN, 0, 0}, {2, 3}),
            "site 1 has a coordinate that is not finite; leave such points out");
  EXPECT_EQ(refused(std::vector<double>{0, 0, INFINITY}, {1, 3}),
            "site 0 has a coordinate that is not finite; leave such points out");
  EXPECT_EQ(refused(std::vector<double>{0, 0, 1e200}, {1, 3}),
            "site 0 has a coordinate that is beyond 1e150; scale the coordinates");
  for (double tiny : {1e-170, -1e-170, 9.9e-139, 5e-324})
    EXPECT_EQ(
        refused(std::vector<double>{0, 0, 0, 0, tiny, 0}, {2, 3}),
        "site 1 has a coordinate that is not 0, but nearer to it than 1e-138; scale the coordinates, or make it 0");
  SiteSetOptions options;
  options.every = 0;
  EXPECT_EQ(refused(six, {2, 3}, options), "sites are kept at every 0-th; give 1 or more");
  options = {};
  options.period = {1, 2};
  EXPECT_EQ(refused(six, {2, 3}, options),
            "2 periods given for points with 3 coordinates; give one for all axes or one per axis");
  options.period = {-1};
  EXPECT_EQ(refused(six, {2, 3}, options), "a period is -1; give a finite number that is at least 0");
  options.period = {4};
  EXPECT_EQ(refused(six, {2, 3}, options),
            "a site lies outside of the periodic box, which goes from 0 to below the period along axis 1; wrap the "
            "coordinates first");
  options = {};
  options.execution.scratch_limit = 10;
  EXPECT_EQ(refused(six, {2, 3}, options),
            "the scratch limit of 10 bytes is too small to sort the sites; the smallest that works here is 32 bytes");
  EXPECT_EQ(refusal([&] { points::Coordinates(std::vector<AnyConstView>{}); }),
            "points have 2 or 3 coordinates, not 0");
  const HostView<const float> two(six.data(), {2}), three(six.data(), {3});
  EXPECT_EQ(refusal([&] {
              points::Coordinates(std::vector<AnyConstView>{two, three});
            }),
            "the coordinates of a structure of arrays are views [n] of one element type and one length");
}

TEST(SiteSets, RefuseMasksWithOtherAxes) {
  const Array mask(DType::uint8, {4});
  EXPECT_EQ(refusal([&] { SiteSet::of_mask(mask.view()); }), "a mask of sites has 2 or 3 axes, not 1");
}

TEST(SiteSets, RefuseIdsThatTheTypesDoNotHold) {
  // Memory that nobody looks at: the refusal comes before.
  const AnyConstView many(nullptr, DType::float32, {std::int64_t{1} << 32, 3});
  EXPECT_EQ(refusal([&] { SiteSet set(many); }),
            "ids go up to 4294967295, which sorted storage does not hold (at most 4294967294); use boxed or plain");
}

/// Each refusal of a query, by what was changed from a query that is answered.
TEST(SiteSets, RefuseBadQueries) {
  Random random(10);
  const Array sites = make_points(Spread::uniform, DType::float32, 30, 3, random);
  const Array queries = make_points(Spread::uniform, DType::float32, 4, 3, random);
  const Array flat = make_points(Spread::uniform, DType::float32, 4, 2, random);
  Array directions(DType::float64, {4, 3});
  for (double& x : std::span(directions.as<double>().data(), 12)) x = 1;
  Array distance(DType::float32, {4}), wrong(DType::float32, {3}), lower(DType::float32, {4, 2});
  Array integers(DType::int32, {4});
  const SiteSet set(sites.view());
  const auto refused = [&](const auto& change) {
    QueryOptions options;
    QueryOutputs outputs;
    outputs.distance = distance.view();
    change(options, outputs);
    return refusal([&] { set.nearest(queries.view(), options, outputs); });
  };
  EXPECT_EQ(refused([](QueryOptions&, QueryOutputs&) {}), "not refused");
  EXPECT_EQ(refused([](QueryOptions& o, QueryOutputs&) { o.k = 65; }), "k is 65; give 1 to 64");
  EXPECT_EQ(refused([](QueryOptions& o, QueryOutputs&) { o.k = 0; }), "k is 0; give 1 to 64");
  EXPECT_EQ(refused([](QueryOptions& o, QueryOutputs&) { o.radius = NAN; }),
            "the radius is nan; give a number that is at least 0");
  EXPECT_EQ(refused([](QueryOptions& o, QueryOutputs&) { o.relative_error = -1; }),
            "the relative error is -1; give a finite number that is at least 0");
  EXPECT_EQ(refused([](QueryOptions& o, QueryOutputs&) { o.absolute_error = INFINITY; }),
            "the absolute error is inf; give a finite number that is at least 0");
  EXPECT_EQ(refused([](QueryOptions& o, QueryOutputs&) { o.work_limit = -2; }),
            "the work limit is -2; give 0 for none, or more");
  EXPECT_EQ(refused([](QueryOptions&, QueryOutputs& out) { out = {}; }),
            "no output was given; give distance, squared, site or lower");
  EXPECT_EQ(refused([&](QueryOptions&, QueryOutputs& out) { out.distance = wrong.view(); }),
            "the output 'distance' has the shape 3; it must have 4");
  EXPECT_EQ(refused([&](QueryOptions&, QueryOutputs& out) { out.distance = integers.view(); }),
            "the output 'distance' is int32; it must be float32 or float64");
  EXPECT_EQ(refused([&](QueryOptions& o, QueryOutputs& out) { out.distance = out.lower = lower.view(), o.k = 2; }),
            "the output 'lower' bounds the nearest site's distance; it needs k = 1");
  EXPECT_EQ(refused([&](QueryOptions& o, QueryOutputs&) { o.cone.directions = queries.view(), o.cone.half_angle = 4; }),
            "the cone's half-angle is 4; give radians from 0 to pi");
  EXPECT_EQ(refused([&](QueryOptions& o, QueryOutputs&) { o.cone.directions = flat.view(); }),
            "the cone's directions have the shape 4 × 2; they must have 4 × 3, or 1 × 3 for all queries");
  EXPECT_EQ(refused([](QueryOptions& o, QueryOutputs&) { o.execution.threads = -1; }),
            "the number of threads is -1; give 1 or more, or 0 for all processors");
  for (double& x : std::span(directions.as<double>().data() + 6, 3)) x = 0;
  EXPECT_EQ(refused([&](QueryOptions& o, QueryOutputs&) { o.cone.directions = directions.view(); }),
            "the cone's direction 2 is not finite or has no length");
  for (const auto metric : {points::Metric::taxicab, points::Metric::chessboard}) {
    EXPECT_EQ(refused([&](QueryOptions& o, QueryOutputs&) { o.metric = metric; }), "not refused");
    EXPECT_EQ(refused([&](QueryOptions& o, QueryOutputs& out) { o.metric = metric, out.squared = distance.view(); }),
              "squared distances belong to the Euclidean metric; ask for 'distance'");
    EXPECT_EQ(refused([&](QueryOptions& o, QueryOutputs&) { o.metric = metric, o.cone.directions = queries.view(); }),
              "cones belong to the Euclidean metric; leave out the cone or the other metric");
  }
  QueryOutputs outputs;
  outputs.distance = distance.view();
  const double tiny[12] = {0, 0, 0, 0, 0, -1e-170};
  EXPECT_EQ(
      refusal([&] {
        set.nearest(HostView<const double>(tiny, {4, 3}), {}, outputs);
      }),
      "query 1 has a coordinate that is not 0, but nearer to it than 1e-138; scale the coordinates, or make it 0");
  EXPECT_EQ(refusal([&] { set.nearest(flat.view(), {}, outputs); }), "the queries have 2 coordinates, the sites 3");
  EXPECT_EQ(refusal([&] {
              set.nearest(AnyConstView(queries.data(), DType::float32, {1, 4, 3}), {}, outputs);
            }),
            "the sites are one cloud, the queries a batch; give queries [n, d]");
  QueryOptions options;
  options.work_limit = 5;
  const SiteSet plain(sites.view(), stored(Storage::plain));
  EXPECT_EQ(refusal([&] { plain.nearest(queries.view(), options, outputs); }),
            "a work limit needs boxes to bound what was not looked at; use storage boxed or sorted");
  options = {};
  options.execution.backend = Backend::cuda;
  EXPECT_THROW(set.nearest(queries.view(), options, outputs), Error);
}

/// Boundaries are closed: sites exactly at the half-angle, and exactly at the radius, qualify.
TEST(SiteSets, CountBoundariesIn) {
  const std::int32_t sites[][2] = {{1, 1}, {0, 2}, {-1, 1}};
  const float ahead[] = {1, 0};
  const std::int32_t origin[2] = {};
  const SiteSet set(HostView<const std::int32_t>(&sites[0][0], {3, 2}));
  std::int32_t site = 0;
  QueryOptions options;
  QueryOutputs outputs;
  outputs.site = HostView<std::int32_t>(&site, {1});
  const auto ask = [&] {
    set.nearest(HostView<const std::int32_t>(origin, {1, 2}), options, outputs);
    return site;
  };
  options.radius = std::sqrt(2.0);
  EXPECT_EQ(ask(), 0);
  options.radius = std::nextafter(options.radius, 0.0);
  EXPECT_EQ(ask(), -1);
  options.radius = INFINITY;
  options.cone.directions = HostView<const float>(ahead, {1, 2});
  options.cone.half_angle = std::numbers::pi / 4;
  EXPECT_EQ(ask(), 0);
  options.cone.half_angle -= 1e-9;
  EXPECT_EQ(ask(), -1);
  options.cone.cylinder_radius = 1;
  EXPECT_EQ(ask(), 0);
  const float up[] = {0, 1}, left[] = {-1, 0};
  options.cone = {};
  options.cone.directions = HostView<const float>(up, {1, 2});
  EXPECT_EQ(ask(), 1);
  options.cone.directions = HostView<const float>(left, {1, 2});
  options.cone.half_angle = std::numbers::pi * 0.75;
  EXPECT_EQ(ask(), 0);
}

}  // namespace
}  // namespace fathom::test
