// The engine for volumes (volume/engine.cu): kernels for any spacings.
#include "grid/cuda/volume/any/launch.cuh"
#include "grid/cuda/volume/any/tabulate.cuh"

namespace fathom::grid::cuda::volume {

void tabulate_near_sites(const Volume& volume, const ExactWeights& weights, float scale, cudaStream_t stream) {
  launch(tabulate_steps, kTabulateBlocks, kTabulateBlock, 0, stream, volume.step_tables,
         AnySpacing{weights.z, weights.y, weights.x, scale}, volume.nz, volume.ny);
}

template void VolumePasses::solve_any<Runs::none>(const ExactWeights&) const;
template void VolumePasses::solve_any<Runs::of_sides>(const ExactWeights&) const;

}  // namespace fathom::grid::cuda::volume
