// Points of a device on their way to the host: packed as rows where they are, then copied at once. A thread for each
// point. Cost: that of the way.
#include "core/cuda/runtime.h"
#include "points/cuda/copies.h"
#include "points/cuda/download.h"
#include "points/cuda/tuning.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;

template <class T>
__global__ void __launch_bounds__(kBuildBlock) pack_rows(const __grid_constant__ Cloud points, T* rows) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kBuildBlock + threadIdx.x;
  if (i >= points.count) return;
  for (int k = 0; k < points.axes; ++k) rows[i * points.axes + k] = points.get<T>(k, i);
}

}  // namespace

Array download(const Cloud& points, Stream given) {
  Array rows(points.dtype, {points.count, points.axes});
  if (points.count == 0) return rows;
  const OnDevice on_device(device_of(points, "sites"));
  const cudaStream_t stream = fathom::cuda::native(given);
  const bool dense = is_dense(points);
  const DeviceMemory packed(dense ? 0 : rows.bytes(), stream);
  if (!dense) {
    const auto blocks = static_cast<unsigned>((points.count + kBuildBlock - 1) / kBuildBlock);
    visit_coordinates(points.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      pack_rows<<<blocks, kBuildBlock, 0, stream>>>(points, reinterpret_cast<T*>(packed.data()));
    });
    fathom::cuda::check_launch("packing sites");
  }
  const std::byte* from = dense ? points.data[0] : packed.data();
  check(cudaMemcpyAsync(rows.data(), from, rows.bytes(), cudaMemcpyDeviceToHost, stream), "copying sites");
  check(cudaStreamSynchronize(stream), "copying sites");
  return rows;
}

}  // namespace fathom::points::cuda
