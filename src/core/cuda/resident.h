// What kernels ask for of a multiprocessor, which differs between devices.
#pragma once

namespace fathom::cuda {

/// Blocks that a multiprocessor is to hold: as many as wanted, or as it has threads for.
constexpr int resident_blocks(int threads, int wanted) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
  const int most = 2048;
#elif __CUDA_ARCH__ < 800
  const int most = 1024;
#else
  const int most = 1536;
#endif
  return wanted < most / threads ? wanted : most / threads;
}

}  // namespace fathom::cuda
