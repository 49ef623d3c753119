// Texels by the arithmetic of sdf.hd.h. Work: thread = texel. Launch: blocks of 256 threads. Cost: O(texels).
#include "apps/cuda/texels.h"

#include "core/cuda/runtime.h"

namespace fathom::apps::cuda {

namespace {

constexpr unsigned kBlock = 256;

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

__device__ std::int64_t thread_number() { return std::int64_t{blockIdx.x} * kBlock + threadIdx.x; }

__global__ void __launch_bounds__(kBlock) place(TexelRange range, Placing placing, double* places) {
  const std::int64_t k = thread_number();
  if (k >= range.count) return;
  places[2 * k] = placing.row((range.first + k) / range.width);
  places[2 * k + 1] = placing.column((range.first + k) % range.width);
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    write(TexelRange range, const __grid_constant__ Texels texels, const double* places, const std::int64_t* nearest,
          T* texture, std::int64_t row) {
  const std::int64_t k = thread_number();
  if (k >= range.count) return;
  const double value = texels.value(places[2 * k], places[2 * k + 1], nearest + k * kNearestSites);
  texture[(range.first + k) / range.width * row + (range.first + k) % range.width] = stored<T>(value);
}

}  // namespace

void place_texels(const TexelRange& range, const Placing& placing, double* places, cudaStream_t stream) {
  place<<<blocks_of(range.count), kBlock, 0, stream>>>(range, placing, places);
  fathom::cuda::check_launch("placing texels");
}

void write_texels(const TexelRange& range, const Texels& texels, const double* places, const std::int64_t* nearest,
                  const AnyDeviceView& texture, cudaStream_t stream) {
  const auto put = [&](auto* data) {
    write<<<blocks_of(range.count), kBlock, 0, stream>>>(range, texels, places, nearest, data, texture.strides()[0]);
  };
  switch (texture.dtype()) {
    case DType::uint8: put(texture.as<std::uint8_t>().data()); break;
    case DType::uint16: put(texture.as<std::uint16_t>().data()); break;
    case DType::float32: put(texture.as<float>().data()); break;
    default: put(texture.as<double>().data()); break;
  }
  fathom::cuda::check_launch("writing texels");
}

}  // namespace fathom::apps::cuda
