// The engine for planes (plane/engine.cu): kernels for labels, nearest sites, and what is no float distance.
#include "grid/cuda/plane/solve_kernels.cuh"

namespace fathom::grid::cuda::plane {

template struct PlaneKernels<Writing::labels, Spaced::none>;
template struct PlaneKernels<Writing::labels, Spaced::along_columns>;
template struct PlaneKernels<Writing::labels, Spaced::any>;
template struct PlaneKernels<Writing::general_labels, Spaced::none>;
template struct PlaneKernels<Writing::general_labels, Spaced::any>;
template struct PlaneKernels<Writing::general, Spaced::none>;
template struct PlaneKernels<Writing::general, Spaced::any>;
template struct PlaneKernels<Writing::general, Spaced::real>;
template struct PlaneKernels<Writing::general, Spaced::real, double>;
template struct PlaneKernels<Writing::sites, Spaced::none>;
template struct PlaneKernels<Writing::sites, Spaced::any>;
template struct PlaneKernels<Writing::label_sites, Spaced::none>;
template struct PlaneKernels<Writing::label_sites, Spaced::any>;

}  // namespace fathom::grid::cuda::plane
