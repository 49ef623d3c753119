// The engine for volumes (volume/engine.cu): kernels that find nearest sites of masks with any spacings.
#include "grid/cuda/volume/any/launch.cuh"

namespace fathom::grid::cuda::volume {

template void VolumePasses::find_any_sites<Runs::none>(const ExactWeights&, const Emitter<std::int64_t>&) const;
template void VolumePasses::find_any_sites<Runs::none>(const ExactWeights&, const Emitter<double>&) const;

}  // namespace fathom::grid::cuda::volume
