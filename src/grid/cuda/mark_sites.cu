// Which elements are sites, one byte each: thread = element. Cost: that of the memory that is read and written.
#include "core/cuda/runtime.h"
#include "grid/cuda/input/layout.cuh"
#include "grid/cuda/transform.h"
#include "grid/cuda/tuning.h"
#include "grid/element.hd.h"

namespace fathom::grid::cuda {

namespace {

__global__ void __launch_bounds__(kGeneralBlock)
    mark_elements(const std::byte* input, const __grid_constant__ ItemStrides from, ElementRule rule,
                  std::uint8_t* marks, const __grid_constant__ ItemStrides to, std::int64_t count) {
  const std::int64_t number = std::int64_t{blockIdx.x} * kGeneralBlock + threadIdx.x;
  if (number < count) marks[to.offset(number)] = fulfils(rule, input, from.offset(number));
}

}  // namespace

void mark_sites(const AnyConstDeviceView& input, const Sites& sites, const AnyDeviceView& marks, Stream stream) {
  const std::int64_t count = element_count(input.shape());
  const fathom::cuda::OnDevice on_device(fathom::cuda::device_of(input.data(), "input", fathom::cuda::native(stream)));
  mark_elements<<<blocks_for(count, kGeneralBlock), kGeneralBlock, 0, fathom::cuda::native(stream)>>>(
      input.data(), ItemStrides::of(input.shape(), input.strides()), element_rule(input.dtype(), sites),
      reinterpret_cast<std::uint8_t*>(marks.data()), ItemStrides::of(marks.shape(), marks.strides()), count);
  fathom::cuda::check_launch("marking sites");
}

}  // namespace fathom::grid::cuda
