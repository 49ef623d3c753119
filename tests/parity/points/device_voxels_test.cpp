// Sets of voxels on a device, through the calls for device arrays: masks, edits and queries there, streams and graphs.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cases.h"
#include "device_block.h"
#include "device_pool.h"
#include "fathom/core/device.h"
#include "fathom/points/voxel_set.h"
#include "run.h"

namespace fathom::test {
namespace {

using points::DeviceCoordinates;
using points::QueryOptions;
using points::VoxelSet;
using Elements = std::vector<std::int64_t>;

class DeviceVoxels : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

const Execution kCuda{.backend = Backend::cuda};

/// Elements in the device's memory.
class ElementsThere {
 public:
  explicit ElementsThere(const Elements& elements)
      : count_(static_cast<std::int64_t>(elements.size())), block_(array(elements)) {}
  DeviceView<const std::int64_t> view() const {
    return {reinterpret_cast<const std::int64_t*>(block_.data()), {count_}};
  }

 private:
  static Array array(const Elements& elements) {
    Array result(DType::int64, {static_cast<std::int64_t>(elements.size())});
    std::copy(elements.begin(), elements.end(), result.as<std::int64_t>().data());
    return result;
  }
  std::int64_t count_;
  Block block_;
};

Elements some(std::int64_t count, std::int64_t size, Random& random) {
  Elements elements(static_cast<std::size_t>(count));
  for (std::int64_t& element : elements) element = below(random, size);
  return elements;
}

Array some_queries(const Shape& shape, std::int64_t count, Random& random) {
  Array queries(DType::float32, {count, shape.rank()});
  for (std::int64_t i = 0; i < queries.size(); ++i)
    store(queries, i, 0.25 * static_cast<double>(below(random, 5 * shape[static_cast<int>(i % shape.rank())])));
  return queries;
}

/// Answers of a call between arrays of the host.
struct Answers {
  Answers(std::int64_t queries, int k)
      : distance(DType::float32, {queries, k}), site(DType::int64, {queries, k}), lower(DType::float64, {queries}) {}
  Array distance, site, lower;
};

Answers ask(const VoxelSet& set, const Array& queries, const QueryOptions& options) {
  Answers answers(queries.shape()[0], options.k);
  points::QueryOutputs outputs{answers.distance.view(), {}, answers.site.view(), {}};
  if (options.k == 1) outputs.lower = answers.lower.view();
  set.nearest(queries.view(), options, outputs);
  return answers;
}

/// Queries and answers of a call on the device.
class AskedThere {
 public:
  AskedThere(const Array& queries, int k)
      : answers_(queries.shape()[0], k),
        shape_(queries.shape()),
        queries_(queries),
        distance_(answers_.distance.bytes()),
        site_(answers_.site.bytes()),
        lower_(answers_.lower.bytes()) {}

  DeviceCoordinates queries() const { return AnyConstDeviceView(queries_.data(), DType::float32, shape_); }
  points::DeviceQueryOutputs outputs() const {
    points::DeviceQueryOutputs outputs{AnyDeviceView(distance_.data(), DType::float32, answers_.distance.shape()),
                                       {},
                                       AnyDeviceView(site_.data(), DType::int64, answers_.site.shape()),
                                       {}};
    if (answers_.site.shape()[1] == 1)
      outputs.lower = AnyDeviceView(lower_.data(), DType::float64, answers_.lower.shape());
    return outputs;
  }
  testing::AssertionResult equal_to(const Answers& expected) {
    distance_.download(answers_.distance);
    site_.download(answers_.site);
    lower_.download(answers_.lower);
    if (const auto result = equal(expected.distance, answers_.distance); !result) return result;
    if (const auto result = equal(expected.site, answers_.site); !result) return result;
    if (expected.site.shape()[1] > 1) return testing::AssertionSuccess();
    return equal(expected.lower, answers_.lower);
  }

 private:
  Answers answers_;
  Shape shape_;
  Block queries_, distance_, site_, lower_;
};

/// Masks of every type and layout; k nearest, a radius, cones for all and for each, stated errors, limited work.
TEST_F(DeviceVoxels, OfMasksAnswerAsOnTheHost) {
  for (int i = 0; i < scaled(120); ++i) {
    Random random(static_cast<std::uint64_t>(i) + 900);
    SCOPED_TRACE("seed " + std::to_string(i + 900));
    const auto extent = [&] { return 1 + below(random, 40); };
    const Shape shape = i % 3 == 0 ? Shape{extent() * 4, extent() * 4} : Shape{extent(), extent(), extent()};
    const auto structure = static_cast<Structure>(below(random, kStructures));
    const DType dtype = pick<DType>(random, {DType::boolean, DType::uint8, DType::int16, DType::float64});
    const Array mask = mask_array(make_sites(structure, shape, random), shape, dtype, false);
    const Block there(mask);
    const AnyConstDeviceView whole(there.data(), dtype, shape);
    Strides strides = dense_strides(shape);
    Shape part = shape;
    part[0] = (shape[0] + 1) / 2;
    strides[0] *= 2;  // every other row or plane
    const bool all = i % 2 == 0;
    const AnyConstDeviceView view_there = all ? whole : AnyConstDeviceView(there.data(), dtype, part, strides);
    const AnyConstView view = all ? mask.view() : AnyConstView(mask.data(), dtype, part, strides);
    const VoxelSet expected = VoxelSet::of_mask(view), set = VoxelSet::of_mask(view_there);
    ASSERT_EQ(set.size(), expected.size());
    EXPECT_TRUE(set.on_device());
    const Array queries = some_queries(shape, 1 + below(random, 80), random);
    QueryOptions options;
    options.k = chance(random, 0.5) ? 1 : 1 + static_cast<int>(below(random, 64));
    if (chance(random, 0.3)) options.radius = pick<double>(random, {0, 1, 2.5, 7});
    if (chance(random, 0.2)) options.relative_error = 0.5;
    if (chance(random, 0.2)) options.absolute_error = 1.5;
    if (chance(random, 0.3)) options.work_limit = 1 + below(random, 100);
    QueryOptions on_host = options;
    Array directions(DType::float64, {queries.shape()[0], shape.rank()}), angles(DType::float64, {queries.shape()[0]});
    for (std::int64_t e = 0; e < directions.size(); ++e)
      store(directions, e, static_cast<double>(below(random, 19)) - 9.3);
    for (std::int64_t e = 0; e < angles.size(); ++e) store(angles, e, 0.1 * static_cast<double>(below(random, 31)));
    const Block own_directions(directions), own_angles(angles);
    if (i % 4 == 1) {  // one for all, from the host
      on_host.cone.directions = AnyConstView(directions.data(), DType::float64, {1, shape.rank()});
      on_host.cone.half_angle = 0.7;
      options.cone = on_host.cone;
    } else if (i % 4 == 2) {
      on_host.cone.directions = directions.view();
      on_host.cone.half_angles = angles.view();
      on_host.cone.cylinder_radius = options.cone.cylinder_radius = 1.3;
      options.cone.device_directions = AnyConstDeviceView(own_directions.data(), DType::float64, directions.shape());
      options.cone.device_half_angles = AnyConstDeviceView(own_angles.data(), DType::float64, angles.shape());
    }
    AskedThere asked(queries, options.k);
    const points::QueryReport report = set.nearest(asked.queries(), options, asked.outputs());
    must(cudaDeviceSynchronize());
    EXPECT_EQ(report.scratch_bytes, set.scratch_bytes(asked.queries(), options));
    ASSERT_TRUE(asked.equal_to(ask(expected, queries, on_host)));
  }
}

/// Lists on the device, in a stream's order, with elements named twice.
TEST_F(DeviceVoxels, EditsOfListsThere) {
  Random random(31);
  const Shape shape{30, 41, 52};
  const std::int64_t size = element_count(shape);
  VoxelSet host(shape), set(shape, kCuda);
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int round = 0; round < scaled(100); ++round) {
    const std::int64_t region = below(random, size - 3000);
    Elements from = some(1 + below(random, 2000), 3000, random),
             to = some(static_cast<std::int64_t>(from.size()), size, random);
    for (std::int64_t& element : from) element += region;
    const ElementsThere from_there(from), to_there(to);
    switch (round % 4) {
      case 0:
      case 1: ASSERT_EQ(set.add(from_there.view(), Stream{stream}), host.add(from)); break;
      case 2: ASSERT_EQ(set.move(from_there.view(), to_there.view(), Stream{stream}), host.move(from, to)); break;
      default: ASSERT_EQ(set.remove(from_there.view(), Stream{stream}), host.remove(from));
    }
    ASSERT_EQ(set.size(), host.size());
    const Array queries = some_queries(shape, 50, random);
    AskedThere asked(queries, 3);
    QueryOptions options;
    options.k = 3;
    set.nearest(asked.queries(), options, asked.outputs(), Stream{stream});
    must(cudaStreamSynchronize(stream));
    ASSERT_TRUE(asked.equal_to(ask(host, queries, options))) << round;
  }
  must(cudaStreamDestroy(stream));
}

TEST_F(DeviceVoxels, RefuseElementsThatAreNot) {
  VoxelSet set({4, 5}, kCuda);
  set.add(std::vector<std::int64_t>{1, 2});
  const ElementsThere wrong({3, 20, -1}), right({1, 2, 3});
  const std::string words = "there is no element 20 in a set of 4 × 5; give linear indices from 0 to 19";
  EXPECT_EQ(refusal([&] { set.add(wrong.view()); }), words);
  EXPECT_EQ(refusal([&] { set.remove(wrong.view()); }), words);
  EXPECT_EQ(refusal([&] { set.move(wrong.view(), right.view()); }), words);
  EXPECT_EQ(refusal([&] { set.move(right.view(), wrong.view()); }), words);
  EXPECT_EQ(refusal([&] { set.move(right.view(), ElementsThere({1}).view()); }),
            "3 elements are to move to 1 places; give one for each");
  EXPECT_EQ(set.size(), 2);
  EXPECT_TRUE(set.contains(1) && set.contains(2) && !set.contains(3));
  const Elements of_host{1};
  EXPECT_EQ(refusal([&] { set.add(DeviceView<const std::int64_t>(of_host.data(), {1})); }),
            "'elements' is not in a device's memory; use the call for host views");
  EXPECT_EQ(refusal([&] {
              VoxelSet({4, 5}).add(right.view());
            }),
            "the elements are in a device's memory, the set in the host's; build it with the backend cuda");
  EXPECT_EQ(refusal([&] {
              set.add(DeviceView<const std::int64_t>(right.view().data(), {1, 3}));
            }),
            "elements have the shape 1 × 3; give linear indices, [n]");
}

/// A graph that was captured once finds the sites that there are when it runs.
TEST_F(DeviceVoxels, GraphsOutliveEdits) {
  Random random(32);
  const Shape shape{64, 64, 64};
  VoxelSet host(shape), set(shape, kCuda);
  const Array queries = some_queries(shape, 300, random);
  AskedThere asked(queries, 1);
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  set.nearest(asked.queries(), {}, asked.outputs(), Stream{stream});
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&executable, graph, 0));
  for (int replay = 0; replay < 5; ++replay) {
    must(cudaGraphLaunch(executable, stream));
    must(cudaStreamSynchronize(stream));
    ASSERT_TRUE(asked.equal_to(ask(host, queries, {}))) << replay;
    const Elements elements = some(2000, element_count(shape), random);
    replay == 3 ? set.remove(elements) : set.add(elements);
    replay == 3 ? host.remove(elements) : host.add(elements);
  }
  must(cudaGraphExecDestroy(executable));
  must(cudaGraphDestroy(graph));
  must(cudaStreamDestroy(stream));
}

/// Edits wait for queries of other streams that are at work: those answer as the set was.
TEST_F(DeviceVoxels, EditsWaitForQueries) {
  Random random(33);
  const Shape shape{128, 128, 128};
  const Elements before = some(3000, element_count(shape), random), after = some(3000, element_count(shape), random);
  VoxelSet host(shape), set(shape, kCuda);
  host.add(before);
  set.add(before);
  const Array queries = some_queries(shape, 200000, random);
  AskedThere first(queries, 1), second(queries, 1);
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  set.nearest(first.queries(), {}, first.outputs(), Stream{stream});
  set.move(before, after);
  set.nearest(second.queries(), {}, second.outputs(), Stream{stream});
  must(cudaStreamSynchronize(stream));
  must(cudaStreamDestroy(stream));
  EXPECT_TRUE(first.equal_to(ask(host, queries, {})));
  host.move(before, after);
  EXPECT_TRUE(second.equal_to(ask(host, queries, {})));
}

/// Not more than it says, and all of it given back.
TEST_F(DeviceVoxels, CountTheirMemory) {
  Random random(34);
  const Shape shape{100, 200, 300};
  const Array mask = mask_array(scatter(shape, 0.001, random), shape, DType::uint8, false);
  const Block there(mask);
  std::size_t bytes = 0;
  const std::uint64_t most = most_taken([&] {
    {
      VoxelSet set = VoxelSet::of_mask(AnyConstDeviceView(there.data(), DType::uint8, shape));
      bytes = set.bytes();
      set.add(some(1000, mask.size(), random));
    }
    must(cudaDeviceSynchronize());
  });
  EXPECT_GE(most, bytes);
  EXPECT_LE(most, bytes + 1000 * sizeof(std::int64_t) + 1024);
  EXPECT_LE(static_cast<double>(bytes) * 8, 1.03 * static_cast<double>(mask.size()));
}

/// A few, and as many as are sorted.
TEST_F(DeviceVoxels, QueriesThatAreNoNumbersFindNothing) {
  VoxelSet set({5, 6}, kCuda);
  set.add(7);
  for (const std::int64_t count : {3, 20000, 530000}) {
    Array queries(DType::float32, {count, 2});
    for (std::int64_t i = 0; i < queries.size(); ++i) store(queries, i, 0);
    store(queries, 0, NAN);
    store(queries, 3, INFINITY);
    AskedThere asked(queries, 1);
    set.nearest(asked.queries(), {}, asked.outputs());
    must(cudaDeviceSynchronize());
    Answers expected(count, 1);
    for (std::int64_t q = 0; q < count; ++q) {
      store(expected.distance, q, q < 2 ? INFINITY : std::sqrt(2.0));
      store(expected.lower, q, q < 2 ? INFINITY : std::sqrt(2.0));
      store(expected.site, q, q < 2 ? -1 : 7);
    }
    EXPECT_TRUE(asked.equal_to(expected));
  }
}

/// Many queries are sorted where there is room for it; the answers are the same.
TEST_F(DeviceVoxels, SortQueriesWithinTheLimit) {
  Random random(35);
  const Shape shape{60, 70, 80};
  const Array mask = mask_array(scatter(shape, 0.01, random), shape, DType::uint8, false);
  const VoxelSet set = VoxelSet::of_mask(mask.view(), kCuda);
  const Array queries = some_queries(shape, 530000, random);
  const Answers expected = ask(VoxelSet::of_mask(mask.view()), queries, {});
  AskedThere asked(queries, 1);
  QueryOptions options;
  const std::size_t most = set.scratch_bytes(asked.queries(), options);
  EXPECT_GT(most, 530000 * sizeof(std::uint32_t));
  for (const std::size_t limit : {most, most - 1}) {
    options.execution.scratch_limit = limit;
    std::uint64_t none = 0;
    must(cudaMemPoolSetAttribute(cuda::pool_of(current_device()), cudaMemPoolAttrUsedMemHigh, &none));
    const std::size_t told = set.nearest(asked.queries(), options, asked.outputs()).scratch_bytes;
    must(cudaDeviceSynchronize());
    EXPECT_EQ(told, limit == most ? most : 0);
    EXPECT_LE(pool_bytes(cudaMemPoolAttrUsedMemHigh) - pool_bytes(cudaMemPoolAttrUsedMemCurrent), told + 1024);
    EXPECT_TRUE(asked.equal_to(expected));
  }
}

}  // namespace
}  // namespace fathom::test
