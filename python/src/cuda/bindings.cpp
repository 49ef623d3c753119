#include "cuda/bindings.h"

#include <nanobind/stl/vector.h>

#include "cuda/device_array.h"
#include "cuda/dynamic.h"
#include "cuda/gather.h"
#include "cuda/memory.h"
#include "cuda/site_set.h"
#include "cuda/triangle_set.h"
#include "cuda/voxels.h"
#include "transform.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

void transform_arrays(const DeviceArray& x, int rank, const grid::DistanceOptions& options, const DeviceArray* distance,
                      const DeviceArray* squared, const DeviceArray* nearest, const DeviceArray* coordinates,
                      std::uintptr_t stream) {
  Arrays arrays{x.raw(), raw(distance), raw(squared), raw(nearest), raw(coordinates)};
  const nb::gil_scoped_release unlocked;
  transform_on_device(arrays, rank, options, stream_at(stream));
}

/// @param values, out  addresses of dense arrays
/// @param nearest      dense, int32 or int64
void gather(std::uintptr_t values, std::size_t element_size, const DeviceArray& nearest, std::int64_t image_size,
            std::uintptr_t out, int device, std::uintptr_t stream) {
  DeviceFetch fetch{values, out, element_size, 1, image_size, device};
  const RawArray& indices = nearest.raw();
  for (int k = 0; k < indices.rank; ++k) fetch.elements *= indices.shape[static_cast<std::size_t>(k)];
  const nb::gil_scoped_release unlocked;
  if (indices.dtype == DType::int32)
    gather_on_device(fetch, reinterpret_cast<const std::int32_t*>(indices.data), stream_at(stream));
  else gather_on_device(fetch, reinterpret_cast<const std::int64_t*>(indices.data), stream_at(stream));
}

}  // namespace

void add_cuda(nb::module_& m) {
  nb::class_<DeviceArray>(m, "DeviceArray")
      .def(nb::new_(&DeviceArray::described))
      .def_static("held", &DeviceArray::held)
      .def_prop_ro("address", &DeviceArray::address)
      .def_prop_ro("row_step", &DeviceArray::row_step);
  m.def("transform_on_device", &transform_arrays, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("gather_on_device", &gather);
  m.def("site_set_on_device", &site_set_on_device);
  m.def("nearest_on_device", &nearest_on_device, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
        nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg());
  m.def("voxel_set_on_device", &voxel_set_on_device);
  m.def("edit_on_device", &edit_on_device, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  m.def("dynamic_set_on_device", &dynamic_set_on_device);
  m.def("add_on_device", &add_on_device);
  m.def("move_on_device", &move_on_device);
  m.def("triangle_set_on_device", &triangle_set_on_device, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("nearest_triangles_on_device", &nearest_triangles_on_device);
  m.def("field_on_device", &field_on_device);
  m.def("band_on_device", &band_on_device, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg().none());
  add_device_band(m);
  m.def("download", &download);
  m.def("device_memory", &device_memory);
  m.def("device_of", &device_of);
  m.def("wait_for", [](std::uintptr_t stream) {
    const nb::gil_scoped_release unlocked;
    wait_for(stream_at(stream));
  });
}

}  // namespace fathom::python
