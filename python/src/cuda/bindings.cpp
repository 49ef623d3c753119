#include "cuda/bindings.h"

#include <nanobind/stl/vector.h>

#include "cuda/device_band.h"
#include "cuda/gather.h"
#include "cuda/memory.h"
#include "device_array.h"

namespace fathom::python {

namespace nb = nanobind;

namespace {

/// @param values, out  dense, of any type
/// @param nearest      dense, int32 or int64
void gather(const DeviceArray& values, std::size_t element_size, const DeviceArray& nearest, std::int64_t image_size,
            const DeviceArray& out) {
  const RawArray& indices = nearest.raw();
  DeviceFetch fetch{values.address(), out.address(), element_size, 1, image_size, 0};
  for (int k = 0; k < indices.rank; ++k) fetch.elements *= indices.shape[static_cast<std::size_t>(k)];
  if (fetch.elements == 0) return;
  const nb::gil_scoped_release unlocked;
  fetch.device = device_of(nearest.address());
  if (indices.dtype == DType::int32)
    gather_on_device(fetch, reinterpret_cast<const std::int32_t*>(indices.data), nearest.stream());
  else gather_on_device(fetch, reinterpret_cast<const std::int64_t*>(indices.data), nearest.stream());
}

}  // namespace

void add_cuda(nb::module_& m) {
  m.def("gather", &gather);
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
