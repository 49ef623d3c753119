#include "host_array.h"

#include <nanobind/ndarray.h>

#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace fathom::python {

namespace nb = nanobind;

namespace {

DType integer_of(Py_ssize_t size, bool is_signed) {
  switch (size) {
    case 1: return is_signed ? DType::int8 : DType::uint8;
    case 2: return is_signed ? DType::int16 : DType::uint16;
    case 4: return is_signed ? DType::int32 : DType::uint32;
    default: return is_signed ? DType::int64 : DType::uint64;
  }
}

/// @param format  one element in the words of Python's struct module, in native byte order
DType dtype_of(const char* format, Py_ssize_t size) {
  constexpr char kThisOrder = std::endian::native == std::endian::little ? '<' : '>';
  if (format[0] == '@' || format[0] == '=' || format[0] == kThisOrder) ++format;
  if (format[0] != '\0' && format[1] == '\0') {
    if (format[0] == '?') return DType::boolean;
    if (format[0] == 'f') return DType::float32;
    if (format[0] == 'd') return DType::float64;
    if (std::strchr("bhilq", format[0])) return integer_of(size, true);
    if (std::strchr("BHILQ", format[0])) return integer_of(size, false);
  }
  throw InvalidArgument("arrays hold bool, integers of 8 to 64 bits, float32 or float64");
}

}  // namespace

HostArray::HostArray(nanobind::handle array, Access access) {
  if (array.is_none()) return;
  const int flags = access == Access::write ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
  if (PyObject_GetBuffer(array.ptr(), &buffer_, flags) != 0) nb::raise_python_error();
}

bool HostArray::acquire(nanobind::handle array) noexcept {
  if (!PyObject_CheckBuffer(array.ptr())) return false;
  if (PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_RECORDS_RO) == 0) return true;
  PyErr_Clear();
  return false;
}

HostArray::~HostArray() {
  if (buffer_.obj) PyBuffer_Release(&buffer_);
}

RawArray HostArray::raw() const {
  RawArray array;
  if (!buffer_.obj) return array;
  array.given = true;
  array.data = data();
  array.dtype = dtype_of(buffer_.format, buffer_.itemsize);
  for (int k = 0; k < buffer_.ndim; ++k) array.push_axis(buffer_.shape[k], buffer_.strides[k] / buffer_.itemsize);
  array.settle_strides();
  return array;
}

nb::object numpy_view(Array& array, nb::handle owner) {
  const nb::dlpack::dtype dtype =
      visit_dtype(array.dtype(), [](auto tag) { return nb::dtype<typename decltype(tag)::type>(); });
  const std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
  const nb::ndarray<nb::numpy> view(array.data(), shape.size(), shape.data(), owner, nullptr, dtype);
  return nb::cast(view, nb::rv_policy::reference);
}

nb::object as_numpy(Array array) {
  auto kept = std::make_unique<Array>(std::move(array));
  Array* const raw = kept.get();
  const nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<Array*>(p); });
  return numpy_view(*raw, owner);
}

}  // namespace fathom::python
