// Textures of signed distance: exact for images without partial coverage, and close to straight and round outlines that
// were drawn with coverage.
#include "fathom/apps/sdf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/core/error.h"

namespace fathom::test {
namespace {

/// Signed distances in texels, negative inside, that a texture of floats says.
std::vector<double> distances(const Array& texture, double range) {
  std::vector<double> result;
  for (std::int64_t k = 0; k < texture.size(); ++k) result.push_back((0.5 - texture.as<double>().data()[k]) * range);
  return result;
}

/// From the middle of a pixel to the nearest pixel of the other side, which is a square; beyond the image all is empty.
double to_other_side(const std::vector<bool>& covered, std::int64_t height, std::int64_t width, std::int64_t y,
                     std::int64_t x) {
  const auto at = [&](std::int64_t v, std::int64_t u) {
    return v >= 0 && u >= 0 && v < height && u < width && covered[static_cast<std::size_t>(v * width + u)];
  };
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t v = -1; v <= height; ++v)
    for (std::int64_t u = -1; u <= width; ++u) {
      if (at(v, u) == at(y, x)) continue;
      const double dy = std::max(std::abs(static_cast<double>(v - y)) - 0.5, 0.0);
      const double dx = std::max(std::abs(static_cast<double>(u - x)) - 0.5, 0.0);
      least = std::min(least, std::sqrt(dy * dy + dx * dx));
    }
  return at(y, x) ? -least : least;
}

TEST(Sdf, IsExactWithoutPartialCoverage) {
  for (int k = 0; k < scaled(1500); ++k) {
    Random random(static_cast<std::uint64_t>(k));
    SCOPED_TRACE(k);
    const Shape shape{1 + below(random, 14), 1 + below(random, 14)};
    const auto covered = make_sites(static_cast<Structure>(below(random, kStructures)), shape, random);
    const DType dtype = pick(random, std::vector{DType::boolean, DType::uint8, DType::uint16, DType::float32});
    const double most = dtype == DType::uint8 ? 255 : dtype == DType::uint16 ? 65535 : 1;
    Array image(dtype, shape), texture(DType::float64, shape);
    for (std::int64_t i = 0; i < image.size(); ++i) store(image, i, covered[static_cast<std::size_t>(i)] ? most : 0);
    apps::SdfOptions options;
    options.range = 4;
    options.execution.threads = chance(random, 0.5) ? 1 : 3;
    apps::sdf(image.view(), options, texture.view());
    const std::vector<double> found = distances(texture, options.range);
    for (std::int64_t i = 0; i < image.size(); ++i) {
      const double expected = to_other_side(covered, shape[0], shape[1], i / shape[1], i % shape[1]);
      if (std::isinf(expected)) EXPECT_EQ(found[static_cast<std::size_t>(i)], expected);
      else EXPECT_NEAR(found[static_cast<std::size_t>(i)], expected, 1e-9) << i;
    }
  }
}

/// What each pixel is covered of, by 32 × 32 samples.
Array drawn(std::int64_t height, std::int64_t width, const std::function<double(double, double)>& distance) {
  constexpr int kSamples = 32;
  Array image(DType::float32, {height, width});
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      int inside = 0;
      for (int v = 0; v < kSamples; ++v)
        for (int u = 0; u < kSamples; ++u)
          inside += distance(static_cast<double>(y) + (v + 0.5) / kSamples,
                             static_cast<double>(x) + (u + 0.5) / kSamples) < 0;
      store(image, y * width + x, static_cast<double>(inside) / (kSamples * kSamples));
    }
  return image;
}

/// The largest error in pixels of the field whose outline is not that of the picture.
double worst(std::int64_t size, const std::function<double(double, double)>& distance) {
  const Array image = drawn(size, size, distance);
  Array texture(DType::float64, {size, size});
  apps::SdfOptions options;
  apps::sdf(image.view(), options, texture.view());
  const std::vector<double> found = distances(texture, options.range);
  double most = 0;
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x) {
      const double expected = distance(static_cast<double>(y) + 0.5, static_cast<double>(x) + 0.5);
      const double room = static_cast<double>(std::min({y, x, size - 1 - y, size - 1 - x}));
      if (std::abs(expected) < room - 2)
        most = std::max(most, std::abs(found[static_cast<std::size_t>(y * size + x)] - expected));
    }
  return most;
}

TEST(Sdf, FollowsStraightEdgesWithinWhatItSays) {
  Random random(1);
  double most = 0;
  for (int k = 0; k < scaled(40); ++k) {
    const double angle = static_cast<double>(below(random, 6283)) / 1000,
                 shift = static_cast<double>(below(random, 1000)) / 1000;
    most = std::max(most, worst(24, [&](double y, double x) {
                      return (y - 12 - shift) * std::sin(angle) + (x - 12) * std::cos(angle);
                    }));
  }
  EXPECT_LT(most, 0.05);
  EXPECT_GT(most, 0);
}

TEST(Sdf, FollowsDiscs) {
  for (double radius : {3.3, 5.0, 8.7}) {
    EXPECT_LT(worst(30, [&](double y, double x) { return std::hypot(y - 15.2, x - 14.7) - radius; }), 0.1) << radius;
    EXPECT_LT(worst(30, [&](double y, double x) { return radius - std::hypot(y - 15.2, x - 14.7); }), 0.1) << radius;
  }
}

/// A disc on a texture of other extents, with room around it.
/// Coverage without a gradient: lines and dots in the middle of pixels, and what they leave free.
TEST(Sdf, FollowsLinesAndDotsThinnerThanPixels) {
  const auto field = [](const std::vector<std::pair<std::int64_t, double>>& pixels, double ground) {
    Array image(DType::float64, {7, 7}), texture(DType::float64, {7, 7});
    for (std::int64_t k = 0; k < 49; ++k) store(image, k, ground);
    for (const auto& [pixel, share] : pixels) store(image, pixel, share);
    apps::sdf(image.view(), {}, texture.view());
    return distances(texture, apps::SdfOptions().range);
  };
  for (double share : {0.09, 0.36, 0.64}) {
    const double side = std::sqrt(share);
    const auto dot = field({{24, share}}, 0), hole = field({{24, 1 - share}}, 1);
    EXPECT_NEAR(dot[24], -side / 2, 1e-6);
    EXPECT_NEAR(dot[3], 3 - side / 2, 1e-6);
    EXPECT_NEAR(hole[24], side / 2, 1e-6);
    std::vector<std::pair<std::int64_t, double>> row, column, gap;
    for (std::int64_t k = 0; k < 7; ++k) {
      row.emplace_back(21 + k, share);
      column.emplace_back(7 * k + 3, share);
      gap.emplace_back(7 * k + 3, 1 - share);
    }
    EXPECT_NEAR(field(row, 0)[24], -share / 2, 1e-6);
    EXPECT_NEAR(field(row, 0)[10], 2 - share / 2, 1e-6);
    EXPECT_NEAR(field(column, 0)[22], 2 - share / 2, 1e-6);
    EXPECT_NEAR(field(gap, 1)[24], share / 2, 1e-6);
    EXPECT_NEAR(field(gap, 1)[23], share / 2 - 1, 1e-6);
  }
  // Evenly grey, with an outline all the same.
  for (double distance : field({}, 0.6)) EXPECT_LT(std::abs(distance), 4);
}

TEST(Sdf, FillsTexturesOfAnySize) {
  const Array image = drawn(40, 40, [](double y, double x) { return std::hypot(y - 20, x - 20) - 20; });
  for (const Shape& size : {Shape{16, 16}, Shape{20, 33}, Shape{101, 70}}) {
    Array texture(DType::float64, size);
    apps::SdfOptions options;
    options.pad = 2;
    const auto report = apps::sdf(image.view(), options, texture.view());
    const double side = static_cast<double>(std::min(size[0], size[1])) - 4;
    EXPECT_DOUBLE_EQ(report.scale, side / 40);
    const std::vector<double> found = distances(texture, options.range);
    for (std::int64_t k = 0; k < texture.size(); ++k) {
      const double y = static_cast<double>(k / size[1]) + 0.5 - static_cast<double>(size[0]) / 2;
      const double x = static_cast<double>(k % size[1]) + 0.5 - static_cast<double>(size[1]) / 2;
      EXPECT_NEAR(found[static_cast<std::size_t>(k)], std::hypot(y, x) - side / 2, 0.2 * std::max(1.0, report.scale));
    }
  }
}

TEST(Sdf, IntegersAreTheFloatsCutAndRounded) {
  const Array image = drawn(20, 20, [](double y, double x) { return std::hypot(y - 9, x - 11) - 6; });
  const apps::SdfOptions options;
  Array real(DType::float64, {25, 30}), narrow(DType::float32, {25, 30}), bytes(DType::uint8, {25, 30}),
      words(DType::uint16, {25, 40});
  apps::sdf(image.view(), options, real.view());
  apps::sdf(image.view(), options, narrow.view());
  apps::sdf(image.view(), options, bytes.view());
  apps::sdf(image.view(), options, {words.data(), DType::uint16, {25, 30}, {40, 1}});
  for (std::int64_t k = 0; k < real.size(); ++k) {
    const double value = real.as<double>().data()[k], cut = std::clamp(value, 0.0, 1.0);
    EXPECT_EQ(narrow.as<float>().data()[k], static_cast<float>(value));
    EXPECT_EQ(bytes.as<std::uint8_t>().data()[k], std::floor(cut * 255 + 0.5));
    EXPECT_EQ(words.as<std::uint16_t>().data()[k / 30 * 40 + k % 30], std::floor(cut * 65535 + 0.5));
  }
}

TEST(Sdf, InvertedIsTheFieldOfTheNegative) {
  Array image = drawn(12, 9, [](double y, double x) { return std::hypot(y - 5, x - 4) - 3; });
  Array dark(DType::float64, {12, 9}), light(DType::float64, {12, 9});
  apps::SdfOptions options;
  options.invert = true;
  apps::sdf(image.view(), options, dark.view());
  for (std::int64_t k = 0; k < image.size(); ++k) store(image, k, 1 - image.as<float>().data()[k]);
  apps::sdf(image.view(), {}, light.view());
  EXPECT_EQ(std::memcmp(dark.data(), light.data(), dark.bytes()), 0);
}

TEST(Sdf, IsTheSameOnAnyNumberOfThreads) {
  const Array image = drawn(60, 50, [](double y, double x) { return std::sin(y / 3) + std::cos(x / 4) + 0.2; });
  Array one(DType::float32, {90, 80}), four(DType::float32, {90, 80});
  apps::SdfOptions options;
  options.execution.threads = 1;
  apps::sdf(image.view(), options, one.view());
  options.execution.threads = 4;
  apps::sdf(image.view(), options, four.view());
  EXPECT_EQ(std::memcmp(one.data(), four.data(), one.bytes()), 0);
}

TEST(Sdf, RefusesWhatHasNoMeaning) {
  Array image(DType::float32, {4, 4}), texture(DType::uint8, {8, 8}), wrong(DType::int32, {8, 8});
  for (std::int64_t k = 0; k < 16; ++k) store(image, k, 0.5);
  const auto refuses = [&](const char* why, const AnyConstView& given, apps::SdfOptions options, const AnyView& out) {
    try {
      apps::sdf(given, options, out);
      ADD_FAILURE() << why;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  apps::SdfOptions options;
  refuses("the texture is int32", image.view(), options, wrong.view());
  refuses("the image is int32", wrong.view(), options, texture.view());
  refuses("1 axes", {image.data(), DType::float32, {16}}, options, texture.view());
  refuses("has no pixels", {image.data(), DType::float32, {0, 4}}, options, texture.view());
  options.range = 0;
  refuses("range is 0;", image.view(), options, texture.view());
  options = {};
  options.pad = 4;
  refuses("pad is 4 texels, which leaves nothing of a texture of 8 × 8", image.view(), options, texture.view());
  options = {};
  options.execution.scratch_limit = 9;
  refuses("the scratch limit of 9 bytes", image.view(), options, texture.view());
  const std::size_t here = apps::sdf_scratch_bytes({4, 4}, options);
  options.execution.backend = Backend::cuda;  // which has places and four sites of so many texels at a time
  EXPECT_GE(apps::sdf_scratch_bytes({4, 4}, options), here + ((1 << 20) - (1 << 16)) * 48);
  Array mask = mask_array({true, false, false, true}, {2, 2}, DType::uint8, false);
  refuses("of a mask of 0 and 1 give bool", mask.view(), {}, texture.view());
  store(image, 3, 1.5);
  refuses("a coverage is 1.5", image.view(), {}, texture.view());
}

}  // namespace
}  // namespace fathom::test
