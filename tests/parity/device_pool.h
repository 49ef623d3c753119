// What a call takes from Fathom's pool of device memory, for tests that look inside.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

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

/// How far apart the first and the last byte of the pool are that some work changed, of about the next ones that the
/// pool would give: not beyond what a call says that it takes, unless it writes beyond it.
template <class Work>
std::uint64_t span_written(std::uint64_t bytes, Work&& work) {
  constexpr unsigned char kMark = 0xA5;
  const auto marked = [&](bool mark) {
    std::vector<unsigned char> content(mark ? 0 : bytes);
    void* memory = nullptr;
    must(cudaMallocFromPoolAsync(&memory, bytes, cuda::pool_of(current_device()), nullptr));
    if (mark) must(cudaMemset(memory, kMark, bytes));
    else must(cudaMemcpy(content.data(), memory, bytes, cudaMemcpyDeviceToHost));
    must(cudaFreeAsync(memory, nullptr));
    must(cudaDeviceSynchronize());
    return content;
  };
  marked(true);
  work();
  const std::vector<unsigned char> content = marked(false);
  const auto changed = [](unsigned char byte) { return byte != kMark; };
  const auto first = std::find_if(content.begin(), content.end(), changed);
  const auto last = std::find_if(content.rbegin(), content.rend(), changed).base();
  return first < last ? static_cast<std::uint64_t>(last - first) : 0;
}

}  // namespace fathom::test
