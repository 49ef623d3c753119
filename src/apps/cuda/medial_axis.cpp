// A batch goes in stacks of images: a transform and a kernel for each, whose nearest sites are scratch if nobody wants
// them.
#include "apps/cuda/medial_axis.h"

#include <algorithm>
#include <cstdint>

#include "apps/cuda/arrays.h"
#include "apps/cuda/axis.h"
#include "apps/cuda/balls.h"
#include "apps/squares.h"
#include "core/cuda/runtime.h"
#include "fathom/grid/distance.h"
#include "fathom/grid/mark_sites.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;

/// Images of a stack: the device is busy with as many elements, and the scratch does not grow with the batch.
std::int64_t images_at_once(const Images& images) {
  constexpr std::int64_t kElements = std::int64_t{1} << 24;
  const std::int64_t most = images.batch.empty() ? 1 : images.batch.back();
  return std::clamp<std::int64_t>(kElements / images.lattice.size(), 1, most);
}

bool wants_axis(const DeviceMedialAxisOutputs& outputs) { return outputs.axis.present() || outputs.witness.present(); }

/// What the transform of a stack is asked.
struct Transform {
  AnyConstDeviceView input;
  grid::DistanceOptions options;
  grid::DeviceDistanceOutputs outputs;

  /// @param own  scratch for nearest sites
  Transform(const AnyConstDeviceView& array, const Images& images, const DeviceMedialAxisOutputs& wanted,
            std::int64_t first, std::int64_t n, std::byte* own)
      : input(images.stack(array, first, n)) {
    options.spacing.assign(images.lattice.spacing.end() - images.lattice.rank, images.lattice.spacing.end());
    options.batch_axes = 1;
    outputs.distance = images.stack(wanted.distance, first, n);
    outputs.nearest = images.stack(wanted.nearest, first, n);
    if (wants_axis(wanted) && !wanted.nearest.present())
      outputs.nearest = AnyDeviceView(own, index_of(images), input.shape());
  }
};

std::int64_t own_bytes(const Images& images, const DeviceMedialAxisOutputs& outputs) {
  if (outputs.nearest.present() || !wants_axis(outputs)) return 0;
  return images_at_once(images) * images.lattice.size() * static_cast<std::int64_t>(size_of(index_of(images)));
}

/// @param nearest  of a stack, as grid::distance_transform() takes it
void find_axis(const AnyConstDeviceView& nearest, const Images& images, const MedialAxisOptions& options,
               const DeviceMedialAxisOutputs& outputs, std::int64_t first, std::int64_t n, Stream stream) {
  Images stack = images;
  stack.batch = {n};
  cuda::find_axis({.lattice = images.lattice,
                   .pruning = options.pruning,
                   .gamma = options.gamma,
                   .ties = options.ties,
                   .count = n,
                   .nearest = stack.stack_rows(nearest, 0),
                   .axis = images.stack_rows(outputs.axis, first),
                   .witness = images.stack_rows(outputs.witness, first)},
                  fathom::cuda::native(stream));
}

}  // namespace

std::size_t medial_axis_bytes(const AnyConstDeviceView& input, const Images& images,
                              const DeviceMedialAxisOutputs& outputs) {
  const Transform transform(input, images, outputs, 0, images_at_once(images), nullptr);
  return static_cast<std::size_t>(own_bytes(images, outputs)) +
         grid::scratch_bytes(transform.input, transform.options, transform.outputs);
}

std::string medial_axis(const AnyConstDeviceView& input, const Images& images, const MedialAxisOptions& options,
                        const DeviceMedialAxisOutputs& outputs, Stream stream) {
  const int device = device_of({{input, "input"},
                                {outputs.axis, "axis"},
                                {outputs.distance, "distance"},
                                {outputs.nearest, "nearest"},
                                {outputs.witness, "witness"}},
                               stream);
  const OnDevice on_device(device);
  const DeviceMemory own(static_cast<std::size_t>(own_bytes(images, outputs)), fathom::cuda::native(stream));
  images.each_stack(images_at_once(images), [&](std::int64_t first, std::int64_t n) {
    const Transform transform(input, images, outputs, first, n, own.data());
    grid::distance_transform(transform.input, transform.options, transform.outputs, stream);
    if (wants_axis(outputs)) find_axis(transform.outputs.nearest, images, options, outputs, first, n, stream);
  });
  return describe_device(device).name;
}

std::string medial_axis_of_nearest(const AnyConstDeviceView& nearest, const Images& images,
                                   const MedialAxisOptions& options, const DeviceMedialAxisOutputs& outputs,
                                   Stream stream) {
  const int device = device_of({{nearest, "nearest"}, {outputs.axis, "axis"}, {outputs.witness, "witness"}}, stream);
  const OnDevice on_device(device);
  images.each_stack(images.count(), [&](std::int64_t first, std::int64_t n) {
    find_axis(images.stack(nearest, first, n), images, options, outputs, first, n, stream);
  });
  return describe_device(device).name;
}

std::size_t axis_balls_bytes(const Images& images) {
  return balls_bytes(images.lattice) +
         static_cast<std::size_t>(images.lattice.size()) * size_of(squares_of(images.lattice));
}

std::string axis_balls(const AnyConstDeviceView& axis, const AnyConstDeviceView& nearest, const Images& images,
                       const AnyDeviceView& out, Stream stream) {
  const int device = device_of({{axis, "axis"}, {nearest, "nearest"}, {out, "out"}}, stream);
  const OnDevice on_device(device);
  const std::size_t bytes = axis_balls_bytes(images);
  const DeviceMemory memory(bytes, fathom::cuda::native(stream));
  std::byte* const squares = memory.data() + balls_bytes(images.lattice);
  for (std::int64_t item = 0; item < images.count(); ++item) {
    // Which elements are chosen stands where the result will.
    grid::mark_sites(images.view(axis, item), {grid::Sites::Rule::nonzero}, images.view(out, item), stream);
    draw_axis_balls(images.lattice, images.rows(nearest, item), images.rows(out, item), squares, memory.data(),
                    fathom::cuda::native(stream));
  }
  return describe_device(device).name;
}

}  // namespace fathom::apps::cuda
