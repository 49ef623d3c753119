// How kernels with more shared memory than usual, and persistent ones, are launched.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/cuda/runtime.h"

namespace fathom::grid::cuda {

/// Launches a kernel with more shared memory than kernels have by default.
template <class Kernel, class... Arguments>
void launch(Kernel kernel, std::int64_t blocks, int threads, std::size_t memory, cudaStream_t stream,
            const Arguments&... arguments) {
  fathom::cuda::check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(memory)),
      "asking for shared memory");
  kernel<<<static_cast<unsigned>(blocks), threads, memory, stream>>>(arguments...);
  fathom::cuda::check_launch("solving");
}

/// Blocks of a persistent kernel: as many as the device holds, and no more than there are jobs.
template <class Kernel>
std::int64_t persistent_blocks(Kernel kernel, std::int64_t jobs, int threads, std::size_t memory) {
  int resident = 0;
  fathom::cuda::check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(memory)),
      "asking for shared memory");
  fathom::cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, memory),
                      "asking for the occupancy");
  return std::min<std::int64_t>(jobs, std::int64_t{std::max(resident, 1)} * fathom::cuda::multiprocessors());
}

}  // namespace fathom::grid::cuda
