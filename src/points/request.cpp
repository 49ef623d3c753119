#include "points/request.h"

namespace fathom::points {

std::array<double, 3> place_of(const Request& request, std::int64_t query) {
  std::array<double, 3> place{};
  for (int k = 0; k < request.queries.axes; ++k) {
    const auto i = static_cast<std::size_t>(k);
    place[i] = into_period(request.queries.at(k, query), request.period[i]);
  }
  return place;
}

}  // namespace fathom::points
