// Sets of sites on a device, through the call for device arrays: layouts, streams, graphs, queries that are no numbers.
// Answers come out of memory that the host cannot reach, so that only the device can have computed them.
#include "fathom/core/device.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cases.h"
#include "device_block.h"
#include "device_pool.h"
#include "fathom/points/dynamic_set.h"
#include "points/cuda/build.h"
#include "points/cuda/trial.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using points::DeviceCoordinates;
using points::SiteSet;
using points::Storage;

class DevicePoints : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

/// Points on the device: as rows, as padded rows, as a structure of arrays.
class PointsOnDevice {
 public:
  PointsOnDevice(const Array& points, int layout) : layout_(layout), dtype_(points.dtype()) {
    const std::int64_t n = points.shape()[0];
    axes_ = points.shape()[1];
    pitch_ = layout == 2 ? n : axes_ + layout;
    Array moved(dtype_, layout == 2 ? Shape{axes_, n} : Shape{n, pitch_});
    const std::size_t size = size_of(dtype_);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < axes_; ++k)
        std::copy_n(points.data() + static_cast<std::size_t>(i * axes_ + k) * size, size,
                    moved.data() + static_cast<std::size_t>(layout == 2 ? k * n + i : i * pitch_ + k) * size);
    count_ = n;
    block_.emplace(moved);
  }

  DeviceCoordinates coordinates() const {
    if (layout_ < 2) return AnyConstDeviceView(block_->data(), dtype_, {count_, axes_}, {pitch_, 1});
    std::vector<AnyConstDeviceView> columns;
    for (std::int64_t k = 0; k < axes_; ++k)
      columns.emplace_back(block_->data() + static_cast<std::size_t>(k * count_) * size_of(dtype_), dtype_,
                           Shape{count_});
    return DeviceCoordinates(columns);
  }

 private:
  int layout_;
  DType dtype_;
  std::int64_t axes_ = 0, count_ = 0, pitch_ = 0;
  std::optional<Block> block_;
};

/// Answers on the device.
struct AnswersOnDevice {
  AnswersOnDevice(std::int64_t queries, int k, DType dtype)
      : AnswersOnDevice(
            {Array(dtype, {queries, k}), Array(DType::float64, {queries, k}), Array(DType::int64, {queries, k})}) {}
  explicit AnswersOnDevice(PointAnswers answers)
      : host(std::move(answers)),
        distance(host.distance.bytes()),
        squared(host.squared.bytes()),
        site(host.site.bytes()) {}

  points::DeviceQueryOutputs views() const {
    const Shape& shape = host.site.shape();
    return {AnyDeviceView(distance.data(), host.distance.dtype(), shape),
            host.squared.size() > 0 ? AnyDeviceView(squared.data(), DType::float64, shape) : AnyDeviceView(),
            AnyDeviceView(site.data(), DType::int64, shape),
            {}};
  }
  const PointAnswers& download() {
    distance.download(host.distance);
    squared.download(host.squared);
    site.download(host.site);
    return host;
  }

  PointAnswers host;
  Block distance, squared, site;
};

TEST_F(DevicePoints, RandomProblems) {
  for (int i = 0; i < scaled(400); ++i) {
    PointProblem problem = random_point_problem(500000 + static_cast<std::uint64_t>(i), i % 20 == 0 ? 50000 : 500);
    const bool one_cone = i % 3 == 0;
    const Array directions = one_cone ? std::exchange(problem.directions, Array()) : Array();
    if (directions.size() > 0) {  // all queries share the first
      problem.query.cone.directions = AnyConstView(directions.data(), directions.dtype(), {1, directions.shape()[1]});
      problem.query.cone.half_angle = problem.half_angles.as<double>().data()[0];
    }
    SCOPED_TRACE(describe(problem));
    const DType dtype = i % 2 ? DType::float32 : DType::float64;
    const PointAnswers expected = nearest(problem, dtype);
    const Block own_directions(problem.directions), own_angles(problem.half_angles);
    if (problem.directions.size() > 0) {
      points::Cone& cone = problem.query.cone;
      cone.device_directions =
          AnyConstDeviceView(own_directions.data(), problem.directions.dtype(), problem.directions.shape());
      cone.device_half_angles = AnyConstDeviceView(own_angles.data(), DType::float64, problem.half_angles.shape());
    }
    const PointsOnDevice sites(problem.sites, i % 3), queries(problem.queries, (i + 1) % 3);
    problem.query.execution = problem.set.execution = {};
    const SiteSet set(sites.coordinates(), problem.set);
    AnswersOnDevice answers(make_answers(problem, dtype));
    const points::QueryReport report = set.nearest(queries.coordinates(), problem.query, answers.views());
    must(cudaDeviceSynchronize());
    EXPECT_EQ(report.scratch_bytes, set.scratch_bytes(queries.coordinates(), problem.query));
    ASSERT_TRUE(equal(expected, answers.download()));
  }
}

/// Sets of each storage under graphs of several streams; the queries change between replays.
TEST_F(DevicePoints, StreamsAndGraphs) {
  Random random(9);
  for (const auto& [storage, spread] : {std::pair{Storage::plain, Spread::uniform},
                                        {Storage::boxed, Spread::uniform},
                                        {Storage::sorted, Spread::uniform},
                                        {Storage::sorted, Spread::sphere}}) {
    PointProblem problem;
    problem.sites = make_points(spread, DType::float32, 70000, 3, random);
    const PointsOnDevice on_device(problem.sites, 0);
    points::SiteSetOptions options;
    options.storage = storage;
    cudaStream_t stream;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const SiteSet set(on_device.coordinates(), options, Stream{stream});
    problem.queries = make_points(Spread::uniform, DType::float32, 400, 3, random);
    Block input(problem.queries);
    const DeviceCoordinates rows(AnyConstDeviceView(input.data(), DType::float32, problem.queries.shape()));
    AnswersOnDevice answers(400, 1, DType::float32);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    set.nearest(rows, {}, answers.views(), Stream{stream});
    must(cudaStreamEndCapture(stream, &graph));
    must(cudaGraphInstantiate(&executable, graph, 0));
    for (int replay = 0; replay < 3; ++replay) {
      problem.queries = make_points(Spread::uniform, DType::float32, 400, 3, random);
      input.upload(problem.queries);
      must(cudaGraphLaunch(executable, stream));
      must(cudaStreamSynchronize(stream));
      ASSERT_TRUE(equal(nearest(problem, DType::float32), answers.download())) << static_cast<int>(storage);
    }
    must(cudaGraphExecDestroy(executable));
    must(cudaGraphDestroy(graph));
    must(cudaStreamDestroy(stream));
  }
}

/// Every way to search, of sets that are edited while queries are at work: each answers as the set was.
TEST_F(DevicePoints, SetsThatChange) {
  Random random(18);
  points::DynamicSetOptions cuda;
  cuda.execution.backend = Backend::cuda;
  for (DType dtype : {DType::int32, DType::float32, DType::float64})
    for (const auto& [count, k] : {std::pair(std::int64_t{300}, 1), {20000, 1}, {150000, 1}, {300, 5}}) {
      PointProblem before, after;
      before.sites = make_points(Spread::uniform, dtype, 6000, 3, random);
      after.sites = make_points(Spread::clustered, dtype, 6000, 3, random);
      before.queries = make_points(Spread::uniform, DType::float32, count, 3, random);
      before.query.k = after.query.k = k;
      const PointsOnDevice queries(before.queries, 0);
      points::DynamicSet set(before.sites.view(), cuda);
      AnswersOnDevice first(count, k, DType::float32), second(count, k, DType::float32);
      cudaStream_t stream;
      must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      set.nearest(queries.coordinates(), before.query, first.views(), Stream{stream});
      for (std::int64_t from = 0; from < 6000; from += 1000) {
        std::vector<std::int64_t> ids(1000);
        std::iota(ids.begin(), ids.end(), from);
        const std::size_t row = 3 * size_of(dtype);
        set.move(ids, AnyConstView(after.sites.data() + static_cast<std::size_t>(from) * row, dtype, {1000, 3}));
      }
      set.nearest(queries.coordinates(), after.query, second.views(), Stream{stream});
      must(cudaStreamSynchronize(stream));
      must(cudaStreamDestroy(stream));
      EXPECT_TRUE(equal(nearest(before, DType::float32), first.download())) << count << ' ' << k;
      after.queries = std::move(before.queries);
      EXPECT_TRUE(equal(nearest(after, DType::float32), second.download())) << count << ' ' << k;
    }
}

/// Places on the device, in every layout, of sets there and on the host.
TEST_F(DevicePoints, SetsThatChangeByPlacesThere) {
  Random random(20);
  for (Backend backend : {Backend::cpu, Backend::cuda})
    for (int layout = 0; layout < 3; ++layout) {
      PointProblem problem;
      problem.sites = make_points(Spread::uniform, DType::float32, 700, 3, random);
      problem.queries = make_points(Spread::uniform, DType::float32, 200, 3, random);
      const Array first = make_points(Spread::uniform, DType::float32, 300, 3, random);
      const PointsOnDevice places(problem.sites, layout);
      points::DynamicSetOptions options;
      options.execution.backend = backend;
      points::DynamicSet set(first.view(), options);
      std::vector<std::int64_t> ids(300);
      std::iota(ids.begin(), ids.end(), 0);
      set.remove(ids);
      ids.resize(700);
      std::iota(ids.begin(), ids.end(), 300);
      const PointsOnDevice before(make_points(Spread::clustered, DType::float32, 700, 3, random), layout);
      EXPECT_EQ(set.add(before.coordinates()), 300);
      set.move(ids, places.coordinates());
      PointAnswers expected = nearest(problem, DType::float32);
      PointAnswers got{Array(DType::float32, {200, 1}), Array(DType::float64, {200, 1}), Array(DType::int64, {200, 1})};
      const points::QueryOutputs outputs{got.distance.view(), got.squared.view(), got.site.view(), {}};
      points::DynamicSet(places.coordinates(), options).nearest(problem.queries.view(), {}, outputs);
      EXPECT_TRUE(equal(expected, got)) << layout;
      for (std::int64_t i = 0; i < 200; ++i) expected.site.as<std::int64_t>().data()[i] += 300;
      set.nearest(problem.queries.view(), {}, outputs);
      EXPECT_TRUE(equal(expected, got)) << layout;
    }
  points::DynamicSet set(make_points(Spread::uniform, DType::float32, 3, 3, random).view());
  const PointsOnDevice flat(make_points(Spread::uniform, DType::float32, 3, 2, random), 0);
  EXPECT_THROW(set.add(flat.coordinates()), InvalidArgument);
  const Array of_host = make_points(Spread::uniform, DType::float32, 3, 3, random);
  EXPECT_THROW(set.add(DeviceCoordinates(AnyConstDeviceView(of_host.data(), DType::float32, {3, 3}))), InvalidArgument);
  const Block there(of_host);
  const DeviceCoordinates partly({AnyConstDeviceView(there.data(), DType::float32, {3}),
                                  AnyConstDeviceView(there.data(), DType::float32, {3}),
                                  AnyConstDeviceView(of_host.data(), DType::float32, {3})});
  EXPECT_THROW(set.add(partly), InvalidArgument);
  EXPECT_THROW(SiteSet{partly}, InvalidArgument);
  EXPECT_EQ(set.size(), 3);
}

/// Building takes little more than what the set keeps.
TEST_F(DevicePoints, SetsThatChangeDoNotTakeTheirMemoryTwice) {
  Random random(19);
  const Array sites = make_points(Spread::uniform, DType::float32, 600000, 3, random);
  points::DynamicSetOptions cuda;
  cuda.execution.backend = Backend::cuda;
  std::uint64_t kept = 0;
  const std::uint64_t most = most_taken([&] {
    {
      const points::DynamicSet set(sites.view(), cuda);
      kept = pool_bytes(cudaMemPoolAttrUsedMemCurrent);
    }
    must(cudaDeviceSynchronize());
  });
  EXPECT_GE(kept, sites.bytes());
  EXPECT_LE(static_cast<double>(most), 1.3 * static_cast<double>(kept));
}

/// A few, and as many as are sorted.
TEST_F(DevicePoints, QueriesThatAreNoNumbersFindNothing) {
  Random random(10);
  for (const std::int64_t count : {4, 140000})
    for (DType asked : {DType::float32, DType::float64}) {
      Array queries = make_points(Spread::uniform, asked, count, 2, random);
      for (std::int64_t i = 0; i < 2 * count; i += 8) {
        store(queries, i, NAN);
        store(queries, i + 3, -INFINITY);
        store(queries, i + 4, asked == DType::float64 ? 1e200 : INFINITY);
        store(queries, i + 7, NAN);
      }
      const PointsOnDevice on_device(queries, 0);
      for (DType dtype : {DType::int32, DType::float32, DType::float64}) {
        const auto expect_nothing = [&](const PointsOnDevice& sites, Storage storage, int k) {
          points::SiteSetOptions options;
          options.storage = storage;
          points::QueryOptions query;
          query.k = k;
          AnswersOnDevice answers(count, k, DType::float32);
          SiteSet(sites.coordinates(), options).nearest(on_device.coordinates(), query, answers.views());
          must(cudaDeviceSynchronize());
          const PointAnswers& host = answers.download();
          for (std::int64_t i = 0; i < count * k; ++i) {
            ASSERT_EQ(host.distance.as<float>().data()[i], std::numeric_limits<float>::infinity());
            ASSERT_EQ(host.site.as<std::int64_t>().data()[i], -1);
          }
        };
        const PointsOnDevice sites(make_points(Spread::uniform, dtype, 3000, 2, random), 0);
        for (Storage storage : {Storage::plain, Storage::boxed, Storage::sorted})
          for (int k : {1, 3}) expect_nothing(sites, storage, k);
        for (const std::int64_t hollow : {20000, 70000})  // without a search, and given up
          expect_nothing(PointsOnDevice(make_points(Spread::sphere, dtype, hollow, 2, random), 0), Storage::sorted, 1);
      }
    }
}

/// Where they cannot be refused, directions and angles that are none make cones that nothing lies in.
TEST_F(DevicePoints, ConesThatAreNoneHoldNothing) {
  Random random(12);
  const Array host = make_points(Spread::uniform, DType::float64, 3000, 3, random);
  const PointsOnDevice sites(host, 0);
  Array directions(DType::float64, {4, 3}), angles(DType::float64, {4});
  std::fill_n(directions.as<double>().data(), 12, 1.0);
  std::fill_n(angles.as<double>().data(), 4, 3.0);
  directions.as<double>().data()[1] = NAN;
  std::fill_n(directions.as<double>().data() + 3, 3, 0.0);
  angles.as<double>().data()[2] = 3.2;
  const Block queries(make_points(Spread::uniform, DType::float64, 4, 3, random)), own_directions(directions);
  const Block own_angles(angles);
  points::QueryOptions query;
  query.cone.device_directions = AnyConstDeviceView(own_directions.data(), DType::float64, {4, 3});
  query.cone.device_half_angles = AnyConstDeviceView(own_angles.data(), DType::float64, {4});
  for (Storage storage : {Storage::plain, Storage::boxed, Storage::sorted}) {
    points::SiteSetOptions options;
    options.storage = storage;
    AnswersOnDevice answers(4, 1, DType::float32);
    const AnyConstDeviceView rows(queries.data(), DType::float64, {4, 3});
    SiteSet(sites.coordinates(), options).nearest(rows, query, answers.views());
    must(cudaDeviceSynchronize());
    const std::int64_t* found = answers.download().site.as<std::int64_t>().data();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(found[i], -1) << i;
    EXPECT_GE(found[3], 0);
  }
}

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

TEST_F(DevicePoints, Refusals) {
  Random random(11);
  const Array host = make_points(Spread::uniform, DType::float32, 100, 3, random);
  const PointsOnDevice sites(host, 0);
  AnswersOnDevice answers(100, 1, DType::float32);
  const SiteSet set(sites.coordinates());
  EXPECT_THROW(SiteSet(host.view()).nearest(sites.coordinates(), {}, answers.views()), InvalidArgument);
  const AnyConstDeviceView elsewhere(host.data(), DType::float32, host.shape());
  EXPECT_THROW(set.nearest(elsewhere, {}, answers.views()), InvalidArgument);
  points::QueryOptions options;
  options.cone.directions = host.view();
  EXPECT_THROW(set.nearest(sites.coordinates(), options, answers.views()), InvalidArgument);
  options.cone.directions = {};
  options.cone.device_half_angles = AnyConstDeviceView(answers.squared.data(), DType::float64, {100});
  EXPECT_THROW(set.nearest(sites.coordinates(), options, answers.views()), InvalidArgument);
  options.cone.device_directions = elsewhere;
  EXPECT_THROW(set.nearest(sites.coordinates(), options, answers.views()), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
