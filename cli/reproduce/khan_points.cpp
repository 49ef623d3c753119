#include "reproduce/khan_points.h"

#include <random>
#include <utility>

#include "reproduce/measure.h"

namespace fathom::cli {

points::SiteSet make_set(const Machine& machine, const Array& sites, std::int64_t every) {
  points::SiteSetOptions options;
  options.every = every;
  options.execution = machine.execution();
  return points::SiteSet(sites.view(), options);
}

Reduced reduce(const points::SiteSet& set, const Array& sites, const Array& queries,
               const published::MapReduceOptions& options, int runs) {
  const Shape shape{queries.shape()[0]};
  Array expected(DType::float32, shape);
  points::QueryOptions query;
  query.cone.directions = options.directions;
  query.cone.half_angle = options.half_angle;
  query.execution.threads = options.execution.threads;
  points::QueryOutputs own;
  own.distance = expected.view();
  Reduced found{Array(DType::float32, shape), {}, 0, 0};
  found.own = median_seconds([&] { set.nearest(queries.view(), query, own); }, runs);
  published::MapReduceOutputs outputs;
  outputs.distance = found.distance.view();
  found.report =
      median_report([&] { return published::map_reduce(sites.view(), queries.view(), options, outputs); }, runs);
  check_equal(std::as_const(found.distance).view(), std::as_const(expected).view(), "a map and a reduction");
  found.seconds = sum_of(found.report.phases) - seconds_of(found.report.phases, "measuring speeds");
  return found;
}

Array random_points(std::int64_t count, std::int32_t side, std::uint64_t seed) {
  Array points(DType::int32, {count, 3});
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < points.size(); ++i)
    points.as<std::int32_t>().data()[i] = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(side));
  return points;
}

}  // namespace fathom::cli
