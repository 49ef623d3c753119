// The engine for volumes (volume/engine.cu): kernels that find nearest sites, with equal spacings.
#include "grid/cuda/volume/nearest/along_z.cuh"
#include "grid/cuda/volume/nearest/last_pass.cuh"

namespace fathom::grid::cuda::volume {

void VolumePasses::find_sites_along_z() const {
  const int nz = volume.nz;
  with_block<128, 256, 512>(search_block(nz, kTinyBlocksOfMasks), [&](auto threads) {
    launch(search_sites_along_z<threads>, 2 * z_tiles(), threads, near_sites_memory(nz), stream, volume);
  });
  with_far_block(nz, [&](auto threads, auto chunk) {
    far_along_z<Envelope<threads, chunk, Finding::winners>, false, LeadWriter>(*this);
  });
}

void VolumePasses::find_sites_along_y() const {
  find_sites_along_line<ColumnSink>(*this, search_block(volume.ny, kTinyBlocksOfSitesAlongY));
}

}  // namespace fathom::grid::cuda::volume
