// The device's roots of integers, all of them, against the double root, which is exact enough to be rounded once more;
// and those of doubles, next to where their rounding turns.
#include <gtest/gtest.h>

#include "fathom/core/device.h"
#include "grid/cuda/output/roots.cuh"

namespace fathom::test {
namespace {

__global__ void count_wrong(unsigned long long* wrong) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t n = blockIdx.x * blockDim.x + threadIdx.x; n < std::uint64_t{1} << 32; n += threads) {
    const auto right = static_cast<float>(sqrt(static_cast<double>(n)));
    if (grid::cuda::root_of(static_cast<std::uint32_t>(n)) != right) atomicAdd(wrong, 1ull);
    if (n >= grid::cuda::kLeastLarge && grid::cuda::large_root(static_cast<std::uint32_t>(n)) != right)
      atomicAdd(wrong, 1ull);
    const auto to_face = static_cast<float>(sqrt(static_cast<double>(n)) - 0.5);
    if (n > 0 && grid::cuda::root_to_face(static_cast<std::uint32_t>(n)) != to_face) atomicAdd(wrong, 1ull);
  }
}

/// How many roots of so many squares at once are wrong.
template <int kCount>
__device__ unsigned long long wrong_roots(const double (&squares)[kCount]) {
  float roots[kCount];
  grid::cuda::roots_of(squares, roots);
  unsigned long long wrong = 0;
  for (int k = 0; k < kCount; ++k) wrong += roots[k] != static_cast<float>(sqrt(squares[k]));
  return wrong;
}

/// Beside the squares of all that lies halfway between two floats from 1 to 4, at several scales.
__global__ void count_wrong_halves(unsigned long long* wrong) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned n = blockIdx.x * blockDim.x + threadIdx.x; n < 1u << 24; n += threads) {
    const float below = __uint_as_float(0x3F800000u + n), above = __uint_as_float(0x3F800000u + n + 1);
    const double middle = 0.5 * (static_cast<double>(below) + static_cast<double>(above));
    for (double scale : {0x1p-100, 0x1p-3, 1.0, 0x1p50}) {
      const double square = middle * middle * scale;
      const auto beside = [&](int steps) { return __longlong_as_double(__double_as_longlong(square) + steps); };
      const int some = static_cast<int>(n % 5), many = static_cast<int>(n);
      const unsigned long long found = wrong_roots({square, beside(-1), beside(1 + some), beside(many)}) +
                                       wrong_roots({square, beside(-1 - some)}) +
                                       wrong_roots({beside(many % (1 << 17)), beside(-(many % (1 << 17)))});
      if (found > 0) atomicAdd(wrong, found);
    }
  }
}

/// What a kernel counts.
unsigned long long count(void (*kernel)(unsigned long long*)) {
  unsigned long long *wrong = nullptr, result = 1;
  EXPECT_EQ(cudaMalloc(&wrong, sizeof result), cudaSuccess);
  EXPECT_EQ(cudaMemset(wrong, 0, sizeof result), cudaSuccess);
  kernel<<<4096, 256>>>(wrong);
  EXPECT_EQ(cudaMemcpy(&result, wrong, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaFree(wrong), cudaSuccess);
  return result;
}

TEST(DeviceRoots, AllIntegers) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  EXPECT_EQ(count(count_wrong), 0u);
}

TEST(DeviceRoots, HalfwayBetweenFloats) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  EXPECT_EQ(count(count_wrong_halves), 0u);
}

}  // namespace
}  // namespace fathom::test
