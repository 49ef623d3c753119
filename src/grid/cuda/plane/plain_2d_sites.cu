// The engine for planes (plane/plain_2d.cu): kernels that write nearest sites.
#include "grid/cuda/plane/solve_kernels.cuh"

namespace fathom::grid::cuda::plane {

template struct PlaneKernels<Writing::sites, Spaced::none>;
template struct PlaneKernels<Writing::sites, Spaced::any>;
template struct PlaneKernels<Writing::label_sites, Spaced::none>;
template struct PlaneKernels<Writing::label_sites, Spaced::any>;

}  // namespace fathom::grid::cuda::plane
