// Weights become integers by the arithmetic of weights.cpp. Work: thread = some elements; one pass looks at what is
// given, and finds the largest, a second one writes. Types are told apart in each thread, so that there is one kernel
// for all of them. Launch: blocks of 256 threads. Cost: O(elements).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cub/device/device_scan.cuh>

#include "apps/cuda/download.h"
#include "apps/cuda/weights.h"
#include "core/cuda/warp.cuh"
#include "fathom/core/error.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::DeviceMemory;
using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;

constexpr unsigned kBlock = 256, kWarp = 32;

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

/// As many as keep every device busy: totals cost an atomic for each warp.
unsigned busy_blocks(std::int64_t threads) {
  constexpr std::int64_t kMost = 8;  // on a multiprocessor
  return blocks_of(std::min(threads, kMost * fathom::cuda::multiprocessors() * kBlock));
}

__device__ std::int64_t thread_number() { return std::int64_t{blockIdx.x} * kBlock + threadIdx.x; }
__device__ std::int64_t thread_count() { return std::int64_t{gridDim.x} * kBlock; }

/// Somebody's array, as one of 3 axes, the last of which is dense.
struct Given {
  const std::byte* data;
  DType dtype;
  bool real;  ///< floats
  std::int64_t slice = 0, row = 0;
  std::int64_t height = 1, width = 1, elements;

  explicit Given(const AnyConstDeviceView& view)
      : data(view.data()),
        dtype(view.dtype()),
        real(dtype == DType::float32 || dtype == DType::float64),
        elements(element_count(view.shape())) {
    const int axes = view.rank();
    width = view.shape().back();
    if (axes > 1) height = view.shape()[axes - 2], row = view.strides()[axes - 2];
    if (axes > 2) slice = view.strides()[axes - 3];
  }

  template <class T>
  __device__ double read(std::int64_t at) const {
    return static_cast<double>(reinterpret_cast<const T*>(data)[at]);
  }

  __device__ double value(std::int64_t element) const {
    const std::int64_t number = element / width;
    const std::int64_t at = number / height * slice + number % height * row + element % width;
    switch (dtype) {
      case DType::boolean: return data[at] != std::byte{0};
      case DType::int8: return read<std::int8_t>(at);
      case DType::uint8: return read<std::uint8_t>(at);
      case DType::int16: return read<std::int16_t>(at);
      case DType::uint16: return read<std::uint16_t>(at);
      case DType::int32: return read<std::int32_t>(at);
      case DType::uint32: return read<std::uint32_t>(at);
      case DType::int64: return read<std::int64_t>(at);
      case DType::uint64: return read<std::uint64_t>(at);
      case DType::float32: return read<float>(at);
      case DType::float64: return read<double>(at);
    }
    return 0;
  }
};

using Bits = unsigned long long;

/// What is known of weights.
struct Tally {
  Bits most;  ///< of floats the largest, as bits: those of numbers above 0 have their order
  Bits bad;   ///< how many are of no use
  Bits positive, total;
};

/// Over all lanes.
template <class T, class Join>
__device__ T joined(T value, const Join& join) {
  for (int step = kWarp / 2; step > 0; step /= 2) value = join(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}

__device__ Bits larger(Bits a, Bits b) { return a > b ? a : b; }

__device__ Bits sum(Bits value) {
  return joined(value, [](Bits a, Bits b) { return a + b; });
}

__global__ void __launch_bounds__(kBlock) look_at_weights(const __grid_constant__ Given given, Tally* tally) {
  Bits bad = 0, most = 0;
  for (std::int64_t element = thread_number(); element < given.elements; element += thread_count()) {
    const double value = given.value(element);
    const bool is_good = value >= 0 && value < HUGE_VAL && (given.real || value <= kMostWeight);
    bad += !is_good;
    if (is_good && value > 0) most = larger(most, static_cast<Bits>(__double_as_longlong(value)));
  }
  bad = sum(bad);
  most = joined(most, [](Bits a, Bits b) { return larger(a, b); });
  if (lane_id() != 0) return;
  if (bad > 0) atomicAdd(&tally->bad, bad);
  if (given.real) atomicMax(&tally->most, most);
}

__global__ void __launch_bounds__(kBlock)
    write_weights(const __grid_constant__ Given given, std::uint16_t* to, Tally* tally) {
  const double most = __longlong_as_double(static_cast<long long>(tally->most));
  Bits positive = 0, total = 0;
  for (std::int64_t element = thread_number(); element < given.elements; element += thread_count()) {
    const double value = given.value(element), share = value / (most > 0 ? most : 1);
    const double scaled = given.real ? std::floor(share * kMostWeight + 0.5) : value;
    const bool is_good = scaled >= 0 && scaled <= kMostWeight;  // others will be refused
    const auto weight = static_cast<std::uint16_t>(is_good ? scaled : 0);
    to[element] = weight;
    positive += weight > 0;
    total += weight;
  }
  positive = sum(positive);
  total = sum(total);
  if (lane_id() != 0) return;
  atomicAdd(&tally->positive, positive);
  atomicAdd(&tally->total, total);
}

/// Warp = row.
__global__ void __launch_bounds__(kBlock)
    add_rows(const std::uint16_t* values, std::int64_t rows, std::int64_t width, std::int64_t* sums) {
  const std::int64_t row = thread_number() / kWarp;
  if (row >= rows) return;  // all lanes
  Bits mass = 0;
  for (std::int64_t x = lane_id(); x < width; x += kWarp) mass += values[row * width + x];
  mass = sum(mass);
  if (lane_id() != 0) return;
  sums[row + 1] = static_cast<std::int64_t>(mass);
  if (row == 0) sums[0] = 0;
}

cudaError_t sum_up(std::byte* temporary, std::size_t& bytes, std::int64_t* sums, std::int64_t count,
                   cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(temporary, bytes, sums, sums, count, stream);
}

}  // namespace

std::size_t DeviceWeights::bytes(const Shape& shape, bool present) {
  return present ? static_cast<std::size_t>(element_count(shape)) * sizeof(std::uint16_t) : 0;
}

DeviceWeights::DeviceWeights(const Weights& given, cudaStream_t stream)
    : shape_(given.shape),
      memory_(bytes(shape_, !given.values.empty()), stream),
      positive_(given.positive),
      total_(given.total),
      scale_(given.scale) {
  if (given.values.empty()) return;
  check(cudaMemcpyAsync(memory_.data(), given.values.data(), bytes(shape_, true), cudaMemcpyHostToDevice, stream),
        "copying weights");
}

DeviceWeights::DeviceWeights(const AnyConstDeviceView& view, const Shape& shape, cudaStream_t stream)
    : shape_(shape), memory_(bytes(shape, view.present()), stream) {
  positive_ = total_ = element_count(shape);
  if (!view.present() || positive_ == 0) return;
  const Given given(view);
  const DeviceMemory memory(sizeof(Tally), stream);
  auto* const tally = reinterpret_cast<Tally*>(memory.data());
  check(cudaMemsetAsync(tally, 0, sizeof *tally, stream), "looking at weights");
  look_at_weights<<<busy_blocks(given.elements), kBlock, 0, stream>>>(given, tally);
  check_launch("looking at weights");
  auto* const values = reinterpret_cast<std::uint16_t*>(memory_.data());
  write_weights<<<busy_blocks(given.elements), kBlock, 0, stream>>>(given, values, tally);
  check_launch("writing weights");
  Tally found{};
  check(cudaMemcpyAsync(&found, tally, sizeof found, cudaMemcpyDeviceToHost, stream), "reading weights");
  check(cudaStreamSynchronize(stream), "reading weights");
  const double most = std::bit_cast<double>(found.most);
  if (most > 0) scale_ = kMostWeight / most;
  if (found.bad > 0 || std::isinf(scale_) || std::isinf(static_cast<double>(found.total) / scale_)) {
    // What is wrong says the host.
    const Array copy = downloaded(view, "weights", Stream{stream});
    weights_of(copy.view(), shape);
    throw InternalError("weights were refused on a device alone");
  }
  positive_ = static_cast<std::int64_t>(found.positive);
  total_ = static_cast<std::int64_t>(found.total);
}

std::size_t sum_rows_scratch_bytes(std::int64_t rows) {
  std::size_t bytes = 0;
  check(sum_up(nullptr, bytes, nullptr, rows + 1, nullptr), "sizing a sum");
  return bytes;
}

void sum_rows(const DeviceWeights& weights, std::int64_t* before, std::byte* scratch, cudaStream_t stream) {
  const std::int64_t rows = row_count(weights.shape()), width = weights.shape().back();
  add_rows<<<blocks_of(rows * kWarp), kBlock, 0, stream>>>(weights.values(), rows, width, before);
  check_launch("adding up rows");
  std::size_t bytes = sum_rows_scratch_bytes(rows);
  check(sum_up(scratch, bytes, before, rows + 1, stream), "adding up rows");
}

}  // namespace fathom::apps::cuda
