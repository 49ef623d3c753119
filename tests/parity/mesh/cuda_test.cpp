// Meshes on a device against the CPU, byte for byte: random ones by all ways through the room, large lattices, arrays
// of the device in the order of streams and in graphs.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device_block.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"
#include "mesh/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::Band;
using mesh::BandOptions;
using mesh::Sign;
using mesh::TriangleSet;

class MeshOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

Execution on(Backend backend) {
  Execution execution;
  execution.backend = backend;
  return execution;
}

TriangleSet set_on(Backend backend, const MeshProblem& problem) {
  mesh::TriangleSetOptions options;
  options.sign = problem.sign;
  options.execution = on(backend);
  return TriangleSet(problem.arrays->view(), options);
}

BandOptions band_options(const MeshProblem& problem) {
  BandOptions options;
  options.cutoff = problem.cutoff;
  options.dtype = problem.real;
  options.triangles = options.closest = problem.seed % 4 != 0;
  return options;
}

TEST_F(MeshOnDevice, RandomProblems) {
  for (int i = 0; i < scaled(600); ++i) {
    const MeshProblem problem = random_mesh_problem(seed_to_replay().value_or(700000 + static_cast<std::uint64_t>(i)));
    SCOPED_TRACE(describe(problem));
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    EXPECT_TRUE(device.on_device());
    EXPECT_EQ(device.sign(), host.sign());
    EXPECT_EQ(device.size(), host.size());
    Execution execution = on(Backend::cuda);
    if (i % 3 == 0) execution.scratch_limit = 100000;  // in pieces
    ASSERT_TRUE(equal(nearest(host, problem, {}), nearest(device, problem, execution)));
    ASSERT_TRUE(equal(field(host, problem, {}), field(device, problem, execution)));
    ASSERT_TRUE(
        equal(host.band(problem.lattice, band_options(problem)), device.band(problem.lattice, band_options(problem))));
  }
}

/// Lattices of which cubes of tiles are looked at first, about closed meshes, by each sign.
TEST_F(MeshOnDevice, LargeBands) {
  const Mesh ball = sphere({0.1, 0.2, 0.3}, 1, 5);
  const Mesh both = joined(ball, inside_out(sphere({0.1, 0.2, 0.3}, 0.5, 3)));
  for (const Sign sign : {Sign::none, Sign::pseudonormal, Sign::winding, Sign::fast_winding}) {
    MeshProblem problem;
    problem.sign = sign;
    problem.mesh = both;
    problem.arrays.emplace(problem.mesh, DType::float64, DType::int32);
    const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
    for (const double cutoff : {0.004, 0.05}) {
      const mesh::Lattice lattice{{-1.2, -1.1, -1}, {0.008, 0.0075, 0.007}, {341, 330, 350}};
      BandOptions options;
      options.cutoff = cutoff;
      options.triangles = options.closest = true;
      const Band expected = host.band(lattice, options);
      EXPECT_GT(expected.active, 1000);
      ASSERT_TRUE(equal(expected, device.band(lattice, options))) << static_cast<int>(sign) << ' ' << cutoff;
    }
  }
}

/// A tile with more triangles near it than shared memory holds, and lines with more crossings than are kept at a time.
TEST_F(MeshOnDevice, ManyTrianglesAtOnePlace) {
  MeshProblem problem;
  for (int i = 0; i < 70; ++i) problem.mesh = joined(problem.mesh, sphere({0, 0, 0}, 1 + 0.03 * i, 2));
  problem.sign = Sign::winding;
  problem.arrays.emplace(problem.mesh, DType::float32, DType::int64);
  const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
  problem.lattice = {{-4, -4, -4}, {0.5, 0.25, 0.7}, {17, 33, 13}};
  problem.points = points_array({{0, 0, 0}, {1, 1, 1}, {0.3, 5, 2}});
  ASSERT_TRUE(equal(field(host, problem, {}), field(device, problem, {})));
  ASSERT_TRUE(equal(nearest(host, problem, {}), nearest(device, problem, {})));
  for (const double cutoff : {0.1, 2.0, 20.0}) {
    BandOptions options;
    options.cutoff = cutoff;
    options.triangles = true;
    ASSERT_TRUE(equal(host.band(problem.lattice, options), device.band(problem.lattice, options)));
  }
}

class OwnStream {
 public:
  OwnStream() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  operator Stream() const { return {stream_}; }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A mesh, points and outputs of the device.
struct OnDevice {
  explicit OnDevice(const MeshProblem& problem, const Shape& shape)
      : vertices(problem.arrays->vertex),
        triangles(problem.arrays->index),
        distance(DType::float64, shape),
        triangle(DType::int64, shape),
        distances(distance.bytes()),
        ids(triangle.bytes()) {}

  mesh::DeviceTriangles mesh(const MeshProblem& problem) const {
    const mesh::Triangles host = problem.arrays->view();
    return {{vertices.data(), host.vertices.dtype(), host.vertices.shape(), host.vertices.strides()},
            {triangles.data(), host.triangles.dtype(), host.triangles.shape(), host.triangles.strides()}};
  }
  mesh::DeviceOutputs outputs() const {
    mesh::DeviceOutputs outputs;
    outputs.distance = AnyDeviceView(distances.data(), DType::float64, distance.shape());
    outputs.triangle = AnyDeviceView(ids.data(), DType::int64, triangle.shape());
    return outputs;
  }
  void download() {
    distances.download(distance);
    ids.download(triangle);
  }

  Block vertices, triangles;
  Array distance, triangle;
  Block distances, ids;
};

TEST_F(MeshOnDevice, ArraysOfTheDeviceInTheOrderOfStreams) {
  for (int i = 0; i < scaled(60); ++i) {
    MeshProblem problem = random_mesh_problem(800000 + static_cast<std::uint64_t>(i));
    problem.real = DType::float64;
    problem.whole = DType::int64;
    if (problem.points.shape()[0] == 0) continue;
    SCOPED_TRACE(describe(problem));
    const TriangleSet host = set_on(Backend::cpu, problem);
    const MeshAnswers of_points = nearest(host, problem, {}), of_lattice = field(host, problem, {});
    OnDevice for_points(problem, {problem.points.shape()[0]}), for_lattice(problem, problem.lattice.array_shape());
    mesh::TriangleSetOptions options;
    options.sign = problem.sign;
    const OwnStream stream;
    TriangleSet device(for_points.mesh(problem), options, stream);
    const Block points(problem.points.bytes());
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    must(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    const AnyConstView view = problem.points_view();
    const AnyConstDeviceView there(points.data(), view.dtype(), view.shape(), view.strides());
    const mesh::Report report = device.nearest(there, for_points.outputs(), {}, stream);
    EXPECT_EQ(report.backend, Backend::cuda);
    EXPECT_FALSE(report.device.empty());
    device.field(problem.lattice, for_lattice.outputs(), {}, stream);
    must(cudaStreamEndCapture(stream.get(), &graph));
    must(cudaGraphInstantiate(&executable, graph, 0));
    must(cudaMemcpyAsync(points.data(), problem.points.data(), problem.points.bytes(), cudaMemcpyHostToDevice,
                         stream.get()));
    must(cudaGraphLaunch(executable, stream.get()));
    must(cudaStreamSynchronize(stream.get()));
    for (OnDevice* outputs : {&for_points, &for_lattice}) outputs->download();
    ASSERT_TRUE(equal(of_points.distance, for_points.distance));
    ASSERT_TRUE(equal(of_points.triangle, for_points.triangle));
    ASSERT_TRUE(equal(of_lattice.distance, for_lattice.distance));
    ASSERT_TRUE(equal(of_lattice.triangle, for_lattice.triangle));
    must(cudaGraphExecDestroy(executable));
    must(cudaGraphDestroy(graph));
    const mesh::DeviceBand band = device.device_band(problem.lattice, band_options(problem), stream);
    device = TriangleSet(problem.arrays->view());
    ASSERT_TRUE(equal(host.band(problem.lattice, band_options(problem)), band.download()));
  }
}

TEST_F(MeshOnDevice, PointsThatAreNoNumbersHaveNoTriangle) {
  MeshProblem problem;
  problem.mesh = sphere({0, 0, 0}, 1, 1);
  problem.arrays.emplace(problem.mesh, DType::float64, DType::int64);
  OnDevice there(problem, {3});
  const TriangleSet set(there.mesh(problem));
  const Array points = points_array({{0, 0, std::nan("")}, {2, 0, 0}, {0, -1e200, 0}});
  const Block block(points);
  set.nearest(AnyConstDeviceView(block.data(), DType::float64, {3, 3}), there.outputs());
  must(cudaDeviceSynchronize());
  there.download();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(there.distance.as<double>().data()[0], kInfinity);
  EXPECT_EQ(there.distance.as<double>().data()[1], 1);
  EXPECT_EQ(there.distance.as<double>().data()[2], kInfinity);
  EXPECT_EQ(there.triangle.as<std::int64_t>().data()[0], -1);
  EXPECT_GE(there.triangle.as<std::int64_t>().data()[1], 0);
  EXPECT_EQ(there.triangle.as<std::int64_t>().data()[2], -1);
}

TEST_F(MeshOnDevice, RefusesWhatIsElsewhere) {
  const MeshProblem problem = random_mesh_problem(1);
  OnDevice there(problem, {1});
  const TriangleSet host = set_on(Backend::cpu, problem), device = set_on(Backend::cuda, problem);
  const Array point = points_array({{1, 2, 3}});
  const Block block(point);
  const AnyConstDeviceView on_device(block.data(), DType::float64, {1, 3}),
      not_there(point.data(), DType::float64, {1, 3});
  EXPECT_THROW(host.nearest(on_device, there.outputs()), InvalidArgument);
  EXPECT_THROW(host.band({}, {.cutoff = 1, .execution = on(Backend::cuda)}), InvalidArgument);
  EXPECT_THROW(host.device_band({}, {.cutoff = 1}), InvalidArgument);
  EXPECT_THROW(device.nearest(not_there, there.outputs()), InvalidArgument);
  EXPECT_THROW(device.nearest(on_device, there.outputs(), on(Backend::cpu)), InvalidArgument);
  EXPECT_THROW(device.nearest(on_device, mesh::DeviceOutputs()), InvalidArgument);
  Execution small;
  small.scratch_limit = 10;
  Array distance(DType::float32, {1});
  mesh::Outputs outputs;
  outputs.distance = distance.view();
  EXPECT_THROW(device.nearest(point.view(), outputs, small), InvalidArgument);
}

}  // namespace
}  // namespace fathom::test
