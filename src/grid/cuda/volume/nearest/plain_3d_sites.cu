// The engine for volumes (volume/plain_3d.cu): kernels that find nearest sites, with equal spacings.
#include "grid/cuda/volume/nearest/far_sites.cuh"
#include "grid/cuda/volume/nearest/sites_along_y.cuh"
#include "grid/cuda/volume/nearest/sites_along_z.cuh"
#include "grid/cuda/volume/solve_kernels.cuh"

namespace fathom::grid::cuda::volume {

namespace {

template <int kThreads, int kChunk>
void far_sites_along_z(const VolumePasses& p) {
  launch_far(envelope_sites_along_z<kThreads, kChunk>, p.z_tiles(), kThreads, envelope_memory(p.volume.nz, kChunk),
             p.stream, p.volume);
}

template <int kThreads, int kChunk>
void far_sites_along_y(const VolumePasses& p) {
  const int n = p.volume.ny;
  launch_far(envelope_sites_along_y<kThreads, kChunk>, p.y_tiles(), kThreads,
             envelope_memory(n, kChunk) + site_places_memory(n), p.stream, p.volume, p.emitter);
}

}  // namespace

void VolumePasses::find_sites_along_z() const {
  const int nz = volume.nz;
  const auto search = [&](auto threads) {
    launch(search_sites_along_z<threads>, 2 * z_tiles(), threads, near_sites_memory(nz), stream, volume);
  };
  if (nz <= kLeastBlocksOfSites) search(std::integral_constant<int, kLeastBlocksOfSites>{});
  else with_block<128, 256, 512>(search_block(nz, kTinyBlocksOfMasks), search);
  if (nz <= kLeastBlocksOfSites) far_sites_along_z<kLeastBlocksOfSites, 16>(*this);
  else if (nz <= 256) far_sites_along_z<256, 16>(*this);
  else if (nz <= 512) far_sites_along_z<256, 32>(*this);
  else far_sites_along_z<512, 32>(*this);
}

void VolumePasses::find_sites_along_y() const {
  const int ny = volume.ny;
  with_block<128, 256, 512>(search_block(ny, kTinyBlocksOfSitesAlongY), [&](auto threads) {
    launch(search_sites_along_y<threads>, 2 * y_tiles(), threads, window_memory(ny), stream, volume, emitter);
  });
  if (ny <= 256) far_sites_along_y<256, 16>(*this);
  else if (ny <= 512) far_sites_along_y<256, 32>(*this);
  else far_sites_along_y<512, 32>(*this);
}

}  // namespace fathom::grid::cuda::volume
