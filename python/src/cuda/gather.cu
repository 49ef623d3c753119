// One thread an element: reads its index, then the value there. Neighbours mostly share their nearest site, so most
// reads of values meet in the cache; the rest of the traffic – indices in, values out – is in order. Grid-stride loop,
// 256 threads a block, no shared memory.
#include <algorithm>

#include "cuda/current_device.h"
#include "cuda/gather.h"

namespace fathom::python {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 20;

/// 16 bytes, for complex128.
struct alignas(8) Wide {
  std::uint64_t low, high;
};

template <class Value, class Index>
__global__ void __launch_bounds__(kThreads) gather_values(const Value* values, const Index* nearest, Value* out,
                                                          std::int64_t elements, std::int64_t image_size) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < elements; i += step) {
    const std::int64_t site = nearest[i];
    out[i] = values[site < 0 ? i : i / image_size * image_size + site];
  }
}

template <class Value, class Index>
void launch(const DeviceFetch& fetch, const Index* nearest, cudaStream_t stream) {
  if (fetch.elements == 0) return;
  const std::int64_t blocks = std::min((fetch.elements + kThreads - 1) / kThreads, kMostBlocks);
  gather_values<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(reinterpret_cast<const Value*>(fetch.values),
                                                                        nearest, reinterpret_cast<Value*>(fetch.out),
                                                                        fetch.elements, fetch.image_size);
  check(cudaGetLastError(), "fetching values");
}

template <class Index>
void gather_any(const DeviceFetch& fetch, const Index* nearest, Stream stream) {
  const CurrentDevice chosen(fetch.device);
  const auto native = static_cast<cudaStream_t>(stream.handle);
  switch (fetch.element_size) {
    case 1: return launch<std::uint8_t>(fetch, nearest, native);
    case 2: return launch<std::uint16_t>(fetch, nearest, native);
    case 4: return launch<std::uint32_t>(fetch, nearest, native);
    case 8: return launch<std::uint64_t>(fetch, nearest, native);
    case 16: return launch<Wide>(fetch, nearest, native);
    default: throw InvalidArgument("values on a device have elements of 1, 2, 4, 8 or 16 bytes");
  }
}

}  // namespace

void gather_on_device(const DeviceFetch& fetch, const std::int32_t* nearest, Stream stream) {
  gather_any(fetch, nearest, stream);
}
void gather_on_device(const DeviceFetch& fetch, const std::int64_t* nearest, Stream stream) {
  gather_any(fetch, nearest, stream);
}

}  // namespace fathom::python
