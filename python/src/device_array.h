// Arrays in a device's memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.h"
#include "fathom/core/device.h"

namespace fathom::python {

/// As the package says it: by its address.
inline Stream stream_at(std::uintptr_t handle) { return {reinterpret_cast<void*>(handle)}; }

/// What the package says of an array that another library owns, or that came through DLPack and is held here; and the
/// stream in whose order it is read and written. Builds without CUDA have it, too: there the library refuses it.
class DeviceArray {
 public:
  static constexpr MemorySpace kSpace = MemorySpace::device;

  /// @param dtype    number of a DType; of values that are carried, whatever they are, it may be none
  /// @param strides  in elements, one per extent
  /// @throws InvalidArgument the tuples differ in length
  static DeviceArray described(std::uintptr_t address, int dtype, nanobind::handle shape, nanobind::handle strides,
                               std::uintptr_t stream);

  /// @throws InvalidArgument an element type that Fathom does not have
  static DeviceArray held(const nanobind::ndarray<nanobind::ro>& array, std::uintptr_t stream);

  const RawArray& raw() const { return raw_; }
  Stream stream() const { return stream_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(raw_.data); }
  /// Elements from one row of an image to the next.
  std::int64_t row_step() const { return raw_.strides[0]; }

 private:
  RawArray raw_;
  Stream stream_;
  nanobind::ndarray<nanobind::ro> owner_;
};

void add_device_array(nanobind::module_& m);

}  // namespace fathom::python
