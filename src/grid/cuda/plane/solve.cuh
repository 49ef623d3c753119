// The kernels of the engine for planes that write results, as its host side launches them: near elements
// (plane/near.cuh) and far tiles (plane/far.cuh). There is one of each for every form of results and kind of spacing,
// and a compiler takes long over them: they are compiled in two parts (plane/distances.cu, plane/results.cu).
#pragma once

#include <cuda_runtime_api.h>

#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

/// V: the emitter's.
template <Writing kWriting, Spacing kSpaced, class V = std::int64_t>
struct PlaneKernels {
  static void solve_near(const Plane& plane, const Emitter<V>& emitter, cudaStream_t stream);
  static void solve_far(const Plane& plane, const Emitter<V>& emitter, cudaStream_t stream);
};

}  // namespace fathom::grid::cuda::plane
