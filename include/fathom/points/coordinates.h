// Coordinates of points in the caller's memory, as rows or as a structure of arrays.
#pragma once

#include <vector>

#include "fathom/core/view.h"

namespace fathom::points {

/// Where the coordinates of some points lie, in whatever memory.
class CoordinateLayout {
 public:
  int axes() const { return static_cast<int>(axes_.size()); }
  DType dtype() const { return axes_.front().dtype; }
  bool batched() const { return batched_; }
  std::int64_t clouds() const { return clouds_; }  ///< 1 without a batch
  std::int64_t count() const { return count_; }    ///< points of a cloud

  /// One coordinate of all points: steps are in elements.
  struct Axis {
    const std::byte* data = nullptr;
    DType dtype = DType::float32;
    std::int64_t step = 1;        ///< from point to point
    std::int64_t cloud_step = 0;  ///< from cloud to cloud
  };
  const Axis& axis(int k) const { return axes_[static_cast<std::size_t>(k)]; }

 protected:
  CoordinateLayout() = default;

  std::vector<Axis> axes_;
  std::int64_t count_ = 0;
  std::int64_t clouds_ = 1;
  bool batched_ = false;
};

/// Points in 2D or 3D with int32, float32 or float64 coordinates. Refers to the caller's memory, the host's or a
/// device's.
template <MemorySpace Space>
class BasicCoordinates : public CoordinateLayout {
 public:
  using Array = BasicAnyView<const std::byte, Space>;

  /// @param rows  [n, d]; or [batch, n, d]: clouds that have nothing to do with one another. d is 2 or 3.
  /// @throws InvalidArgument another shape or element type
  BasicCoordinates(const Array& rows);                                                             // NOLINT: see below
  BasicCoordinates(const BasicAnyView<std::byte, Space>& rows) : BasicCoordinates(Array(rows)) {}  // NOLINT: see below
  template <class T>
  BasicCoordinates(const View<T, Space>& rows) : BasicCoordinates(Array(rows)) {}  // NOLINT: an array is points

  /// @param axes  one view [n] for each axis, all of one element type
  /// @throws InvalidArgument neither 2 nor 3 views, or views that do not fit one another
  explicit BasicCoordinates(const std::vector<Array>& axes);
};
using Coordinates = BasicCoordinates<MemorySpace::host>;
using DeviceCoordinates = BasicCoordinates<MemorySpace::device>;

}  // namespace fathom::points
