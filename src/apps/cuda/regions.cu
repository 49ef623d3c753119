// Regions on a device. The sums are those of region_sums.hd.h, and integers, so that the CPU's bytes come out in
// whatever order they are added.
//
// Work: warp = 32 elements of a row. Prefix sums of their weights, by shuffles, give the sums of each run of one region
// at once; the last lane of a run adds them to the region's record, by 64-bit atomics. Launch: blocks of 256 threads.
// Source: Cao et al. 2010, section 6 (prefix sums of rows); departs in that runs are added where they end, instead of
// one interval for each site and row. Cost: O(elements); where regions are small the atomics are most of it.
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>

#include "apps/cuda/regions.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "core/cuda/warp.cuh"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;
using fathom::cuda::lanes_before;
using fathom::cuda::Scratch;

constexpr unsigned kBlock = 256, kWarp = 32, kWarps = kBlock / kWarp;

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

__device__ std::uint32_t thread_number() { return blockIdx.x * kBlock + threadIdx.x; }

/// Sums over the lanes up to this one.
template <class T>
__device__ T sum_through(T value) {
  for (int step = 1; step < static_cast<int>(kWarp); step *= 2) {
    const T before = __shfl_up_sync(kAllLanes, value, step);
    if (lane_id() >= step) value += before;
  }
  return value;
}

/// Where a row of the grid lies along the outer axes, and the row of weights that it lies in.
template <int kAxes>
struct RowPlace {
  std::uint32_t outer[kMostAxes - 1] = {};
  std::uint32_t coarse = 0;

  __device__ RowPlace(const Regions& regions, std::uint32_t row) {
    for (int axis = kAxes - 2; axis >= 0; --axis) {
      outer[axis] = row % regions.extent[axis];
      row /= regions.extent[axis];
    }
    const auto fine = static_cast<std::uint32_t>(regions.supersample);
    for (int axis = 0; axis < kAxes - 1; ++axis)
      coarse = coarse * (regions.extent[axis] / fine) + outer[axis] / fine;
  }
};

template <int kAxes, bool kSeconds>
__global__ void __launch_bounds__(kBlock)
    add_runs(const __grid_constant__ Regions regions, std::int64_t* records, int* overflow) {
  constexpr SumLayout kLayout{kAxes, kSeconds};
  constexpr int kFields = 2 + kAxes + (kSeconds ? kAxes * (kAxes + 1) / 2 : 0);
  const int lane = lane_id();
  const std::uint32_t width = regions.extent[kAxes - 1], chunks = (width - 1) / kWarp + 1;
  const std::uint32_t chunk = blockIdx.x * kWarps + threadIdx.x / kWarp, row = chunk / chunks,
                      begin = chunk % chunks * kWarp;
  if (row >= regions.elements / width) return;  // all lanes
  const std::uint32_t x = begin + static_cast<std::uint32_t>(lane);
  const bool is_inside = x < width;
  const std::int32_t site = is_inside ? regions.nearest[row * width + x] : -1;
  const RowPlace<kAxes> place(regions, row);
  std::uint32_t weight = 1;
  const auto fine = static_cast<std::uint32_t>(regions.supersample);
  if (regions.weights) weight = is_inside ? regions.weights[place.coarse * (width / fine) + x / fine] : 0;

  // From the first lane on: 32 bits hold 65535 · Σ k² for k < 32.
  const auto k = static_cast<std::uint32_t>(lane);
  const std::uint32_t mass = sum_through(weight), first = sum_through(weight * k);
  std::uint32_t second = 0;
  if constexpr (kSeconds) second = sum_through(weight * k * k);
  const std::int32_t before = __shfl_up_sync(kAllLanes, site, 1);
  const unsigned heads = __ballot_sync(kAllLanes, lane == 0 || site != before);
  const int head = 31 - __clz(static_cast<int>(heads & (lanes_before(lane) | 1u << lane)));
  const auto at_head = [&](std::uint32_t sum) {
    const std::uint32_t value = __shfl_sync(kAllLanes, sum, head > 0 ? head - 1 : 0);
    return head > 0 ? value : 0;
  };
  const RowPrefix until{at_head(mass), at_head(first), kSeconds ? at_head(second) : 0};
  const bool is_last = lane == 31 || (heads >> (lane + 1) & 1u) != 0;
  if (!is_last || site < 0) return;

  const std::int32_t number = regions.numbers[site];
  const std::int32_t* const at = regions.places + std::int64_t{number} * kAxes;
  std::int64_t offset[kMostAxes], sums[kFields];
  for (int axis = 0; axis < kAxes - 1; ++axis) offset[axis] = std::int64_t{place.outer[axis]} - at[axis];
  sum_run(kLayout, until, {mass, first, second}, lane - head + 1, offset, std::int64_t{at[kAxes - 1]} - begin, sums);
  auto* const record = reinterpret_cast<unsigned long long*>(records + std::int64_t{number} * kFields);
  int square = kLayout.second(), step = kAxes;  // the next sum of squares
  for (int field = 0; field < kFields; ++field) {
    const auto sum = static_cast<unsigned long long>(sums[field]);
    if (!kSeconds || field != square) {
      atomicAdd(record + field, sum);
      continue;
    }
    square += step--;
    if (static_cast<long long>(atomicAdd(record + field, sum) + sum) < 0) *overflow = 1;
  }
}

/// 1 at sites, else 0.
__global__ void __launch_bounds__(kBlock) mark_sites(const __grid_constant__ Regions regions) {
  const std::uint32_t element = thread_number();
  if (element >= regions.elements) return;
  regions.numbers[element] = regions.nearest[element] == static_cast<std::int32_t>(element);
}

/// From how many sites there are up to an element to their numbers.
__global__ void __launch_bounds__(kBlock)
    list_sites(const __grid_constant__ Regions regions, std::int64_t* sites, std::int32_t* places) {
  const std::uint32_t element = thread_number();
  if (element >= regions.elements || regions.nearest[element] != static_cast<std::int32_t>(element)) return;
  const std::int32_t number = regions.numbers[element] - 1;
  regions.numbers[element] = number;
  sites[number] = element;
  std::uint32_t rest = element;
  for (int axis = regions.axes - 1; axis >= 0; --axis) {
    places[std::int64_t{number} * regions.axes + axis] = static_cast<std::int32_t>(rest % regions.extent[axis]);
    rest /= regions.extent[axis];
  }
}

/// Steps of an array of the grid's shape, as one of 3 axes, the last of which is dense.
struct OuterStrides {
  std::int64_t slice = 0, row = 0;

  explicit OuterStrides(const AnyDeviceView& view) {
    const int axes = view.rank();
    if (axes > 2) slice = view.strides()[axes - 3];
    if (axes > 1) row = view.strides()[axes - 2];
  }
};

template <class T>
__global__ void __launch_bounds__(kBlock)
    write_numbers(const __grid_constant__ Regions regions, T* to, OuterStrides strides) {
  const std::uint32_t element = thread_number();
  if (element >= regions.elements) return;
  const std::uint32_t width = regions.extent[regions.axes - 1], row = element / width;
  const std::uint32_t height = regions.axes > 1 ? regions.extent[regions.axes - 2] : 1;
  const std::int32_t site = regions.nearest[element];
  to[row / height * strides.slice + row % height * strides.row + element % width] =
      site < 0 ? T{-1} : static_cast<T>(regions.numbers[site]);
}

/// Thread = element, and its faces to the elements after it along each axis.
template <bool kWrite>
__global__ void __launch_bounds__(kBlock)
    visit_faces(const __grid_constant__ Regions regions, int bits, std::uint64_t* keys, Counter* count) {
  const std::uint32_t element = thread_number();
  const std::int32_t site = element < regions.elements ? regions.nearest[element] : -1;
  std::uint32_t rest = element, stride = 1;
  for (int axis = regions.axes - 1; axis >= 0; --axis) {
    const std::uint32_t extent = regions.extent[axis];
    const bool has_next = site >= 0 && rest % extent + 1 < extent;
    const std::int32_t next = has_next ? regions.nearest[element + stride] : site;
    rest /= extent;
    stride *= extent;
    const unsigned lanes = __ballot_sync(kAllLanes, next != site);
    if (lanes == 0) continue;
    Counter place = 0;
    if (lane_id() == 0) place = atomicAdd(count, static_cast<Counter>(__popc(lanes)));
    if constexpr (kWrite) {
      place = __shfl_sync(kAllLanes, place, 0) + __popc(lanes & lanes_before(lane_id()));
      if (next == site) continue;
      const auto a = static_cast<std::uint32_t>(regions.numbers[site]);
      const auto b = static_cast<std::uint32_t>(regions.numbers[next]);
      keys[place] = (std::uint64_t{min(a, b)} << bits | max(a, b)) << 2 | static_cast<unsigned>(axis);
    }
  }
}

template <class T>
T read(const T* counter, cudaStream_t stream) {
  T count = 0;
  check(cudaMemcpyAsync(&count, counter, sizeof count, cudaMemcpyDeviceToHost, stream), "reading a count");
  check(cudaStreamSynchronize(stream), "counting");
  return count;
}

cudaError_t sum_marks(std::byte* temporary, std::size_t& bytes, std::int32_t* marks, std::int64_t count,
                      cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(temporary, bytes, marks, marks, count, stream);
}

template <int kAxes>
void add_all_runs(const Regions& regions, bool seconds, std::int64_t* sums, int* overflow, cudaStream_t stream) {
  const std::int64_t width = regions.extent[kAxes - 1], rows = regions.elements / width;
  const auto blocks = static_cast<unsigned>((rows * ((width + kWarp - 1) / kWarp) + kWarps - 1) / kWarps);
  if (seconds) add_runs<kAxes, true><<<blocks, kBlock, 0, stream>>>(regions, sums, overflow);
  else add_runs<kAxes, false><<<blocks, kBlock, 0, stream>>>(regions, sums, overflow);
  check_launch("adding up regions");
}

}  // namespace

Regions::Regions(const Shape& grid, const std::int32_t* nearest_sites, std::int32_t* site_numbers)
    : axes(grid.rank()),
      elements(static_cast<std::uint32_t>(element_count(grid))),
      nearest(nearest_sites),
      numbers(site_numbers) {
  for (int axis = 0; axis < axes; ++axis) extent[axis] = static_cast<std::uint32_t>(grid[axis]);
}

std::size_t SiteNumbers::scratch_bytes(std::int64_t elements) {
  std::size_t bytes = 0;
  check(sum_marks(nullptr, bytes, nullptr, elements, nullptr), "sizing a sum");
  return bytes;
}

std::int64_t SiteNumbers::find(const Regions& regions, std::byte* scratch, cudaStream_t stream) {
  mark_sites<<<blocks_of(regions.elements), kBlock, 0, stream>>>(regions);
  check_launch("marking sites");
  std::size_t bytes = scratch_bytes(regions.elements);
  check(sum_marks(scratch, bytes, regions.numbers, regions.elements, stream), "numbering sites");
  return read(regions.numbers + regions.elements - 1, stream);
}

void SiteNumbers::list(const Regions& regions, std::int64_t* sites, std::int32_t* places, cudaStream_t stream) {
  list_sites<<<blocks_of(regions.elements), kBlock, 0, stream>>>(regions, sites, places);
  check_launch("listing sites");
}

void sum_regions(const Regions& regions, const SumLayout& layout, std::int64_t* sums, int* overflow,
                 cudaStream_t stream) {
  switch (layout.axes) {
    case 1: return add_all_runs<1>(regions, layout.seconds, sums, overflow, stream);
    case 2: return add_all_runs<2>(regions, layout.seconds, sums, overflow, stream);
    default: return add_all_runs<3>(regions, layout.seconds, sums, overflow, stream);
  }
}

void number_regions(const Regions& regions, const AnyDeviceView& to, cudaStream_t stream) {
  const unsigned blocks = blocks_of(regions.elements);
  const OuterStrides strides(to);
  if (to.dtype() == DType::int32)
    write_numbers<<<blocks, kBlock, 0, stream>>>(regions, to.as<std::int32_t>().data(), strides);
  else write_numbers<<<blocks, kBlock, 0, stream>>>(regions, to.as<std::int64_t>().data(), strides);
  check_launch("numbering regions");
}

FaceKeys::FaceKeys(std::int64_t sites) : bits(std::bit_width(static_cast<std::uint64_t>(sites))) {}

std::int64_t count_faces(const Regions& regions, Counter* counter, cudaStream_t stream) {
  check(cudaMemsetAsync(counter, 0, sizeof *counter, stream), "counting faces");
  visit_faces<false><<<blocks_of(regions.elements), kBlock, 0, stream>>>(regions, 0, nullptr, counter);
  check_launch("counting faces");
  return static_cast<std::int64_t>(read(counter, stream));
}

Faces::Faces(std::int64_t faces, const FaceKeys& form, std::byte* base) : faces_(faces), form_(form) {
  Scratch scratch(base);
  keys_ = scratch.take<std::uint64_t>(faces);
  other_ = scratch.take<std::uint64_t>(faces);
  counts_ = scratch.take<std::uint32_t>(faces);
  found_ = scratch.take<Counter>(1);
  std::size_t for_runs = 0;
  cub::DoubleBuffer<std::uint64_t> buffers(keys_, other_);
  check(cub::DeviceRadixSort::SortKeys(nullptr, temporary_bytes_, buffers, faces, 0, form.all_bits(),
                                       nullptr),
        "sizing a sort");
  check(cub::DeviceRunLengthEncode::Encode(nullptr, for_runs, keys_, other_, counts_, found_, faces,
                                           nullptr),
        "sizing a count");
  if (for_runs > temporary_bytes_) temporary_bytes_ = for_runs;
  temporary_ = scratch.take<std::byte>(static_cast<std::int64_t>(temporary_bytes_));
  bytes_ = scratch.bytes();
}

std::int64_t Faces::find(const Regions& regions, cudaStream_t stream) {
  check(cudaMemsetAsync(found_, 0, sizeof *found_, stream), "finding faces");
  visit_faces<true><<<blocks_of(regions.elements), kBlock, 0, stream>>>(regions, form_.bits, keys_, found_);
  check_launch("finding faces");
  cub::DoubleBuffer<std::uint64_t> buffers(keys_, other_);
  std::size_t bytes = temporary_bytes_;
  check(cub::DeviceRadixSort::SortKeys(temporary_, bytes, buffers, faces_, 0, form_.all_bits(), stream),
        "sorting faces");
  bytes = temporary_bytes_;
  check(cub::DeviceRunLengthEncode::Encode(temporary_, bytes, buffers.Current(), buffers.Alternate(), counts_, found_,
                                           faces_, stream),
        "counting faces");
  keys_ = buffers.Alternate();
  return static_cast<std::int64_t>(read(found_, stream));
}

}  // namespace fathom::apps::cuda
