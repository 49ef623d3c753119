// Meshes on a device and on the host, for tests.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "device_block.h"
#include "fathom/core/device.h"
#include "mesh/problem.h"
#include "run.h"

namespace fathom::test {

class MeshOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

inline Execution on(Backend backend) {
  Execution execution;
  execution.backend = backend;
  return execution;
}

inline mesh::TriangleSetOptions options_on(Backend backend, const MeshProblem& problem) {
  mesh::TriangleSetOptions options;
  options.sign = problem.sign;
  options.rule = problem.rule;
  options.execution = on(backend);
  return options;
}

inline mesh::TriangleSet set_on(Backend backend, const MeshProblem& problem) {
  return mesh::TriangleSet(problem.arrays->view(), options_on(backend, problem));
}

inline mesh::BandOptions band_options(const MeshProblem& problem) {
  mesh::BandOptions options;
  options.cutoff = problem.cutoff;
  options.dtype = problem.real;
  options.triangles = options.closest = problem.seed % 4 != 0;
  return options;
}

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

/// A problem, of float64 and int64, whose points and lattice are answered between arrays of the device.
struct CallsOnDevice {
  explicit CallsOnDevice(std::uint64_t seed)
      : problem(problem_of(seed)),
        for_points(problem, {problem.points.shape()[0]}),
        for_lattice(problem, problem.lattice.array_shape()),
        points(problem.points.bytes()) {}

  mesh::TriangleSet set(Stream stream) const {
    return mesh::TriangleSet(for_points.mesh(problem), options_on(Backend::automatic, problem), stream);
  }
  void put(const mesh::TriangleSet& set, Stream stream) const {
    const AnyConstView view = problem.points_view();
    const AnyConstDeviceView there(points.data(), view.dtype(), view.shape(), view.strides());
    const mesh::Report report = set.nearest(there, for_points.outputs(), {}, stream);
    EXPECT_EQ(report.backend, Backend::cuda);
    EXPECT_FALSE(report.device.empty());
    set.field(problem.lattice, for_lattice.outputs(), {}, stream);
  }
  /// Once the stream is done.
  testing::AssertionResult as_from(const mesh::TriangleSet& host) {
    const MeshAnswers of_points = nearest(host, problem, {}), of_lattice = field(host, problem, {});
    for (OnDevice* outputs : {&for_points, &for_lattice}) outputs->download();
    for (const auto& same :
         {equal(of_points.distance, for_points.distance), equal(of_points.triangle, for_points.triangle),
          equal(of_lattice.distance, for_lattice.distance), equal(of_lattice.triangle, for_lattice.triangle)})
      if (!same) return same;
    return testing::AssertionSuccess();
  }

  static MeshProblem problem_of(std::uint64_t seed) {
    MeshProblem problem = random_mesh_problem(seed);
    problem.real = DType::float64;
    problem.whole = DType::int64;
    return problem;
  }

  MeshProblem problem;
  OnDevice for_points, for_lattice;
  Block points;
};

}  // namespace fathom::test
