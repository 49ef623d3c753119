// Colours for numbers: equal steps of the number look like equal steps of colour.
#pragma once

#include <array>

namespace fathom::cli {

/// sRGB, each in [0, 1].
struct Colour {
  double red = 0;
  double green = 0;
  double blue = 0;
};

Colour mix(const Colour& a, const Colour& b, double share_of_b);

/// Perceived lightness in [0, 1] (OKLab's L).
double lightness(const Colour& colour);

/// 256 colours, interpolated in OKLab (Ottosson 2020) between a few points of even steps in lightness.
class ColourMap {
 public:
  /// Dark to light: for distances from 0.
  static const ColourMap& sequential();
  /// Red over near-white to blue: for signed distances, 0 in the middle, the inside warm.
  static const ColourMap& diverging();

  /// Colour at t in [0, 1]; outside: the ends.
  Colour at(double t) const;

 private:
  struct Point {
    double lightness;
    double chroma;
    double hue;  // degrees
  };
  template <std::size_t N>
  explicit ColourMap(const std::array<Point, N>& points);

  static constexpr std::size_t kSize = 256;
  std::array<Colour, kSize> table_;
};

}  // namespace fathom::cli
