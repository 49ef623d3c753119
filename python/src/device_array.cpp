#include "device_array.h"

#include "dlpack_dtype.h"

namespace fathom::python {

namespace nb = nanobind;

DeviceArray DeviceArray::described(std::uintptr_t address, int dtype, nb::handle shape, nb::handle strides,
                                   std::uintptr_t stream) {
  DeviceArray array;
  array.stream_ = stream_at(stream);
  array.raw_.given = true;
  array.raw_.data = reinterpret_cast<std::byte*>(address);
  array.raw_.dtype = static_cast<DType>(dtype);
  const std::size_t rank = nb::len(shape);
  if (nb::len(strides) != rank) throw InvalidArgument("as many strides as extents are needed");
  for (std::size_t k = 0; k < rank; ++k)
    array.raw_.push_axis(nb::cast<std::int64_t>(shape[k]), nb::cast<std::int64_t>(strides[k]));
  array.raw_.settle_strides();
  return array;
}

DeviceArray DeviceArray::held(const nb::ndarray<nb::ro>& given, std::uintptr_t stream) {
  DeviceArray array;
  array.stream_ = stream_at(stream);
  array.owner_ = given;
  array.raw_.given = true;
  array.raw_.data = static_cast<std::byte*>(const_cast<void*>(given.data()));
  array.raw_.dtype = dtype_of(given.dtype());
  for (std::size_t k = 0; k < given.ndim(); ++k)
    array.raw_.push_axis(static_cast<std::int64_t>(given.shape(k)), given.stride(k));
  array.raw_.settle_strides();
  return array;
}

void add_device_array(nb::module_& m) {
  nb::class_<DeviceArray>(m, "DeviceArray")
      .def(nb::new_(&DeviceArray::described))
      .def_static("held", &DeviceArray::held)
      .def_prop_ro("address", &DeviceArray::address)
      .def_prop_ro("row_step", &DeviceArray::row_step);
}

}  // namespace fathom::python
