// Distances between surfaces: known ones, and random ones against dense samples of both.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "fathom/mesh/compare.h"
#include "mesh/problem.h"
#include "run.h"

namespace fathom::test {
namespace {

using mesh::compare;
using mesh::CompareOptions;
using mesh::Comparison;
using mesh::Deviation;
using mesh::TriangleSet;

CompareOptions few_samples() {
  CompareOptions options;
  options.samples = 4096;
  return options;
}

Comparison compared(const Mesh& a, const Mesh& b, const CompareOptions& options = few_samples()) {
  return compare(set_of(a), set_of(b), options);
}

Mesh square(double z, double size = 1) {
  return {{{0, 0, z}, {size, 0, z}, {size, size, z}, {0, size, z}}, {{0, 1, 2}, {0, 2, 3}}};
}

double length(Place p, Place q) { return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]); }

/// Points all over the triangles, no farther apart than `step` along their sides.
struct Cover {
  std::vector<Place> points;
  double reach = 0;  ///< from any point of the surface to one of them, at most
};
Cover cover(const Mesh& mesh, double step) {
  Cover cover;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Place &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
    const double longest = std::max({length(a, b), length(a, c), length(b, c)});
    const int n = 1 + static_cast<int>(longest / step);
    for (int i = 0; i <= n; ++i)
      for (int j = 0; i + j <= n; ++j) {
        Place& p = cover.points.emplace_back();
        for (std::size_t k = 0; k < 3; ++k) p[k] = a[k] + (i * (b[k] - a[k]) + j * (c[k] - a[k])) / n;
      }
    cover.reach = std::max(cover.reach, longest / n);
  }
  return cover;
}

/// What is said of one direction, against brute force for dense samples.
void check(const Deviation& found, const Mesh& from, const Mesh& to, double tolerance, double step) {
  const Cover samples = cover(from, step);
  double most = 0;
  for (const double distance : brute_force(to, samples.points).distance) most = std::max(most, distance);
  const double rounding = 1e-12 * (1 + found.bound);
  EXPECT_LE(most, found.bound + rounding);
  EXPECT_LE(found.max, most + samples.reach);
  EXPECT_LE(found.max, found.bound);
  EXPECT_LE(found.bound, found.max + tolerance);
  const Truth at_point = brute_force(to, {found.point});
  EXPECT_EQ(at_point.distance[0], found.max);
  EXPECT_EQ(at_point.triangle[0], found.nearest_triangle);
  EXPECT_NEAR(length(found.point, found.nearest), found.max, rounding);
  const Mesh own{{from.corner(static_cast<std::size_t>(found.triangle), 0), from.corner(static_cast<std::size_t>(found.triangle), 1),
                  from.corner(static_cast<std::size_t>(found.triangle), 2)}, {{0, 1, 2}}};
  EXPECT_LE(brute_force(own, {found.point}).distance[0], 1e3 * rounding);
}

void expect_equal(const Deviation& a, const Deviation& b) { EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0); }

TEST(Comparisons, OfParallelSquares) {
  const Comparison c = compared(square(0), square(0.25));
  for (const Deviation& d : {c.forward, c.backward}) {
    EXPECT_EQ(d.max, 0.25);
    EXPECT_NEAR(d.bound, 0.25, 1e-14);
    EXPECT_DOUBLE_EQ(d.mean, 0.25);
    EXPECT_DOUBLE_EQ(d.rms, 0.25);
    EXPECT_EQ(d.triangle, 0);
  }
  EXPECT_EQ(c.hausdorff(), 0.25);
  EXPECT_EQ(c.tolerance, 1e-6 * std::hypot(1, 1, 0.25));
  // The smaller one covers a part: distances of the other one's rest are those from an edge or a corner.
  const Comparison sizes = compared(square(0), square(0, 3));
  EXPECT_EQ(sizes.forward.max, 0);
  EXPECT_LE(sizes.forward.bound, 1e-13);
  EXPECT_DOUBLE_EQ(sizes.backward.max, std::sqrt(8));
  EXPECT_EQ(sizes.backward.point, (mesh::Point{3, 3, 0}));
  EXPECT_EQ(sizes.backward.nearest, (mesh::Point{1, 1, 0}));
  EXPECT_EQ(sizes.hausdorff(), sizes.backward.max);
}

TEST(Comparisons, OfACubeAndTheSameBeside) {
  const Comparison c = compared(box({0, 0, 0}, {1, 1, 1}), box({0.25, 0, 0}, {1.25, 1, 1}));
  // The front face is 0.25 away, sides less and less, the back face lies inside: 0.25, and less near its rim.
  const double mean = (0.25 + 4 * 0.03125 + 0.875 / 6) / 6;
  for (const Deviation& d : {c.forward, c.backward}) {
    EXPECT_EQ(d.max, 0.25);
    EXPECT_LE(d.bound, 0.25 + c.tolerance);
    EXPECT_NEAR(d.mean, mean, 1e-4);
    EXPECT_LE(std::abs(d.mean - mean), d.error);
    EXPECT_LT(d.error, 0.03);
    EXPECT_GT(d.rms, d.mean);
  }
}

/// Where it is farthest no vertex is: midway between the walls of a box.
TEST(Comparisons, FindTheMaximumWithinATriangle) {
  const Mesh sheet{{{-0.2, -0.3, 0.45}, {1.3, -0.1, 0.5}, {0.6, 1.4, 0.55}}, {{0, 1, 2}}}, room = box({0, 0, 0}, {1, 1, 1});
  const Comparison c = compared(sheet, room);
  EXPECT_NEAR(c.forward.max, 0.5, 0.01);
  check(c.forward, sheet, room, c.tolerance, 0.005);
  check(c.backward, room, sheet, c.tolerance, 0.02);
}

TEST(Comparisons, OfAPointAndAFarTriangle) {
  const Mesh point{{{0, 0, 5}, {0, 0, 5}, {0, 0, 5}}, {{0, 1, 2}}}, triangle{{{-1, -1, 0}, {2, -1, 0}, {-1, 3, 0}}, {{0, 1, 2}}};
  const Comparison c = compared(point, triangle);
  EXPECT_EQ(c.forward.max, 5);
  EXPECT_LE(c.forward.bound, 5 + 1e-12);
  EXPECT_EQ(c.forward.nearest, (mesh::Point{0, 0, 0}));
  EXPECT_TRUE(std::isnan(c.forward.mean) && std::isnan(c.forward.rms) && std::isnan(c.forward.error));
  EXPECT_EQ(c.backward.max, std::sqrt(35.0));
  EXPECT_EQ(c.backward.point, (mesh::Point{-1, 3, 0}));
  EXPECT_GT(c.backward.mean, 5);
}

TEST(Comparisons, OfConcentricSpheres) {
  const Mesh inner = sphere({}, 1, 4), outer = sphere({}, 2, 3);
  const Comparison c = compared(inner, outer);
  // From vertex to the middle of a face, and the other way.
  EXPECT_NEAR(c.hausdorff(), 1, 0.02);
  EXPECT_NEAR(c.forward.mean, 1, 0.02);
  check(c.forward, inner, outer, c.tolerance, 0.1);
  check(c.backward, outer, inner, c.tolerance, 0.1);
}

/// The same surface has no distance, however it is cut.
TEST(Comparisons, OfASurfaceAndItself) {
  Random random(3);
  for (int kind = 0; kind < kKinds; ++kind) {
    const Mesh mesh = make_mesh(static_cast<Kind>(kind), random);
    SCOPED_TRACE(name_of(static_cast<Kind>(kind)));
    const Comparison same = compared(mesh, mesh), cut = compared(divided(mesh), mesh);
    EXPECT_LE(same.forward.max, 1e-3 * same.tolerance);  // by the formula a corner of a sliver lies beside it
    EXPECT_LE(same.forward.bound, same.tolerance);
    EXPECT_LE(cut.hausdorff_bound(), 2 * cut.tolerance);
    if (same.forward.error < 1e300) {
      EXPECT_LE(same.forward.mean, 1e-7);
    }
  }
}

/// What a cut through the other surface's triangles changes is only rounding.
TEST(Comparisons, DoNotDependOnHowSurfacesAreCut) {
  const Mesh ball = rounded(sphere({}, 1, 3), 64), ring = rounded(torus(1.25, 0.5, 12, 8), 64);
  const Comparison c = compared(ball, ring), finer = compared(divided(ball), divided(ring));
  EXPECT_NEAR(c.forward.max, finer.forward.max, 2 * c.tolerance);
  EXPECT_NEAR(c.backward.max, finer.backward.max, 2 * c.tolerance);
  EXPECT_NEAR(c.forward.mean, finer.forward.mean, 1e-3 * c.forward.mean);
  EXPECT_NEAR(c.backward.rms, finer.backward.rms, 1e-3 * c.backward.rms);
}

TEST(Comparisons, OfRandomMeshesEqualBruteForce) {
  for (int round = 0; round < scaled(60); ++round) {
    Random random(static_cast<std::uint64_t>(round));
    const auto kind = [&] { return static_cast<Kind>(random() % kKinds); };
    const Mesh a = make_mesh(kind(), random), b = make_mesh(kind(), random);
    SCOPED_TRACE(round);
    CompareOptions options = few_samples();
    const Comparison c = compared(a, b, options);
    const double step = 0.02 * std::max(c.tolerance * 1e6, 1e-30);
    check(c.forward, a, b, c.tolerance, step);
    check(c.backward, b, a, c.tolerance, step);

    const Comparison exchanged = compared(b, a, options);
    expect_equal(c.forward, exchanged.backward);
    expect_equal(c.backward, exchanged.forward);
    for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2}) {
      if (!is_supported(set)) continue;
      options.execution.instruction_set = set;
      options.execution.threads = 1 + round % 3;
      const Comparison same = compared(a, b, options);
      expect_equal(c.forward, same.forward);
      expect_equal(c.backward, same.backward);
    }
  }
}

/// The mean over all of a surface lies within what is said of it.
TEST(Comparisons, StateTheErrorOfTheMean) {
  const Mesh ball = sphere({}, 1, 2), room = box({-1.5, -1.2, -1}, {1.1, 1.3, 1.4});
  const Deviation truth = compared(ball, room, {}).forward;
  double last = 1;
  for (const std::int64_t samples : {1, 1000, 10000, 100000}) {
    CompareOptions options;
    options.samples = samples;
    const Deviation d = compared(ball, room, options).forward;
    EXPECT_LE(std::abs(d.mean - truth.mean), d.error);
    EXPECT_LE(std::abs(d.rms - truth.rms), d.error);
    EXPECT_LT(d.error, last);
    last = d.error;
  }
  EXPECT_LT(truth.error, 4e-3);
}

/// Where the parts do not suffice, what is proved is said.
TEST(Comparisons, StateWhatIsProved) {
  Random random(5);
  const Mesh a = soup(40, random), b = soup(200, random);
  CompareOptions few = few_samples();
  few.most_parts = 1;
  few.tolerance = 0;
  const Comparison rough = compared(a, b, few), fine = compared(a, b);
  EXPECT_GT(rough.forward.bound, fine.forward.bound);
  EXPECT_LE(rough.forward.max, fine.forward.bound);
  EXPECT_LE(fine.forward.max, rough.forward.bound);
}

TEST(Comparisons, RefuseWhatTheyCannotDo) {
  const Mesh mesh = square(0);
  const auto refused = [&](const auto& change) {
    CompareOptions options;
    change(options);
    return refusal([&] { compared(mesh, mesh, options); });
  };
  EXPECT_EQ(refused([](CompareOptions& o) { o.tolerance = -1; }), "the tolerance is -1; it must be finite, and at least 0");
  EXPECT_EQ(refused([](CompareOptions& o) { o.tolerance = std::nan(""); }), "the tolerance is nan; it must be finite, and at least 0");
  EXPECT_EQ(refused([](CompareOptions& o) { o.samples = 0; }), "the number of samples is 0; it must be from 1 to 2147483647");
  EXPECT_EQ(refused([](CompareOptions& o) { o.most_parts = 0; }), "the number of parts is 0; it must be from 1 to 2147483647");
  EXPECT_EQ(refused([](CompareOptions& o) { o.execution.backend = Backend::cuda; }),
            "meshes are compared by the backend cpu alone; use auto or cpu");
  EXPECT_NE(refused([](CompareOptions& o) { o.execution.scratch_limit = 100; }).find("the limit of 100 bytes of scratch is too small; "),
            std::string::npos);
}

TEST(Comparisons, CanBeCancelledAndReport) {
  const TriangleSet a = set_of(sphere({}, 1, 5)), b = set_of(torus(1, 0.4, 100, 60));
  CompareOptions options;
  options.samples = 1 << 16;
  options.execution.threads = 2;
  std::vector<double> shares;
  options.execution.progress = [&](double share) { shares.push_back(share); };
  EXPECT_EQ(compare(a, b, options).report.threads, 2);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_GT(shares.back(), 0.9);
  std::stop_source stop;
  options.execution.stop = stop.get_token();
  stop.request_stop();
  EXPECT_THROW(compare(a, b, options), Cancelled);
}

}  // namespace
}  // namespace fathom::test
