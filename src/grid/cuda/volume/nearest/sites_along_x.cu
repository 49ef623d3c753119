// The engine for transposed volumes (volume/transposed/engine.cu): kernels of the last pass.
#include "grid/cuda/volume/nearest/last_pass.cuh"
#include "grid/cuda/volume/nearest/row_sink.cuh"

namespace fathom::grid::cuda::volume {

void VolumePasses::find_sites_along_x() const { find_sites_along_line<RowSink>(*this, sites_along_x_block(volume.ny)); }

}  // namespace fathom::grid::cuda::volume
