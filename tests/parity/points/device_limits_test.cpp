// Sets of sites larger than a limit of device memory, what sets and calls take at most, and sets on several devices.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "cases.h"
#include "device_pool.h"
#include "points/device_points.h"

namespace fathom::test {
namespace {

/// The smallest limit of device memory, which refusals name, of the set and then of the call.
std::size_t smallest_memory(PointProblem& problem) {
  for (problem.set.device_memory = 1;;) {
    try {
      nearest(problem, DType::float64);
      return *problem.set.device_memory;
    } catch (const InvalidArgument& error) {
      const std::string words = error.what();
      const std::size_t named = std::stoul(words.substr(words.find("works here is ") + 14));
      if (named <= *problem.set.device_memory) throw std::logic_error("a limit that was named did not suffice");
      problem.set.device_memory = named;
    }
  }
}

/// Sites that pass by in pieces: the CPU's bytes, within the smallest limit and one that makes larger pieces.
TEST_F(DevicePoints, SitesBeyondTheDevice) {
  int passed_by = 0;
  for (int i = 0; i < scaled(150); ++i) {
    PointProblem problem = random_point_problem(600000 + static_cast<std::uint64_t>(i), 100000);
    if (problem.sites.size() == 0 || problem.queries.size() == 0) continue;
    SCOPED_TRACE(describe(problem));
    const PointAnswers expected = nearest(problem, DType::float64);
    problem.set.storage = Storage::plain;
    problem.set.execution.backend = Backend::cuda;
    problem.query.execution = {};
    const std::size_t least = smallest_memory(problem);
    const std::size_t sites = problem.sites.bytes() / static_cast<std::size_t>(problem.set.every);
    for (std::size_t limit : {least, least + sites / 3}) {
      if (limit >= 2 * sites) continue;  // they would stay on the device
      problem.set.device_memory = limit;
      const std::uint64_t most =
          most_taken([&] { ASSERT_TRUE(equal(expected, nearest(problem, DType::float64, i % 3))); });
      EXPECT_LE(most, limit);
      ++passed_by;
    }
  }
  EXPECT_GT(passed_by, scaled(20));
}

TEST_F(DevicePoints, SetsKeepTheirLimit) {
  Random random(13);
  const Array sites = make_points(Spread::uniform, DType::float32, 50000, 3, random);
  const PointsOnDevice on_device(sites, 0);
  const PointsOnDevice queries(make_points(Spread::uniform, DType::float32, 1000, 3, random), 0);
  AnswersOnDevice answers(1000, 1, DType::float32);
  points::SiteSetOptions options;
  options.execution.backend = Backend::cuda;
  options.device_memory = 600000;  // the sites alone
  EXPECT_THROW(SiteSet(sites.view(), options), InvalidArgument);
  options.storage = Storage::plain;
  options.device_memory = 100;  // not enough for one query
  EXPECT_THROW(SiteSet(on_device.coordinates(), options).nearest(queries.coordinates(), {}, answers.views()),
               InvalidArgument);
  AnswersOnDevice expected(1000, 1, DType::float32);
  SiteSet(on_device.coordinates()).nearest(queries.coordinates(), {}, expected.views());
  must(cudaDeviceSynchronize());
  expected.download();
  for (std::size_t limit : {150000, 600000, 1200000, 1300000, 20000000}) {  // in pieces, in batches, at once
    options.device_memory = limit;
    const std::uint64_t most = most_taken([&] {
      SiteSet(sites.view(), options).nearest(queries.coordinates(), {}, answers.views());
      must(cudaDeviceSynchronize());
    });
    EXPECT_LE(most, limit);
    EXPECT_TRUE(equal(expected.host, answers.download())) << limit;
  }
}

/// What is found waits in the place of an answer, of 4 bytes or 8, for the next piece: of squares between integers that
/// need more than 64 bits, too.
TEST_F(DevicePoints, PiecesLeaveWhatTheyFindInAnyAnswer) {
  constexpr std::int64_t kQueries = 500;
  for (DType dtype : {DType::int32, DType::float32}) {
    Random random(15);
    const Spread spread = dtype == DType::int32 ? Spread::extremes : Spread::uniform;
    const Array sites = make_points(spread, dtype, 40000, 3, random),
                queries = make_points(spread, dtype, kQueries, 3, random);
    points::SiteSetOptions options;
    options.storage = Storage::plain;
    options.execution.backend = Backend::cuda;
    options.device_memory = 400000;
    const SiteSet on_host(sites.view()), passing(sites.view(), options);
    ASSERT_EQ(passing.bytes(), 0u) << "the sites stay";
    for (DType answer : {DType::float32, DType::float64, DType::int32, DType::int64}) {
      for (bool lower : {false, true}) {
        const auto found_by = [&](const SiteSet& set) {
          Array found(answer, {kQueries});
          points::QueryOutputs outputs;
          const bool ids = answer == DType::int32 || answer == DType::int64;
          (ids ? outputs.site : lower ? outputs.lower : outputs.distance) = found.view();
          set.nearest(queries.view(), {}, outputs);
          return found;
        };
        EXPECT_TRUE(equal(found_by(on_host), found_by(passing))) << static_cast<int>(answer) << lower;
      }
    }
  }
}

/// A set whose last piece is smaller than the others, and takes more scratch: nothing is written beyond the memory of
/// the call.
TEST_F(DevicePoints, LastPiecesKeepToTheirMemory) {
  constexpr std::int64_t kSites = 600000, kQueries = 100;
  Random random(14);
  const Array sites = make_points(Spread::uniform, DType::float32, kSites, 3, random);
  const PointsOnDevice queries(make_points(Spread::uniform, DType::float32, kQueries, 3, random), 0);
  const PointsOnDevice on_device(sites, 0);
  AnswersOnDevice expected(kQueries, 1, DType::float32), answers(kQueries, 1, DType::float32);
  SiteSet(on_device.coordinates()).nearest(queries.coordinates(), {}, expected.views());
  must(cudaDeviceSynchronize());
  expected.download();
  points::SiteSetOptions options;
  options.storage = Storage::plain;
  options.execution.backend = Backend::cuda;
  for (std::size_t limit = 10500000; limit <= 14000000; limit += 500000) {
    options.device_memory = limit;
    release_device_memory();
    const SiteSet set(sites.view(), options);
    ASSERT_EQ(set.bytes(), 0u) << "the sites stay";
    std::uint64_t most = 0;
    const std::uint64_t written = span_written(limit * 2, [&] {
      most = most_taken([&] {
        set.nearest(queries.coordinates(), {}, answers.views());
        must(cudaDeviceSynchronize());
      });
    });
    EXPECT_GT(written, most / 2) << limit;
    EXPECT_LE(written, most) << limit;
    EXPECT_LE(most, limit);
    EXPECT_TRUE(equal(expected.host, answers.download())) << limit;
  }
}

/// Of a call with the first query alone.
std::size_t least_of_one_query(PointProblem& problem) {
  Array all = std::exchange(problem.queries, Array(problem.queries.dtype(), {1, problem.queries.shape()[1]}));
  std::copy_n(all.data(), problem.queries.bytes(), problem.queries.data());
  const std::size_t least = smallest_memory(problem);
  problem.queries = std::move(all);
  return least;
}

/// What a set and its calls take of the device at most is within the limit: at each size, in each storage, whether
/// sites pass by, queries go in batches, or all is there at once.
TEST_F(DevicePoints, PeaksAreWithinTheLimit) {
  const std::int64_t sizes[] = {5000, 60000, 300000, 1500000};
  for (int i = 0; i < 12; ++i) {
    Random random(static_cast<std::uint64_t>(i) + 80);
    PointProblem problem;
    const DType dtype = pick<DType>(random, {DType::int32, DType::float32, DType::float64});
    problem.sites = make_points(Spread::uniform, dtype, sizes[i % 4], 2 + i % 2, random);
    problem.queries = make_points(Spread::uniform, dtype, i % 3 == 2 ? 5000 : 20 + i % 3 * 980, 2 + i % 2, random);
    problem.query.k = i % 5 == 4 ? 7 : 1;
    const PointAnswers expected = nearest(problem, DType::float32);
    problem.set.execution.backend = Backend::cuda;
    for (Storage storage : {Storage::plain, Storage::boxed, Storage::sorted}) {
      problem.set.storage = storage;
      const auto least = static_cast<double>(least_of_one_query(problem)) + 100000;
      const auto own = static_cast<double>(problem.sites.bytes());
      for (double limit : {least, 0.4 * own, 0.8 * own, 1.2 * own, 5 * own}) {
        if (limit < least) continue;
        problem.set.device_memory = static_cast<std::size_t>(limit);
        SCOPED_TRACE(describe(problem) + " limit " + std::to_string(limit));
        const std::uint64_t most =
            most_taken([&] { ASSERT_TRUE(equal(expected, nearest(problem, DType::float32, i % 3))); });
        EXPECT_LE(most, *problem.set.device_memory);
      }
    }
  }
}

/// A set on several devices: the bytes of one, however the queries are shared.
TEST_F(DevicePoints, SetsOnSeveralDevices) {
  for (int i = 0; i < scaled(40); ++i) {
    PointProblem problem = random_point_problem(700000 + static_cast<std::uint64_t>(i), 20000);
    SCOPED_TRACE(describe(problem));
    const PointAnswers expected = nearest(problem, DType::float64);
    problem.set.execution.backend = Backend::cuda;
    problem.query.execution = {};
    problem.set.devices = {0, device_count() - 1, 0};
    EXPECT_TRUE(equal(expected, nearest(problem, DType::float64, i % 3)));
  }
}

TEST_F(DevicePoints, SeveralDevicesShareByTheirSpeed) {
  Random random(15);
  const Array sites = make_points(Spread::uniform, DType::float32, 5000, 3, random);
  const Array queries = make_points(Spread::uniform, DType::float32, 200000, 3, random);
  points::SiteSetOptions options;
  Array one(DType::int64, {200000}), several(DType::int64, {200000});
  const auto find = [&](const SiteSet& set, Array& out) {
    points::QueryOutputs outputs;
    outputs.site = out.view();
    return set.nearest(queries.view(), {}, outputs);
  };
  find(SiteSet(sites.view(), options), one);
  options.execution.backend = Backend::cuda;
  options.devices = {0, device_count() - 1};
  const SiteSet set(sites.view(), options);
  for (int call = 0; call < 3; ++call) {  // the first in equal parts, the others as measured
    std::fill_n(several.data(), several.bytes(), std::byte{0xa5});
    const points::QueryReport report = find(set, several);
    EXPECT_NE(report.device.find(", "), std::string::npos);
    EXPECT_TRUE(std::equal(one.data(), one.data() + one.bytes(), several.data())) << call;
  }
  const PointsOnDevice there(queries, 0);
  AnswersOnDevice answers(200000, 1, DType::float32);
  set.nearest(there.coordinates(), {}, answers.views());
  must(cudaDeviceSynchronize());
  const Array& found = answers.download().site;
  EXPECT_TRUE(std::equal(one.data(), one.data() + one.bytes(), found.data()));
  options.devices = {device_count()};
  EXPECT_THROW(SiteSet(sites.view(), options), InvalidArgument);
  options.devices = {0};
  EXPECT_THROW(SiteSet(there.coordinates(), options), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
