// The engine for volumes (volume/engine.cu): kernels for labels, and for other values, with equal spacings.
#include "grid/cuda/volume/solve_kernels.cuh"

namespace fathom::grid::cuda::volume {

template void VolumePasses::search_along_z<true>() const;
template void VolumePasses::search_along_y<Writing::labels>() const;
template void VolumePasses::search_along_y<Writing::signed_labels>() const;
template void VolumePasses::search_along_y<Writing::general>() const;
template void VolumePasses::search_along_y<Writing::general_labels>() const;

}  // namespace fathom::grid::cuda::volume
