#include "cuda/memory.h"

#include <algorithm>

#include "cuda/current_device.h"
#include "dlpack_dtype.h"
#include "host_array.h"

namespace fathom::python {

namespace nb = nanobind;

DeviceMemory device_memory(const std::vector<std::size_t>& shape, int dtype, int device) {
  std::size_t bytes = size_of(static_cast<DType>(dtype));
  for (const std::size_t n : shape) bytes *= n;
  const CurrentDevice chosen(device);
  void* data = nullptr;
  check(cudaMalloc(&data, std::max<std::size_t>(bytes, 1)), "asking for memory");
  // Freeing waits for the device, so that no work can still be using the memory, on whatever stream it is.
  const nb::capsule owner(data, [](void* p) noexcept { cudaFree(p); });
  return DeviceMemory(data, shape.size(), shape.data(), owner, nullptr, dlpack_of(static_cast<DType>(dtype)),
                      nb::device::cuda::value, device);
}

int device_of(std::uintptr_t address) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, reinterpret_cast<const void*>(address)), "looking at an array's memory");
  return attributes.device;
}

void download(const DeviceArray& array, nb::handle out) {
  const HostArray to(out, HostArray::Access::write);
  if (to.bytes() == 0) return;
  const nb::gil_scoped_release unlocked;
  const CurrentDevice chosen(device_of(array.address()));
  check(cudaMemcpyAsync(to.data(), array.raw().data, to.bytes(), cudaMemcpyDeviceToHost,
                        static_cast<cudaStream_t>(array.stream().handle)),
        "copying an array to the host");
  wait_for(array.stream());
}

void wait_for(Stream stream) {
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream.handle)), "waiting for a stream");
}

}  // namespace fathom::python
