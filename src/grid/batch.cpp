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

/// Where the axes of the batch begin in an output.
int leading_axis(const OutputKind& kind) { return kind.has_components ? 1 : 0; }

void check_leading(const AnyView& view, const OutputKind& kind, const Shape& batch) {
  if (!view.present()) return;
  const int at = leading_axis(kind);
  const bool fits = view.rank() > at + batch.rank() && part(view.shape(), at, at + batch.rank()) == batch;
  if (!fits)
    throw InvalidArgument("the output '" + std::string(kind.name) + "' has the shape " + to_string(view.shape()) +
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
  batch.input = cut(items.input, 0, axes);
  for_each_output(
      [&](const OutputKind& kind, AnyView& view, Strides& strides) {
        check_leading(view, kind, batch.shape);
        strides = cut(view, leading_axis(kind), axes);
      },
      items.outputs, batch);
  return items;
}

Problem item_of(const Problem& first, const Batch& batch, std::int64_t item) {
  Problem problem = first;
  problem.input = moved(first.input, batch.shape, batch.input, item);
  for_each_output(
      [&](const OutputKind&, AnyView& view, const Strides& strides) { view = moved(view, batch.shape, strides, item); },
      problem.outputs, batch);
  return problem;
}

}  // namespace fathom::grid
