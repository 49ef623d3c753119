// The front of the room: builds sets, validates queries, hands over to the CPU's loops or to a device.
#include "fathom/points/site_set.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/require_device.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "points/check.h"
#include "points/cpu/answer.h"
#include "points/cpu/build.h"
#include "points/cpu/extent.h"
#include "points/device_build.h"
#include "points/mask_sites.h"
#include "points/site_list.h"
#include "points/sites.h"

namespace fathom::points {

namespace {

void check_id_range(std::int64_t largest_id, Storage storage) {
  if (storage == Storage::sorted && largest_id >= static_cast<std::int64_t>(kNoId))
    throw InvalidArgument("ids go up to " + std::to_string(largest_id) +
                          ", which sorted storage does not hold (at most 4294967294); use boxed or plain");
}

Tree make_tree(const Cloud& sites, const std::vector<std::uint32_t>& ids, const SetFacts& facts, Storage storage,
               const Execution& execution) {
  const int threads = threads_of(execution);
  check_build_scratch(execution.scratch_limit, cpu::build_scratch_bytes(sites, storage));
  Monitor monitor(execution, 2 * sites.count);
  const Box extent = cpu::extent_of(sites, "site", threads, &monitor);
  if (sites.count > 0) check_inside(extent, facts.period, facts.axes);
  return cpu::build_tree(sites, ids, extent, storage, threads, monitor);
}

bool whole(double x) { return x == std::floor(x); }

/// Whether squared distances between the integers of sites and queries may pass what double holds.
bool needs_wide(const Tree& tree, const Request& request, const Box& queries) {
  const bool integral = tree.dtype == DType::int32 && request.queries.dtype == DType::int32;
  if (request.metric != Metric::euclidean || !integral || tree.count == 0) return false;
  double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(tree.axes); ++k) {
    if (!whole(request.period[k])) return false;
    const double reach = std::max(queries.high[k], tree.extent.high[k]) - std::min(queries.low[k], tree.extent.low[k]);
    sum += reach * reach;
  }
  return sum > static_cast<double>(kExactInDouble);
}

std::vector<Cloud> clouds_of(const CoordinateLayout& points, std::int64_t every) {
  std::vector<Cloud> clouds;
  for (std::int64_t cloud = 0; cloud < points.clouds(); ++cloud) clouds.push_back(cloud_of(points, cloud, every));
  return clouds;
}

/// One for each cloud.
std::vector<Request> requests_of(const SetFacts& facts, const CoordinateLayout& queries, const QueryOptions& options,
                                 const QueryOutputs& outputs) {
  std::vector<Request> requests;
  for (std::int64_t cloud = 0; cloud < queries.clouds(); ++cloud)
    requests.push_back(request_of(facts, queries, options, outputs, cloud));
  return requests;
}

/// @throws InvalidArgument sites in a device's memory are to go elsewhere
void check_no_host(const SiteSetOptions& options) {
  if (options.execution.backend == Backend::cpu)
    throw InvalidArgument("the sites are in a device's memory, where the backend cpu cannot work; use auto or cuda");
  if (!options.devices.empty())
    throw InvalidArgument(
        "the sites are in a device's memory, where the set stays; name devices for sites of the host");
}

/// Of one cloud: reads its queries, and answers them.
std::size_t run_cloud(const Tree& tree, const Request& request, const Execution& execution, int threads,
                      Monitor& monitor) {
  const Box extent = cpu::extent_of(request.queries, "query", threads, &monitor);
  const cpu::Cut cut = cpu::cut_work(tree, request, execution, threads);
  cpu::answer_queries(tree, request, needs_wide(tree, request, extent), cut, resolve(execution.instruction_set),
                      monitor);
  return cut.scratch_bytes;
}

}  // namespace

SiteSet::Sites::Sites(const CoordinateLayout& sites, const SiteSetOptions& options)
    : dtype(sites.dtype()), device_memory(options.device_memory) {
  check_set_options(options, sites);
  facts = {sites.axes(), sites.batched(), sites.clouds(), -1, options.storage, period_of(options, sites.axes()), {}};
  if (sites.count() > 0) facts.largest_id = (sites.count() - 1) / options.every * options.every;
}

void SiteSet::Sites::take_in(const std::vector<Cloud>& clouds, const std::vector<std::uint32_t>& ids,
                             const SiteSetOptions& options) {
  check_id_range(facts.largest_id, options.storage);
  if (options.execution.backend == Backend::cuda) return keep(make_residents(clouds, ids, facts, options));
  for (const Cloud& cloud : clouds) trees.push_back(make_tree(cloud, ids, facts, options.storage, options.execution));
}

SiteSet::SiteSet(const Coordinates& sites, const SiteSetOptions& options) {
  auto made = std::make_unique<Sites>(sites, options);
  made->take_in(clouds_of(sites, options.every), {}, options);
  sites_ = std::move(made);
}

SiteSet::SiteSet(const DeviceCoordinates& sites, const SiteSetOptions& options, Stream stream) {
  check_no_host(options);
  auto made = std::make_unique<Sites>(sites, options);
  check_id_range(made->facts.largest_id, options.storage);
  made->keep(make_residents_in_place(clouds_of(sites, options.every), made->facts, options, stream));
  sites_ = std::move(made);
}

SiteSet SiteSet::of_mask(const AnyConstView& mask, const SiteSetOptions& options) {
  MaskSites found = sites_of_mask(mask, options.every, options.execution);
  const Coordinates coordinates(AnyConstView(found.coordinates.view()));
  auto made = std::make_unique<Sites>(coordinates, options);
  made->facts.name_elements_of(mask.shape());
  const auto ids =
      options.storage == Storage::sorted ? linear_indices(found, mask.shape()) : std::vector<std::uint32_t>();
  made->take_in({cloud_of(coordinates, 0)}, ids, options);
  if (options.storage != Storage::sorted && made->residents.empty()) made->coordinates = std::move(found.coordinates);
  return SiteSet(std::unique_ptr<const Sites>(std::move(made)));
}

SiteSet SiteSet::of_mask(const AnyConstDeviceView& mask, const SiteSetOptions& options, Stream stream) {
  check_no_host(options);
  check_mask(mask.shape(), options.every);
  const DeviceCoordinates none(AnyConstDeviceView(nullptr, DType::int32, {0, mask.rank()}));
  auto made = std::make_unique<Sites>(none, options);
  made->facts.name_elements_of(mask.shape());
  check_id_range(made->facts.largest_id, options.storage);
  made->keep(make_residents_of_mask(mask, made->facts, options, stream));
  return SiteSet(std::unique_ptr<const Sites>(std::move(made)));
}

SiteSet::SiteSet(std::unique_ptr<const Sites> sites) : sites_(std::move(sites)) {}
SiteSet::~SiteSet() = default;
SiteSet::SiteSet(SiteSet&&) noexcept = default;
SiteSet& SiteSet::operator=(SiteSet&&) noexcept = default;

std::int64_t SiteSet::size() const {
  if (on_device()) return sites_->residents[0]->count();
  return sites_->trees.empty() ? 0 : sites_->trees[0].count - sites_->trees[0].vacant;
}
int SiteSet::axes() const { return sites_->facts.axes; }
bool SiteSet::batched() const { return sites_->facts.batched; }
std::int64_t SiteSet::clouds() const { return sites_->facts.clouds; }
DType SiteSet::dtype() const { return sites_->dtype; }

SiteList SiteSet::sites(std::int64_t cloud) const {
  const auto number = static_cast<std::size_t>(cloud);
  if (cloud < 0 || cloud >= clouds())
    throw InvalidArgument("there is no cloud " + std::to_string(cloud) + " in a set of " + std::to_string(clouds()));
  return sites_->trees.empty() ? sites_->residents[0]->sites(number) : sites_of(sites_->trees[number]);
}

bool SiteSet::on_device() const { return !sites_->residents.empty(); }

std::size_t SiteSet::bytes() const {
  std::size_t sum = sites_->coordinates.bytes();
  for (const auto& resident : sites_->residents) sum += resident->bytes();
  for (const Tree& tree : sites_->trees) sum += tree.bytes();
  return sum;
}

QueryReport SiteSet::nearest(const Coordinates& queries, const QueryOptions& options,
                             const QueryOutputs& outputs) const {
  const Execution& execution = options.execution;
  const int threads = threads_of(execution);
  check_backend(execution, on_device());
  check_query(sites_->facts, queries, options, outputs);
  QueryReport report{Backend::cpu, resolve(execution.instruction_set), threads};
  if (execution.stop.stop_requested()) throw Cancelled();
  if (on_device())
    return answer_on_devices(sites_->residents, requests_of(sites_->facts, queries, options, outputs),
                             sites_->limits(execution), *sites_->shares, execution);
  Monitor monitor(execution, queries.count() * queries.clouds());
  for (std::int64_t cloud = 0; cloud < queries.clouds(); ++cloud) {
    const Request request = request_of(sites_->facts, queries, options, outputs, cloud);
    const Tree& tree = sites_->trees[static_cast<std::size_t>(cloud)];
    report.scratch_bytes = std::max(report.scratch_bytes, run_cloud(tree, request, execution, threads, monitor));
  }
  if (execution.progress) execution.progress(1);
  return report;
}

QueryReport SiteSet::nearest(const DeviceCoordinates& queries, const QueryOptions& options,
                             const DeviceQueryOutputs& device_outputs, Stream stream) const {
  check_on_device(options.execution, on_device());
  const QueryOutputs outputs = unchecked(device_outputs);
  check_query(sites_->facts, queries, options, outputs, MemorySpace::device);
  const std::vector<Request> requests = requests_of(sites_->facts, queries, options, outputs);
  const ResidentSet& resident = nearest_to(queries, sites_->residents);
  QueryReport report{.backend = Backend::cuda, .device = resident.device_name()};
  report.scratch_bytes = call(resident, requests, sites_->limits(options.execution), stream);
  return report;
}

std::size_t SiteSet::scratch_bytes(const DeviceCoordinates& queries, const QueryOptions& options) const {
  if (!on_device() || queries.clouds() == 0) return 0;
  const Request request = request_of(sites_->facts, queries, options, {}, 0);
  return call_bytes(nearest_to(queries, sites_->residents), request, sites_->limits(options.execution));
}

double percentage_error(const SiteSet& exact, const SiteSet& approximate, const Coordinates& queries,
                        const QueryOptions& options) {
  Shape shape{queries.clouds(), queries.count()};
  if (!queries.batched()) shape = {queries.count()};
  Array truth(DType::float64, shape), found(DType::float64, shape);
  const auto distances = [&](const SiteSet& set, Array& out) {
    QueryOutputs outputs;
    outputs.distance = out.view();
    set.nearest(queries, options, outputs);
    return reinterpret_cast<const double*>(out.data());
  };
  const double *a = distances(exact, truth), *b = distances(approximate, found);
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < truth.size(); ++i) {
    if (!std::isfinite(a[i]) || a[i] == 0) continue;
    sum += std::abs(b[i] - a[i]) / a[i];
    ++count;
  }
  return count == 0 ? 0 : 100 * sum / static_cast<double>(count);
}

}  // namespace fathom::points
