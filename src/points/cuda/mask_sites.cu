// A warp looks at a stretch of 1024 consecutive elements, 32 at a time: first it counts its sites, then, when the sums
// of all stretches before are known, it writes them to their places. Cost: the mask is read twice.
#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/check.h"
#include "points/cuda/mask_sites.h"
#include "points/cuda/tuning.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;
using fathom::cuda::Scratch;

constexpr int kWarp = 32;
constexpr std::int64_t kStretch = 1024;

/// A mask with 3 axes; with 2 the first has one element.
struct Mask {
  const std::byte* data;
  std::int64_t extent[3], step[3];
  int axes;

  explicit Mask(const AnyConstDeviceView& view) : data(view.data()), extent{1, 1, 1}, step{}, axes(view.rank()) {
    for (int k = 0; k < axes; ++k) {
      extent[3 - axes + k] = view.shape()[k];
      step[3 - axes + k] = view.strides()[k];
    }
  }

  std::int64_t elements() const { return extent[0] * extent[1] * extent[2]; }
  std::int64_t stretches() const { return (elements() + kStretch - 1) / kStretch; }
};

struct Place {
  std::int64_t z, y, x;
};

__device__ Place place_of(const Mask& mask, std::int64_t element) {
  const std::int64_t row = element / mask.extent[2];
  return {row / mask.extent[1], row % mask.extent[1], element % mask.extent[2]};
}

template <class T>
__device__ bool is_site(const Mask& mask, const Place& at) {
  return reinterpret_cast<const T*>(mask.data)[at.z * mask.step[0] + at.y * mask.step[1] + at.x * mask.step[2]] != T{};
}

/// Where sites go.
struct Found {
  std::int64_t every;
  std::int32_t* coordinates;
  std::uint32_t* ids;  ///< null: not wanted

  __device__ void put(std::int64_t number, const Mask& mask, std::int64_t element, const Place& at) const {
    if (number % every != 0) return;
    const std::int64_t i = number / every;
    std::int32_t* row = coordinates + i * mask.axes;
    if (mask.axes == 3) *row++ = static_cast<std::int32_t>(at.z);
    *row++ = static_cast<std::int32_t>(at.y);
    *row = static_cast<std::int32_t>(at.x);
    if (ids) ids[i] = static_cast<std::uint32_t>(element);
  }
};

/// @param numbers  of a stretch: how many sites it has, or, with kPut, how many come before it
template <class T, bool kPut>
__global__ void __launch_bounds__(kBuildBlock)
    look_at_mask(const __grid_constant__ Mask mask, std::int64_t elements, std::int64_t* numbers, Found found) {
  const std::int64_t stretch = (std::int64_t{blockIdx.x} * kBuildBlock + threadIdx.x) / kWarp;
  const std::int64_t begin = stretch * kStretch, end = min(begin + kStretch, elements);
  if (begin >= elements) return;
  const unsigned lane = threadIdx.x % kWarp;
  std::int64_t number = kPut ? numbers[stretch] : 0;
  for (std::int64_t first = begin; first < end; first += kWarp) {
    const std::int64_t element = first + lane;
    const Place at = place_of(mask, element);
    const bool site = element < end && is_site<T>(mask, at);
    const unsigned sites = __ballot_sync(~0u, site);
    if (kPut && site) found.put(number + __popc(sites & ((1u << lane) - 1)), mask, element, at);
    number += __popc(sites);
  }
  if (!kPut && lane == 0) numbers[stretch] = number;
}

template <bool kPut>
void look(const Mask& mask, DType dtype, std::int64_t* numbers, const Found& found, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((mask.stretches() * kWarp + kBuildBlock - 1) / kBuildBlock);
  // A bool is read as the byte it is: memory of other origin may hold more than 0 and 1.
  visit_dtype(dtype == DType::boolean ? DType::uint8 : dtype, [&](auto tag) {
    look_at_mask<typename decltype(tag)::type, kPut>
        <<<blocks, kBuildBlock, 0, stream>>>(mask, mask.elements(), numbers, found);
  });
  check_launch("look_at_mask");
}

/// How many sites come before each stretch, and behind the last one how many there are. Lives until the sites are put.
struct Numbers {
  std::int64_t* of_stretch;
  std::byte* temporary;
  std::size_t temporary_bytes = 0;
  std::int64_t count;  ///< of stretches and the sum

  Numbers(const Mask& mask, Scratch& scratch) : count(mask.stretches() + 1) {
    of_stretch = nullptr;
    temporary = nullptr;
    check(sum(nullptr), "sizing a sum");
    of_stretch = scratch.take<std::int64_t>(count);
    temporary = scratch.take<std::byte>(static_cast<std::int64_t>(temporary_bytes));
  }

  cudaError_t sum(cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(temporary, temporary_bytes, of_stretch, of_stretch, static_cast<int>(count),
                                         stream);
  }

  /// @return how many sites there are
  std::int64_t find(const Mask& mask, DType dtype, cudaStream_t stream) {
    check(cudaMemsetAsync(of_stretch + count - 1, 0, sizeof *of_stretch, stream), "clearing a count");
    look<false>(mask, dtype, of_stretch, {}, stream);
    check(sum(stream), "summing up");
    std::int64_t sites = 0;
    check(cudaMemcpyAsync(&sites, of_stretch + count - 1, sizeof sites, cudaMemcpyDeviceToHost, stream),
          "reading a count");
    check(cudaStreamSynchronize(stream), "finding the sites of a mask");
    return sites;
  }
};

}  // namespace

MaskSites::MaskSites(const AnyConstDeviceView& view, std::int64_t every, bool with_ids,
                     std::optional<std::size_t> limit, Stream given) {
  const Mask mask(view);
  sites_.dtype = DType::int32;
  sites_.axes = mask.axes;
  if (mask.elements() == 0) return;
  const OnDevice on_device(fathom::cuda::device_of(mask.data, "mask"));
  const cudaStream_t stream = fathom::cuda::native(given);
  Scratch counting(nullptr);
  Numbers counted(mask, counting);
  check_device_memory(limit, counting.bytes());
  const DeviceMemory memory(counting.bytes(), stream);
  Scratch scratch(memory.data());
  Numbers numbers(mask, scratch);
  sites_.count = (numbers.find(mask, view.dtype(), stream) + every - 1) / every;
  if (sites_.count == 0) return;

  const auto arrays = [&](Scratch& arrays_of) {
    Found found{every, arrays_of.take<std::int32_t>(sites_.count * mask.axes), nullptr};
    if (with_ids) found.ids = arrays_of.take<std::uint32_t>(sites_.count);
    return found;
  };
  Scratch sizes(nullptr);
  arrays(sizes);
  bytes_ = sizes.bytes();
  check_device_memory(limit, counting.bytes() + bytes_);
  memory_ = std::make_unique<DeviceMemory>(bytes_, stream);
  Scratch places(memory_->data());
  const Found found = arrays(places);
  look<true>(mask, view.dtype(), numbers.of_stretch, found, stream);
  ids_ = found.ids;
  for (int k = 0; k < mask.axes; ++k) {
    sites_.data[k] = reinterpret_cast<const std::byte*>(found.coordinates + k);
    sites_.step[k] = mask.axes;
  }
  check(cudaStreamSynchronize(stream), "finding the sites of a mask");
}

MaskSites::~MaskSites() = default;

}  // namespace fathom::points::cuda
