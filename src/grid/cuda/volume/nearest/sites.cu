// The engine for volumes (volume/engine.cu): kernels that find nearest sites, with equal spacings.
#include "grid/cuda/volume/nearest/column_sink.cuh"
#include "grid/cuda/volume/nearest/far_sites_along_z.cuh"
#include "grid/cuda/volume/nearest/last_pass.cuh"
#include "grid/cuda/volume/nearest/sites_along_z.cuh"

namespace fathom::grid::cuda::volume {

namespace {

template <int kThreads, int kChunk>
void far_sites_along_z(const VolumePasses& p) {
  launch_far(envelope_sites_along_z<kThreads, kChunk>, p.z_tiles(), kThreads, envelope_memory(p.volume.nz, kChunk),
             p.stream, p.volume);
}

}  // namespace

void VolumePasses::find_sites_along_z() const {
  const int nz = volume.nz;
  with_block<128, 256, 512>(search_block(nz, kTinyBlocksOfMasks), [&](auto threads) {
    launch(search_sites_along_z<threads>, 2 * z_tiles(), threads, near_sites_memory(nz), stream, volume);
  });
  if (nz <= 256) far_sites_along_z<256, 16>(*this);
  else if (nz <= 512) far_sites_along_z<256, 32>(*this);
  else far_sites_along_z<512, 32>(*this);
}

void VolumePasses::find_sites_along_y() const {
  find_sites_along_line<ColumnSink>(*this, search_block(volume.ny, kTinyBlocksOfSitesAlongY));
}

}  // namespace fathom::grid::cuda::volume
