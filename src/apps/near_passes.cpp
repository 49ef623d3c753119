#include "apps/near_passes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "apps/check.h"
#include "apps/cpu/morphology.h"
#include "apps/rows.h"

namespace fathom::apps {

namespace {

constexpr std::int64_t kSlab = std::int64_t{1} << 20;  // elements of an array whose distances are there at once

}  // namespace

double NearPasses::spacing(int axis) const {
  const std::vector<double>& all = spacing_;
  return all.empty() ? 1 : all[all.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
}

std::int64_t NearPasses::margin(int axis, double distance) const {
  constexpr double kMost = 0x1p40;
  return 1 + static_cast<std::int64_t>(std::min(kMost, distance / spacing(axis) * (1 + 0x1p-40)));
}

Shape NearPasses::padded(Shape shape, int batch_axes) const {
  for (int axis = batch_axes; axis < shape.rank(); ++axis) shape[axis] += 2 * margin(axis - batch_axes);
  return shape;
}

void NearPasses::fit_field(double most) {
  constexpr double kMost = 1e38;  // float32 holds all distances below
  field_ = most > kMost ? DType::float64 : DType::float32;
}

std::int64_t NearPasses::slab_planes(const Shape& shape, int batch_axes) const {
  const std::int64_t planes = shape[0];
  if (batch_axes > 0 || planes == 0) return planes;
  const std::int64_t plane = std::max<std::int64_t>(1, element_count(shape) / planes), around = 2 * (margin(0) - 1);
  const std::int64_t of_a_slab = std::max({kSlab / plane, around, std::int64_t{1}});
  return of_a_slab + around < planes ? of_a_slab : planes;
}

std::int64_t NearPasses::planes_with_halo(const Shape& shape, int batch_axes) const {
  return std::min(shape[0], slab_planes(shape, batch_axes) + 2 * (margin(0) - 1));
}

grid::DistanceOptions NearPasses::distances(const grid::Sites& sites, grid::Border border, int batch_axes) const {
  grid::DistanceOptions options;
  options.sites = sites;
  options.spacing = spacing_;
  options.border = {border};
  options.max_distance = reach_;
  options.batch_axes = batch_axes;
  options.execution = execution_;
  options.execution.backend = Backend::cpu;
  options.execution.scratch_limit.reset();
  options.execution.progress = nullptr;
  return options;
}

std::size_t NearPasses::transform_bytes(const AnyConstView& input, const grid::DistanceOptions& options, bool least,
                                        std::optional<DType> out) const {
  grid::DistanceOptions own = options;
  Shape shape = input.shape(), result = shape;
  if (!out) {
    result[0] = slab_planes(shape, options.batch_axes);
    shape[0] = planes_with_halo(shape, options.batch_axes);
    if (result[0] < shape[0])
      for (int axis = 0; axis < shape.rank(); ++axis) own.region.push_back({0, result[axis]});
  }
  const AnyView made(nullptr, out.value_or(field_), result);
  const grid::DistanceOutputs outputs = {.distance = out ? AnyView() : made, .squared = out ? made : AnyView()};
  const AnyConstView part(nullptr, input.dtype(), shape);
  return least ? grid::least_scratch_bytes(part, own, outputs) : grid::scratch_bytes(part, own, outputs);
}

void NearPasses::measure(const AnyConstView& input, const grid::DistanceOptions& options,
                         const grid::DistanceOutputs& outputs, double share) {
  grid::DistanceOptions own = options;
  own.execution.scratch_limit = scratch_limit_;
  if (!own.execution.workspace) own.execution.workspace = &workspace_;
  if (steps_ > 0) own.execution.progress = part_of(execution_, step_ / share, steps_ / share).progress;
  step_ += share;
  const grid::DistanceReport done = grid::distance_transform(input, own, outputs);
  instruction_set_ = done.instruction_set;
  threads_ = std::max(threads_, done.threads);
}

void NearPasses::each_slab(const AnyConstView& input, grid::DistanceOptions options,
                           const std::function<void(const AnyConstView&, std::int64_t, std::int64_t)>& use,
                           const AnyView& over) {
  const std::int64_t planes = input.shape()[0], around = margin(0) - 1;
  const std::int64_t of_a_slab = slab_planes(input.shape(), options.batch_axes);
  Shape shape = input.shape();
  shape[0] = of_a_slab;
  Array field(field_, shape), kept;
  if (of_a_slab == planes) {
    measure(input, options, {field.view(), {}, {}, {}});
    return use(std::as_const(field).view(), 0, planes);
  }
  Shape with_halo = shape;
  with_halo[0] = of_a_slab + 2 * around;
  if (over.present()) kept = Array(over.dtype(), with_halo);
  const cpu::Crew crew{execution_, thread_count(execution_)};
  std::int64_t known = 0;  // planes that were kept, so far
  for (std::int64_t begin = 0; begin < planes; begin += of_a_slab) {
    const std::int64_t end = std::min(planes, begin + of_a_slab);
    const std::int64_t first = std::max<std::int64_t>(0, begin - around), last = std::min(planes, end + around);
    AnyConstView from = cropped(input, 0, first, last);
    if (over.present()) {
      // Of the last slab's planes those that this one sees, too; the others are as they were.
      const std::size_t plane = kept.bytes() / static_cast<std::size_t>(with_halo[0]);
      const std::int64_t before = std::max<std::int64_t>(0, begin - of_a_slab - around);
      std::memmove(kept.data(), kept.data() + static_cast<std::size_t>(first - before) * plane,
                   static_cast<std::size_t>(std::max<std::int64_t>(0, known - first)) * plane);
      const AnyView rest = cropped(kept.view(), 0, std::max<std::int64_t>(0, known - first), last - first);
      cpu::copy_mask(cropped(input, 0, std::max(known, first), last), rest, crew);
      known = last;
      from = cropped(std::as_const(kept).view(), 0, 0, last - first);
    }
    options.region = {{begin - first, end - first}};
    for (int axis = 1; axis < shape.rank(); ++axis) options.region.push_back({0, shape[axis]});
    const AnyView result = cropped(field.view(), 0, 0, end - begin);
    measure(from, options, {result, {}, {}, {}}, static_cast<double>(end - begin) / static_cast<double>(planes));
    use(AnyConstView(result), begin, end);
  }
}

}  // namespace fathom::apps
