// The engine for planes (plane/plain_2d.cu): kernels for spacings without a small unit, whatever they write.
#include "grid/cuda/plane/solve_kernels.cuh"

namespace fathom::grid::cuda::plane {

template struct PlaneKernels<Writing::unaligned, Spaced::real>;
template struct PlaneKernels<Writing::one_side, Spaced::real>;
template struct PlaneKernels<Writing::general, Spaced::real>;
template struct PlaneKernels<Writing::general, Spaced::real, double>;

}  // namespace fathom::grid::cuda::plane
