#include "arrays.h"

#include <algorithm>

namespace fathom::python {

namespace {

/// Whether axis k and the one after it are one axis in memory.
bool joins(const RawArray& array, std::size_t k) {
  return array.shape[k] == 1 || array.shape[k + 1] == 1 ||
         array.strides[k] == array.strides[k + 1] * array.shape[k + 1];
}

void join(RawArray& array, std::size_t k) {
  const auto rank = static_cast<std::size_t>(array.rank);
  array.strides[k] = array.shape[k + 1] == 1 ? array.strides[k] : array.strides[k + 1];
  array.shape[k] *= array.shape[k + 1];
  for (std::size_t i = k + 1; i + 1 < rank; ++i) {
    array.shape[i] = array.shape[i + 1];
    array.strides[i] = array.strides[i + 1];
  }
  --array.rank;
}

}  // namespace

void RawArray::push_axis(std::int64_t extent, std::int64_t stride) {
  if (rank == kMostAxes) throw InvalidArgument("an array has too many axes");
  shape[static_cast<std::size_t>(rank)] = extent;
  strides[static_cast<std::size_t>(rank++)] = stride;
}

void RawArray::settle_strides() {
  const auto axes = static_cast<std::size_t>(rank);
  const bool empty = std::find(shape.begin(), shape.begin() + rank, 0) != shape.begin() + rank;
  std::int64_t dense = 1;
  for (std::size_t k = axes; k-- > 0;) {
    if (empty || shape[k] == 1) strides[k] = dense;
    dense *= std::max<std::int64_t>(shape[k], 1);
  }
}

RawArray RawArray::joined(int leading, int trailing) const {
  if (!given) return *this;
  RawArray result = *this;
  result.rank = 0;
  const auto take = [&](int begin, int end) {
    for (int k = begin; k < end; ++k)
      result.push_axis(shape[static_cast<std::size_t>(k)], strides[static_cast<std::size_t>(k)]);
  };
  const int end = rank - trailing;
  std::int64_t count = 1;
  for (int k = leading; k < end; ++k) count *= shape[static_cast<std::size_t>(k)];
  take(0, leading);
  result.push_axis(count, end > leading ? strides[static_cast<std::size_t>(end - 1)] : 1);
  take(end, rank);
  result.settle_strides();
  return result;
}

Layout merge_leading(std::span<RawArray* const> arrays, Layout layout) {
  for (int axis = layout.leading - 2; axis >= 0; --axis) {
    const auto k = static_cast<std::size_t>(axis);
    const auto fits = [k](const RawArray* array) { return !array->given || joins(*array, k); };
    if (!std::all_of(arrays.begin(), arrays.end(), fits)) continue;
    for (RawArray* array : arrays)
      if (array->given) join(*array, k);
    --layout.leading;
  }
  return layout;
}

}  // namespace fathom::python
