// Several warps that answer one query.
#pragma once

#include "core/cuda/warp.cuh"

namespace fathom::points::cuda {

/// A warp's part in it. The warps tell one another how near the nearest is.
template <int kWarps>
struct Team {
  int warp = 0;
  unsigned* limit = nullptr;  ///< bits of the least that any of them knows, in shared memory

  /// Every kWarps-th.
  __device__ unsigned lanes() const { return fathom::cuda::kAllLanes / ((1u << kWarps) - 1) << warp; }
  __device__ void tell(float known) const {
    if (fathom::cuda::lane_id() == 0) atomicMin(limit, __float_as_uint(known));
  }
  __device__ float least() const { return __uint_as_float(*const_cast<volatile unsigned*>(limit)); }
};

}  // namespace fathom::points::cuda
