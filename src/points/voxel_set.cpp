// The front of sets of voxels: checks, edits, and queries handed over to the CPU's loop.
#include "fathom/points/voxel_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "fathom/core/error.h"
#include "points/check.h"
#include "points/cpu/extent.h"
#include "points/cpu/order.h"
#include "points/cpu/stretch.h"
#include "points/cpu/voxel_search.h"
#include "points/mask_sites.h"
#include "points/pyramid.h"

namespace fathom::points {

struct VoxelSet::Contents {
  Shape shape;
  Cell extents{1, 1, 1};
  std::int64_t count = 0;
  Pyramid pyramid;
};

namespace {

const Shape& checked(const Shape& extents) {
  if (extents.rank() != 2 && extents.rank() != 3)
    throw InvalidArgument("a set of voxels has 2 or 3 axes, not " + std::to_string(extents.rank()));
  for (std::int64_t n : extents)
    if (n < 0 || n > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument("the extents " + to_string(extents) + " pass what int32 coordinates hold");
  element_count(extents);
  return extents;
}

void check_elements(std::span<const std::int64_t> elements, const Shape& extents) {
  const std::int64_t count = element_count(extents);
  for (std::int64_t element : elements)
    if (element < 0 || element >= count)
      throw InvalidArgument("there is no element " + std::to_string(element) + " in a set of " + to_string(extents) +
                            "; give linear indices from 0 to " + std::to_string(count - 1));
}

Cell cell_of(std::int64_t element, const Shape& extents) {
  Cell cell{};
  for (int k = extents.rank(); k-- > 0; element /= extents[k]) cell[static_cast<std::size_t>(k)] = element % extents[k];
  return cell;
}

/// Whether squared distances between integers may pass what double holds.
bool needs_wide(const Request& request, const Cell& extents, int threads) {
  const Box box = cpu::extent_of(request.queries, "query", threads);
  if (request.queries.dtype != DType::int32) return false;
  double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(request.queries.axes); ++k) {
    const double reach = std::max(box.high[k], static_cast<double>(extents[k])) - std::min(box.low[k], 0.0);
    sum += reach * reach;
  }
  return sum > static_cast<double>(kExactInDouble);
}

}  // namespace

VoxelSet::VoxelSet(const Shape& extents)
    : contents_(std::make_unique<Contents>(Contents{checked(extents), {1, 1, 1}, 0, Pyramid(extents)})) {
  for (int k = 0; k < extents.rank(); ++k) contents_->extents[static_cast<std::size_t>(k)] = extents[k];
}

VoxelSet::~VoxelSet() = default;
VoxelSet::VoxelSet(VoxelSet&&) noexcept = default;
VoxelSet& VoxelSet::operator=(VoxelSet&&) noexcept = default;

VoxelSet VoxelSet::of_mask(const AnyConstView& mask) {
  VoxelSet set(mask.shape());
  Contents& contents = *set.contents_;
  for_each_nonzero(mask, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    contents.pyramid.add(mask.rank() == 2 ? Cell{y, x, 0} : Cell{z, y, x});
    ++contents.count;
  });
  return set;
}

const Shape& VoxelSet::extents() const { return contents_->shape; }
std::int64_t VoxelSet::size() const { return contents_->count; }
std::size_t VoxelSet::bytes() const { return contents_->pyramid.bytes(); }

bool VoxelSet::contains(std::int64_t element) const {
  check_elements({&element, 1}, contents_->shape);
  return contents_->pyramid.contains(cell_of(element, contents_->shape));
}

std::int64_t VoxelSet::add(std::span<const std::int64_t> elements) {
  check_elements(elements, contents_->shape);
  std::int64_t added = 0;
  for (std::int64_t element : elements) added += contents_->pyramid.add(cell_of(element, contents_->shape));
  contents_->count += added;
  return added;
}

std::int64_t VoxelSet::remove(std::span<const std::int64_t> elements) {
  check_elements(elements, contents_->shape);
  std::int64_t removed = 0;
  for (std::int64_t element : elements) removed += contents_->pyramid.remove(cell_of(element, contents_->shape));
  contents_->count -= removed;
  return removed;
}

bool VoxelSet::move(std::int64_t from, std::int64_t to) {
  check_elements({&to, 1}, contents_->shape);
  if (!remove(from)) return false;
  add(to);
  return true;
}

QueryReport VoxelSet::nearest(const Coordinates& queries, const QueryOptions& options,
                              const QueryOutputs& outputs) const {
  const Execution& execution = options.execution;
  if (execution.backend == Backend::cuda)
    throw DeviceError("sets of voxels have no CUDA backend in this version; use backend auto or cpu");
  const int threads = threads_of(execution);
  SetFacts facts;
  facts.axes = contents_->shape.rank();
  facts.largest_id = element_count(contents_->shape) - 1;
  check_query(facts, queries, options, outputs);
  if (execution.stop.stop_requested()) throw Cancelled();
  const Request request = request_of(facts, queries, options, outputs, 0);
  Monitor monitor(execution, queries.count());
  const std::int64_t ordered = cpu::ordered_at_once(queries.count(), execution.scratch_limit.value_or(SIZE_MAX));
  const cpu::VoxelCut cut{needs_wide(request, contents_->extents, threads), threads, ordered};
  cpu::search_voxels(contents_->pyramid, contents_->extents, request, cut, monitor);
  if (execution.progress) execution.progress(1);
  return {Backend::cpu, resolve(execution.instruction_set), threads, cpu::curve_order_bytes(ordered)};
}

}  // namespace fathom::points
