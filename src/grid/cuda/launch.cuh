// How kernels with more shared memory than usual, and persistent ones, are launched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/cuda/early_launch.cuh"
#include "core/cuda/runtime.h"
#include "fathom/core/error.h"

namespace fathom::grid::cuda {

/// Blocks of `block` threads for each of `count` rows of `width`; of these there are fewer than 2¹⁶.
inline dim3 blocks(std::int64_t count, std::int64_t width, int block) {
  return {static_cast<unsigned>((width + block - 1) / block), static_cast<unsigned>(count)};
}

/// Launches a kernel with more shared memory than kernels have by default.
template <class Kernel, class... Arguments>
void launch(Kernel kernel, std::int64_t blocks, int threads, std::size_t memory, cudaStream_t stream,
            const Arguments&... arguments) {
  fathom::cuda::allow_memory(kernel);
  fathom::cuda::launch(kernel, static_cast<unsigned>(blocks), static_cast<unsigned>(threads), memory, stream, false,
                       arguments...);
}

/// Calls pass(threads) with the one of kSizes that is `threads`, as a constant: kernels are compiled for some blocks.
template <int... kSizes, class Pass>
void with_block(int threads, Pass&& pass) {
  const bool is_one = ((threads == kSizes && (pass(std::integral_constant<int, kSizes>{}), true)) || ...);
  if (!is_one) throw InternalError("no kernel has blocks of " + std::to_string(threads) + " threads");
}

/// Blocks of a persistent kernel: as many as the device holds, and no more than there are jobs.
template <class Kernel>
std::int64_t persistent_blocks(Kernel kernel, std::int64_t jobs, int threads, std::size_t memory) {
  int resident = 0;
  fathom::cuda::allow_memory(kernel);
  fathom::cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, memory),
                      "asking for the occupancy");
  return std::min<std::int64_t>(jobs, std::int64_t{std::max(resident, 1)} * fathom::cuda::multiprocessors());
}

}  // namespace fathom::grid::cuda
