// Sites of masks on a device, and the ways of its search: trials, teams of warps for few queries, ordered sites.
#include <cuda_runtime_api.h>

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cases.h"
#include "device_pool.h"
#include "points/cuda/build.h"
#include "points/cuda/trial.h"
#include "points/device_points.h"

namespace fathom::test {
namespace {

std::int64_t up_to(int n, Random& random) { return 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); }

/// Masks on the device of every shape, type and layout: the CPU's answers, within the limit, and the mask may go.
TEST_F(DevicePoints, SitesOfMasks) {
  Random random(16);
  for (int i = 0; i < scaled(60); ++i) {
    const bool flat = i % 2 == 0;
    Shape shape{up_to(40, random), up_to(70, random)};
    if (!flat) shape.push_back(up_to(50, random));
    const DType dtype = std::array{DType::boolean, DType::uint8, DType::int64, DType::float32, DType::float64}[i % 5];
    Array mask(dtype, shape);
    const int odds = std::array{1, 3, 50, 100000}[i % 4];
    for (std::int64_t e = 0; e < mask.size(); ++e)
      mask.data()[static_cast<std::size_t>(e) * size_of(dtype)] =
          up_to(odds + 1, random) == 1 ? std::byte{1} : std::byte{0};
    const Array queries = make_points(Spread::uniform, DType::float32, 50, shape.rank(), random);
    points::SiteSetOptions options;
    options.storage = std::array{Storage::plain, Storage::boxed, Storage::sorted}[i % 3];
    options.every = 1 + i % 4;
    const auto ask = [&](const SiteSet& set) {
      PointAnswers answers{Array(DType::float64, {50, 2}), Array(DType::float64, {50, 2}),
                           Array(DType::int64, {50, 2})};
      points::QueryOptions query;
      query.k = 2;
      set.nearest(queries.view(), query, {answers.distance.view(), answers.squared.view(), answers.site.view(), {}});
      return answers;
    };
    SCOPED_TRACE(to_string(shape) + ", storage " + std::to_string(i % 3) + ", odds " + std::to_string(odds));
    std::optional<Block> there(mask);
    options.device_memory = std::size_t{64} << 20;
    std::optional<SiteSet> set;
    const std::uint64_t most = most_taken([&] {
      set = SiteSet::of_mask(AnyConstDeviceView(there->data(), dtype, shape), options);
      set.reset();
      must(cudaDeviceSynchronize());
    });
    EXPECT_LE(most, *options.device_memory);
    set = SiteSet::of_mask(AnyConstDeviceView(there->data(), dtype, shape), options);
    there.reset();
    options.device_memory.reset();
    const SiteSet expected = SiteSet::of_mask(mask.view(), options);
    EXPECT_EQ(set->size(), expected.size());
    EXPECT_TRUE(equal(ask(expected), ask(*set)));
  }
}

TEST_F(DevicePoints, MasksInParts) {
  Array mask(DType::uint8, {40, 50, 60});
  Random random(17);
  for (std::int64_t e = 0; e < mask.size(); ++e) mask.data()[e] = static_cast<std::byte>(up_to(10, random) == 1);
  const Block there(mask);
  const Strides every_other{2 * 50 * 60, 3 * 60, 1};
  const Shape shape{20, 17, 60};
  const AnyConstDeviceView part_there(there.data(), DType::uint8, shape, every_other);
  Array packed(DType::uint8, shape);
  for (std::int64_t z = 0, e = 0; z < 20; ++z)
    for (std::int64_t y = 0; y < 17; ++y)
      for (std::int64_t x = 0; x < 60; ++x, ++e) packed.data()[e] = mask.data()[z * 6000 + y * 180 + x];
  const Array queries = make_points(Spread::uniform, DType::float32, 100, 3, random);
  Array expected(DType::int64, {100}), found(DType::int64, {100});
  const auto ask = [&](const SiteSet& set, Array& out) {
    points::QueryOutputs outputs;
    outputs.site = out.view();
    set.nearest(queries.view(), {}, outputs);
  };
  ask(SiteSet::of_mask(packed.view()), expected);
  ask(SiteSet::of_mask(part_there), found);
  EXPECT_TRUE(std::equal(expected.data(), expected.data() + expected.bytes(), found.data()));
  points::SiteSetOptions options;
  options.device_memory = 100;
  EXPECT_THROW(SiteSet::of_mask(part_there, options), InvalidArgument);
  EXPECT_THROW(SiteSet::of_mask(AnyConstDeviceView(there.data(), DType::uint8, {120000})), InvalidArgument);
  EXPECT_THROW(SiteSet::of_mask(AnyConstDeviceView(mask.data(), DType::uint8, {40, 50, 60})), InvalidArgument);
}

/// Sites that are all at one place: the lowest ids, without a look at the others.
TEST_F(DevicePoints, SitesAtOnePlace) {
  Random random(14);
  for (DType dtype : {DType::int32, DType::float32, DType::float64})
    for (int k : {1, 5}) {
      PointProblem problem;
      problem.sites = make_points(Spread::equal, dtype, 5000, 3, random);
      problem.queries = make_points(Spread::uniform, dtype, 100, 3, random);
      problem.query.k = k;
      const PointAnswers expected = nearest(problem, DType::float32);
      problem.set.storage = Storage::plain;
      problem.set.execution.backend = Backend::cuda;
      EXPECT_TRUE(equal(expected, nearest(problem, DType::float32)));
    }
}

/// Whether plain sets are hard for products is told by a few queries.
TEST_F(DevicePoints, TrialsTellHardSets) {
  const auto trial = [](const Array& sites) {
    const Block there(sites);
    const DeviceCoordinates rows(AnyConstDeviceView(there.data(), sites.dtype(), sites.shape()));
    Cloud cloud = points::cloud_of(points::CoordinateLayout(rows), 0);
    points::cuda::DeviceTree tree = points::cuda::make_tree(cloud, Storage::plain);
    points::cuda::set_extent(tree, points::cuda::extent_of(cloud, nullptr));
    return points::cuda::try_queries(tree, nullptr);
  };
  Random random(21);
  for (std::int64_t count : {8000, 20000, 100000, 400000})
    for (DType dtype : {DType::int32, DType::float32, DType::float64}) {
      const auto easy = trial(shell_in_cube(count, dtype, random));
      EXPECT_FALSE(easy.vague || easy.tied) << count;
      const auto places = trial(make_points(Spread::duplicates, dtype, count, 3, random));
      EXPECT_TRUE(places.tied) << count;
      EXPECT_TRUE(places.vague || dtype == DType::int32) << count;
      const auto sphere =
          trial(make_points(Spread::sphere, dtype == DType::int32 ? DType::float32 : dtype, count, 3, random));
      EXPECT_FALSE(sphere.tied) << count;
      EXPECT_TRUE(sphere.vague) << count;
    }
  for (std::int64_t count : {1000, 3000, 16000})
    EXPECT_FALSE(trial(make_points(Spread::uniform, DType::float32, count, 3, random)).vague) << count;
  EXPECT_FALSE(trial(make_points(Spread::uniform, DType::float32, 100, 3, random)).vague);
}

/// The CPU's answers, from sites that the device has sorted. Leaves the problem to the device.
void check_sorted(PointProblem& problem) {
  SCOPED_TRACE(describe(problem));
  problem.set.execution.backend = Backend::cpu;
  const PointAnswers expected = nearest(problem, DType::float32);
  problem.set.storage = Storage::sorted;
  problem.set.execution.backend = Backend::cuda;
  ASSERT_TRUE(equal(expected, nearest(problem, DType::float32)));
}

/// Of sorted sites, by teams of warps: through three levels of a tree and more, also where more is left of it than they
/// list, as from inside a sphere or where many sites are at a place, and within a radius.
TEST_F(DevicePoints, FewQueriesOfManySortedSites) {
  Random random(15);
  const std::int64_t count = std::max(scaled(70000), 2000);
  for (int spread = 0; spread < kSpreads; ++spread)
    for (DType dtype : {DType::int32, DType::float32, DType::float64})
      for (int axes : {2, 3}) {
        const auto own = static_cast<Spread>(spread);
        PointProblem problem;
        problem.sites = make_points(own, dtype, count, axes, random);
        problem.queries = make_points(spread % 2 == 0 ? own : Spread::uniform, dtype, 300, axes, random);
        check_sorted(problem);
        problem.set.execution.backend = Backend::cpu;
        problem.query.radius = nearest(problem, DType::float32).distance.as<float>().data()[150];
        check_sorted(problem);
      }
}

/// Teams of warps begin at the lowest level of no more than 512 nodes, of 32 leaves or nodes of 32 each: with as many
/// nodes as that, with one more, with some groups of them, with fewer than one.
TEST_F(DevicePoints, FewQueriesFromEachLevelOfSortedSites) {
  Random random(18);
  const std::int64_t full = 512 * 32, more = full * 32;
  for (const std::int64_t count :
       {1L, 33L, 1057L, 3 * 1024L + 1, full, full + 1, full + 1024, more - 31, more, more + 1})
    for (DType dtype : {DType::int32, DType::float32}) {
      PointProblem problem;
      problem.sites = make_points(dtype == DType::int32 ? Spread::lattice : Spread::uniform, dtype, count, 3, random);
      problem.queries = make_points(Spread::uniform, dtype, 200, 3, random);
      check_sorted(problem);
    }
}

/// Sites at eight places, so many at each that all leaves of a full list are as near as the nearest.
TEST_F(DevicePoints, FewQueriesOfSitesAtFewPlaces) {
  Random random(19);
  for (const std::int64_t count : {9000, 16384, 70000, 300000})
    for (DType dtype : {DType::int32, DType::float32, DType::float64}) {
      PointProblem problem;
      problem.sites = make_points(Spread::duplicates, dtype, count, 3, random);
      problem.queries = make_points(Spread::uniform, dtype, 300, 3, random);
      check_sorted(problem);
    }
}

/// Sites at the corners of a cube, and queries as near to two, four or all eight of them: the lowest id may be among
/// the last that a team comes to.
TEST_F(DevicePoints, FewQueriesBetweenPlaces) {
  Random random(22);
  const auto corners = [&](std::int64_t count, DType dtype, int steps) {
    Array points(dtype, {count, 3});
    for (std::int64_t i = 0; i < 3 * count; ++i)
      store(points, i, static_cast<double>(below(random, steps)) * 10 / (steps - 1));
    return points;
  };
  for (const std::int64_t count : {2000, 16384, 70000, 300000})
    for (DType dtype : {DType::int32, DType::float32, DType::float64}) {
      PointProblem problem;
      problem.sites = corners(count, dtype, 2);
      problem.queries = corners(300, dtype, 3);
      check_sorted(problem);
    }
}

/// Sites on a sphere and queries within it, its middle among them, for which more is left than a team looks at one by
/// one: of as many sites as it has leaves at hand, or parents of leaves, and fewer; and within a radius.
TEST_F(DevicePoints, FewQueriesFromInsideSpheres) {
  Random random(23);
  for (const std::int64_t count : {1500, 16384, 70000, 524288})
    for (DType dtype : {DType::int32, DType::float32, DType::float64})
      for (int axes : {2, 3}) {
        PointProblem problem;
        problem.sites = make_points(Spread::sphere, dtype, count, axes, random);
        problem.queries = make_points(Spread::sphere, dtype, 200, axes, random);
        for (std::int64_t i = 0; i < 200 * axes; ++i)
          store(problem.queries, i, value_at(problem.queries, i) * static_cast<double>(i / axes) / 200);
        check_sorted(problem);
        problem.set.execution.backend = Backend::cpu;
        problem.query.radius = nearest(problem, DType::float32).distance.as<float>().data()[100];
        check_sorted(problem);
      }
}

/// Points of a sphere about the origin.
Array sphere_about_origin(DType dtype, std::int64_t count, int axes, double radius, Random& random) {
  const Array from = make_points(Spread::sphere, DType::float64, count, axes, random);
  Array points(dtype, {count, axes});
  for (std::int64_t i = 0; i < count; ++i) {
    double squared = 0;
    for (int k = 0; k < axes; ++k) squared += std::pow(value_at(from, i * axes + k), 2);
    for (int k = 0; k < axes; ++k)
      store(points, i * axes + k, value_at(from, i * axes + k) / std::sqrt(squared) * radius);
  }
  return points;
}

/// Sites on a sphere, of which the second half may be copies of the first, and queries about its middle: every seventh
/// in it, a fifth of 300 anywhere within, one so far away that float32 does not hold it.
PointProblem middle_of_sphere(DType dtype, std::int64_t count, std::int64_t queries, int axes, Random& random) {
  const bool has_copies = queries == 300;
  const double radius = dtype != DType::int32 ? 1 : count % 2 == 0 ? 1e6 : 1.5e9;
  PointProblem problem;
  problem.sites = sphere_about_origin(dtype, count, axes, radius, random);
  for (std::int64_t i = count / 2 * axes; has_copies && i < count * axes; ++i)
    store(problem.sites, i, value_at(problem.sites, i - count / 2 * axes));
  const bool is_same = dtype == DType::float64 || (dtype == DType::int32 && (count > 100000 || count == 20001));
  const DType asked = is_same ? dtype : has_copies ? DType::float64 : DType::float32;
  problem.queries = sphere_about_origin(asked, queries, axes, radius, random);
  for (std::int64_t i = 0; i < queries * axes; ++i) {
    const std::int64_t query = i / axes;
    const double share = query % 7 == 3 ? 0 : query % 5 == 4 && queries == 300 ? 1 : 1e-2;
    store(problem.queries, i, value_at(problem.queries, i) * share + (query == 8 ? 0x1p24 + 2 : 0));
  }
  return problem;
}

/// The same about the middle, where queries are given up, or not searched at all: some of them, all, or a single one,
/// of sites of each type, up to as many as groups of several tiles take.
TEST_F(DevicePoints, FewQueriesAboutTheMiddleOfSpheres) {
  Random random(24);
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{20000, 300},   {20001, 40},   {16384, 40},
                                                         {66000, 1},     {70001, 9},    {140000, 300},
                                                         {262144, 1050}, {300001, 300}, {1100000, 60}};
  for (const auto& [count, queries] : sizes)
    for (DType dtype : {DType::int32, DType::float32, DType::float64})
      for (int axes : {2, 3}) {
        if ((axes == 2 && count > 140000) || count > scaled(4'000'000)) continue;
        PointProblem problem = middle_of_sphere(dtype, count, queries, axes, random);
        check_sorted(problem);
        problem.set.execution.backend = Backend::cpu;
        problem.query.radius = nearest(problem, DType::float32).distance.as<float>().data()[queries / 2];
        check_sorted(problem);
      }
}

/// That takes scratch, of which sorted sets of other shapes need none, and none is taken where there is no room.
TEST_F(DevicePoints, ScratchOfHollowSets) {
  Random random(26);
  const auto scratch_of = [&](Spread spread, std::int64_t count, DType dtype = DType::float32) {
    const PointsOnDevice sites(make_points(spread, dtype, count, 3, random), 0);
    const PointsOnDevice queries(make_points(Spread::uniform, DType::float32, 200, 3, random), 0);
    points::SiteSetOptions options;
    options.storage = Storage::sorted;
    return SiteSet(sites.coordinates(), options).scratch_bytes(queries.coordinates(), {});
  };
  EXPECT_GT(scratch_of(Spread::sphere, 20000, DType::float64), 0u);
  for (const std::int64_t count : {16384, 70000, 600000}) {
    EXPECT_GT(scratch_of(Spread::sphere, count), 0u);
    for (Spread spread : {Spread::uniform, Spread::lattice, Spread::clustered, Spread::duplicates, Spread::equal})
      EXPECT_EQ(scratch_of(spread, count), 0u) << name_of(spread) << " " << count;
  }
  PointProblem problem = middle_of_sphere(DType::float32, 70000, 300, 3, random);
  problem.set.execution.backend = Backend::cpu;
  const PointAnswers expected = nearest(problem, DType::float32);
  const PointsOnDevice sites(problem.sites, 0), queries(problem.queries, 0);
  points::SiteSetOptions options;
  options.storage = Storage::sorted;
  const SiteSet set(sites.coordinates(), options);
  const std::size_t needed = set.scratch_bytes(queries.coordinates(), {});
  for (const std::size_t limit : {std::size_t{0}, needed - 1, needed}) {
    points::QueryOptions query;
    query.execution.scratch_limit = limit;
    AnswersOnDevice answers(300, 1, DType::float32);
    const points::QueryReport report = set.nearest(queries.coordinates(), query, answers.views());
    must(cudaDeviceSynchronize());
    EXPECT_EQ(report.scratch_bytes, limit == needed ? needed : 0);
    EXPECT_TRUE(equal(expected, answers.download()));
  }
}

/// Queries that float32 holds and others, of each type, side by side: teams answer the first in float32. Among them are
/// some to which squared distances pass float32; of whole ones, the last that it holds.
TEST_F(DevicePoints, FewQueriesThatFloat32HoldsOrNot) {
  Random random(20);
  const double odd[] = {0x1p24, 0x1p24 + 1, -0x1p24, -0x1p24 - 1, 0x7FFFFFFF, 1e19, 3e38, 0.1};
  for (const std::int64_t count : {500, 20000, 70000, 600000})
    for (DType dtype : {DType::int32, DType::float32})
      for (DType asked : {DType::int32, DType::float32, DType::float64}) {
        PointProblem problem;
        problem.sites = make_points(dtype == DType::int32 ? Spread::lattice : Spread::uniform, dtype, count, 3, random);
        problem.queries = make_points(asked == DType::int32 ? Spread::lattice : Spread::uniform, asked, 200, 3, random);
        for (int i = 0; i < 16; ++i) {
          const double x = odd[i / 2], y = i % 2 == 0 ? 0 : x;
          for (const auto& [axis, value] : {std::pair{0, x}, {1, y}})
            if (asked != DType::int32 || std::abs(value) <= 0x7FFFFFFF) store(problem.queries, 3 * 8 * i + axis, value);
        }
        check_sorted(problem);
      }
}

/// Queries so far from sorted sites that about all are equally near, as float32 has it.
TEST_F(DevicePoints, QueriesFarFromSortedSites) {
  Random random(17);
  for (int i = 0; i < scaled(60); ++i) {
    PointProblem problem;
    problem.sites = make_points(Spread::uniform, DType::float32, 100000, 3, random);
    problem.queries = make_points(Spread::uniform, DType::float32, 1000, 3, random);
    for (float& x : std::span(problem.queries.as<float>().data(), 3000)) x = (x - 0.5f) * 2e8f;
    check_sorted(problem);
  }
}

/// Sites so many that a sample says how fine their order is to be: spread out, on a surface, and many at each place.
TEST_F(DevicePoints, SitesOrderedAsASampleSays) {
  Random random(16);
  for (Spread spread : {Spread::uniform, Spread::sphere, Spread::duplicates})
    for (int axes : {2, 3}) {
      PointProblem problem;
      problem.sites = make_points(spread, axes == 2 ? DType::int32 : DType::float32, (1 << 22) + 77, axes, random);
      problem.queries = make_points(Spread::uniform, problem.sites.dtype(), 300, axes, random);
      check_sorted(problem);
    }
}

}  // namespace
}  // namespace fathom::test
