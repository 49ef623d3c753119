// Which elements are sites, one byte each: thread = element. Cost: that of the memory that is read and written.
#include "core/cuda/runtime.h"
#include "grid/cuda/input/layout.cuh"
#include "grid/cuda/mark_sites.h"
#include "grid/element.hd.h"

namespace fathom::grid::cuda {

namespace {

constexpr int kBlock = 256;

/// Where elements of an array lie that are counted row by row.
struct Elements {
  int rank = 0;
  std::int64_t extent[kMaxRank] = {}, stride[kMaxRank] = {};

  template <class View>
  static Elements of(const View& view) {
    Shape shape = view.shape();
    Strides strides = view.strides();
    join_axes(shape, strides);
    Elements elements{.rank = shape.rank()};
    for (int axis = 0; axis < shape.rank(); ++axis) {
      elements.extent[axis] = shape[axis];
      elements.stride[axis] = strides[axis];
    }
    return elements;
  }

  __device__ std::int64_t offset(std::int64_t number) const {
    std::int64_t elements = 0;
    for (int axis = rank - 1; axis > 0; --axis) {
      const Division division(number, extent[axis]);
      elements += division.remainder * stride[axis];
      number = division.quotient;
    }
    return rank == 0 ? 0 : elements + number * stride[0];
  }
};

__global__ void __launch_bounds__(kBlock)
    mark_elements(const std::byte* input, const __grid_constant__ Elements from, ElementRule rule, std::uint8_t* marks,
                  const __grid_constant__ Elements to, std::int64_t count) {
  const std::int64_t number = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (number < count) marks[to.offset(number)] = fulfils(rule, input, from.offset(number));
}

}  // namespace

void mark_sites(const AnyConstDeviceView& input, const Sites& sites, const AnyDeviceView& marks, Stream stream) {
  const std::int64_t count = element_count(input.shape());
  const fathom::cuda::OnDevice on_device(fathom::cuda::device_of(input.data(), "input", fathom::cuda::native(stream)));
  mark_elements<<<static_cast<unsigned>((count + kBlock - 1) / kBlock), kBlock, 0, fathom::cuda::native(stream)>>>(
      input.data(), Elements::of(input), element_rule(input.dtype(), sites),
      reinterpret_cast<std::uint8_t*>(marks.data()), Elements::of(marks), count);
  fathom::cuda::check_launch("marking sites");
}

}  // namespace fathom::grid::cuda
