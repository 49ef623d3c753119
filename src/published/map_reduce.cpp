// The front of map and reduction: validates, makes structures of arrays, runs, and takes roots.
#include "fathom/published/map_reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cloud.h"
#include "core/root.hd.h"
#include "fathom/core/array.h"
#include "fathom/points/site_set.h"
#include "published/front.h"
#include "published/map_reduce_problem.h"

namespace fathom::published {

namespace {

using points::Coordinates;

void check_points(const Coordinates& sites, const Coordinates& queries) {
  if (sites.batched() || queries.batched())
    throw InvalidArgument("a map and a reduction are of one cloud; give arrays with 2 axes");
  if (sites.axes() != queries.axes())
    throw InvalidArgument("the sites have " + std::to_string(sites.axes()) + " coordinates, the queries " +
                          std::to_string(queries.axes()) + "; give as many");
  check_range("the number of sites", sites.count(), 0, std::int64_t{std::numeric_limits<std::uint32_t>::max()} - 1);
  check_range("the number of queries", queries.count(), 0, std::numeric_limits<std::int32_t>::max());
}

void check_options(const MapReduceOptions& options, const Coordinates& queries) {
  check_range("the number of kernels", options.kernels, 1, std::numeric_limits<std::int32_t>::max());
  check_range("the number of streams", options.streams, 1, 64);
  check_range("the tile", options.tile, 32, 256);
  if (options.tile % 32 != 0)
    throw InvalidArgument("the tile is " + std::to_string(options.tile) + "; it must be a multiple of 32");
  check_range("the step of perforation", options.every, 1, std::numeric_limits<std::int32_t>::max());
  if (!(options.half_angle >= 0 && options.half_angle <= std::numbers::pi))
    throw InvalidArgument("the half-angle is " + std::to_string(options.half_angle) + "; it must be from 0 to pi");
  if (!options.directions.present()) return;
  const Coordinates directions(options.directions);
  if (directions.dtype() == DType::int32 || directions.batched() || directions.axes() != queries.axes() ||
      (directions.count() != 1 && directions.count() != queries.count()))
    throw InvalidArgument("the directions are " + std::string(name_of(directions.dtype())) + " with the shape " +
                          to_string(options.directions.shape()) + "; they must be float32 or float64, [m, " +
                          std::to_string(queries.axes()) + "] for m queries, or [1, " + std::to_string(queries.axes()) +
                          "]");
}

bool serves_devices(const MapReduceOptions& options) {
  if (options.devices.empty()) return runs_on_device(options.execution);
  if (options.execution.backend == Backend::cpu)
    throw InvalidArgument("devices are named for the backend cpu; leave them out, or ask for cuda");
  require_device();
  for (const int device : options.devices)
    if (device < 0 || device >= device_count())
      throw InvalidArgument("there is no device " + std::to_string(device) + "; devices go from 0 to " +
                            std::to_string(device_count() - 1));
  return true;
}

Cloud cloud_of(const Coordinates& points) {
  Cloud cloud{points.dtype(), points.axes(), points.count(), 1, {}, {}};
  for (int k = 0; k < points.axes(); ++k) {
    cloud.data[k] = points.axis(k).data;
    cloud.step[k] = points.axis(k).step;
  }
  return cloud;
}

/// @throws InvalidArgument a coordinate that a SiteSet would not take, either: float64 must hold its square
void check_coordinate(double x, const char* noun, std::int64_t point) {
  const double magnitude = std::abs(x);
  if (magnitude == 0 || (magnitude >= 1e-138 && magnitude <= 1e150)) return;
  throw InvalidArgument(std::string(noun) + " " + std::to_string(point) + " has a coordinate that is " +
                        (std::isfinite(x) ? "neither 0 nor between 1e-138 and 1e150; scale the coordinates"
                                          : "not finite; leave such points out"));
}

/// A structure of arrays, dense, of 3 axes: points of the plane have z = 0.
template <class T>
struct DensePoints {
  std::vector<T> axes[3];

  DensePoints(const Coordinates& points, const char* noun) {
    const Cloud cloud = cloud_of(points);
    for (int k = 0; k < 3; ++k) axes[k].resize(static_cast<std::size_t>(cloud.count));
    for (int k = 0; k < cloud.axes; ++k)
      for (std::int64_t i = 0; i < cloud.count; ++i) {
        const double x = cloud.at(k, i);
        check_coordinate(x, noun, i);
        axes[k][static_cast<std::size_t>(i)] = static_cast<T>(x);
      }
  }
  PointList<T> list(std::int64_t every = 1) const {
    const auto count = static_cast<std::int64_t>(axes[0].size());
    return {{axes[0].data(), axes[1].data(), axes[2].data()}, (count + every - 1) / every, every};
  }
};

/// @throws InvalidArgument squares of distances would not fit 32 bits
void check_extent(const DensePoints<std::int32_t>& sites, const DensePoints<std::int32_t>& queries) {
  double most = 0;
  for (int k = 0; k < 3; ++k) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (const auto* points : {&sites, &queries})
      for (const std::int64_t x : points->axes[k]) {
        low = std::min(low, x);
        high = std::max(high, x);
      }
    if (low < high) most += std::pow(static_cast<double>(high - low), 2);
  }
  if (most >= kFarthest<std::uint32_t>)
    throw InvalidArgument("the integer coordinates lie up to " + std::to_string(std::llround(std::sqrt(most))) +
                          " apart, but squares of 32 bits hold 65535; give them as float64");
}

/// Directions of length 1.
struct Directions {
  std::vector<double> axes[3];
  double cosine = -2;

  explicit Directions(const MapReduceOptions& options) {
    if (!options.directions.present()) return;
    constexpr double kBoundary = 0x1p-50;
    cosine = std::cos(options.half_angle) - kBoundary;
    const Cloud given = cloud_of(Coordinates(options.directions));
    for (std::int64_t i = 0; i < given.count; ++i) {
      double axis[3] = {}, largest = 0, squared = 0;
      for (int k = 0; k < given.axes; ++k) largest = std::max(largest, std::abs(axis[k] = given.at(k, i)));
      for (const double x : axis) squared += (x / largest) * (x / largest);
      for (int k = 0; k < 3; ++k) axes[k].push_back(axis[k] / largest / std::sqrt(squared));
      if (!std::isfinite(squared))
        throw InvalidArgument("direction " + std::to_string(i) + " is not finite, or has no length; give another");
    }
  }
  ConeList list(std::int64_t queries) const {
    if (axes[0].empty()) return {};
    return {{{axes[0].data(), axes[1].data(), axes[2].data()}, queries, axes[0].size() == 1 ? 0 : 1}, cosine};
  }
};

template <class Float>
Float root(std::uint32_t squared) {
  return squared == kFarthest<std::uint32_t> ? std::numeric_limits<Float>::infinity() : rounded_sqrt<Float>(squared);
}
template <class Float>
Float root(unsigned long long bits) {
  double squared = std::numeric_limits<double>::infinity();
  if (bits != kFarthest<unsigned long long>) std::memcpy(&squared, &bits, sizeof bits);
  return static_cast<Float>(std::sqrt(squared));
}

template <class Out, class Number>
void write(const AnyView& to, std::int64_t count, const Number& number) {
  const HostView<Out> view = to.as<Out>();
  for (std::int64_t i = 0; i < count; ++i) view.data()[i * view.strides()[0]] = static_cast<Out>(number(i));
}

/// Mean absolute percentage error, as the paper has it, over the queries whose exact distance is finite and not 0.
double error_of(const Coordinates& sites, const Coordinates& queries, const MapReduceOptions& options,
                const std::vector<double>& distances) {
  points::SiteSetOptions on_cpu;
  on_cpu.execution.backend = Backend::cpu;
  on_cpu.execution.threads = options.execution.threads;
  points::QueryOptions query;
  query.execution = on_cpu.execution;
  query.cone.directions = options.directions;
  query.cone.half_angle = options.half_angle;
  Array exact(DType::float64, {queries.count()});
  points::QueryOutputs outputs;
  outputs.distance = exact.view();
  points::SiteSet(sites, on_cpu).nearest(queries, query, outputs);
  double sum = 0;
  std::int64_t counted = 0;
  for (std::size_t q = 0; q < distances.size(); ++q) {
    const double distance = exact.as<double>().data()[q];
    if (!(distance > 0 && std::isfinite(distance))) continue;
    sum += std::abs(distances[q] - distance) / distance;
    ++counted;
  }
  return counted > 0 ? 100 * sum / static_cast<double>(counted) : 0;
}

template <class T>
void answer(const Coordinates& sites, const Coordinates& queries, const MapReduceOptions& options,
            const MapReduceOutputs& outputs, MapReduceReport& report) {
  const DensePoints<T> all(sites, "site"), asked(queries, "query");
  if constexpr (std::is_same_v<T, std::int32_t>) check_extent(all, asked);
  const Directions directions(options);
  const std::int64_t m = queries.count();
  std::vector<Squared<T>> squared(static_cast<std::size_t>(m), kFarthest<Squared<T>>);
  std::vector<std::uint32_t> site(outputs.site.present() ? squared.size() : 0);
  const MapReduceProblem<T> problem{all.list(options.every),
                                    asked.list(),
                                    directions.list(m),
                                    options,
                                    report.threads,
                                    squared.data(),
                                    outputs.site.present() ? site.data() : nullptr};
  const Division division = problem.division();
  report.tiles = division.tiles();
  if (!options.atomic)
    report.intermediate_bytes =
        static_cast<std::size_t>(division.streams * division.tiles_of_kernel() * m) * sizeof(Squared<T>);
  report.scratch_bytes = static_cast<std::size_t>((sites.count() + m) * 3) * sizeof(T) + report.intermediate_bytes +
                         static_cast<std::size_t>((division.streams + 1) * m) * sizeof(Squared<T>) +
                         site.size() * sizeof(std::uint32_t);
  if (options.execution.scratch_limit && report.scratch_bytes > *options.execution.scratch_limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*options.execution.scratch_limit) +
                          " bytes is too small for " + std::to_string(options.kernels) + " kernels, which take " +
                          std::to_string(report.scratch_bytes) + "; more kernels take less");
  if (m > 0 && sites.count() > 0) {
    if (report.backend == Backend::cpu) report.phases = cpu::map_reduce(problem);
#ifdef FATHOM_HAS_CUDA
    else if (options.devices.empty()) report.phases = cuda::map_reduce(problem);
    else report.phases = cuda::map_reduce_on_devices(problem, report.shares);
#endif
  }

  const auto distance = [&](std::int64_t q) { return root<double>(squared[static_cast<std::size_t>(q)]); };
  const auto found = [&](std::int64_t q) {
    const auto at = static_cast<std::size_t>(q);
    return squared[at] == kFarthest<Squared<T>> ? std::int64_t{-1} : site[at] * options.every;
  };
  if (outputs.distance.present() && outputs.distance.dtype() == DType::float32)
    write<float>(outputs.distance, m, distance);
  else if (outputs.distance.present()) write<double>(outputs.distance, m, distance);
  if (outputs.site.present() && outputs.site.dtype() == DType::int32) write<std::int32_t>(outputs.site, m, found);
  else if (outputs.site.present()) write<std::int64_t>(outputs.site, m, found);
  if (!options.measure_error) return;
  std::vector<double> distances;
  for (std::int64_t q = 0; q < m; ++q) distances.push_back(distance(q));
  report.error = error_of(sites, queries, options, distances);
}

}  // namespace

MapReduceReport map_reduce(const Coordinates& sites, const Coordinates& queries, const MapReduceOptions& options,
                           const MapReduceOutputs& outputs) {
  check_points(sites, queries);
  check_options(options, queries);
  const Shape shape{queries.count()};
  check_output(outputs.distance, "distance", {DType::float32, DType::float64}, shape);
  check_output(outputs.site, "site", {DType::int32, DType::int64}, shape);
  if (!outputs.distance.present() && !outputs.site.present())
    throw InvalidArgument("no output was given; give distance, site or both");
  if (outputs.site.present() && outputs.site.dtype() == DType::int32 &&
      sites.count() > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("'site' is int32, which does not hold the numbers of so many sites; it must be int64");
  MapReduceReport report;
  report.threads = threads_of(options.execution);
  report.exact = options.every == 1;
  if (serves_devices(options)) {
    report.backend = Backend::cuda;
    const std::vector<int> devices = options.devices.empty() ? std::vector{current_device()} : options.devices;
    for (const int device : devices)
      report.device += (report.device.empty() ? "" : ", ") + describe_device(device).name;
  }
  const bool real = sites.dtype() == DType::float64 || queries.dtype() == DType::float64;
  if (real || sites.dtype() != queries.dtype()) answer<double>(sites, queries, options, outputs, report);
  else if (sites.dtype() == DType::int32) answer<std::int32_t>(sites, queries, options, outputs, report);
  else answer<float>(sites, queries, options, outputs, report);
  if (options.execution.progress) options.execution.progress(1);
  return report;
}

}  // namespace fathom::published
