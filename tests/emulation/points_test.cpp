// What devices do with points whatever is asked for, on the emulated device: building trees, the search through them
// and the pass by all sites, by each metric, against brute force. CUB's sort has a stand-in here.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "points/check.h"
#include "points/cuda/build.h"
#include "points/cuda/order.h"
#include "points/cuda/search.h"
#include "points/problem.h"

namespace fathom::points::cuda {

/// By the first coordinate: any order will do.
std::size_t fine_order_bytes(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(std::uint32_t); }
const std::uint32_t* fine_order(const DeviceTree&, const Cloud& points, std::byte* scratch, cudaStream_t) {
  auto* const order = reinterpret_cast<std::uint32_t*>(scratch);
  std::iota(order, order + points.count, 0u);
  std::stable_sort(order, order + points.count, [&](auto a, auto b) { return points.at(0, a) < points.at(0, b); });
  return order;
}

}  // namespace fathom::points::cuda

namespace fathom::test {
namespace {

using points::Storage;
using points::cuda::DeviceTree;

/// A tree over a problem's sites, and its memory.
struct Built {
  DeviceTree tree;
  std::vector<std::byte> memory, scratch;

  explicit Built(const PointProblem& problem) {
    const points::Coordinates rows(problem.sites.view());
    const Cloud sites = points::cloud_of(rows, 0, problem.set.every);
    const Storage storage = sites.count > 0 ? problem.set.storage : Storage::plain;
    tree = points::cuda::make_tree(sites, storage);
    memory.resize(points::cuda::place_tree(tree, storage, nullptr));
    points::cuda::place_tree(tree, storage, memory.data());
    if (storage == Storage::boxed) set_extent(tree, points::cuda::box_tree(tree, nullptr).extent);
    else if (sites.count > 0) set_extent(tree, points::cuda::extent_of(sites, nullptr));
    if (storage != Storage::sorted) return;
    scratch.resize(points::cuda::sort_scratch_bytes(tree));
    points::cuda::sort_tree(tree, sites, nullptr, scratch.data(), nullptr);
  }
};

PointAnswers answers_of(const PointProblem& problem, DType distance) {
  PointAnswers answers = make_answers(problem, distance);
  points::QueryOptions options = problem.query;
  if (problem.directions.size() > 0) {
    options.cone.directions = problem.directions.view();
    options.cone.half_angles = problem.half_angles.view();
  }
  const points::Coordinates queries(problem.queries.view());
  points::SetFacts facts;
  facts.axes = queries.axes();
  facts.period = points::period_of(problem.set, queries.axes());
  const points::Request request = points::request_of(facts, queries, options, outputs_into(answers), 0);
  std::vector<points::ConeOfQuery> cones;
  for (std::int64_t q = 0; request.cones.present && q < queries.count(); ++q)
    cones.push_back(points::cone_of(request.cones, q));
  const Built built(problem);
  if (queries.count() == 0) return answers;
  const auto asked = points::cuda::device_request(request, built.tree, cones.empty() ? nullptr : cones.data());
  if (built.tree.levels > 0) {
    points::cuda::search_generally(built.tree, asked, nullptr);
  } else {
    std::vector<std::byte> scratch(points::cuda::scan_scratch_bytes(built.tree, queries.count(), request.k));
    points::cuda::scan(built.tree, asked, scratch.data(), nullptr);
  }
  return answers;
}

void check_random(std::uint64_t first_seed, int count, std::int64_t most_sites) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = seed_to_replay().value_or(first_seed + static_cast<std::uint64_t>(i));
    const PointProblem problem = random_point_problem(seed, most_sites);
    SCOPED_TRACE(describe(problem));
    const DType distance = seed % 2 ? DType::float32 : DType::float64;
    ASSERT_TRUE(equal(brute_force(problem, distance), answers_of(problem, distance)));
  }
}

TEST(EmulatedPoints, TinyProblems) { check_random(1, scaled(200), 40); }
TEST(EmulatedPoints, SmallProblems) { check_random(100000, scaled(100), 400); }
TEST(EmulatedPoints, Trees) { check_random(200000, scaled(15), 5000); }

}  // namespace
}  // namespace fathom::test
