// Arrays in the processor's memory, by Python's buffer protocol: quicker than DLPack, and every caller here has NumPy.
#pragma once

#include <nanobind/nanobind.h>

#include "arrays.h"
#include "fathom/core/array.h"

namespace fathom::python {

/// Holds on to an array's memory; to be made and to end with the interpreter's lock.
class HostArray {
 public:
  enum class Access { read, write };

  /// @param array  a NumPy array, or None
  /// @throws nanobind::python_error it is read-only and shall be written
  HostArray(nanobind::handle array, Access access);
  ~HostArray();
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;

  /// @throws InvalidArgument an element type that Fathom does not have
  RawArray raw() const;
  std::byte* data() const { return static_cast<std::byte*>(buffer_.buf); }
  std::size_t bytes() const { return static_cast<std::size_t>(buffer_.len); }

 private:
  Py_buffer buffer_{};  ///< obj: null for None
};

/// A NumPy array over the same memory.
/// @param owner  of the memory, which stays alive as long
nanobind::object numpy_view(Array& array, nanobind::handle owner);
/// A NumPy array of the same elements, which frees them.
nanobind::object as_numpy(Array array);

}  // namespace fathom::python
