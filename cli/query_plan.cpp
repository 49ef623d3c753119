#include "query_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fathom/core/device.h"
#include "fathom/io/stream.h"
#include "memory.h"
#include "options.h"
#include "query_algorithm.h"

namespace fathom::cli {

namespace {

constexpr std::array kFromFastest = {points::Storage::sorted, points::Storage::boxed, points::Storage::plain};

std::optional<points::Storage> parse_storage(const std::string& text) {
  if (text == "auto") return std::nullopt;
  for (points::Storage storage : kFromFastest)
    if (name_of(storage) == text) return storage;
  throw InvalidArgument(fmt::format("--storage takes auto, sorted, boxed or plain, not '{}'", text));
}

points::Metric metric_of_points(grid::Metric metric) {
  switch (metric) {
    case grid::Metric::euclidean: return points::Metric::euclidean;
    case grid::Metric::taxicab: return points::Metric::taxicab;
    case grid::Metric::chessboard: return points::Metric::chessboard;
  }
  throw InternalError("a metric without a name");
}

/// Bytes of a set, at most, and of sorting it.
std::size_t set_bytes(points::Storage storage, const Array& sites) {
  const auto count = static_cast<double>(sites.shape()[0]), wide = sites.dtype() == DType::float64 ? 1.0 : 0.0;
  const double per_site = storage == points::Storage::sorted  ? 17.1 + wide * 12.9 + 16
                          : storage == points::Storage::boxed ? 0.3
                                                              : 0;
  return static_cast<std::size_t>(count * per_site) + 4096;
}

/// Of putting queries along the curve, or of their lists.
std::size_t query_scratch(const QueryPlan& plan, const Array& queries) {
  constexpr std::int64_t kMostOrdered = std::int64_t{1} << 20;
  return static_cast<std::size_t>(std::min(queries.shape()[0], kMostOrdered)) * 16 +
         static_cast<std::size_t>(plan.query.k) * (std::size_t{1} << 14);
}

QueryNeeds needs_with(points::Storage storage, const QueryPlan& plan, const Array& sites, const Array& queries) {
  const auto answers = static_cast<std::size_t>(queries.shape()[0] * plan.query.k);
  return {sites.bytes() + queries.bytes() + answers * (size_of(plan.dtype) + sizeof(std::int64_t)),
          set_bytes(storage, sites), query_scratch(plan, queries)};
}

std::size_t needed_bytes(const QueryPlan& plan, points::Storage storage, const Array& sites, const Array& queries) {
  const QueryNeeds needs = needs_with(storage, plan, sites, queries);
  return needs.arrays + needs.set + needs.scratch;
}

/// The same on a device, where sites and queries are copies, and sorting takes more.
std::size_t device_bytes(const QueryPlan& plan, const Array& sites, const Array& queries) {
  constexpr std::size_t kSorting = 24;  // for a site, beyond what it takes on the host
  const auto count = static_cast<std::size_t>(sites.shape()[0]);
  return needed_bytes(plan, plan.set.storage, sites, queries) +
         (plan.set.storage == points::Storage::sorted ? count * kSorting : 0);
}

std::vector<int> parse_devices(const std::string& text) {
  std::vector<int> devices;
  for (double number : parse_numbers("--devices", text)) {
    if (number < 0 || number != std::floor(number) || number > INT32_MAX)
      throw InvalidArgument(fmt::format("--devices takes whole numbers from 0, such as 0,1, not '{}'", text));
    devices.push_back(static_cast<int>(number));
  }
  return devices;
}

/// Whether the processor takes longer than a device takes to start, which is half a second (docs/performance.md).
bool are_many(const QueryPlan& plan, const Array& sites, const Array& queries) {
  constexpr double kPointsOfThread = 1 << 19, kPairsOfThread = 1 << 29;  // in that time
  const int asked = plan.query.execution.threads, threads = asked > 0 ? asked : available_threads();
  const auto n = static_cast<double>(sites.shape()[0]), m = static_cast<double>(queries.shape()[0]);
  return plan.set.storage == points::Storage::plain ? n * m >= kPairsOfThread * threads
                                                    : n + m >= kPointsOfThread * threads;
}

}  // namespace

QueryNeeds needs_of(const QueryPlan& plan, const Array& sites, const Array& queries) {
  return needs_with(plan.set.storage, plan, sites, queries);
}

std::string_view name_of(points::Storage storage) {
  switch (storage) {
    case points::Storage::sorted: return "sorted";
    case points::Storage::boxed: return "boxed";
    case points::Storage::plain: return "plain";
  }
  throw InternalError("a storage without a name");
}

QueryPlan make_query_plan(const QueryArguments& arguments) {
  QueryPlan plan;
  if (arguments.output.empty()) throw InvalidArgument("no output was asked for; give -o FILE");
  if (arguments.sites == "-" && arguments.queries == "-")
    throw InvalidArgument("standard input holds the sites or the queries, not both; give one of them a file");
  if (io::same_stream(arguments.sites, arguments.queries))
    throw InvalidArgument(
        fmt::format("{} and {} are one pipe, which only one of them can read; give one of them a file", arguments.sites,
                    arguments.queries));
  check_outputs({{"-o", arguments.output}}, arguments.json);
  plan.query.k = static_cast<int>(parse_count("--k", arguments.k, 1, 64));
  plan.format = io::check_table(arguments.output, plan.query.k, parse_table_format(arguments.format));
  plan.dtype = parse_distance_dtype(arguments.dtype);
  plan.query.metric = metric_of_points(parse_metric(arguments.metric));
  plan.query.radius = parse_at_least_zero("--radius", arguments.radius);
  plan.query.relative_error = parse_at_least_zero("--approx", arguments.approximate);
  plan.set.every = parse_count("--perforate", arguments.perforate, 1, INT32_MAX);
  if (!arguments.cone.empty() && plan.query.metric != points::Metric::euclidean)
    throw InvalidArgument(
        fmt::format("--cone belongs to the Euclidean metric; leave it out for {} distances", arguments.metric));
  if (!arguments.cone.empty()) plan.cone = parse_numbers("--cone", arguments.cone);
  plan.query.cone.cylinder_radius = parse_at_least_zero("--cylinder", arguments.cylinder);
  if (plan.query.cone.cylinder_radius > 0 && plan.cone.empty())
    throw InvalidArgument("--cylinder widens a cone; give --cone, too");
  if (!arguments.period.empty()) plan.set.period = parse_numbers("--period", arguments.period);
  plan.storage = parse_storage(arguments.storage);
  plan.query.execution.backend = parse_backend(arguments.backend);
  plan.query.execution.threads = parse_threads(arguments.threads);
  if (!arguments.devices.empty()) {
    Backend& backend = plan.query.execution.backend;
    if (backend == Backend::cpu) throw InvalidArgument("--devices names CUDA devices; leave out --backend cpu");
    backend = Backend::cuda;
    plan.set.devices = parse_devices(arguments.devices);
  }
  if (!arguments.memory.empty()) plan.memory = parse_memory(arguments.memory);
  if (!arguments.algorithm.empty()) plan.algorithm = plan_map_reduce(arguments, plan);
  io::AtomicFile::check(arguments.output);
  return plan;
}

void set_cone(QueryPlan& plan, int axes, Array& direction) {
  if (plan.cone.empty()) return;
  if (plan.cone.size() != static_cast<std::size_t>(axes) + 1)
    throw InvalidArgument(fmt::format("--cone takes {}, for points with {} coordinates; {} numbers were given",
                                      axes == 2 ? "X,Y,DEGREES" : "X,Y,Z,DEGREES", axes, plan.cone.size()));
  const double degrees = plan.cone.back();
  if (degrees < 0 || degrees > 180)
    throw InvalidArgument(fmt::format("--cone takes degrees from 0 to 180, not '{}'", degrees));
  direction = Array(DType::float64, {1, axes});
  std::copy_n(plan.cone.begin(), axes, direction.as<double>().data());
  plan.query.cone.directions = direction.view();
  plan.query.cone.half_angle = degrees * std::numbers::pi / 180;
}

void fit_into_memory(QueryPlan& plan, const Array& sites, const Array& queries) {
  plan.set.storage = plan.storage.value_or(points::Storage::sorted);
  if (!plan.memory) return;
  const auto needed = [&](points::Storage storage) { return needed_bytes(plan, storage, sites, queries); };
  for (points::Storage storage : kFromFastest) {
    if (plan.storage && storage != *plan.storage) continue;
    plan.set.storage = storage;
    if (needed(storage) <= *plan.memory) return;
  }
  throw InvalidArgument(fmt::format("--memory {} is too small: sites, queries and answers need {} with {} storage",
                                    memory_text(*plan.memory), memory_text(needed(plan.set.storage)),
                                    name_of(plan.set.storage)));
}

void choose_backend(QueryPlan& plan, const Array& sites, const Array& queries) {
  Backend& backend = plan.query.execution.backend;
  const std::size_t needed = device_bytes(plan, sites, queries);
  const bool within_memory = needed <= plan.memory.value_or(needed);
  if (backend == Backend::automatic) {
    const bool serves = are_many(plan, sites, queries) && within_memory && device_count() > 0 &&
                        needed < describe_device(current_device()).memory_bytes / 2;
    backend = serves ? Backend::cuda : Backend::cpu;
  }
  if (backend != Backend::cuda) return;
  plan.set.device_memory = plan.memory;
  if (!plan.storage && !within_memory) plan.set.storage = points::Storage::plain;
}

}  // namespace fathom::cli
