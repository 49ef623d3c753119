#include "fathom/points/coordinates.h"

#include <string>

#include "fathom/core/error.h"

namespace fathom::points {

namespace {

void check_dtype(DType dtype) {
  if (dtype != DType::int32 && dtype != DType::float32 && dtype != DType::float64)
    throw InvalidArgument("coordinates are int32, float32 or float64, not " + std::string(name_of(dtype)));
}

void check_axes(std::int64_t axes) {
  if (axes != 2 && axes != 3) throw InvalidArgument("points have 2 or 3 coordinates, not " + std::to_string(axes));
}

}  // namespace

template <MemorySpace Space>
BasicCoordinates<Space>::BasicCoordinates(const Array& rows) {
  const int rank = rows.rank();
  if (rank != 2 && rank != 3)
    throw InvalidArgument("points are an array [n, d] or [batch, n, d], not of the shape " + to_string(rows.shape()));
  check_dtype(rows.dtype());
  check_axes(rows.shape().back());
  batched_ = rank == 3;
  clouds_ = batched_ ? rows.shape()[0] : 1;
  count_ = rows.shape()[rank - 2];
  const std::size_t step = rows.data() ? size_of(rows.dtype()) : 0;  // no points, no memory
  for (std::int64_t k = 0; k < rows.shape().back(); ++k)
    axes_.push_back({rows.data() + static_cast<std::size_t>(k) * step, rows.dtype(), rows.strides()[rank - 2],
                     batched_ ? rows.strides()[0] : 0});
}

template <MemorySpace Space>
BasicCoordinates<Space>::BasicCoordinates(const std::vector<Array>& axes) {
  check_axes(static_cast<std::int64_t>(axes.size()));
  for (const Array& axis : axes) {
    check_dtype(axis.dtype());
    if (axis.rank() != 1 || axis.dtype() != axes[0].dtype() || !(axis.shape() == axes[0].shape()))
      throw InvalidArgument(
          "the coordinates of a structure of arrays are views [n] of one element type and one length");
    axes_.push_back({axis.data(), axis.dtype(), axis.strides()[0], 0});
  }
  count_ = axes[0].shape()[0];
}

template class BasicCoordinates<MemorySpace::host>;
template class BasicCoordinates<MemorySpace::device>;

}  // namespace fathom::points
