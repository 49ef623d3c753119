// The published kernels of tiles against the nodes of streams, and where these define something else against loops here:
// on the CPU, on a device, and on one that is emulated.
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cases.h"
#include "fathom/core/device.h"
#include "fathom/published/tiles.h"
#include "fathom/stream/evaluator.h"
#include "fathom/stream/nodes.h"
#include "run.h"

namespace fathom::test {
namespace {

using published::LatticeVariant;
using published::NearVariant;
using published::RepeatVariant;
using Step = std::array<std::int64_t, 2>;

constexpr RepeatVariant kRepeats[] = {RepeatVariant::basic,         RepeatVariant::indexed, RepeatVariant::pointer,
                                      RepeatVariant::repeater_loop, RepeatVariant::modulo,  RepeatVariant::shared,
                                      RepeatVariant::repeater_grid};
constexpr NearVariant kNears[] = {NearVariant::white, NearVariant::distance_check, NearVariant::neighbour_check,
                                  NearVariant::improved, NearVariant::black};

class PublishedTiles : public testing::Test {
 protected:
  void SetUp() override {
    if (kBackend == Backend::cuda && device_count() == 0) GTEST_SKIP() << "there is no CUDA device";
  }
  static constexpr Backend kBackend = Backend::FATHOM_TEST_BACKEND;
  static Execution execution() { return {.backend = kBackend}; }
};

/// A raster of a stream.
Array pixels_of(const stream::NodeRef& node) {
  Array pixels(node->dtype(), {node->height(), node->width()});
  stream::EvaluatorOptions options;
  options.execution.backend = Backend::cpu;
  stream::Evaluator(node, options).compute(node->whole(), pixels.view());
  return pixels;
}

stream::NodeRef noise(const Shape& shape, std::uint64_t seed) {
  return stream::noise(seed, {shape[0], shape[1], DType::float32});
}

/// Quarters from 0, which about half of all pixels are, to 2: sums of some of them are exact.
stream::NodeRef quarters(const Shape& shape, std::uint64_t seed) {
  return stream::math("max(0, floor(17 * a) - 8) / 4", {{noise(shape, seed)}}, DType::float32);
}

Array poisoned(const Shape& shape) {
  Array array(DType::float32, shape);
  poison(array);
  return array;
}

Shape any_shape(Random& random, std::int64_t most) { return {1 + below(random, most), 1 + below(random, most)}; }

TEST_F(PublishedTiles, RepeatsAreThoseOfStreams) {
  for (int i = 0; i < scaled(60); ++i) {
    Random random(seed_to_replay().value_or(static_cast<std::uint64_t>(i) + 91000));
    const Shape small = any_shape(random, 45), large = any_shape(random, 150);
    const stream::NodeRef pattern = noise(small, 7 + static_cast<std::uint64_t>(i));
    const Array repeater = pixels_of(pattern), expected = pixels_of(stream::repeat(pattern, large[0], large[1]));
    for (const RepeatVariant variant : kRepeats) {
      SCOPED_TRACE(to_string(small) + " in " + to_string(large) + ", variant " +
                   std::to_string(static_cast<int>(variant)));
      const bool of_host = variant < RepeatVariant::modulo;
      Array target = poisoned(large);
      const auto report =
          published::repeat(repeater.view(), variant, target.view(), {.backend = of_host ? Backend::cpu : kBackend});
      ASSERT_TRUE(equal(expected, target));
      EXPECT_EQ(report.backend, of_host ? Backend::cpu : kBackend);
      EXPECT_EQ(report.phases.size(), report.backend == Backend::cpu ? 1u : 3u);
    }
  }
}

/// The sizes of the slides' table, of which the largest needs more shared memory than blocks have unasked.
TEST_F(PublishedTiles, SizesOfTheSlides) {
  for (const std::int64_t size : {128, 64, 32, 16}) {
    const stream::NodeRef pattern = noise({size, size}, 3);
    const Array repeater = pixels_of(pattern), expected = pixels_of(stream::repeat(pattern, 200, 300));
    for (const RepeatVariant variant : {RepeatVariant::modulo, RepeatVariant::shared, RepeatVariant::repeater_grid}) {
      Array target = poisoned({200, 300});
      published::repeat(repeater.view(), variant, target.view(), execution());
      EXPECT_TRUE(equal(expected, target)) << size << ", variant " << static_cast<int>(variant);
    }
  }
}

/// Steps of any directions, between which there is some area.
std::pair<Step, Step> any_steps(Random& random, std::int64_t most) {
  for (;;) {
    const auto any = [&] { return below(random, 2 * most + 1) - most; };
    const Step u{any(), any()}, v{any(), any()};
    if (std::abs(u[0] * v[1] - u[1] * v[0]) >= most) return {u, v};
  }
}

std::string describe(const Shape& small, const Shape& large, const Step& u, const Step& v) {
  return to_string(small) + " in " + to_string(large) + " at " + std::to_string(u[0]) + "," + std::to_string(u[1]) +
         " and " + std::to_string(v[0]) + "," + std::to_string(v[1]);
}

stream::NodeRef lattice(const stream::NodeRef& pattern, const Shape& large, const Step& u, const Step& v,
                        stream::Blend blend) {
  stream::LatticeOptions options;
  options.u = v;  // there the second step is the outer one
  options.v = u;
  options.height = large[0];
  options.width = large[1];
  options.blending.blend = blend;
  return stream::lattice(pattern, options);
}

Array stitched(const Array& repeater, const Shape& large, const Step& u, const Step& v, LatticeVariant variant,
               Backend backend) {
  Array target = poisoned(large);
  published::lattice(repeater.view(), u, v, variant, target.view(), {.backend = backend});
  return target;
}

/// Of exact sums, as there are of quarters.
TEST_F(PublishedTiles, BlendedLatticesAreThoseOfStreams) {
  for (int i = 0; i < scaled(60); ++i) {
    Random random(seed_to_replay().value_or(static_cast<std::uint64_t>(i) + 92000));
    const Shape small = any_shape(random, 30), large = any_shape(random, 70);
    const auto [u, v] = any_steps(random, 12);
    SCOPED_TRACE(describe(small, large, u, v));
    const stream::NodeRef pattern = quarters(small, 11 + static_cast<std::uint64_t>(i));
    ASSERT_TRUE(equal(pixels_of(lattice(pattern, large, u, v, stream::Blend::mean)),
                      stitched(pixels_of(pattern), large, u, v, LatticeVariant::target_loop, kBackend)));
  }
}

/// Of sums that are rounded: in float, as the slides have it, copies in their order.
TEST_F(PublishedTiles, BlendingAddsInFloat) {
  const Shape small{19, 23}, large{60, 70};
  const Step u{3, 8}, v{-7, 2};
  const Array repeater = pixels_of(noise(small, 5));
  const float* const from = repeater.as<float>().data();
  Array expected(DType::float32, large);
  for (std::int64_t y = 0; y < large[0]; ++y)
    for (std::int64_t x = 0; x < large[1]; ++x) {
      float sum = 0;
      int count = 0;
      for (std::int64_t i = -40; i < 40; ++i)
        for (std::int64_t j = -40; j < 40; ++j) {
          const std::int64_t row = y - i * u[0] - j * v[0], column = x - i * u[1] - j * v[1];
          if (row < 0 || row >= small[0] || column < 0 || column >= small[1]) continue;
          sum += from[row * small[1] + column];
          ++count;
        }
      expected.as<float>().data()[y * large[1] + x] = sum / static_cast<float>(count);
    }
  EXPECT_TRUE(equal(expected, stitched(repeater, large, u, v, LatticeVariant::target_loop, kBackend)));
}

TEST_F(PublishedTiles, CopiesThatDoNotOverlapAreThoseOfStreams) {
  for (int i = 0; i < scaled(60); ++i) {
    Random random(seed_to_replay().value_or(static_cast<std::uint64_t>(i) + 93000));
    const Shape small = any_shape(random, 20), large = any_shape(random, 120);
    // A row of copies side by side or farther apart, the next one below it, shifted.
    const Step u{0, small[1] + below(random, 9)}, v{small[0] + below(random, 9), below(random, 61) - 30};
    SCOPED_TRACE(describe(small, large, u, v));
    const stream::NodeRef pattern = quarters(small, 13 + static_cast<std::uint64_t>(i));
    const Array expected = pixels_of(lattice(pattern, large, u, v, stream::Blend::last)), repeater = pixels_of(pattern);
    for (const LatticeVariant variant :
         {LatticeVariant::target_loop, LatticeVariant::uv_loop, LatticeVariant::uv_exchange})
      ASSERT_TRUE(equal(expected, stitched(repeater, large, u, v, variant, kBackend))) << static_cast<int>(variant);
  }
}

/// On the CPU the last copy wins; on a device any, so that a pixel is one of what covers it.
TEST_F(PublishedTiles, CopiesThatOverlap) {
  for (int i = 0; i < scaled(30); ++i) {
    Random random(seed_to_replay().value_or(static_cast<std::uint64_t>(i) + 94000));
    const Shape small = any_shape(random, 25), large = any_shape(random, 60);
    const auto [u, v] = any_steps(random, 12);
    SCOPED_TRACE(describe(small, large, u, v));
    const stream::NodeRef pattern = quarters(small, 17 + static_cast<std::uint64_t>(i));
    const Array repeater = pixels_of(pattern), last = pixels_of(lattice(pattern, large, u, v, stream::Blend::last)),
                least = pixels_of(lattice(pattern, large, u, v, stream::Blend::min)),
                most = pixels_of(lattice(pattern, large, u, v, stream::Blend::max));
    for (const LatticeVariant variant : {LatticeVariant::uv_loop, LatticeVariant::uv_exchange}) {
      ASSERT_TRUE(equal(last, stitched(repeater, large, u, v, variant, Backend::cpu)));
      const Array found = stitched(repeater, large, u, v, variant, kBackend);
      for (std::int64_t at = 0; at < found.size(); ++at) {
        ASSERT_GE(value_at(found, at), value_at(least, at)) << at;
        ASSERT_LE(value_at(found, at), value_at(most, at)) << at;
      }
    }
  }
}

/// White pixels with a given probability, of some value.
Array whites(const std::vector<bool>& sites, const Shape& shape) {
  return mask_array(sites, shape, DType::float32, false);
}

TEST_F(PublishedTiles, DistancesAreThoseOfTheGridWithinReach) {
  for (int i = 0; i < scaled(100); ++i) {
    Random random(seed_to_replay().value_or(static_cast<std::uint64_t>(i) + 95000));
    const Shape shape = any_shape(random, 70);
    const int most = static_cast<int>(1 + below(random, 18));
    const auto structure = static_cast<Structure>(below(random, kStructures));
    const Array source = whites(make_sites(structure, shape, random), shape);
    SCOPED_TRACE(to_string(shape) + ", " + name_of(structure) + ", within " + std::to_string(most));
    grid::DistanceOptions options;
    options.sites.rule = grid::Sites::Rule::nonzero;
    options.max_distance = most;
    Array expected(DType::float32, shape);
    grid::DistanceOutputs outputs;
    outputs.distance = expected.view();
    grid::distance_transform(source.view(), options, outputs);
    for (const NearVariant variant : kNears) {
      Array found = poisoned(shape);
      const auto report = published::near(source.view(), most, variant, found.view(), execution());
      ASSERT_TRUE(equal(expected, found)) << static_cast<int>(variant);
      EXPECT_EQ(report.phases.size(), kBackend == Backend::cpu ? 2u : 5u);
    }
  }
}

TEST_F(PublishedTiles, DistancesAreThoseOfStreams) {
  const stream::NodeRef mask = stream::threshold(noise({90, 110}, 23), .97);
  const Array source = pixels_of(stream::math("a", {{mask}}, DType::float32)),
              expected = pixels_of(stream::distance(mask, {.max = 15}));
  Array found = poisoned({90, 110});
  published::near(source.view(), 15, NearVariant::improved, found.view(), execution());
  EXPECT_TRUE(equal(expected, found));
}

/// Rows of a larger array, of which what lies beside them stays as it is.
TEST_F(PublishedTiles, PaddedRows) {
  const stream::NodeRef pattern = noise({5, 7}, 29);
  const Array repeater = pixels_of(pattern), expected = pixels_of(stream::repeat(pattern, 20, 30));
  for (const RepeatVariant variant : kRepeats) {
    Array around = poisoned({20, 40});
    const Array before = poisoned({20, 40});
    const HostView<float> part(around.as<float>().data() + 4, {20, 30}, {40, 1});
    published::repeat(repeater.view(), variant, part,
                      {.backend = variant < RepeatVariant::modulo ? Backend::cpu : kBackend});
    for (std::int64_t y = 0; y < 20; ++y) {
      EXPECT_EQ(std::memcmp(part.data() + y * 40, expected.as<float>().data() + y * 30, 30 * sizeof(float)), 0);
      EXPECT_EQ(std::memcmp(part.data() + y * 40 + 30, before.data(), 6 * sizeof(float)), 0);
    }
  }
}

TEST_F(PublishedTiles, EmptyTargets) {
  const Array repeater = pixels_of(noise({2, 3}, 1));
  Array none(DType::float32, {0, 5});
  EXPECT_TRUE(published::repeat(repeater.view(), RepeatVariant::modulo, none.view(), execution()).phases.empty());
  EXPECT_TRUE(published::near(none.view(), 3, NearVariant::black, none.view(), execution()).phases.empty());
}

TEST_F(PublishedTiles, WhatIsRefused) {
  const Array repeater = pixels_of(noise({4, 5}, 1));
  Array target = poisoned({6, 7}), other = poisoned({7, 6}), line = poisoned({6});
  const auto at = [&](const Step& u, const Step& v) {
    return refusal(
        [&] { published::lattice(repeater.view(), u, v, LatticeVariant::uv_loop, target.view(), execution()); });
  };
  EXPECT_EQ(at({2, 4}, {-1, -2}), "u and v are parallel; give two directions");
  EXPECT_EQ(at({0, 1 << 21}, {1, 0}), "a step of u or v is 2097152; it must be from -1048576 to 1048576");
  EXPECT_EQ(at({1048576, 1048575}, {1048575, 1048574}),
            "u and v are too nearly parallel: more than 1048576 copies would be tried along one of them; give the same "
            "lattice by shorter steps");
  EXPECT_EQ(refusal([&] { published::near(target.view(), 0, NearVariant::white, target.view(), execution()); }),
            "the largest distance is 0; it must be from 1 to 4096");
  EXPECT_EQ(refusal([&] { published::near(target.view(), 1, NearVariant::white, other.view(), execution()); }),
            "the distance has the shape 7 × 6; it must have 6 × 7");
  EXPECT_EQ(refusal([&] {
              published::repeat(Array(DType::uint8, {2, 2}).view(), RepeatVariant::modulo, target.view(), execution());
            }),
            "the repeater is uint8; it must be float32");
  EXPECT_EQ(refusal([&] { published::repeat(line.view(), RepeatVariant::modulo, target.view(), execution()); }),
            "the repeater has 1 axes; it must have 2");
  const Array nothing(DType::float32, {0, 4});
  EXPECT_EQ(refusal([&] { published::repeat(nothing.view(), RepeatVariant::modulo, target.view(), execution()); }),
            "the repeater has no pixels; it must have one or more");
  EXPECT_EQ(refusal([&] {
              published::repeat(repeater.view(), RepeatVariant::basic, target.view(), {.backend = Backend::cuda});
            }),
            "that variant is a loop of the host; on a device there are modulo, shared and repeater grid");
  Execution little = execution();
  little.scratch_limit = 10;
  Array distance = poisoned({6, 7});
  EXPECT_EQ(refusal([&] { published::near(target.view(), 1, NearVariant::white, distance.view(), little); }),
            "the scratch limit of 10 bytes is too small; what works here is " +
                std::string(kBackend == Backend::cpu ? "256" : "768") + " bytes");
  EXPECT_TRUE(is_poisoned(target));
}

}  // namespace
}  // namespace fathom::test
