// Copies from global to shared memory that nothing waits for until all are asked for, past the registers: of compute
// capability 8.0 and later. Older devices copy at once, as the compiler has it.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstddef>

namespace fathom::cuda {

/// Begins a copy. @tparam kBytes  4, 8 or 16, to which both are aligned
template <std::size_t kBytes>
__device__ inline void copy_async(void* shared, const void* global) {
  __pipeline_memcpy_async(shared, global, kBytes);
}

/// Waits for those that the thread has begun.
__device__ inline void wait_for_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
  asm volatile("" ::: "memory");  // so that nothing of what they bring is read before
}

}  // namespace fathom::cuda
