#include "points/request.h"

namespace fathom::points {

Request part_of(const Request& request, std::int64_t first, std::int64_t count) {
  Request part = request;
  part.queries = part_of(request.queries, first, count);
  part.cones.directions = part_of(request.cones.directions, first, count);
  if (part.cones.half_angles) part.cones.half_angles += first * part.cones.half_angle_step;
  for (Column* column : {&part.answers.distance, &part.answers.squared, &part.answers.site, &part.answers.lower})
    if (column->data) column->data += first * column->row_step * static_cast<std::int64_t>(size_of(column->dtype));
  return part;
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
