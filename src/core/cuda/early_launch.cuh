// Kernels that begin before the one ahead of them in the stream ends: programmatic dependent launch, of devices and
// code of compute capability 9.0. Others follow one another as ever.
#pragma once

#include <type_traits>

#include "core/cuda/runtime.h"

namespace fathom::cuda {

/// In a kernel: blocks of the next one may begin where there is room.
__device__ inline void let_next_begin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// In the next one, before it reads what the one ahead writes, or writes what that or any before it uses: waits until
/// that has ended. Where the one ahead was launched as ever, all before it have.
__device__ inline void wait_for_last() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Launches a kernel.
///
/// @param memory  of a block, shared, in bytes
/// @param early   it waits by itself
template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 blocks, unsigned threads, std::size_t memory, cudaStream_t stream,
            bool early, const std::type_identity_t<Parameters>&... arguments) {
  constexpr int kOldest = 90;
  cudaFuncAttributes code{};  // which may be for older devices than the one that is there
  if (early) check(cudaFuncGetAttributes(&code, kernel), "looking at a kernel");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = memory;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = code.ptxVersion >= kOldest ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "launching a kernel");
}

/// Launches a kernel that waits by itself.
template <class... Parameters>
void launch_early(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, cudaStream_t stream,
                  const std::type_identity_t<Parameters>&... arguments) {
  cuda::launch(kernel, blocks, threads, 0, stream, true, arguments...);  // not one of the arguments' namespace
}

}  // namespace fathom::cuda
