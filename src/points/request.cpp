#include "points/request.h"

#include <cmath>

namespace fathom::points {

ConeOfQuery cone_of(const Cones& cones, std::int64_t query) {
  ConeOfQuery cone;
  if (!cones.present) return cone;
  double largest = 0, length2 = 0;
  for (int k = 0; k < cones.directions.axes; ++k) largest = std::max(largest, std::abs(cones.directions.at(k, query)));
  for (int k = 0; k < cones.directions.axes; ++k) {
    cone.axis[k] = cones.directions.at(k, query) / largest;
    length2 += cone.axis[k] * cone.axis[k];
  }
  for (double& x : cone.axis) x /= std::sqrt(length2);
  const double angle = cones.half_angles ? cones.half_angles[query * cones.half_angle_step] : cones.half_angle;
  cone.cosine = std::cos(angle) - kBoundary;
  cone.sine = std::sin(angle);
  cone.radius = cones.radius;
  return cone;
}

std::array<double, 3> place_of(const Request& request, std::int64_t query) {
  std::array<double, 3> place{};
  for (int k = 0; k < request.queries.axes; ++k) {
    const auto i = static_cast<std::size_t>(k);
    place[i] = into_period(request.queries.at(k, query), request.period[i]);
  }
  return place;
}

}  // namespace fathom::points
