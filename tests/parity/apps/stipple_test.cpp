// Stippling: the same bytes for a seed on any number of threads, dots where there is ink, and ink in its place.
#include "fathom/apps/stipple.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "cases.h"
#include "fathom/core/error.h"

namespace fathom::test {
namespace {

/// Dark on the left, light on the right, white in a frame.
Array ramp(DType dtype, const Shape& shape, double most) {
  Array image(dtype, shape);
  for (std::int64_t y = 0; y < shape[0]; ++y)
    for (std::int64_t x = 0; x < shape[1]; ++x) {
      const bool frame = y < 3 || x < 3 || y + 3 >= shape[0] || x + 3 >= shape[1];
      store(image, y * shape[1] + x,
            frame ? most : std::floor(most * static_cast<double>(x) / static_cast<double>(shape[1])));
    }
  return image;
}

apps::StippleOptions some_dots(std::int64_t dots) {
  apps::StippleOptions options;
  options.dots = dots;
  options.seed = 7;
  options.iterations = 30;
  return options;
}

bool same(const Array& a, const Array& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

TEST(Stipple, IsTheSameOnAnyNumberOfThreads) {
  const Array image = ramp(DType::uint8, {60, 90}, 255);
  auto options = some_dots(400);
  options.execution.threads = 1;
  const auto one = apps::stipple(image.view(), options);
  options.execution.threads = 4;
  const auto four = apps::stipple(image.view(), options);
  EXPECT_TRUE(same(one.positions, four.positions));
  EXPECT_TRUE(same(one.radii, four.radii));
  options.seed = 8;
  EXPECT_FALSE(same(one.positions, apps::stipple(image.view(), options).positions));
}

TEST(Stipple, TheDotsHaveTheInkOfThePicture) {
  for (DType dtype : {DType::uint8, DType::uint16}) {
    const double most = dtype == DType::uint8 ? 255 : 65535;
    const Array image = ramp(dtype, {60, 90}, most);
    for (double gamma : {1.0, 2.0}) {
      auto options = some_dots(300);
      options.gamma = gamma;
      const auto dots = apps::stipple(image.view(), options);
      double ink = 0, drawn = 0;
      for (std::int64_t k = 0; k < image.size(); ++k) {
        const double value =
            dtype == DType::uint8 ? image.as<std::uint8_t>().data()[k] : image.as<std::uint16_t>().data()[k];
        ink += std::pow(1 - value / most, gamma);
      }
      std::int64_t left = 0;
      for (std::int64_t k = 0; k < 300; ++k) {
        const double radius = dots.radii.as<double>().data()[k];
        const double y = dots.positions.as<double>().data()[2 * k], x = dots.positions.as<double>().data()[2 * k + 1];
        drawn += std::numbers::pi * radius * radius;
        left += x < 45;
        EXPECT_TRUE(y > 2 && y < 57 && x > 2 && x < 87) << "a dot in the white frame, at " << y << ", " << x;
      }
      EXPECT_NEAR(drawn / ink, 1, 1e-3);
      EXPECT_GT(left, 190);
    }
  }
}

/// From a dot to the next it is not far: a pen goes short ways.
TEST(Stipple, DotsFollowOneAnother) {
  const Array image = ramp(DType::uint8, {100, 100}, 255);
  const auto dots = apps::stipple(image.view(), some_dots(1000));
  double way = 0;
  for (std::int64_t k = 1; k < 1000; ++k) {
    const double* at = dots.positions.as<double>().data() + 2 * k;
    way += std::hypot(at[0] - at[-2], at[1] - at[-1]);
  }
  EXPECT_LT(way / 999, 6);  // in random order 50
}

TEST(Stipple, InvertedInkIsThatOfTheNegative) {
  Array image = ramp(DType::uint8, {30, 40}, 255);
  auto options = some_dots(50);
  const auto dots = apps::stipple(image.view(), options);
  for (std::int64_t k = 0; k < image.size(); ++k) store(image, k, 255.0 - image.as<std::uint8_t>().data()[k]);
  options.invert = true;
  EXPECT_TRUE(same(dots.positions, apps::stipple(image.view(), options).positions));
}

/// As many dots as there are elements with ink: each has one, wherever they were drawn.
TEST(Stipple, FillsAllPixelsThatHaveInk) {
  Array image(DType::boolean, {8, 8});
  for (std::int64_t k = 0; k < 64; ++k) store(image, k, k % 7 != 0);
  auto options = some_dots(10);
  options.supersample = 1;
  options.iterations = 1000;
  const auto dots = apps::stipple(image.view(), options);
  std::vector<std::int64_t> pixels;
  for (std::int64_t k = 0; k < 10; ++k) {
    const double* at = dots.positions.as<double>().data() + 2 * k;
    pixels.push_back(std::llround(at[0]) * 8 + std::llround(at[1]));
    EXPECT_NEAR(dots.radii.as<double>().data()[k], std::sqrt(1 / std::numbers::pi), 1e-12);
  }
  std::sort(pixels.begin(), pixels.end());
  for (std::int64_t k = 0; k < 10; ++k) EXPECT_EQ(pixels[static_cast<std::size_t>(k)], 7 * k);
  options.dots = 11;
  EXPECT_THROW(apps::stipple(image.view(), options), InvalidArgument);
}

TEST(Stipple, RefusesWhatHasNoMeaning) {
  Array image = ramp(DType::float32, {9, 9}, 1);
  const auto refuses = [&](const char* why, const AnyConstView& given, apps::StippleOptions options) {
    try {
      apps::stipple(given, options);
      ADD_FAILURE() << why;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  auto options = some_dots(0);
  refuses("the number of dots is 0", image.view(), options);
  options = some_dots(5);
  options.gamma = 0;
  refuses("gamma is 0", image.view(), options);
  options = some_dots(5);
  options.execution.scratch_limit = 100;
  refuses("the scratch limit of 100 bytes", image.view(), options);
  options = some_dots(5);
  refuses("1 axes", {image.data(), DType::float32, {81}}, options);
  refuses("the image is int32", {image.data(), DType::int32, {9, 9}}, options);
  store(image, 40, std::nan(""));
  refuses("a tone is nan", image.view(), options);
  for (std::int64_t k = 0; k < 81; ++k) store(image, k, 1);
  refuses("no pixel has as much as 1/65535 of ink: the image is white all over", image.view(), options);
  store(image, 7, .9999999);
  refuses("or nearly", image.view(), options);
  options.invert = true;
  options.gamma = 1e9;
  refuses("or gamma is too large", {image.data() + 28, DType::float32, {1, 1}}, options);
  refuses("the image has no pixels", {image.data(), DType::float32, {0, 9}}, options);
}

TEST(Stipple, StopsWhenAsked) {
  const Array image = ramp(DType::uint8, {60, 90}, 255);
  auto options = some_dots(100);
  std::stop_source source;
  options.execution.stop = source.get_token();
  double last = 0;
  options.execution.progress = [&](double share) {
    EXPECT_GE(share, last);
    last = share;
    if (share > 0.2) source.request_stop();
  };
  EXPECT_THROW(apps::stipple(image.view(), options), Cancelled);
  EXPECT_LT(last, 1);
}

}  // namespace
}  // namespace fathom::test
