#include "points/check.h"

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string>

#include "core/require_device.h"
#include "core/text.h"
#include "fathom/core/error.h"

namespace fathom::points {

namespace {

constexpr int kMostNeighbours = 64;

void check_at_least_zero(const char* name, double value, bool may_be_infinite) {
  if (!(value >= 0) || (std::isinf(value) && !may_be_infinite))
    throw InvalidArgument(std::string(name) + " is " + text(value) + "; give a " + (may_be_infinite ? "" : "finite ") +
                          "number that is at least 0");
}

/// [n], [batch, n]: the shape of one number per query.
Shape shape_of(const CoordinateLayout& queries) {
  Shape shape;
  if (queries.batched()) shape.push_back(queries.clouds());
  shape.push_back(queries.count());
  return shape;
}

Shape with_column(Shape shape, std::int64_t extent) {
  shape.push_back(extent);
  return shape;
}

void check_dtype(const AnyConstView& view, const char* name, std::initializer_list<DType> dtypes) {
  std::string names;
  for (DType dtype : dtypes) {
    if (dtype == view.dtype()) return;
    names += (names.empty() ? "" : " or ") + std::string(name_of(dtype));
  }
  throw InvalidArgument(std::string(name) + " is " + std::string(name_of(view.dtype())) + "; it must be " + names);
}

void check_output(const AnyView& view, const char* name, const Shape& rows, int k,
                  std::initializer_list<DType> dtypes) {
  if (!view.present()) return;
  const std::string title = std::string("the output '") + name + "'";
  check_dtype(view, title.c_str(), dtypes);
  const Shape columns = with_column(rows, k);
  if (view.shape() == columns || (k == 1 && view.shape() == rows)) return;
  throw InvalidArgument(title + " has the shape " + to_string(view.shape()) + "; it must have " +
                        to_string(k == 1 ? rows : columns));
}

void check_outputs(const SetFacts& set, const CoordinateLayout& queries, const QueryOptions& options,
                   const QueryOutputs& out) {
  if (!out.distance.present() && !out.squared.present() && !out.site.present() && !out.lower.present())
    throw InvalidArgument("no output was given; give distance, squared, site or lower");
  const Shape rows = shape_of(queries);
  check_output(out.distance, "distance", rows, options.k, {DType::float32, DType::float64});
  check_output(out.squared, "squared", rows, options.k, {DType::float32, DType::float64});
  check_output(out.site, "site", rows, options.k, {DType::int32, DType::int64});
  check_output(out.lower, "lower", rows, options.k, {DType::float32, DType::float64});
  if (out.lower.present() && options.k != 1)
    throw InvalidArgument("the output 'lower' bounds the nearest site's distance; it needs k = 1");
  if (out.site.present() && out.site.dtype() == DType::int32 && set.largest_id > INT32_MAX)
    throw InvalidArgument("ids go up to " + std::to_string(set.largest_id) +
                          ", which int32 does not hold; ask for int64");
}

/// A cone's arrays, wherever they are: only where that is the host can they be read.
struct ConeArrays {
  explicit ConeArrays(const Cone& cone)
      : on_device(cone.device_directions.present() || cone.device_half_angles.present()),
        directions(on_device ? addressed(cone.device_directions) : cone.directions),
        half_angles(on_device ? addressed(cone.device_half_angles) : cone.half_angles) {}

  static AnyConstView addressed(const AnyConstDeviceView& view) {
    if (!view.present()) return {};
    return {view.data(), view.dtype(), view.shape(), view.strides()};
  }

  bool on_device;
  AnyConstView directions, half_angles;
};

/// Those of the host serve all queries of a device together, those of a device are for its queries.
void check_cone_space(const ConeArrays& cone, MemorySpace space) {
  if (space == MemorySpace::host && cone.on_device)
    throw InvalidArgument(
        "device_directions and device_half_angles are for queries in a device's memory; give directions");
  if (space == MemorySpace::host || cone.on_device) return;
  const Shape& shape = cone.directions.shape();
  if (shape.rank() != 2 || shape[0] != 1)
    throw InvalidArgument("the direction of the one cone for queries in a device's memory has the shape " +
                          to_string(shape) + "; it must have [1, d]. For a cone each, give device_directions");
  if (cone.half_angles.present())
    throw InvalidArgument("half_angles are for queries in the host's memory; give half_angle or device_half_angles");
}

void check_directions(const CoordinateLayout& queries, const ConeArrays& cone) {
  const AnyConstView& view = cone.directions;
  check_dtype(view, "the cone's directions", {DType::float32, DType::float64});
  const Shape all = with_column(shape_of(queries), queries.axes());
  const Shape one{1, queries.axes()};
  if (!(view.shape() == all) && !(view.shape() == one))
    throw InvalidArgument("the cone's directions have the shape " + to_string(view.shape()) + "; they must have " +
                          to_string(all) + ", or " + to_string(one) + " for all queries");
  if (cone.on_device) return;
  const Coordinates directions(view);
  for (std::int64_t c = 0; c < directions.clouds(); ++c) {
    const Cloud cloud = cloud_of(directions, c);
    for (std::int64_t i = 0; i < cloud.count; ++i) {
      double sum = 0;
      for (int k = 0; k < cloud.axes; ++k) sum += std::abs(cloud.at(k, i));
      if (!(sum > 0) || !std::isfinite(sum))
        throw InvalidArgument("the cone's direction " + std::to_string(i) + " is not finite or has no length");
    }
  }
}

void check_half_angle(double angle) {
  if (!(angle >= 0 && angle <= std::numbers::pi))
    throw InvalidArgument("the cone's half-angle is " + text(angle) + "; give radians from 0 to pi");
}

void check_half_angles(const CoordinateLayout& queries, const ConeArrays& cone) {
  const AnyConstView& view = cone.half_angles;
  check_dtype(view, "the cone's half-angles", {DType::float64});
  const Shape rows = shape_of(queries);
  if (!(view.shape() == rows))
    throw InvalidArgument("the cone's half-angles have the shape " + to_string(view.shape()) + "; they must have " +
                          to_string(rows));
  if (cone.on_device) return;
  const auto* angles = reinterpret_cast<const double*>(view.data());
  for (std::int64_t c = 0; c < queries.clouds(); ++c)
    for (std::int64_t i = 0; i < queries.count(); ++i)
      check_half_angle(angles[(queries.batched() ? c * view.strides()[0] : 0) + i]);
}

/// What goes by Euclidean distances alone.
void check_metric(const SetFacts& set, const QueryOptions& options, const QueryOutputs& out) {
  if (options.metric == Metric::euclidean) return;
  if (set.euclidean)
    throw InvalidArgument(
        "sets of voxels answer by Euclidean distances; for another metric make a SiteSet of the mask");
  if (out.squared.present())
    throw InvalidArgument("squared distances belong to the Euclidean metric; ask for 'distance'");
  if (options.cone.directions.present() || options.cone.device_directions.present())
    throw InvalidArgument("cones belong to the Euclidean metric; leave out the cone or the other metric");
}

void check_cone(const SetFacts& set, const CoordinateLayout& queries, const Cone& given, MemorySpace space) {
  const ConeArrays cone(given);
  if (!cone.directions.present() && !cone.on_device) return;
  if (!cone.directions.present()) throw InvalidArgument("device_half_angles are given; give device_directions, too");
  for (double period : set.period)
    if (period > 0) throw InvalidArgument("cones have no meaning in a periodic box; leave out one of them");
  check_cone_space(cone, space);
  check_directions(queries, cone);
  check_at_least_zero("the cone's cylinder radius", given.cylinder_radius, false);
  if (cone.half_angles.present()) check_half_angles(queries, cone);
  else check_half_angle(given.half_angle);
}

AnyView unchecked(const AnyDeviceView& view) {
  if (!view.present()) return {};
  return {view.data(), view.dtype(), view.shape(), view.strides()};
}

Column column_of(const AnyView& view, bool batched, std::int64_t cloud, bool has_rows) {
  if (!view.present() || !has_rows) return {};
  const int row_axis = batched ? 1 : 0;
  const std::int64_t offset = batched ? cloud * view.strides()[0] : 0;
  return {view.data() + offset * static_cast<std::int64_t>(size_of(view.dtype())), view.dtype(),
          view.strides()[row_axis]};
}

Cones cones_of(const CoordinateLayout& queries, const Cone& given, std::int64_t cloud) {
  Cones cones;
  const ConeArrays cone(given);
  if (!cone.directions.present()) return cones;
  cones.present = true;
  cones.on_device = cone.on_device;
  const Coordinates directions(cone.directions);
  cones.directions = cloud_of(directions, directions.batched() ? cloud : 0);
  if (cone.directions.shape() == Shape{1, queries.axes()})
    for (std::int64_t& step : cones.directions.step) step = 0;
  cones.half_angle = given.half_angle;
  if (cone.half_angles.present()) {
    cones.half_angles = reinterpret_cast<const double*>(cone.half_angles.data());
    if (queries.batched()) cones.half_angles += cloud * cone.half_angles.strides()[0];
    cones.half_angle_step = 1;
  }
  if (given.cylinder_radius > 0) cones.radius = given.cylinder_radius;
  return cones;
}

}  // namespace

void check_set_options(const SiteSetOptions& options, const CoordinateLayout& sites) {
  if (options.every < 1)
    throw InvalidArgument("sites are kept at every " + std::to_string(options.every) + "-th; give 1 or more");
  const auto axes = static_cast<std::size_t>(sites.axes());
  if (!options.period.empty() && options.period.size() != 1 && options.period.size() != axes)
    throw InvalidArgument(std::to_string(options.period.size()) + " periods given for points with " +
                          std::to_string(axes) + " coordinates; give one for all axes or one per axis");
  for (double period : options.period) check_at_least_zero("a period", period, false);
  if (!options.devices.empty() && options.execution.backend != Backend::cuda)
    throw InvalidArgument("devices are named for a set that is not built by the backend cuda; ask for it, too");
}

std::array<double, 3> period_of(const SiteSetOptions& options, int axes) {
  std::array<double, 3> period{};
  for (std::size_t k = 0; k < static_cast<std::size_t>(axes); ++k)
    if (!options.period.empty()) period[k] = options.period[options.period.size() == 1 ? 0 : k];
  return period;
}

void check_inside(const Box& extent, const std::array<double, 3>& period, int axes) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(axes); ++k)
    if (period[k] > 0 && (extent.low[k] < 0 || extent.high[k] >= period[k]))
      throw InvalidArgument(
          "a site lies outside of the periodic box, which goes from 0 to below the period along axis " +
          std::to_string(k) + "; wrap the coordinates first");
}

void check_build_scratch(const std::optional<std::size_t>& limit, std::size_t needed) {
  if (limit && needed > *limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*limit) +
                          " bytes is too small to sort the sites; the smallest that works here is " +
                          std::to_string(needed) + " bytes");
}

void check_scratch(const std::optional<std::size_t>& limit, std::size_t needed) {
  if (limit && needed > *limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*limit) +
                          " bytes is too small; the smallest that works here is " + std::to_string(needed) + " bytes");
}

void check_device_memory(const std::optional<std::size_t>& limit, std::size_t needed) {
  if (limit && needed > *limit)
    throw InvalidArgument("the limit of " + std::to_string(*limit) +
                          " bytes of device memory is too small; the smallest that works here is " +
                          std::to_string(needed) + " bytes");
}

void refuse_coordinate(const char* noun, std::int64_t point, double x) {
  const char* const fault = !std::isfinite(x) ? "not finite; leave such points out"
                            : std::abs(x) > 1
                                ? "beyond 1e150; scale the coordinates"
                                : "not 0, but nearer to it than 1e-138; scale the coordinates, or make it 0";
  throw InvalidArgument(std::string(noun) + " " + std::to_string(point) + " has a coordinate that is " + fault);
}

void refuse_element(std::int64_t element, const Shape& extents) {
  throw InvalidArgument("there is no element " + std::to_string(element) + " in a set of " + to_string(extents) +
                        "; give linear indices from 0 to " + std::to_string(element_count(extents) - 1));
}

void check_backend(const Execution& execution, bool on_device) {
  if (on_device && execution.backend == Backend::cpu)
    throw InvalidArgument("the sites are in a device's memory, where the backend cpu cannot work; use auto or cuda");
  if (on_device || execution.backend != Backend::cuda) return;
  require_device();
  throw InvalidArgument("the sites are in the host's memory; build the set with the backend cuda, or use auto or cpu");
}

void check_on_device(const Execution& execution, bool on_device) {
  if (!on_device)
    throw InvalidArgument(
        "the queries are in a device's memory, the sites in the host's; build the set with the backend cuda");
  check_backend(execution, true);
}

int threads_of(const Execution& execution) {
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
  return execution.threads > 0 ? execution.threads : available_threads();
}

void check_query(const SetFacts& set, const CoordinateLayout& queries, const QueryOptions& options,
                 const QueryOutputs& outputs, MemorySpace space) {
  if (queries.axes() != set.axes)
    throw InvalidArgument("the queries have " + std::to_string(queries.axes()) + " coordinates, the sites " +
                          std::to_string(set.axes));
  if (queries.batched() != set.batched || queries.clouds() != set.clouds)
    throw InvalidArgument(set.batched ? "the sites are a batch of " + std::to_string(set.clouds) +
                                            " clouds; give queries [" + std::to_string(set.clouds) + ", n, d]"
                                      : "the sites are one cloud, the queries a batch; give queries [n, d]");
  if (options.k < 1 || options.k > kMostNeighbours)
    throw InvalidArgument("k is " + std::to_string(options.k) + "; give 1 to " + std::to_string(kMostNeighbours));
  check_at_least_zero("the radius", options.radius, true);
  check_at_least_zero("the relative error", options.relative_error, false);
  check_at_least_zero("the absolute error", options.absolute_error, false);
  if (options.work_limit < 0)
    throw InvalidArgument("the work limit is " + std::to_string(options.work_limit) + "; give 0 for none, or more");
  if (options.work_limit > 0 && set.storage == Storage::plain)
    throw InvalidArgument("a work limit needs boxes to bound what was not looked at; use storage boxed or sorted");
  check_outputs(set, queries, options, outputs);
  check_metric(set, options, outputs);
  check_cone(set, queries, options.cone, space);
}

QueryOutputs unchecked(const DeviceQueryOutputs& outputs) {
  return {unchecked(outputs.distance), unchecked(outputs.squared), unchecked(outputs.site), unchecked(outputs.lower)};
}

Request request_of(const SetFacts& set, const CoordinateLayout& queries, const QueryOptions& options,
                   const QueryOutputs& outputs, std::int64_t cloud) {
  Request request;
  request.queries = cloud_of(queries, cloud);
  request.k = options.k;
  request.metric = options.metric;
  request.radius = options.radius;
  if (options.relative_error > 0) {
    constexpr double kRounding = 1 - 0x1p-48;
    const double share = 1 / (1 + options.relative_error);
    request.shrink = (options.metric == Metric::euclidean ? share * share : share) * kRounding;
  }
  request.absolute = options.absolute_error;
  request.work_limit = options.work_limit;
  request.period = set.period;
  request.naming = set.naming;
  request.cones = cones_of(queries, options.cone, cloud);
  const bool has_rows = queries.count() > 0;
  const auto column = [&](const AnyView& view) { return column_of(view, queries.batched(), cloud, has_rows); };
  request.answers = {column(outputs.distance), column(outputs.squared), column(outputs.site), column(outputs.lower)};
  return request;
}

}  // namespace fathom::points
