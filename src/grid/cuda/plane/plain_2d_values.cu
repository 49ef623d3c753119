// The engine for planes (plane/plain_2d.cu): kernels for labels, and for what is no float distance.
#include "grid/cuda/plane/solve_kernels.cuh"

namespace fathom::grid::cuda::plane {

template struct PlaneKernels<Writing::labels, Spaced::none>;
template struct PlaneKernels<Writing::labels, Spaced::along_columns>;
template struct PlaneKernels<Writing::labels, Spaced::any>;
template struct PlaneKernels<Writing::general_labels, Spaced::none>;
template struct PlaneKernels<Writing::general_labels, Spaced::any>;
template struct PlaneKernels<Writing::general, Spaced::none>;
template struct PlaneKernels<Writing::general, Spaced::any>;

}  // namespace fathom::grid::cuda::plane
