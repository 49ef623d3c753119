// The engine for volumes (volume/plain_3d.cu): kernels for labels with any unequal spacings.
#include "grid/cuda/volume/exact/launch.cuh"

namespace fathom::grid::cuda::volume {

template void VolumePasses::solve_exact<Runs::of_labels>(const ExactWeights&) const;

}  // namespace fathom::grid::cuda::volume
