// Meshes on the emulated device against the CPU, byte for byte, beside the suite of devices: each sign by each rule,
// lattices about the sides of tiles, cutoffs below a step and above it, coarse meshes and fine ones.
#include <gtest/gtest.h>

#include "mesh/problem.h"

namespace fathom::test {
namespace {

using mesh::Sign;
using mesh::TriangleSet;
using mesh::WindingRule;

/// A way of telling sides.
struct Sides {
  Sign sign;
  WindingRule rule = WindingRule::nonzero;
};

constexpr Sides kOfAll[] = {{Sign::none}, {Sign::pseudonormal}, {Sign::fast_winding}};
constexpr Sides kOfClosed[] = {
    {Sign::winding}, {Sign::winding, WindingRule::even_odd}, {Sign::winding, WindingRule::positive}};

TriangleSet set_on(Backend backend, const MeshProblem& problem, WindingRule rule) {
  mesh::TriangleSetOptions options;
  options.sign = problem.sign;
  options.rule = rule;
  options.execution.backend = backend;
  return TriangleSet(problem.arrays->view(), options);
}

mesh::BandOptions band_options(const MeshProblem& problem, bool all) {
  mesh::BandOptions options;
  options.cutoff = problem.cutoff;
  options.dtype = problem.real;
  options.triangles = options.closest = all;
  return options;
}

/// Sides of each kind that a mesh has, on the host and on the device.
class Pair {
 public:
  Pair(const Mesh& mesh, Sides sides, int turn) {
    problem_.mesh = mesh;
    problem_.sign = sides.sign;
    problem_.arrays.emplace(mesh, turn % 2 ? DType::float32 : DType::float64, turn % 3 ? DType::int64 : DType::int32);
    host_.emplace(set_on(Backend::cpu, problem_, sides.rule));
    device_.emplace(set_on(Backend::cuda, problem_, sides.rule));
  }

  void check_bands(const mesh::Lattice& lattice, std::initializer_list<double> steps) {
    problem_.lattice = lattice;
    for (const double step : steps) {
      problem_.cutoff = step * lattice.spacing[0];
      problem_.real = turn_ % 2 ? DType::float32 : DType::float64;
      const mesh::BandOptions options = band_options(problem_, turn_++ % 3 != 0);
      ASSERT_TRUE(equal(host_->band(lattice, options), device_->band(lattice, options))) << step << " steps";
    }
  }

 private:
  MeshProblem problem_;
  std::optional<TriangleSet> host_, device_;
  int turn_ = 0;
};

/// Lattices about a mesh within ±1, of sizes about those of tiles, with equal spacings and others.
std::vector<mesh::Lattice> lattices() {
  std::vector<mesh::Lattice> all;
  for (const auto& shape : {std::array<std::int64_t, 3>{8, 9, 7}, {16, 15, 17}, {1, 24, 3}, {25, 1, 8}})
    for (const bool equal : {true, false}) {
      mesh::Lattice lattice;
      lattice.shape = shape;
      for (std::size_t k = 0; k < 3; ++k) {
        lattice.spacing[k] = equal ? 0.15 : 0.1 + 0.05 * static_cast<double>(k);
        lattice.origin[k] = -0.49 * lattice.spacing[k] * static_cast<double>(shape[k]);
      }
      all.push_back(lattice);
    }
  return all;
}

TEST(EmulatedMesh, Bands) {
  const Mesh closed = joined(sphere({0.1, 0, 0}, 0.9, 1), joined(inside_out(sphere({}, 0.4, 0)), box({-0.9, -0.3, -0.5}, {0.6, 0.4, 0.3})));
  for (const Sides sides : kOfClosed) {
    Pair pair(closed, sides, 0);
    for (const mesh::Lattice& lattice : lattices()) pair.check_bands(lattice, {0.3, 1, 2.5});
  }
}

}  // namespace
}  // namespace fathom::test
