#include "reproduce/hare.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace fathom::cli {

namespace {

struct Ellipsoid {
  double centre[3], radius[3];  ///< in units of the first axis
};
constexpr Ellipsoid kBody[] = {{{0.32, 0.35, 0.44}, {0.28, 0.24, 0.33}},  // trunk
                               {{0.60, 0.35, 0.72}, {0.17, 0.15, 0.18}},  // head
                               {{0.81, 0.28, 0.64}, {0.17, 0.05, 0.08}},  // ears
                               {{0.81, 0.42, 0.64}, {0.17, 0.05, 0.08}},
                               {{0.22, 0.35, 0.11}, {0.08, 0.08, 0.08}}};  // tail
constexpr double kWall = 0.02;

/// Below 0 inside; near the surface about the distance to it.
double level(const Ellipsoid& one, const double (&place)[3]) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += std::pow((place[k] - one.centre[k]) / one.radius[k], 2);
  return (std::sqrt(sum) - 1) * *std::min_element(one.radius, one.radius + 3);
}

}  // namespace

Array make_hare(double part) {
  const Shape shape{std::lround(512 * part), std::lround(360 * part), std::lround(512 * part)};
  Array volume(DType::uint8, shape);
  std::uint8_t* to = volume.as<std::uint8_t>().data();
  const auto unit = static_cast<double>(shape[0]);
  for (std::int64_t i = 0; i < shape[0]; ++i)
    for (std::int64_t j = 0; j < shape[1]; ++j)
      for (std::int64_t k = 0; k < shape[2]; ++k) {
        const double place[3] = {(static_cast<double>(i) + 0.5) / unit, (static_cast<double>(j) + 0.5) / unit,
                                 (static_cast<double>(k) + 0.5) / unit};
        double least = 1;
        for (const Ellipsoid& one : kBody) least = std::min(least, level(one, place));
        *to++ = least <= 0 && least > -kWall;
      }
  return volume;
}

Array solid_voxels(const Array& volume) {
  std::vector<std::int32_t> places;
  const std::uint8_t* from = volume.as<std::uint8_t>().data();
  const Shape& shape = volume.shape();
  for (std::int32_t i = 0; i < shape[0]; ++i)
    for (std::int32_t j = 0; j < shape[1]; ++j)
      for (std::int32_t k = 0; k < shape[2]; ++k)
        if (*from++ != 0) places.insert(places.end(), {i, j, k});
  Array rows(DType::int32, {static_cast<std::int64_t>(places.size() / 3), 3});
  std::copy(places.begin(), places.end(), rows.as<std::int32_t>().data());
  return rows;
}

}  // namespace fathom::cli
