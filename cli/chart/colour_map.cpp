#include "chart/colour_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace fathom::cli {

namespace {

struct Lab {
  double l = 0;
  double a = 0;
  double b = 0;
};

double gamma(double linear) {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
}

double linear(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

/// OKLab to linear sRGB; outside [0, 1] where the screen has no such colour.
Colour linear_rgb(const Lab& c) {
  const double l = std::pow(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
  const double m = std::pow(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
  const double s = std::pow(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool on_screen(const Colour& c) {
  constexpr double kSlack = 1e-4;
  return std::min({c.red, c.green, c.blue}) >= -kSlack && std::max({c.red, c.green, c.blue}) <= 1 + kSlack;
}

/// The colour itself, or the most saturated one of its lightness and hue that a screen shows.
Colour to_screen(Lab c) {
  while (!on_screen(linear_rgb(c)) && (std::abs(c.a) > 1e-3 || std::abs(c.b) > 1e-3)) {
    c.a *= 0.99;
    c.b *= 0.99;
  }
  const Colour rgb = linear_rgb(c);
  const auto encode = [](double x) { return gamma(std::clamp(x, 0.0, 1.0)); };
  return {encode(rgb.red), encode(rgb.green), encode(rgb.blue)};
}

/// Catmull-Rom through p[0..3], between p[1] and p[2].
double spline(const std::array<double, 4>& p, double t) {
  const double a = -p[0] + 3 * p[1] - 3 * p[2] + p[3];
  const double b = 2 * p[0] - 5 * p[1] + 4 * p[2] - p[3];
  return 0.5 * (2 * p[1] + t * ((p[2] - p[0]) + t * (b + t * a)));
}

}  // namespace

Colour mix(const Colour& a, const Colour& b, double share_of_b) {
  const double share_of_a = 1 - share_of_b;
  return {share_of_a * a.red + share_of_b * b.red, share_of_a * a.green + share_of_b * b.green,
          share_of_a * a.blue + share_of_b * b.blue};
}

double lightness(const Colour& c) {
  const double r = linear(c.red);
  const double g = linear(c.green);
  const double b = linear(c.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

template <std::size_t N>
ColourMap::ColourMap(const std::array<Point, N>& points) {
  std::array<Lab, N> lab;
  std::transform(points.begin(), points.end(), lab.begin(), [](const Point& p) {
    const double angle = p.hue * std::numbers::pi / 180;
    return Lab{p.lightness, p.chroma * std::cos(angle), p.chroma * std::sin(angle)};
  });
  for (std::size_t k = 0; k < kSize; ++k) {
    const double position = static_cast<double>(k) / (kSize - 1) * (N - 1);
    const std::size_t left = std::min(static_cast<std::size_t>(position), N - 2);
    const std::array<std::size_t, 4> near = {left == 0 ? 0 : left - 1, left, left + 1, std::min(left + 2, N - 1)};
    const auto along = [&](double Lab::* part) {
      return spline({lab[near[0]].*part, lab[near[1]].*part, lab[near[2]].*part, lab[near[3]].*part},
                    position - static_cast<double>(left));
    };
    table_[k] = to_screen({along(&Lab::l), along(&Lab::a), along(&Lab::b)});
  }
}

const ColourMap& ColourMap::sequential() {
  static const ColourMap map(std::array<Point, 6>{{{0.24, 0.085, 285},
                                                   {0.375, 0.125, 272},
                                                   {0.51, 0.115, 238},
                                                   {0.645, 0.115, 190},
                                                   {0.78, 0.145, 145},
                                                   {0.94, 0.165, 105}}});
  return map;
}

const ColourMap& ColourMap::diverging() {
  static const ColourMap map(std::array<Point, 7>{{{0.36, 0.125, 25},
                                                   {0.56, 0.15, 35},
                                                   {0.77, 0.105, 50},
                                                   {0.965, 0.004, 90},
                                                   {0.77, 0.08, 240},
                                                   {0.56, 0.125, 250},
                                                   {0.36, 0.13, 262}}});
  return map;
}

Colour ColourMap::at(double t) const {
  const double position = std::clamp(t, 0.0, 1.0) * (kSize - 1);
  const auto left = std::min(static_cast<std::size_t>(position), kSize - 2);
  return mix(table_[left], table_[left + 1], position - static_cast<double>(left));
}

}  // namespace fathom::cli
