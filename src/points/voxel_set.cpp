// The front of sets of voxels: checks, edits, and queries handed over to the CPU's loop or to a device.
#include "fathom/points/voxel_set.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fathom/core/error.h"
#include "points/check.h"
#include "points/cpu/extent.h"
#include "core/curve_order.h"
#include "points/cpu/stretch.h"
#include "points/cpu/voxel_search.h"
#include "points/device_build.h"
#include "points/mask_sites.h"
#include "points/pyramid.h"
#include "points/site_list.h"

namespace fathom::points {

namespace {

const Shape& checked(const Shape& extents) {
  if (extents.rank() != 2 && extents.rank() != 3)
    throw InvalidArgument("a set of voxels has 2 or 3 axes, not " + std::to_string(extents.rank()));
  element_count(extents);
  for (std::int64_t n : extents)
    if (n > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument("the extents " + to_string(extents) + " pass what int32 coordinates hold");
  return extents;
}

void check_elements(std::span<const std::int64_t> elements, const Shape& extents) {
  const std::int64_t count = element_count(extents);
  for (std::int64_t element : elements)
    if (element < 0 || element >= count) refuse_element(element, extents);
}

void check_pairs(std::int64_t from, std::int64_t to) {
  if (from != to)
    throw InvalidArgument(std::to_string(from) + " elements are to move to " + std::to_string(to) +
                          " places; give one for each");
}

ElementList list_of(std::span<const std::int64_t> elements) {
  return {elements.data(), static_cast<std::int64_t>(elements.size()), MemorySpace::host, {}};
}

ElementList list_of(const DeviceView<const std::int64_t>& elements, Stream stream) {
  if (elements.shape().rank() != 1)
    throw InvalidArgument("elements have the shape " + to_string(elements.shape()) + "; give linear indices, [n]");
  return {elements.data(), elements.shape()[0], MemorySpace::device, stream};
}

/// Calls work(i) for each of some elements, and looks now and then whether to go on.
template <class Work>
void for_each_watched(std::span<const std::int64_t> elements, const Execution& watch, const Work& work) {
  constexpr std::size_t kBetween = 1 << 14;
  Monitor monitor(watch, static_cast<std::int64_t>(elements.size()));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i % kBetween == 0) monitor.look();
    work(i);
  }
}

/// Whether squared distances between integers may pass what double holds.
bool needs_wide(const Request& request, const Cell& extents, int threads) {
  const Box box = cpu::extent_of(request.queries, "query", threads);
  if (request.queries.dtype != DType::int32) return false;
  double sum = 0;
  for (int k = 0; k < request.queries.axes; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const double reach = std::max(box.high[i], static_cast<double>(extents[k])) - std::min(box.low[i], 0.0);
    sum += reach * reach;
  }
  return sum > static_cast<double>(kExactInDouble);
}

}  // namespace

/// On the host a pyramid and a count, on a device what lives there.
struct VoxelSet::Contents {
  explicit Contents(const Shape& grid) : shape(checked(grid)), extents(extents_of(grid)) {
    facts.axes = grid.rank();
    facts.largest_id = element_count(grid) - 1;
    facts.euclidean = true;
  }

  void keep(std::unique_ptr<ResidentVoxels> voxels) {
    resident = voxels.get();
    residents.push_back(std::move(voxels));
    pyramid.reset();
  }
  /// For elements in a device's memory.
  ResidentVoxels& there() const {
    if (!resident)
      throw InvalidArgument(
          "the elements are in a device's memory, the set in the host's; build it with the backend cuda");
    return *resident;
  }
  Cell cell(std::int64_t element) const { return cell_at(element, extents, facts.axes); }

  Shape shape;
  Cell extents;
  SetFacts facts;
  std::int64_t count = 0;  ///< of the pyramid
  std::optional<Pyramid> pyramid;
  ResidentSets residents;              ///< one, or none
  ResidentVoxels* resident = nullptr;  ///< the same
  mutable Shares shares{1};
};

VoxelSet::VoxelSet(const Shape& extents, const Execution& execution) : contents_(std::make_unique<Contents>(extents)) {
  if (execution.backend == Backend::cuda) contents_->keep(make_voxels(extents, nullptr, 0));
  else contents_->pyramid.emplace(contents_->extents, contents_->facts.axes);
}

VoxelSet::VoxelSet(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
VoxelSet::~VoxelSet() = default;
VoxelSet::VoxelSet(VoxelSet&&) noexcept = default;
VoxelSet& VoxelSet::operator=(VoxelSet&&) noexcept = default;

VoxelSet VoxelSet::of_mask(const AnyConstView& mask, const Execution& execution) {
  VoxelSet set(mask.shape());
  Contents& contents = *set.contents_;
  Monitor monitor(execution, element_count(mask.shape()));
  for_each_nonzero(mask, monitor, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    contents.pyramid->add(mask.rank() == 2 ? Cell{{y, x, 0}} : Cell{{z, y, x}});
    ++contents.count;
  });
  if (execution.backend == Backend::cuda)
    contents.keep(make_voxels(contents.shape, &*contents.pyramid, contents.count));
  return set;
}

VoxelSet VoxelSet::of_mask(const AnyConstDeviceView& mask, Stream stream) {
  auto contents = std::make_unique<Contents>(mask.shape());
  contents->keep(make_voxels(mask, stream));
  return VoxelSet(std::move(contents));
}

const Shape& VoxelSet::extents() const { return contents_->shape; }
bool VoxelSet::on_device() const { return contents_->resident != nullptr; }
std::int64_t VoxelSet::size() const { return on_device() ? contents_->resident->count() : contents_->count; }
std::size_t VoxelSet::bytes() const { return on_device() ? contents_->resident->bytes() : contents_->pyramid->bytes(); }

bool VoxelSet::contains(std::int64_t element) const {
  check_elements({&element, 1}, contents_->shape);
  const Cell cell = contents_->cell(element);
  return on_device() ? contents_->resident->contains(cell) : contents_->pyramid->contains(cell);
}

std::vector<std::int64_t> VoxelSet::elements() const {
  if (on_device()) return contents_->resident->sites(0).ids;
  return elements_of(contents_->pyramid->words(0), contents_->extents, contents_->facts.axes);
}

std::int64_t VoxelSet::add(std::span<const std::int64_t> elements, const Execution& watch) {
  check_elements(elements, contents_->shape);
  if (on_device()) return contents_->resident->add(list_of(elements));
  const std::int64_t before = contents_->count;
  for_each_watched(elements, watch,
                   [&](std::size_t i) { contents_->count += contents_->pyramid->add(contents_->cell(elements[i])); });
  return contents_->count - before;
}

std::int64_t VoxelSet::remove(std::span<const std::int64_t> elements, const Execution& watch) {
  check_elements(elements, contents_->shape);
  if (on_device()) return contents_->resident->remove(list_of(elements));
  const std::int64_t before = contents_->count;
  for_each_watched(elements, watch, [&](std::size_t i) {
    contents_->count -= contents_->pyramid->remove(contents_->cell(elements[i]));
  });
  return before - contents_->count;
}

std::int64_t VoxelSet::move(std::span<const std::int64_t> from, std::span<const std::int64_t> to,
                            const Execution& watch) {
  check_pairs(static_cast<std::int64_t>(from.size()), static_cast<std::int64_t>(to.size()));
  check_elements(from, contents_->shape);
  check_elements(to, contents_->shape);
  if (on_device()) return contents_->resident->move(list_of(from), list_of(to));
  std::vector<std::int64_t> arriving;
  for_each_watched(from, watch, [&](std::size_t i) {
    if (contents_->pyramid->contains(contents_->cell(from[i]))) arriving.push_back(to[i]);
  });
  remove(from, watch);
  add(arriving, watch);
  return static_cast<std::int64_t>(arriving.size());
}

std::int64_t VoxelSet::add(const DeviceView<const std::int64_t>& elements, Stream stream) {
  return contents_->there().add(list_of(elements, stream));
}

std::int64_t VoxelSet::remove(const DeviceView<const std::int64_t>& elements, Stream stream) {
  return contents_->there().remove(list_of(elements, stream));
}

std::int64_t VoxelSet::move(const DeviceView<const std::int64_t>& from, const DeviceView<const std::int64_t>& to,
                            Stream stream) {
  const ElementList leaving = list_of(from, stream), places = list_of(to, stream);
  check_pairs(leaving.count, places.count);
  return contents_->there().move(leaving, places);
}

QueryReport VoxelSet::nearest(const Coordinates& queries, const QueryOptions& options,
                              const QueryOutputs& outputs) const {
  const Execution& execution = options.execution;
  const int threads = threads_of(execution);
  check_backend(execution, on_device());
  check_query(contents_->facts, queries, options, outputs);
  if (execution.stop.stop_requested()) throw Cancelled();
  const Request request = request_of(contents_->facts, queries, options, outputs, 0);
  if (on_device())
    return answer_on_devices(contents_->residents, {request}, {execution.scratch_limit, {}}, contents_->shares,
                             execution);
  Monitor monitor(execution, queries.count());
  const std::int64_t ordered = cpu::ordered_at_once(queries.count(), execution.scratch_limit.value_or(SIZE_MAX));
  const cpu::VoxelCut cut{needs_wide(request, contents_->extents, threads), threads, ordered};
  cpu::search_voxels(*contents_->pyramid, contents_->extents, request, cut, monitor);
  if (execution.progress) execution.progress(1);
  return {Backend::cpu, resolve(execution.instruction_set), threads, curve_order_bytes(ordered)};
}

QueryReport VoxelSet::nearest(const DeviceCoordinates& queries, const QueryOptions& options,
                              const DeviceQueryOutputs& device_outputs, Stream stream) const {
  check_on_device(options.execution, on_device());
  const QueryOutputs outputs = unchecked(device_outputs);
  check_query(contents_->facts, queries, options, outputs, MemorySpace::device);
  const Request request = request_of(contents_->facts, queries, options, outputs, 0);
  QueryReport report{.backend = Backend::cuda, .device = contents_->resident->device_name()};
  report.scratch_bytes = call(*contents_->resident, {request}, {options.execution.scratch_limit, {}}, stream);
  return report;
}

std::size_t VoxelSet::scratch_bytes(const DeviceCoordinates& queries, const QueryOptions& options) const {
  if (!on_device()) return 0;
  const Request request = request_of(contents_->facts, queries, options, {}, 0);
  return call_bytes(*contents_->resident, request, {options.execution.scratch_limit, {}});
}

}  // namespace fathom::points
