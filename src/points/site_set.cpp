// The front of the room: builds sets, validates queries, hands over to the CPU's loops.
#include "fathom/points/site_set.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "points/check.h"
#include "points/cpu/answer.h"
#include "points/cpu/build.h"
#include "points/cpu/extent.h"
#include "points/mask_sites.h"
#include "points/tree.h"

namespace fathom::points {

struct SiteSet::Sites {
  SetFacts facts;
  DType dtype = DType::float32;
  std::vector<Tree> trees;  ///< one per cloud
  Array coordinates;        ///< of a mask's sites, where the storage refers to them
};

namespace {

void check_id_range(std::int64_t largest_id, Storage storage) {
  if (storage == Storage::sorted && largest_id >= static_cast<std::int64_t>(kNoId))
    throw InvalidArgument("ids go up to " + std::to_string(largest_id) +
                          ", which sorted storage does not hold (at most 4294967294); use boxed or plain");
}

void check_inside(const Box& extent, const std::array<double, 3>& period, int axes) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(axes); ++k)
    if (period[k] > 0 && (extent.low[k] < 0 || extent.high[k] >= period[k]))
      throw InvalidArgument(
          "a site lies outside of the periodic box, which goes from 0 to below the period along axis " +
          std::to_string(k) + "; wrap the coordinates first");
}

void check_build_scratch(const Execution& execution, std::size_t needed) {
  if (execution.scratch_limit && needed > *execution.scratch_limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*execution.scratch_limit) +
                          " bytes is too small to sort the sites; the smallest that works here is " +
                          std::to_string(needed) + " bytes");
}

Tree make_tree(const Cloud& sites, const std::vector<std::uint32_t>& ids, const SetFacts& facts, Storage storage,
               const Execution& execution) {
  const int threads = threads_of(execution);
  check_build_scratch(execution, cpu::build_scratch_bytes(sites, storage));
  const Box extent = cpu::extent_of(sites, "site", threads);
  if (sites.count > 0) check_inside(extent, facts.period, facts.axes);
  Monitor monitor(execution, 2 * sites.count);
  return cpu::build_tree(sites, ids, extent, storage, threads, monitor);
}

bool whole(double x) { return x == std::floor(x); }

/// Whether squared distances between the integers of sites and queries may pass what double holds.
bool needs_wide(const Tree& tree, const Request& request, const Box& queries) {
  if (tree.dtype != DType::int32 || request.queries.dtype != DType::int32 || tree.count == 0) return false;
  double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(tree.axes); ++k) {
    if (!whole(request.period[k])) return false;
    const double reach = std::max(queries.high[k], tree.extent.high[k]) - std::min(queries.low[k], tree.extent.low[k]);
    sum += reach * reach;
  }
  return sum > static_cast<double>(kExactInDouble);
}

/// Of one cloud: reads its queries, and answers them.
std::size_t run_cloud(const Tree& tree, const Request& request, const Execution& execution, int threads,
                      Monitor& monitor) {
  const Box extent = cpu::extent_of(request.queries, "query", threads);
  const cpu::Cut cut = cpu::cut_work(tree, request, execution, threads);
  cpu::answer_queries(tree, request, needs_wide(tree, request, extent), cut, resolve(execution.instruction_set),
                      monitor);
  return cut.scratch_bytes;
}

}  // namespace

SiteSet::SiteSet(const Coordinates& sites, const SiteSetOptions& options) {
  check_set_options(options, sites);
  auto made = std::make_unique<Sites>();
  SetFacts& facts = made->facts;
  facts = {sites.axes(), sites.batched(), sites.clouds(), -1, options.storage, period_of(options, sites.axes()), {}};
  made->dtype = sites.dtype();
  if (sites.count() > 0) facts.largest_id = (sites.count() - 1) / options.every * options.every;
  check_id_range(facts.largest_id, options.storage);
  for (std::int64_t cloud = 0; cloud < sites.clouds(); ++cloud)
    made->trees.push_back(
        make_tree(cloud_of(sites, cloud, options.every), {}, facts, options.storage, options.execution));
  sites_ = std::move(made);
}

SiteSet SiteSet::of_mask(const AnyConstView& mask, const SiteSetOptions& options) {
  MaskSites found = sites_of_mask(mask, options.every);
  const Coordinates coordinates(AnyConstView(found.coordinates.view()));
  check_set_options(options, coordinates);
  auto made = std::make_unique<Sites>();
  SetFacts& facts = made->facts;
  facts = {mask.rank(), false, 1, element_count(mask.shape()) - 1, options.storage, period_of(options, mask.rank()),
           {}};
  facts.naming.linear = true;
  for (int k = 0; k < mask.rank(); ++k) facts.naming.extents[static_cast<std::size_t>(k)] = mask.shape()[k];
  made->dtype = DType::int32;
  check_id_range(facts.largest_id, options.storage);
  const auto ids =
      options.storage == Storage::sorted ? linear_indices(found, mask.shape()) : std::vector<std::uint32_t>();
  made->trees.push_back(make_tree(cloud_of(coordinates, 0), ids, facts, options.storage, options.execution));
  if (options.storage != Storage::sorted) made->coordinates = std::move(found.coordinates);
  return SiteSet(std::unique_ptr<const Sites>(std::move(made)));
}

SiteSet::SiteSet(std::unique_ptr<const Sites> sites) : sites_(std::move(sites)) {}
SiteSet::~SiteSet() = default;
SiteSet::SiteSet(SiteSet&&) noexcept = default;
SiteSet& SiteSet::operator=(SiteSet&&) noexcept = default;

std::int64_t SiteSet::size() const { return sites_->trees.empty() ? 0 : sites_->trees[0].count; }
int SiteSet::axes() const { return sites_->facts.axes; }
bool SiteSet::batched() const { return sites_->facts.batched; }
std::int64_t SiteSet::clouds() const { return sites_->facts.clouds; }
DType SiteSet::dtype() const { return sites_->dtype; }

std::size_t SiteSet::bytes() const {
  std::size_t sum = sites_->coordinates.bytes();
  for (const Tree& tree : sites_->trees) sum += tree.bytes();
  return sum;
}

QueryReport SiteSet::nearest(const Coordinates& queries, const QueryOptions& options,
                             const QueryOutputs& outputs) const {
  const Execution& execution = options.execution;
  const int threads = threads_of(execution);
  check_query(sites_->facts, queries, options, outputs);
  QueryReport report{Backend::cpu, resolve(execution.instruction_set), threads, 0};
  if (execution.stop.stop_requested()) throw Cancelled();
  Monitor monitor(execution, queries.count() * queries.clouds());
  for (std::int64_t cloud = 0; cloud < queries.clouds(); ++cloud) {
    const Request request = request_of(sites_->facts, queries, options, outputs, cloud);
    const Tree& tree = sites_->trees[static_cast<std::size_t>(cloud)];
    report.scratch_bytes = std::max(report.scratch_bytes, run_cloud(tree, request, execution, threads, monitor));
  }
  if (execution.progress) execution.progress(1);
  return report;
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
