// Arrays in the processor's memory, by Python's buffer protocol: quicker than DLPack, and every caller here has NumPy.
#pragma once

#include <nanobind/nanobind.h>

#include "arrays.h"
#include "fathom/core/array.h"

namespace fathom::python {

/// Holds on to an array's memory; to be made and to end with the interpreter's lock. As an argument of a bound function
/// it takes what has a buffer, or, as a pointer, None; whether an output can be written the package has seen to.
class HostArray {
 public:
  static constexpr MemorySpace kSpace = MemorySpace::host;
  enum class Access { read, write };

  HostArray() = default;
  /// @param array  a NumPy array, or None
  /// @throws nanobind::python_error it is read-only and shall be written
  HostArray(nanobind::handle array, Access access);
  ~HostArray();
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;

  /// Of an array that holds on to nothing yet: whether there is memory to be had; Python then has no error.
  bool acquire(nanobind::handle array) noexcept;

  /// @throws InvalidArgument an element type that Fathom does not have
  RawArray raw() const;
  /// The array itself; null of None.
  nanobind::handle array() const { return buffer_.obj; }
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

namespace nanobind::detail {

template <>
struct type_caster<fathom::python::HostArray> {
  using Array = fathom::python::HostArray;
  static constexpr auto Name = const_name("numpy.ndarray");
  template <class T>
  using Cast = precise_cast_t<T>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }

  template <class Flags>
  bool from_python(handle source, Flags, cleanup_list*) noexcept {
    given = !source.is_none();
    return !given || array.acquire(source);
  }
  explicit operator Array*() { return given ? &array : nullptr; }
  explicit operator Array&() { return array; }

  Array array;
  bool given = false;
};

}  // namespace nanobind::detail
