// Values and directions from nearest sites: grid says which element is the nearest, its index says where that is and what
// is there.
#include "fathom/apps/nearest_value.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/check.h"
#include "apps/cpu/nearest_value.h"
#include "apps/rows.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"

namespace fathom::apps {

namespace {

void check_view(const AnyConstView& input, const AnyView& view, const std::string& name, DType dtype) {
  if (!view.present()) return;
  check_output(input, view, name);
  if (view.dtype() != dtype)
    throw InvalidArgument("the " + name + " is " + std::string(name_of(view.dtype())) + "; it must be " +
                          std::string(name_of(dtype)));
}

constexpr const char* kName = "the nearest site's value";

int space_rank(const AnyConstView& input, const grid::DistanceOptions& options) {
  return input.rank() - options.batch_axes;
}

void check(const AnyConstView& input, const grid::DistanceOptions& options, const NearestValueOutputs& outputs) {
  host_threads(options.execution, kName);
  check_batch(input, options.batch_axes);
  if (options.sites.rule == grid::Sites::Rule::labels)
    throw InvalidArgument("the sites are another label's elements, whose values mean nothing; choose another rule");
  if (options.signed_distance || !options.region.empty())
    throw InvalidArgument(
        "values of nearest sites have no sign, and are of the whole array; leave out sign and region");
  if (!outputs.value.present() && !outputs.distance.present() && !outputs.direction.present())
    throw InvalidArgument("no output was given; give value, distance or direction");
  check_view(input, outputs.value, "value", input.dtype());
  check_view(input, outputs.direction, "direction", DType::float32);
  if (outputs.direction.present() && space_rank(input, options) != 2)
    throw InvalidArgument("directions are of maps, with 2 axes of space, not " +
                          std::to_string(space_rank(input, options)));
}

/// What the transform is asked for. @param nearest  indices, dense
grid::DistanceOutputs asked(const NearestValueOutputs& outputs, const AnyView& nearest) {
  const bool any = outputs.value.present() || outputs.direction.present();
  return {outputs.distance, {}, any ? nearest : AnyView(), {}};
}

DType index_type(const AnyConstView& input, int batch_axes) {
  std::int64_t elements = 1;
  for (int axis = batch_axes; axis < input.rank(); ++axis) elements *= input.shape()[axis];
  return elements <= std::numeric_limits<std::int32_t>::max() ? DType::int32 : DType::int64;
}

struct Scratch {
  std::size_t indices = 0, transform = 0;
};

Scratch scratch_of(const AnyConstView& input, const grid::DistanceOptions& options, const NearestValueOutputs& outputs,
                   bool least) {
  const AnyView nearest(nullptr, index_type(input, options.batch_axes), input.shape());
  const grid::DistanceOutputs wanted = asked(outputs, nearest);
  const auto elements = static_cast<std::size_t>(element_count(input.shape()));
  grid::DistanceOptions own = options;
  own.execution.backend = Backend::cpu;
  own.execution.scratch_limit.reset();
  return {wanted.nearest.present() ? elements * size_of(nearest.dtype()) : 0,
          least ? grid::least_scratch_bytes(input, own, wanted) : grid::scratch_bytes(input, own, wanted)};
}

template <class T>
T along(const std::vector<T>& all, std::size_t axis, T otherwise) {
  return all.empty() ? otherwise : all[all.size() == 1 ? 0 : axis];
}

/// The images of a batch one by one.
void each_image(const AnyConstView& input, const AnyConstView& nearest, const NearestValueOutputs& outputs,
                const grid::DistanceOptions& options, int batch_axes, int threads) {
  if (batch_axes > 0) {
    const auto of = [](const AnyView& all, std::int64_t k) { return all.present() ? one_of(all, k) : AnyView(); };
    for (std::int64_t k = 0; k < input.shape()[0]; ++k)
      each_image(one_of(input, k), one_of(nearest, k), {of(outputs.value, k), {}, of(outputs.direction, k)}, options,
                 batch_axes - 1, threads);
    return;
  }
  if (outputs.value.present()) cpu::carry(input, nearest, outputs.value, options.execution, threads);
  if (!outputs.direction.present()) return;
  const auto is_periodic = [&](std::size_t axis) {
    return along(options.border, axis, grid::Border::open) == grid::Border::periodic;
  };
  cpu::direct(nearest, {along(options.spacing, 0, 1.0), along(options.spacing, 1, 1.0)},
              {is_periodic(0), is_periodic(1)}, outputs.direction, options.execution, threads);
}

}  // namespace

std::size_t nearest_value_scratch_bytes(const AnyConstView& input, const grid::DistanceOptions& options,
                                        const NearestValueOutputs& outputs, bool least) {
  check(input, options, outputs);
  const Scratch scratch = scratch_of(input, options, outputs, least);
  return scratch.indices + scratch.transform;
}

NearestValueReport nearest_values(const AnyConstView& input, const grid::DistanceOptions& options,
                                  const NearestValueOutputs& outputs) {
  check(input, options, outputs);
  const Scratch most = scratch_of(input, options, outputs, false), least = scratch_of(input, options, outputs, true);
  grid::DistanceOptions own = options;
  own.execution.backend = Backend::cpu;
  if (const auto limit = options.execution.scratch_limit) {
    if (least.indices + least.transform > *limit)
      throw InvalidArgument("the scratch limit of " + std::to_string(*limit) + " bytes is too small; " +
                            std::to_string(least.indices + least.transform) + " are needed");
    own.execution.scratch_limit = *limit - least.indices;
  }
  if (element_count(input.shape()) == 0) return {};
  own.execution.progress = part_of(options.execution, 0, 1.1).progress;
  Array nearest(index_type(input, options.batch_axes), most.indices > 0 ? input.shape() : Shape{0});
  const grid::DistanceReport done = grid::distance_transform(input, own, asked(outputs, nearest.view()));
  if (most.indices > 0)
    each_image(input, std::as_const(nearest).view(), outputs, options, options.batch_axes,
               host_threads(options.execution, kName));
  if (options.execution.progress) options.execution.progress(1);
  return {Backend::cpu, done.instruction_set, done.threads, most.indices + done.scratch_bytes, {}};
}

}  // namespace fathom::apps
