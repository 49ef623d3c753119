// The engine for planes (plane/engine.cu): kernels that write float distances of masks.
#include "grid/cuda/plane/solve_kernels.cuh"

namespace fathom::grid::cuda::plane {

template struct PlaneKernels<Writing::aligned, Spacing::equal>;
template struct PlaneKernels<Writing::unaligned, Spacing::equal>;
template struct PlaneKernels<Writing::unaligned, Spacing::unit_along_columns>;
template struct PlaneKernels<Writing::unaligned, Spacing::unit>;
template struct PlaneKernels<Writing::unaligned, Spacing::any>;
template struct PlaneKernels<Writing::one_side, Spacing::equal>;
template struct PlaneKernels<Writing::one_side, Spacing::unit_along_columns>;
template struct PlaneKernels<Writing::one_side, Spacing::unit>;
template struct PlaneKernels<Writing::one_side, Spacing::any>;

}  // namespace fathom::grid::cuda::plane
