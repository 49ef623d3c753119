// The published algorithms: those that are exact against grid's distances, those that are not against their errors, on the
// CPU, on a device, and on one that is emulated.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/core/device.h"
#include "fathom/published/distance.h"
#include "run.h"

namespace fathom::test {
namespace {

using published::Access;
using published::Algorithm;

class Published : public testing::Test {
 protected:
  void SetUp() override {
    if (kBackend == Backend::cuda && device_count() == 0) GTEST_SKIP() << "there is no CUDA device";
  }
  static constexpr Backend kBackend = Backend::FATHOM_TEST_BACKEND;
};

struct Found {
  explicit Found(const Shape& shape) : distance(DType::float32, shape), nearest(DType::int64, shape) {
    poison(distance);
    poison(nearest);
  }
  Array distance, nearest;
  published::DistanceReport report;
};

Found find(const Array& input, published::DistanceOptions options, Backend backend) {
  options.execution.backend = backend;
  const Shape& shape = input.shape();
  Found found(options.slice ? Shape{shape[1], shape[2]} : shape);
  found.report = published::distance_transform(input.view(), options, {found.distance.view(), found.nearest.view()});
  EXPECT_EQ(found.report.backend, backend);
  EXPECT_EQ(found.report.exact, published::is_exact(options.algorithm));
  return found;
}

/// Grid's distances, of all or of a slice.
Array exact(const Array& input, const published::DistanceOptions& options) {
  grid::DistanceOptions plain;
  plain.sites = options.sites;
  plain.execution.backend = Backend::cpu;
  const Shape& shape = input.shape();
  if (options.slice) plain.region = {{*options.slice, *options.slice + 1}, {0, shape[1]}, {0, shape[2]}};
  return grid::distance_transform(input.view(), plain);
}

/// Whether the sites that were found are sites, and as far as the distances say.
testing::AssertionResult are_sites(const Array& input, const Found& found, std::int64_t first) {
  const Shape& shape = input.shape();
  const auto point = [&](std::int64_t at) {
    const std::int64_t row = at / shape.back(), height = shape[shape.rank() - 2];
    return std::array<std::int64_t, 3>{row / height, row % height, at % shape.back()};
  };
  for (std::int64_t at = 0; at < found.nearest.size(); ++at) {
    const std::int64_t site = found.nearest.as<std::int64_t>().data()[at];
    const float distance = found.distance.as<float>().data()[at];
    if (site == -1) {
      if (distance != std::numeric_limits<float>::infinity())
        return testing::AssertionFailure() << "element " << at << " has no site, but the distance " << distance;
      continue;
    }
    if (value_at(input, site) != 0) return testing::AssertionFailure() << "element " << site << " is no site";
    double squared = 0;
    for (std::size_t k = 0; k < 3; ++k)
      squared += std::pow(static_cast<double>(point(site)[k] - point(first + at)[k]), 2);
    if (distance != static_cast<float>(std::sqrt(squared)))
      return testing::AssertionFailure() << "element " << at << " is " << std::sqrt(squared) << " away, not "
                                         << distance;
  }
  return testing::AssertionSuccess();
}

std::string describe(const Shape& shape, const published::DistanceOptions& options, Structure structure) {
  return to_string(shape) + ", " + name_of(structure) + ", algorithm " +
         std::to_string(static_cast<int>(options.algorithm)) + ", m " + std::to_string(options.m1) + " " +
         std::to_string(options.m2) + " " + std::to_string(options.m3) + ", access " +
         std::to_string(static_cast<int>(options.access)) + ", slice " + std::to_string(options.slice.value_or(-1));
}

TEST_F(Published, ExactOnesAreExact) {
  for (int i = 0; i < scaled(600); ++i) {
    Random random(seed_to_replay().value_or(static_cast<std::uint64_t>(i) + 81000));
    Shape shape;
    const bool is_volume = chance(random, .4);
    for (int k = 0; k < (is_volume ? 3 : 2); ++k) shape.push_back(1 + below(random, is_volume ? 14 : 70));
    published::DistanceOptions options;
    options.algorithm =
        pick<Algorithm>(random, {Algorithm::pba, Algorithm::pba, Algorithm::brute, Algorithm::proximate});
    if (is_volume && options.algorithm == Algorithm::proximate) options.algorithm = Algorithm::pba;
    options.m1 = static_cast<int>(1 + below(random, 32));
    options.m2 = static_cast<int>(1 + below(random, 40));
    options.m3 = static_cast<int>(1 + below(random, 32));
    options.access = static_cast<Access>(below(random, 5));
    if (is_volume && options.algorithm == Algorithm::pba && chance(random, .4)) options.slice = below(random, shape[0]);
    options.execution.threads = static_cast<int>(1 + below(random, 3));
    const auto structure = static_cast<Structure>(below(random, kStructures));
    const Array input = mask_array(make_sites(structure, shape, random), shape);
    SCOPED_TRACE(describe(shape, options, structure));
    const Found found = find(input, options, kBackend);
    const std::int64_t first = options.slice ? *options.slice * shape[1] * shape[2] : 0;
    ASSERT_TRUE(are_sites(input, found, first));
    const Array expected = exact(input, options);
    ASSERT_EQ(expected.size(), found.distance.size());
    ASSERT_EQ(std::memcmp(expected.data(), found.distance.data(), expected.bytes()), 0);
  }
}

/// Errors as they were measured: an algorithm that becomes worse has been broken.
struct Bound {
  Algorithm algorithm;
  int more_rounds;
  bool is_volume;
  double share, largest;
};

TEST_F(Published, ApproximateOnesStayWithinTheirErrors) {
  constexpr double kNothing = 0;
  for (const Bound& bound :
       {Bound{Algorithm::jfa, 0, false, .00115, 1.754}, Bound{Algorithm::jfa, 1, false, 5e-5, 1.241},
        Bound{Algorithm::jfa, 2, false, kNothing, kNothing}, Bound{Algorithm::jfa, 0, true, .0007, .877},
        Bound{Algorithm::skw, 0, false, 7e-6, .039}, Bound{Algorithm::skw, 0, true, kNothing, kNothing}})
    for (const double density : {.0003, .001, .003, .01, .03, .1, .5}) {
      Random random(5);
      const Shape shape = bound.is_volume ? Shape{41, 47, 53} : Shape{401, 387};
      const Array input = mask_array(scatter(shape, density, random), shape);
      published::DistanceOptions options;
      options.algorithm = bound.algorithm;
      options.more_rounds = bound.more_rounds;
      options.measure_error = true;
      const Found found = find(input, options, kBackend);
      SCOPED_TRACE(describe(shape, options, Structure::sparse) + ", density " + std::to_string(density));
      ASSERT_TRUE(are_sites(input, found, 0));
      EXPECT_LE(found.report.error->share, bound.share);
      EXPECT_LE(found.report.error->largest, bound.largest);
    }
}

/// The same sites from the CPU and a device, whatever the threads.
TEST_F(Published, CpuAndDeviceFindTheSame) {
  if (kBackend == Backend::cpu) GTEST_SKIP() << "there is nothing to compare the CPU with";
  for (const Algorithm algorithm :
       {Algorithm::pba, Algorithm::proximate, Algorithm::jfa, Algorithm::skw, Algorithm::brute})
    for (const Shape& shape : {Shape{65, 130}, Shape{17, 18, 40}}) {
      if (algorithm == Algorithm::proximate && shape.rank() == 3) continue;
      Random random(9);
      const Array input = mask_array(scatter(shape, .03, random), shape);
      published::DistanceOptions options;
      options.algorithm = algorithm;
      options.access = Access::hv_hv;
      const Found on_cpu = find(input, options, Backend::cpu), on_device = find(input, options, kBackend);
      EXPECT_TRUE(equal(on_cpu.distance, on_device.distance)) << static_cast<int>(algorithm);
      EXPECT_TRUE(equal(on_cpu.nearest, on_device.nearest)) << static_cast<int>(algorithm);
    }
}

TEST_F(Published, ErrorsAreMeasured) {
  Array input = mask_array(std::vector<bool>(40 * 50, false), {40, 50});
  published::DistanceOptions options;
  options.algorithm = Algorithm::skw;
  options.measure_error = true;
  const Found none = find(input, options, kBackend);
  EXPECT_EQ(none.report.error->wrong, 0);
  store(input, 17, 0);
  const Found one = find(input, options, kBackend);
  EXPECT_EQ(one.report.error->wrong, 0);
  EXPECT_FALSE(one.report.exact);
}

TEST_F(Published, Empty) {
  const Array input(DType::uint8, {0, 5});
  const Found found = find(input, {}, kBackend);
  EXPECT_TRUE(found.report.phases.empty());
}

TEST_F(Published, WhatIsRefused) {
  const Array image = mask_array(std::vector<bool>(12, true), {3, 4}),
              volume = mask_array(std::vector<bool>(24, true), {2, 3, 4}), line = mask_array({true, false}, {2});
  const auto refused = [](const Array& input, published::DistanceOptions options, const std::string& says) {
    options.execution.backend = kBackend;
    Array distance(DType::float32, input.shape());
    poison(distance);
    EXPECT_EQ(refusal([&] { published::distance_transform(input.view(), options, {distance.view(), {}}); }), says);
    EXPECT_TRUE(is_poisoned(distance));
  };
  refused(line, {}, "the published algorithms take images and volumes, with 2 or 3 axes, not 1");
  refused(volume, {.algorithm = Algorithm::proximate},
          "proximate points are of images with 2 axes; take pba for volumes");
  refused(image, {.m1 = 33}, "m1 is 33; it must be from 1 to 32");
  refused(image, {.m3 = 0}, "m3 is 0; it must be from 1 to 32");
  refused(image, {.slice = 0}, "a single slice is there of pba in volumes with 3 axes");
  refused(image, {.more_rounds = 3}, "the number of more rounds is 3; it must be from 0 to 2");
  refused(image, {.sites = {grid::Sites::Rule::labels}},
          "the published algorithms know sites, not labels; use grid's distance transform for labels");
  published::DistanceOptions beyond;
  beyond.slice = 2;
  beyond.execution.backend = kBackend;
  Array slice(DType::float32, {3, 4});
  EXPECT_EQ(refusal([&] {
              published::distance_transform(volume.view(), beyond, {slice.view(), {}});
            }),
            "slice 2 is not one of the 2 that the volume has");
  const AnyConstView large(nullptr, DType::uint8, {40000, 4});
  EXPECT_EQ(refusal([&] {
              published::scratch_bytes(large, {}, {AnyView(nullptr, DType::float32, {40000, 4}), {}});
            }),
            "the shape 40000 × 4 is beyond what the published algorithms hold: 32768 × 32768; use grid's distance "
            "transform");
}

}  // namespace
}  // namespace fathom::test
