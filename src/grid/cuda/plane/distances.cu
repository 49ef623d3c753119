// The engine for planes (plane/engine.cu): kernels that write float distances of masks.
#include "grid/cuda/plane/solve_kernels.cuh"

namespace fathom::grid::cuda::plane {

template struct PlaneKernels<Writing::aligned, Spaced::none>;
template struct PlaneKernels<Writing::unaligned, Spaced::none>;
template struct PlaneKernels<Writing::unaligned, Spaced::along_columns>;
template struct PlaneKernels<Writing::unaligned, Spaced::any>;
template struct PlaneKernels<Writing::unaligned, Spaced::real>;
template struct PlaneKernels<Writing::one_side, Spaced::none>;
template struct PlaneKernels<Writing::one_side, Spaced::along_columns>;
template struct PlaneKernels<Writing::one_side, Spaced::any>;
template struct PlaneKernels<Writing::one_side, Spaced::real>;

}  // namespace fathom::grid::cuda::plane
