// The engine for volumes (volume/plain_3d.cu): kernels for any unequal spacings.
#include "grid/cuda/volume/exact/launch.cuh"
#include "grid/cuda/volume/exact/tabulate.cuh"

namespace fathom::grid::cuda::volume {

void tabulate_near_sites(const Volume& volume, const ExactWeights& weights, float scale, cudaStream_t stream) {
  launch(tabulate_steps, kShells, kTabulateBlock, 0, stream, volume.step_tables, ExactSpacing::of(weights, scale),
         volume.nz, volume.ny);
}

template void VolumePasses::solve_exact<Runs::none>(const ExactWeights&) const;
template void VolumePasses::solve_exact<Runs::of_sides>(const ExactWeights&) const;

}  // namespace fathom::grid::cuda::volume
