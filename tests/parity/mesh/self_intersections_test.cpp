// Triangles that meet: known ones, counts and limits. Against exact fractions: tests/python/test_mesh_compare.py.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "fathom/mesh/self_intersections.h"
#include "mesh/meshes.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::self_intersections;
using mesh::SelfIntersectionOptions;
using mesh::SelfIntersections;
using Pairs = std::vector<std::pair<int, int>>;

Pairs list(const SelfIntersections& found) {
  Pairs pairs;
  const std::int32_t* const numbers = found.pairs.as<std::int32_t>().data();
  for (std::int64_t k = 0; k < found.pairs.size(); k += 2) pairs.emplace_back(numbers[k], numbers[k + 1]);
  return pairs;
}

SelfIntersections found_in(const Mesh& mesh, const SelfIntersectionOptions& options = {}) {
  return self_intersections(set_of(mesh), options);
}

/// Whether a second triangle meets the one of (0, 0, 0), (4, 0, 0) and (0, 4, 0).
bool meets(Place a, Place b, Place c) {
  const Mesh mesh{{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, a, b, c}, {{0, 1, 2}, {3, 4, 5}}};
  return found_in(mesh).count == 1;
}

TEST(SelfIntersections, OfTwoTriangles) {
  const double little = 0x1p-60;
  EXPECT_TRUE(meets({1, 1, -1}, {1, 1, 1}, {5, 5, 1}));                 // through the face
  EXPECT_TRUE(meets({1, 1, 0}, {1, 1, 1}, {5, 5, 1}));                  // touches the face
  EXPECT_FALSE(meets({1, 1, little}, {1, 1, 1}, {5, 5, 1}));
  EXPECT_TRUE(meets({2, 2, -1}, {2, 2, 1}, {5, 5, 0}));                 // touches an edge by an edge
  EXPECT_TRUE(meets({3, 3, 0}, {1, 1, 0}, {5, 5, 9}));                  // an edge in the plane
  EXPECT_FALSE(meets({3, 3, 0}, {5, 1, 0}, {5, 5, 9}));
  EXPECT_TRUE(meets({1, 1, 0}, {2, 1, 0}, {1, 2, 0}));                  // within, in the plane
  EXPECT_TRUE(meets({-9, -9, 0}, {30, -9, 0}, {-9, 30, 0}));            // around it
  EXPECT_TRUE(meets({4, 0, 0}, {0, 4, 0}, {1, 1, 0}));                  // folded over a common edge
  EXPECT_FALSE(meets({4, 0, 0}, {0, 4, 0}, {1, 1, little}));
  EXPECT_FALSE(meets({4, 0, 0}, {0, 4, 0}, {4, 4, 0}));                 // its neighbour
  EXPECT_FALSE(meets({0, 0, 0}, {-1, -1, 0}, {-1, 0, 0}));              // a common corner alone
  EXPECT_TRUE(meets({0, 0, 0}, {1, 1, 0}, {1, 1, 1}));                  // and more
  EXPECT_TRUE(meets({0, 0, 0}, {9, 9, -1}, {9, 9, 1}));
  EXPECT_FALSE(meets({0, 0, 0}, {9, 9, little}, {9, 9, 1}));
  EXPECT_TRUE(meets({0, 0, 0}, {4, 0, 0}, {0, 4, 0}));                  // the same
  EXPECT_TRUE(meets({4, 0, 0}, {0, 0, 0}, {0, 4, 0}));
  EXPECT_FALSE(meets({1, 1, -1}, {1, 1, 1}, {1, 1, 3}));                // a line through the face has no area
  EXPECT_FALSE(meets({1, 1, 0}, {1, 1, 0}, {1, 1, 0}));
}

TEST(SelfIntersections, OfSolids) {
  Random random(2);
  for (const Mesh& mesh : {box({0, 0, 0}, {1, 2, 3}), sphere({1, 2, 3}, 1, 5), torus(1, 0.3, 40, 30), columns(6, 4, random),
                           split(divided(sphere({}, 0.1, 3)))}) {
    const SelfIntersections found = found_in(mesh);
    EXPECT_EQ(found.count, 0);
    EXPECT_EQ(found.pairs.shape(), (Shape{0, 2}));
  }
  // The walls of a box that the other one goes through.
  EXPECT_GE(found_in(joined(box({0, 0, 0}, {3, 3, 3}), box({1, 1, -1}, {2, 2, 4}))).count, 8);
  EXPECT_EQ(found_in(joined(box({0, 0, 0}, {3, 3, 3}), box({1, 1, 1}, {2, 2, 2}))).count, 0);
  // Each triangle of the same on itself and what is about it.
  EXPECT_GE(found_in(joined(sphere({}, 1, 3), sphere({}, 1, 3))).count, 512);
}

TEST(SelfIntersections, KeepTheFirst) {
  Random random(4);
  const Mesh mesh = soup(1000, random);
  SelfIntersectionOptions options;
  options.execution.threads = 1;
  const SelfIntersections all = found_in(mesh, options);
  const Pairs pairs = list(all);
  ASSERT_EQ(all.count, static_cast<std::int64_t>(pairs.size()));
  ASSERT_GT(pairs.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
  for (const std::int64_t most : {0, 1, 7, 999, 1 << 20})
    for (const int threads : {1, 3}) {
      options.most_pairs = most;
      options.execution.threads = threads;
      const SelfIntersections found = found_in(mesh, options);
      EXPECT_EQ(found.count, all.count);
      Pairs first = pairs;
      first.resize(std::min(pairs.size(), static_cast<std::size_t>(most)));
      EXPECT_EQ(list(found), first);
    }
}

TEST(SelfIntersections, RefuseWhatTheyCannotDo) {
  const Mesh mesh = box({0, 0, 0}, {1, 1, 1});
  SelfIntersectionOptions options;
  options.most_pairs = -1;
  EXPECT_EQ(refusal([&] { found_in(mesh, options); }),
            "the number of pairs to keep is -1; it must be from 0 to 2147483647");
  options = {};
  options.execution.threads = 2;
  options.execution.scratch_limit = 1000;
  EXPECT_EQ(refusal([&] { found_in(mesh, options); }),
            "the limit of 1000 bytes of scratch is too small; 100663296 are needed");
  options.most_pairs = 10;
  EXPECT_EQ(found_in(mesh, options).count, 0);
  std::stop_source stop;
  options.execution.stop = stop.get_token();
  stop.request_stop();
  EXPECT_THROW(found_in(mesh, options), Cancelled);
}

}  // namespace
}  // namespace fathom::test
