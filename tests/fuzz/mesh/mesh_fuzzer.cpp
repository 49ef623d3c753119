// Any bytes as a small mesh, with points, a lattice and a band: every instruction set must give the same bytes, and brute
// force's. An InvalidArgument is an answer too, if all give it. Anything else is a fault.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "../bytes.h"
#include "mesh/problem.h"

namespace {

using namespace fathom;
using namespace fathom::test;

/// Small whole numbers, so that there are ties; some halves, and anything.
double coordinate(Bytes& bytes) {
  const int kind = bytes.below(16);
  if (kind == 0) return bytes.any_number();
  return (bytes.below(9) - 4) * (kind == 1 ? 0.1 : kind == 2 ? 0.5 : 1);
}

Place place(Bytes& bytes) {
  const double x = coordinate(bytes), y = coordinate(bytes);
  return {x, y, coordinate(bytes)};
}

Mesh read_mesh(Bytes& bytes) {
  Mesh mesh;
  const int vertices = 1 + bytes.below(12), triangles = bytes.below(24);
  for (int i = 0; i < vertices; ++i) mesh.vertices.push_back(place(bytes));
  const auto corner = [&] { return bytes.below(255) == 0 ? bytes.below(255) - 9 : bytes.below(vertices); };
  for (int i = 0; i < triangles; ++i) {
    const int a = corner(), b = corner();
    mesh.triangles.push_back({a, b, corner()});
  }
  return mesh;
}

MeshProblem read_problem(Bytes& bytes) {
  MeshProblem p;
  p.sign = static_cast<mesh::Sign>(bytes.below(5));
  p.mesh = read_mesh(bytes);
  p.arrays.emplace(p.mesh, bytes.choose({DType::float32, DType::float64}), bytes.choose({DType::int32, DType::int64}), bytes.below(3));
  p.mesh.vertices = p.arrays->vertices();
  for (std::size_t k = 0; k < 3; ++k) {
    p.lattice.origin[k] = coordinate(bytes);
    p.lattice.spacing[k] = bytes.number();
    p.lattice.shape[k] = bytes.choose({0, 1, 2, 5, 8, 9, 11, 17});
  }
  p.cutoff = bytes.number();
  std::vector<Place> points(static_cast<std::size_t>(bytes.below(80)));
  for (Place& point : points) point = place(bytes);
  p.points = points_array(points);
  p.real = bytes.choose({DType::float32, DType::float64});
  p.whole = bytes.choose({DType::int32, DType::int64});
  p.gap = bytes.below(3);
  return p;
}

[[noreturn]] void fault(const MeshProblem& problem, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", describe(problem).c_str(), what.c_str());
  std::abort();
}

/// What the call gives, or nothing if it was refused.
template <class Call>
auto attempt(const MeshProblem& problem, const Call& call) -> std::optional<decltype(call())> {
  try {
    return call();
  } catch (const InvalidArgument&) {
    return {};
  } catch (const std::exception& error) {
    fault(problem, error.what());
  }
}

template <class Result>
void compare(const MeshProblem& problem, const std::optional<Result>& first, const std::optional<Result>& other) {
  if (first.has_value() != other.has_value()) fault(problem, "refused by one instruction set only");
  if (!first) return;
  if (const auto same = equal(*first, *other); !same) fault(problem, same.message());
}

void require(const MeshProblem& problem, const testing::AssertionResult& right) {
  if (!right) fault(problem, right.message());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  const MeshProblem problem = read_problem(bytes);
  std::optional<MeshAnswers> of_points, of_lattice;
  std::optional<mesh::Band> near;
  bool is_first = true;
  for (const InstructionSet set : instruction_sets()) {
    Execution execution;
    execution.instruction_set = set;
    execution.threads = is_first ? 1 : 2;
    mesh::TriangleSetOptions options;
    options.sign = problem.sign;
    options.execution = execution;
    const auto triangles = attempt(problem, [&] { return mesh::TriangleSet(problem.arrays->view(), options); });
    if (!triangles) return 0;
    mesh::BandOptions band;
    band.cutoff = problem.cutoff;
    band.dtype = problem.real;
    band.triangles = band.closest = problem.gap != 0;
    band.execution = execution;
    auto points_now = attempt(problem, [&] { return nearest(*triangles, problem, execution); });
    auto lattice_now = attempt(problem, [&] { return field(*triangles, problem, execution); });
    auto near_now = attempt(problem, [&] { return triangles->band(problem.lattice, band); });
    if (is_first) {
      of_points = std::move(points_now);
      of_lattice = std::move(lattice_now);
      near = std::move(near_now);
      is_first = false;
      continue;
    }
    compare(problem, of_points, points_now);
    compare(problem, of_lattice, lattice_now);
    compare(problem, near, near_now);
  }
  if (of_points) require(problem, matches(problem, brute_force(problem.mesh, problem.places()), *of_points));
  if (!of_lattice) return 0;
  const Truth truth = brute_force(problem.mesh, problem.lattice_places());
  require(problem, matches(problem, truth, *of_lattice));
  if (near) require(problem, matches(problem, truth, *near));
  return 0;
}
