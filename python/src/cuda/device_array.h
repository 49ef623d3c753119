// Arrays in a device's memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.h"
#include "fathom/core/device.h"

namespace fathom::python {

/// What the package says of an array that another library owns, or that came through DLPack and is held here.
class DeviceArray {
 public:
  /// @param dtype    number of a DType
  /// @param strides  in elements, one per extent
  /// @throws InvalidArgument the tuples differ in length
  static DeviceArray described(std::uintptr_t address, int dtype, nanobind::handle shape, nanobind::handle strides);

  /// @throws InvalidArgument an element type that Fathom does not have
  static DeviceArray held(const nanobind::ndarray<nanobind::ro>& array);

  const RawArray& raw() const { return raw_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(raw_.data); }
  /// Elements from one row of an image to the next.
  std::int64_t row_step() const { return raw_.strides[0]; }

 private:
  RawArray raw_;
  nanobind::ndarray<nanobind::ro> owner_;
};

inline RawArray raw(const DeviceArray* array) { return array ? array->raw() : RawArray(); }

/// As the package says it: by its address.
inline Stream stream_at(std::uintptr_t handle) { return {reinterpret_cast<void*>(handle)}; }

}  // namespace fathom::python
