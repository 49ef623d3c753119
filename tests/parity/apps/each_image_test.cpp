// Batches: what each image gives by itself, however the images lie, on any number of threads.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/apps/sdf.h"
#include "fathom/apps/stipple.h"
#include "fathom/apps/voronoi.h"
#include "fathom/core/error.h"

namespace fathom::test {
namespace {

constexpr std::int64_t kRows = 2, kColumns = 3, kHeight = 9, kWidth = 11, kPixels = kHeight * kWidth;

/// A batch of 2 × 3 images whose axes lie the other way round in memory.
struct Batch {
  Array memory;

  explicit Batch(DType dtype, Shape image = {kHeight, kWidth}) : memory(dtype, of(image)) {}
  AnyView view() {
    const Shape& s = memory.shape();
    const Strides strides = dense_strides(s);
    return {memory.data(), memory.dtype(), {kRows, kColumns, s[2], s[3]}, {strides[1], strides[0], strides[2], 1}};
  }
  AnyView image(std::int64_t item) {
    const Shape& s = memory.shape();
    const std::int64_t place = item % kColumns * kRows + item / kColumns;
    const auto bytes = static_cast<std::int64_t>(memory.bytes()) / (kRows * kColumns);
    return {memory.data() + place * bytes, memory.dtype(), {s[2], s[3]}};
  }
  void fill(Random& random, std::int64_t most) {
    for (std::int64_t k = 0; k < memory.size(); ++k) store(memory, k, static_cast<double>(below(random, most)));
  }

 private:
  static Shape of(Shape image) { return {kColumns, kRows, image[0], image[1]}; }
};

bool same(const Array& a, const Array& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

/// Calls body(execution) with fewer images than threads, with more, and with a scratch limit; progress never falls.
void with_each_execution(const std::function<void(const Execution&)>& body) {
  for (const int threads : {1, 4, 9})
    for (const bool limited : {false, true}) {
      SCOPED_TRACE(std::to_string(threads) + (limited ? " threads, limited" : " threads"));
      Execution execution;
      execution.threads = threads;
      if (limited) execution.scratch_limit = std::size_t{1} << 30;
      double last = 0;
      execution.progress = [&](double share) {
        EXPECT_GE(share, last);
        EXPECT_LE(share, 1);
        last = share;
      };
      body(execution);
      EXPECT_GT(last, 0);
    }
}

TEST(EachImage, OfVoronoi) {
  Random random(1);
  Batch sites(DType::uint8), weights(DType::float32), regions(DType::int32), expected(DType::int32);
  sites.fill(random, 1);
  for (std::int64_t k = 0; k < sites.memory.size(); ++k) store(sites.memory, k, chance(random, 0.08));
  for (std::int64_t k = 0; k < kPixels; ++k) store(sites.memory, k, 0);  // an image without sites
  weights.fill(random, 1000);
  apps::VoronoiOptions options;
  options.spacing = {2, 1};
  options.moments = options.boundaries = true;
  std::vector<apps::Voronoi> alone;
  for (std::int64_t item = 0; item < kRows * kColumns; ++item)
    alone.push_back(apps::voronoi(sites.image(item), weights.image(item), options, expected.image(item)));
  with_each_execution([&](const Execution& execution) {
    options.execution = execution;
    std::memset(regions.memory.data(), 7, regions.memory.bytes());
    const auto found = apps::voronoi_batch(sites.view(), weights.view(), 2, options, regions.view());
    ASSERT_EQ(found.size(), alone.size());
    for (std::size_t item = 0; item < alone.size(); ++item) {
      EXPECT_EQ(found[item].sites, alone[item].sites);
      EXPECT_EQ(found[item].masses, alone[item].masses);
      EXPECT_EQ(found[item].seconds, alone[item].seconds);
      EXPECT_EQ(found[item].weight_scale, alone[item].weight_scale);
      EXPECT_EQ(found[item].boundaries.size(), alone[item].boundaries.size());
    }
    EXPECT_TRUE(same(regions.memory, expected.memory));
  });
  options.execution = {};
  EXPECT_EQ(apps::voronoi_batch(sites.view(), {}, 2, options).size(), 6u);
  EXPECT_EQ(apps::voronoi_batch(sites.image(1), {}, 0, options)[0].sites, alone[1].sites);
}

TEST(EachImage, OfLloyd) {
  Random random(2);
  Batch weights(DType::uint16), start(DType::float64, {5, 2}), expected(DType::float64, {5, 2});
  weights.fill(random, 60000);
  start.fill(random, kHeight);
  std::memcpy(expected.memory.data(), start.memory.data(), start.memory.bytes());
  apps::LloydOptions options;
  options.energies = true;
  options.iterations = 7;
  options.seed = 3;
  std::vector<apps::LloydReport> alone;
  for (std::int64_t item = 0; item < kRows * kColumns; ++item)
    alone.push_back(apps::lloyd(weights.image(item), expected.image(item).as<double>(), options));
  with_each_execution([&](const Execution& execution) {
    options.execution = execution;
    Batch moved(DType::float64, {5, 2});
    std::memcpy(moved.memory.data(), start.memory.data(), start.memory.bytes());
    const auto found = apps::lloyd_batch(weights.view(), moved.view().as<double>(), 2, options);
    for (std::size_t item = 0; item < alone.size(); ++item) EXPECT_EQ(found[item].energies, alone[item].energies);
    EXPECT_TRUE(same(moved.memory, expected.memory));
  });
}

TEST(EachImage, OfStipples) {
  Random random(3);
  Batch images(DType::uint8);
  images.fill(random, 256);
  apps::StippleOptions options;
  options.dots = 12;
  options.seed = 4;
  std::vector<apps::Stipples> alone;
  for (std::int64_t item = 0; item < kRows * kColumns; ++item)
    alone.push_back(apps::stipple(images.image(item), options));
  with_each_execution([&](const Execution& execution) {
    options.execution = execution;
    const auto found = apps::stipple_batch(images.view(), 2, options);
    ASSERT_EQ(found.size(), alone.size());
    for (std::size_t item = 0; item < alone.size(); ++item) {
      EXPECT_TRUE(same(found[item].positions, alone[item].positions));
      EXPECT_TRUE(same(found[item].radii, alone[item].radii));
    }
  });
}

TEST(EachImage, OfTextures) {
  Random random(4);
  Batch images(DType::uint8), expected(DType::uint16, {20, 13});
  images.fill(random, 256);
  apps::SdfOptions options;
  std::int64_t segments = 0;
  for (std::int64_t item = 0; item < kRows * kColumns; ++item)
    segments += apps::sdf(images.image(item), options, expected.image(item)).segments;
  options.batch_axes = 2;
  with_each_execution([&](const Execution& execution) {
    options.execution = execution;
    Batch textures(DType::uint16, {20, 13});
    const auto report = apps::sdf(images.view(), options, textures.view());
    EXPECT_EQ(report.segments, segments);
    EXPECT_EQ(report.scratch_bytes, apps::sdf_scratch_bytes(images.view().shape(), options));
    EXPECT_TRUE(same(textures.memory, expected.memory));
  });
  const std::size_t of_nine = apps::sdf_scratch_bytes(images.view().shape(), options);  // limited
  options.execution.scratch_limit.reset();
  options.execution.threads = 3;
  EXPECT_EQ(apps::sdf_scratch_bytes(images.view().shape(), options), 3 * of_nine);
}

TEST(EachImage, OfNone) {
  Array none(DType::uint8, {0, 4, 4}), positions(DType::float64, {0, 3, 2}), textures(DType::uint8, {0, 8, 8});
  apps::SdfOptions options;
  options.batch_axes = 1;
  EXPECT_TRUE(apps::voronoi_batch(none.view(), {}, 1, {}).empty());
  EXPECT_TRUE(apps::lloyd_batch(none.view(), positions.view().as<double>(), 1, {}).empty());
  EXPECT_TRUE(apps::stipple_batch(none.view(), 1, {}).empty());
  EXPECT_EQ(apps::sdf(none.view(), options, textures.view()).segments, 0);
}

TEST(EachImage, RefusesWhatDoesNotFit) {
  Batch images(DType::uint8), sites(DType::float64, {5, 2}), small(DType::int32, {3, 3});
  const auto refuses = [&](const char* why, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << why;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  refuses("4 batch axes of an array with 4 axes", [&] { apps::voronoi_batch(images.view(), {}, 4, {}); });
  refuses("-1 batch axes", [&] { apps::stipple_batch(images.view(), -1, {}); });
  refuses("'regions' has the shape", [&] { apps::voronoi_batch(images.view(), {}, 2, {}, small.view()); });
  refuses("the weights have the shape", [&] { apps::voronoi_batch(images.view(), small.view(), 2, {}); });
  refuses("they must have the same 1 batch axes, then n",
          [&] { apps::lloyd_batch(images.view(), sites.view().as<double>(), 1, {}); });
  apps::SdfOptions options;
  options.batch_axes = 2;
  refuses("it must have the same 2 batch axes, then height and width",
          [&] { apps::sdf(images.view(), options, sites.image(0)); });
  Random random(5);
  images.fill(random, 1);
  store(images.memory, kPixels, 255);  // one image has ink, the others none
  apps::StippleOptions dots;
  dots.dots = 1;
  dots.invert = true;
  refuses("no pixel has as much as", [&] { apps::stipple_batch(images.view(), 2, dots); });
  std::stop_source source;
  source.request_stop();
  dots.execution.stop = source.get_token();
  dots.execution.threads = 2;
  EXPECT_THROW(apps::stipple_batch(images.view(), 2, dots), Cancelled);
}

}  // namespace
}  // namespace fathom::test
