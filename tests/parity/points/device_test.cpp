// Sets of sites on a device: layouts, streams, graphs, changing sets, queries that are no numbers, what is refused.
#include <cuda_runtime_api.h>

#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cases.h"
#include "device_pool.h"
#include "fathom/points/dynamic_set.h"
#include "points/device_points.h"

namespace fathom::test {
namespace {

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
