// A validated call: what the queries ask for, and where their answers go.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "fathom/points/site_set.h"
#include "points/cloud.h"
#include "points/cone.hd.h"

namespace fathom::points {

/// Elements of one output that belong to one cloud.
struct Column {
  std::byte* data = nullptr;  ///< null: not wanted
  DType dtype = DType::float32;
  std::int64_t row_step = 1;  ///< in elements
};

struct Answers {
  Column distance, squared, site, lower;
};

/// Cones of one cloud's queries.
struct Cones {
  bool present = false;
  bool on_device = false;  ///< what the pointers point to
  Cloud directions;        ///< its steps are 0 where one serves all
  const double* half_angles = nullptr;
  std::int64_t half_angle_step = 0;
  double half_angle = 0;
  double radius = -1;
};

/// How a site's id is shown: an index as it is, or the linear index of an element with the site's coordinates.
struct Naming {
  bool linear = false;
  std::int64_t extents[3] = {};
};

/// Linear index of the element that a site of a mask is.
FATHOM_HD inline std::int64_t linear_id(const Naming& naming, const Cloud& sites, std::int64_t position) {
  std::int64_t linear = 0;
  for (int k = 0; k < sites.axes; ++k) linear = linear * naming.extents[k] + sites.get<std::int32_t>(k, position);
  return linear;
}

/// One cloud's queries.
struct Request {
  Cloud queries;
  int k = 1;
  Metric metric = Metric::euclidean;
  double radius = 0;
  double shrink = 1;    ///< squared distances beyond shrink · best need not be looked at
  double absolute = 0;  ///< nor distances beyond best − absolute
  std::int64_t work_limit = 0;
  std::array<double, 3> period{};  ///< 0: open
  Cones cones;
  Naming naming;
  Answers answers;

  bool exact() const { return shrink == 1 && absolute == 0 && work_limit == 0; }
  bool simple() const { return k == 1 && metric == Metric::euclidean && !periodic() && !cones.present; }
  bool periodic() const { return period[0] > 0 || period[1] > 0 || period[2] > 0; }
};

/// Where a direction is not finite or has no length, or an angle is none, which is refused where it can be read,
/// nothing lies in the cone.
FATHOM_HD inline ConeOfQuery cone_of(const Cones& cones, std::int64_t query) {
  ConeOfQuery cone;
  if (!cones.present) return cone;
  double largest = 0, length2 = 0;
  for (int k = 0; k < cones.directions.axes; ++k) largest = larger(largest, std::abs(cones.directions.at(k, query)));
  for (int k = 0; k < cones.directions.axes; ++k) {
    cone.axis[k] = cones.directions.at(k, query) / largest;
    length2 += cone.axis[k] * cone.axis[k];
  }
  const Turn turn = Turn::by(cones.half_angles ? cones.half_angles[query * cones.half_angle_step] : cones.half_angle);
  for (double& x : cone.axis) x = turn.cosine == turn.cosine ? x / std::sqrt(length2) : NAN;
  cone.cosine = turn.cosine - kBoundary;
  cone.sine = turn.sine;
  cone.radius = cones.radius;
  return cone;
}

/// Queries [first, first + count), with where their answers go.
Request part_of(const Request& request, std::int64_t first, std::int64_t count);

/// The query's coordinates, brought into the period where there is one.
std::array<double, 3> place_of(const Request& request, std::int64_t query);

}  // namespace fathom::points
