// The engine for volumes (volume/engine.cu): kernels that write float distances of masks, with equal spacings.
#include "grid/cuda/volume/solve_kernels.cuh"

namespace fathom::grid::cuda::volume {

template void VolumePasses::search_along_z<false>() const;
template void VolumePasses::search_along_y<Writing::aligned>() const;
template void VolumePasses::search_along_y<Writing::unaligned>() const;
template void VolumePasses::search_along_y<Writing::one_side>() const;

}  // namespace fathom::grid::cuda::volume
