// Points where the caller left them: one cloud of them, read as float64, which holds every supported type exactly.
#pragma once

#include <array>
#include <cstdint>

#include "core/root.hd.h"
#include "fathom/core/dtype.h"
#include "fathom/core/error.h"

namespace fathom {

struct Cloud {
  DType dtype = DType::float32;
  int axes = 3;
  std::int64_t count = 0;
  std::int64_t every = 1;  ///< point i of the cloud is point i · every of the array
  const std::byte* data[3] = {};
  std::int64_t step[3] = {};  ///< in elements, from point to point of the cloud

  template <class T>
  FATHOM_HD T get(int axis, std::int64_t i) const {
    return reinterpret_cast<const T*>(data[axis])[i * step[axis]];
  }
  /// Asks for the memory of point i, which is to be read soon.
  void prefetch(std::int64_t i) const {
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    for (int k = 0; k < axes; ++k) __builtin_prefetch(data[k] + i * step[k] * size);
  }
  FATHOM_HD double at(int axis, std::int64_t i) const {
    switch (dtype) {
      case DType::int32: return get<std::int32_t>(axis, i);
      case DType::float32: return static_cast<double>(get<float>(axis, i));
      default: return get<double>(axis, i);
    }
  }
};

/// Points [first, first + count).
inline Cloud part_of(const Cloud& cloud, std::int64_t first, std::int64_t count) {
  Cloud part = cloud;
  part.count = count;
  for (int k = 0; k < cloud.axes; ++k)
    part.data[k] += first * cloud.step[k] * static_cast<std::int64_t>(size_of(cloud.dtype));
  return part;
}

/// Calls visitor(TypeTag<T>{}) with the type of coordinates.
template <class Visitor>
decltype(auto) visit_coordinates(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::int32: return visitor(TypeTag<std::int32_t>{});
    case DType::float32: return visitor(TypeTag<float>{});
    case DType::float64: return visitor(TypeTag<double>{});
    default: throw InternalError("coordinates of an unknown type");
  }
}

/// Smallest and largest coordinate along each axis.
struct Box {
  std::array<double, 3> low{};
  std::array<double, 3> high{};
};

}  // namespace fathom
