// What a call takes from Fathom's pool of device memory, for tests that look inside.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "core/cuda/pool.h"
#include "device_block.h"
#include "fathom/core/device.h"

namespace fathom::test {

inline std::uint64_t pool_bytes(cudaMemPoolAttr which) {
  std::uint64_t bytes = 1;
  must(cudaMemPoolGetAttribute(cuda::pool_of(current_device()), which, &bytes));
  return bytes;
}

/// What a call took of the device's memory at most; nothing of it is left.
template <class Work>
std::uint64_t most_taken(Work&& work) {
  std::uint64_t none = 0;
  must(cudaMemPoolSetAttribute(cuda::pool_of(current_device()), cudaMemPoolAttrUsedMemHigh, &none));
  work();
  EXPECT_EQ(pool_bytes(cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  return pool_bytes(cudaMemPoolAttrUsedMemHigh);
}

}  // namespace fathom::test
