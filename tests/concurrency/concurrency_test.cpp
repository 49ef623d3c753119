// Many callers at once, on their own inputs and on shared ones: for the thread sanitizer, and right in any build.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "../fuzz/apps/operations.h"
#include "cases.h"
#include "fathom/apps/ray_march.h"
#include "fathom/core/workspace.h"
#include "fathom/points/dynamic_set.h"
#include "fathom/points/voxel_set.h"
#include "fathom/stream/evaluator.h"
#include "fathom/stream/nodes.h"
#include "mesh/problem.h"
#include "points/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using grid::DistanceOptions;

constexpr int kCallers = 4;

/// A problem for each engine and each kind of pass.
std::vector<std::pair<Shape, DistanceOptions>> problems() {
  return {{{120, 170}, {}},
          {{40, 30, 50}, {}},
          {{90, 100}, {.border = {grid::Border::periodic}}},
          {{90, 100}, {.sites = {grid::Sites::Rule::labels}}},
          {{90, 100}, {.signed_distance = true}},
          {{20, 30, 25}, {.spacing = {1, 2, 3}}},
          {{90, 100}, {.metric = grid::Metric::chessboard}},
          {{5000}, {}}};
}

Array some_mask(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  return mask_array(scatter(shape, 0.01, random), shape);
}

/// Runs body(caller) on kCallers threads at once.
template <class Body>
void at_once(Body body) {
  std::atomic<int> waiting{kCallers};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&, caller] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      body(caller);
    });
}

const Wanted kAll{.distance = DType::float32, .nearest = DType::int64};
const Wanted kPlain{.distance = DType::float32};

TEST(Concurrency, OwnInputs) {
  for (int threads : {1, 2})
    at_once([threads](int caller) {
      for (auto [shape, options] : problems()) {
        options.execution.threads = threads;
        const Array input = some_mask(shape, static_cast<std::uint64_t>(caller));
        const Results first = run(input.view(), options, kPlain);
        const Results again = run(input.view(), options, kAll);
        EXPECT_TRUE(equal(*first.distance, *again.distance));
      }
    });
}

TEST(Concurrency, SharedInput) {
  for (const auto& [shape, given] : problems()) {
    const Array input = some_mask(shape, 9);
    DistanceOptions options = given;
    options.execution.threads = 1;
    const Results expected = run(input.view(), options, kAll);
    options.execution.threads = 2;
    at_once([&](int) {
      EXPECT_TRUE(equal(expected, run(input.view(), options, kAll)));
      EXPECT_TRUE(equal(*expected.distance, *run(input.view(), options, kPlain).distance));
    });
  }
}

TEST(Concurrency, EachCallerItsWorkspace) {
  at_once([](int caller) {
    Workspace workspace;
    for (int i = 0; i < 3; ++i)
      for (auto [shape, options] : problems()) {
        const Array input = some_mask(shape, static_cast<std::uint64_t>(caller + i));
        options.execution.threads = 2;
        const Results own = run(input.view(), options, kPlain);
        options.execution.workspace = &workspace;
        EXPECT_TRUE(equal(own, run(input.view(), options, kPlain)));
      }
  });
}

/// The nearest sites that a set finds with two threads.
template <class Set>
Array nearest_sites(const Set& set, const Array& queries) {
  Array site(DType::int64, {queries.shape()[0], 3});
  points::QueryOptions options;
  options.k = 3;
  options.execution.threads = 2;
  points::QueryOutputs outputs;
  outputs.site = site.view();
  set.nearest(queries.view(), options, outputs);
  return site;
}

TEST(Concurrency, SharedSitesOfEveryStorage) {
  Random random(10);
  const Array queries = make_points(Spread::uniform, DType::float32, 700, 3, random);
  const Array sites = make_points(Spread::clustered, DType::float32, 3000, 3, random);
  for (points::Storage storage : {points::Storage::plain, points::Storage::boxed, points::Storage::sorted}) {
    points::SiteSetOptions options;
    options.storage = storage;
    options.execution.threads = 2;
    const points::SiteSet shared(sites.view(), options);
    const Array expected = nearest_sites(shared, queries);
    at_once([&](int caller) {
      const points::SiteSet own(sites.view(), options);
      EXPECT_TRUE(equal(expected, nearest_sites(caller % 2 ? own : shared, queries)));
    });
  }
}

TEST(Concurrency, SharedVoxels) {
  Random random(11);
  const Shape shape{20, 30, 25};
  const Array queries = make_points(Spread::uniform, DType::float32, 700, 3, random);
  const Array mask = mask_array(scatter(shape, 0.01, random), shape, DType::uint8, false);
  const points::VoxelSet shared = points::VoxelSet::of_mask(mask.view());
  const Array expected = nearest_sites(shared, queries);
  at_once([&](int) { EXPECT_TRUE(equal(expected, nearest_sites(shared, queries))); });
}

/// Edits between the questions of many, who all see what the last one left.
TEST(Concurrency, SharedSetsThatChange) {
  Random random(13);
  const Array queries = make_points(Spread::uniform, DType::float32, 300, 3, random);
  const Array sites = make_points(Spread::uniform, DType::float32, 2000, 3, random);
  const auto rows = [&](std::int64_t first, std::int64_t count) {
    return AnyConstView(sites.data() + static_cast<std::size_t>(first) * 12, DType::float32, {count, 3});
  };
  points::DynamicSetOptions options;
  options.execution.threads = 2;
  points::DynamicSet dynamic(rows(0, 500), options);
  points::VoxelSet voxels({20, 30, 25});
  for (std::int64_t edit = 500; edit < 2000; edit += 300) {
    dynamic.add(rows(edit, 300));
    dynamic.remove(std::vector<std::int64_t>{edit, edit - 1});
    dynamic.move(std::vector<std::int64_t>{edit + 1}, rows(0, 1));
    voxels.add(std::vector<std::int64_t>{edit, 3 * edit, 7 * edit});
    voxels.move(edit, edit + 1);
    const Array of_dynamic = nearest_sites(dynamic, queries), of_voxels = nearest_sites(voxels, queries);
    at_once([&](int) {
      EXPECT_TRUE(equal(of_dynamic, nearest_sites(dynamic, queries)));
      EXPECT_TRUE(equal(of_voxels, nearest_sites(voxels, queries)));
    });
  }
}

TEST(Concurrency, SharedMeshes) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const MeshProblem problem = random_mesh_problem(seed);
    Execution execution;
    execution.threads = 2;
    mesh::TriangleSetOptions options;
    options.sign = problem.sign;
    options.execution = execution;
    mesh::BandOptions band;
    band.cutoff = problem.cutoff;
    band.execution = execution;
    const mesh::TriangleSet shared(problem.arrays->view(), options);
    const MeshAnswers of_points = nearest(shared, problem, execution), of_lattice = field(shared, problem, execution);
    const mesh::Band near = shared.band(problem.lattice, band);
    at_once([&](int caller) {
      const mesh::TriangleSet own(problem.arrays->view(), options);
      const mesh::TriangleSet& set = caller % 2 ? own : shared;
      EXPECT_TRUE(equal(of_points, nearest(set, problem, execution)));
      EXPECT_TRUE(equal(of_lattice, field(set, problem, execution)));
      EXPECT_TRUE(equal(near, set.band(problem.lattice, band)));
    });
  }
}

TEST(Concurrency, SharedVolumes) {
  Random random(12);
  const Shape shape{20, 30, 25};
  const Array mask = mask_array(scatter(shape, 0.01, random), shape, DType::uint8, false);
  for (apps::Stepping stepping : {apps::Stepping::field, apps::Stepping::cone}) {
    apps::RayMarcherOptions options;
    options.stepping = stepping;
    options.execution.threads = 2;
    const apps::RayMarcher shared(mask.view(), options);
    const auto picture_of = [&] {
      Array shade(DType::uint8, {70, 90});
      apps::RayMarchOptions march;
      march.execution.threads = 2;
      apps::RayMarchOutputs outputs;
      outputs.shade = shade.view();
      shared.render(march, outputs);
      return shade;
    };
    const Array expected = picture_of();
    at_once([&](int) { EXPECT_TRUE(equal(expected, picture_of())); });
  }
}

/// Each operation, of an image that all share, and of one's own.
TEST(Concurrency, OperationsOnImages) {
  Random random(14);
  const Shape shape{60, 70};
  const auto picture = [&] {
    Random same(15);
    return mask_array(scatter(shape, 0.1, same), shape, DType::boolean);
  };
  const Array shared = picture();
  Array numbers(DType::int32, shape);  // weights, and indices of nearest elements
  for (std::int64_t k = 0; k < numbers.size(); ++k)
    numbers.as<std::int32_t>().data()[k] = static_cast<std::int32_t>(below(random, 60));
  std::set<std::string> done;
  for (int which = 0; which < 16 * Operations::kCount; ++which) {
    std::vector<std::uint8_t> drawn(400);
    for (std::uint8_t& byte : drawn) byte = static_cast<std::uint8_t>(below(random, 256));
    Bytes bytes(drawn);
    const Operation operation = Operations(bytes, shape).draw(which % Operations::kCount);
    const auto outcome_of = [&](const Array& image, int threads) {
      Execution execution;
      execution.threads = threads;
      std::vector<Array> outputs;
      try {
        operation.run(image, execution, outputs);
      } catch (const InvalidArgument&) {
        outputs.clear();
      }
      return outputs;
    };
    const auto expect_same = [&](const std::vector<Array>& one, const std::vector<Array>& other) {
      ASSERT_EQ(one.size(), other.size()) << operation.name;
      for (std::size_t k = 0; k < one.size(); ++k) EXPECT_TRUE(equal(one[k], other[k])) << operation.name;
    };
    const std::vector<Array> expected = outcome_of(shared, 1), of_numbers = outcome_of(numbers, 1);
    if (!expected.empty() || !of_numbers.empty()) done.insert(operation.name);
    at_once([&](int caller) {
      const Array own = picture();
      expect_same(expected, outcome_of(caller % 2 ? own : shared, 2));
      expect_same(of_numbers, outcome_of(numbers, 2));
    });
  }
  EXPECT_EQ(done.size(), Operations::kNames) << "some operation refused whatever was drawn";
}

TEST(Concurrency, CancelledFromAnotherThread) {
  at_once([](int caller) {
    for (int i = 0; i < 5; ++i) {
      std::stop_source source;
      DistanceOptions options;
      options.execution.threads = 2;
      options.execution.stop = source.get_token();
      const Array input = some_mask({600, 600}, static_cast<std::uint64_t>(caller));
      std::jthread stopper([&source, i] {
        std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
        source.request_stop();
      });
      try {
        run(input.view(), options, kPlain);
      } catch (const Cancelled&) {
      }
    }
  });
}

TEST(Concurrency, ProgressOfEachCallerIsItsOwn) {
  at_once([](int caller) {
    for (const auto& [shape, given] : problems()) {
      DistanceOptions options = given;
      double last = -1;  // written by whichever thread reports: the library lets no two report at once
      options.execution.threads = 2;
      options.execution.progress = [&last](double share) {
        EXPECT_GE(share, last);
        last = share;
      };
      run(some_mask(shape, static_cast<std::uint64_t>(caller)).view(), options, kPlain);
      EXPECT_EQ(last, 1);
    }
  });
}

TEST(Concurrency, EvaluatorsOfOneGraphShareItsNodes) {
  using namespace stream;
  const NodeRef noise = stream::noise(1, {300, 700, DType::uint8});
  const ProfileOptions falling{"100*exp(-d/5) + 1", {}, {}, DType::uint8};
  const NodeRef far = profile(stream::distance(threshold(noise, 250), {9}), falling);
  const NodeRef exact = exact_distance(threshold(noise, 255));
  const NodeRef root = math("a + b/2 + c", {{far}, {place({far, noise}, {{3, 5, 0}, {9, 9, 1}}, 300, 700)}, {exact}},
                            DType::float32);
  const Array expected = Evaluator(root).compute(root->whole());
  at_once([&](int caller) {
    EvaluatorOptions options;
    options.execution.threads = 2 + caller % 2;
    Evaluator evaluator(root, options);
    for (std::int64_t y = 0; y < 300; y += 50) {
      const Array band = evaluator.compute({y, 0, y + 50, 700});
      EXPECT_EQ(std::memcmp(band.data(), expected.data() + y * 700 * 4, band.bytes()), 0);
    }
  });
}

}  // namespace
}  // namespace fathom::test
