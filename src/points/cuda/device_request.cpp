#include "points/cuda/device_request.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/cuda/runtime.h"
#include "fathom/core/error.h"

namespace fathom::points::cuda {

namespace {

/// Whether squared distances are between integers.
bool is_integral(const Request& request, const DeviceTree& tree) {
  return request.metric == Metric::euclidean && tree.dtype == DType::int32 && request.queries.dtype == DType::int32 &&
         std::all_of(request.period.begin(), request.period.end(), [](double x) { return x == std::floor(x); });
}

}  // namespace

void check_memory(const Request& request, int device) {
  const auto check = [&](const void* address, const char* name) {
    if (address && fathom::cuda::device_of(address, name) != device)
      throw InvalidArgument(std::string("'") + name + "' is on another device than the sites");
  };
  for (int k = 0; k < request.queries.axes; ++k) check(request.queries.data[k], "queries");
  if (request.cones.on_device) {
    check(request.cones.directions.data[0], "device_directions");
    check(request.cones.half_angles, "device_half_angles");
  }
  check(request.answers.distance.data, "distance");
  check(request.answers.squared.data, "squared");
  check(request.answers.site.data, "site");
  check(request.answers.lower.data, "lower");
}

DeviceRequest device_request(const Request& request, const DeviceTree& tree, const ConeOfQuery* cones) {
  DeviceRequest result;
  result.queries = request.queries;
  result.k = request.k;
  result.metric = request.metric;
  result.simple = request.simple();
  result.limit = squared_limit<double>(request);
  result.may_be_wide = is_integral(request, tree);
  if (result.may_be_wide) result.wide_limit = squared_limit<Wide>(request);
  std::copy_n(request.period.data(), 3, result.period);
  result.has_cone = request.cones.present;
  result.cones = cones;
  if (result.has_cone && !cones) result.cone = cone_of(request.cones, 0);
  if (tree.levels > 0) {
    result.exact = request.exact();
    result.shrink = request.shrink;
    result.absolute = request.absolute;
    result.work_limit = request.work_limit;
  }
  result.naming = request.naming;
  result.answers = request.answers;
  return result;
}

}  // namespace fathom::points::cuda
