// The engine for volumes (volume/engine.cu): kernels for labels with any spacings, and those that find nearest sites.
#include "grid/cuda/volume/any/launch.cuh"

namespace fathom::grid::cuda::volume {

template void VolumePasses::solve_any<Runs::of_labels>(const ExactWeights&) const;
template void VolumePasses::find_any_sites<Runs::of_labels>(const ExactWeights&, const Emitter<std::int64_t>&) const;
template void VolumePasses::find_any_sites<Runs::of_labels>(const ExactWeights&, const Emitter<double>&) const;
template void VolumePasses::find_any_sites<Runs::none>(const ExactWeights&, const Emitter<std::int64_t>&) const;
template void VolumePasses::find_any_sites<Runs::none>(const ExactWeights&, const Emitter<double>&) const;

}  // namespace fathom::grid::cuda::volume
