// The device's roots of integers, all of them, against the double root, which is exact enough to be rounded once more.
#include <gtest/gtest.h>

#include "fathom/core/device.h"
#include "grid/cuda/roots.cuh"

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

TEST(DeviceRoots, AllIntegers) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  unsigned long long *wrong = nullptr, result = 1;
  ASSERT_EQ(cudaMalloc(&wrong, sizeof result), cudaSuccess);
  ASSERT_EQ(cudaMemset(wrong, 0, sizeof result), cudaSuccess);
  count_wrong<<<4096, 256>>>(wrong);
  ASSERT_EQ(cudaMemcpy(&result, wrong, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(cudaFree(wrong), cudaSuccess);
  EXPECT_EQ(result, 0u);
}

}  // namespace
}  // namespace fathom::test
