// The engine for planes (plane/engine.cu): kernels for labels, nearest sites, and what is no float distance.
#include "grid/cuda/plane/solve_kernels.cuh"

namespace fathom::grid::cuda::plane {

template struct PlaneKernels<Writing::labels, Spacing::equal>;
template struct PlaneKernels<Writing::labels, Spacing::unit_along_columns>;
template struct PlaneKernels<Writing::labels, Spacing::unit>;
template struct PlaneKernels<Writing::general_labels, Spacing::equal>;
template struct PlaneKernels<Writing::general_labels, Spacing::unit>;
template struct PlaneKernels<Writing::general, Spacing::equal>;
template struct PlaneKernels<Writing::general, Spacing::unit>;
template struct PlaneKernels<Writing::general, Spacing::any>;
template struct PlaneKernels<Writing::general, Spacing::any, double>;
template struct PlaneKernels<Writing::sites, Spacing::equal>;
template struct PlaneKernels<Writing::sites, Spacing::unit>;
template struct PlaneKernels<Writing::label_sites, Spacing::equal>;
template struct PlaneKernels<Writing::label_sites, Spacing::unit>;

}  // namespace fathom::grid::cuda::plane
