#include "grid/batch.h"

#include <string>

namespace fathom::grid {

namespace {

/// Axes [first, end) of a shape or of strides.
Axes part(const Axes& axes, int first, int end) {
  Axes result;
  for (int k = first; k < end; ++k) result.push_back(axes[k]);
  return result;
}

/// Cuts the axes [at, at + count) out of a view and returns their strides.
template <class Byte>
Strides cut(BasicAnyView<Byte, MemorySpace::host>& view, int at, int count) {
  if (!view.present()) return {};
  const Strides strides = part(view.strides(), at, at + count);
  Shape shape = part(view.shape(), 0, at);
  Strides rest = part(view.strides(), 0, at);
  for (int k = at + count; k < view.rank(); ++k) {
    shape.push_back(view.shape()[k]);
    rest.push_back(view.strides()[k]);
  }
  view = {view.data(), view.dtype(), shape, rest};
  return strides;
}

void check_leading(const AnyView& view, const char* name, int at, const Shape& batch) {
  if (!view.present()) return;
  const bool fits = view.rank() > at + batch.rank() && part(view.shape(), at, at + batch.rank()) == batch;
  if (!fits)
    throw InvalidArgument(std::string("the output '") + name + "' has the shape " + to_string(view.shape()) +
                          ", which does not have the input's batch axes, " + to_string(batch));
}

/// The view of another item.
template <class Byte>
BasicAnyView<Byte, MemorySpace::host> moved(const BasicAnyView<Byte, MemorySpace::host>& view, const Shape& batch,
                                            const Strides& strides, std::int64_t item) {
  if (!view.present()) return view;
  std::int64_t elements = 0;
  for (int k = batch.rank() - 1; k >= 0; --k) {
    elements += item % batch[k] * strides[k];
    item /= batch[k];
  }
  return {view.data() + elements * static_cast<std::int64_t>(size_of(view.dtype())), view.dtype(), view.shape(),
          view.strides()};
}

}  // namespace

Items split_batch(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs) {
  Items items{.input = input, .outputs = outputs, .batch = {}};
  const int axes = options.batch_axes;
  if (axes == 0) return items;
  if (axes < 0 || axes >= input.rank())
    throw InvalidArgument("the batch has " + std::to_string(axes) + " axes in an array with " +
                          std::to_string(input.rank()) + "; at least one axis must be left for the distance");
  Batch& batch = items.batch;
  batch.shape = part(input.shape(), 0, axes);
  check_leading(outputs.distance, "distance", 0, batch.shape);
  check_leading(outputs.squared, "squared", 0, batch.shape);
  check_leading(outputs.nearest, "nearest", 0, batch.shape);
  check_leading(outputs.coordinates, "coordinates", 1, batch.shape);
  batch.input = cut(items.input, 0, axes);
  batch.distance = cut(items.outputs.distance, 0, axes);
  batch.squared = cut(items.outputs.squared, 0, axes);
  batch.nearest = cut(items.outputs.nearest, 0, axes);
  batch.coordinates = cut(items.outputs.coordinates, 1, axes);
  return items;
}

Problem item_of(const Problem& first, const Batch& batch, std::int64_t item) {
  Problem problem = first;
  problem.input = moved(first.input, batch.shape, batch.input, item);
  problem.outputs.distance = moved(first.outputs.distance, batch.shape, batch.distance, item);
  problem.outputs.squared = moved(first.outputs.squared, batch.shape, batch.squared, item);
  problem.outputs.nearest = moved(first.outputs.nearest, batch.shape, batch.nearest, item);
  problem.outputs.coordinates = moved(first.outputs.coordinates, batch.shape, batch.coordinates, item);
  return problem;
}

}  // namespace fathom::grid
