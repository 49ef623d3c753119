// The engine for transposed volumes (volume/transposed/plain_3d_transposed.cu): kernels of the last pass that find
// nearest sites.
#include "grid/cuda/volume/nearest/far_sites_along_x.cuh"
#include "grid/cuda/volume/nearest/sites_along_x.cuh"
#include "grid/cuda/volume/solve_kernels.cuh"

namespace fathom::grid::cuda::volume {

namespace {

template <int kThreads, int kChunk>
void far_sites_along_x(const VolumePasses& p) {
  launch_far(envelope_sites_along_x<kThreads, kChunk>, p.y_tiles(), kThreads,
             sites_envelope_memory(p.volume.ny, kChunk), p.stream, p.volume, p.emitter);
}

}  // namespace

void VolumePasses::find_sites_along_x() const {
  const int n = volume.ny;
  with_block<128, 256, 320, 512>(sites_along_x_block(n), [&](auto threads) {
    launch(search_sites_along_x<threads>, 2 * y_tiles(), threads, sites_along_x_memory(n), stream, volume, emitter);
  });
  if (n <= 256) far_sites_along_x<256, 16>(*this);
  else if (n <= 512) far_sites_along_x<256, 32>(*this);
  else if (n <= 640) far_sites_along_x<352, 32>(*this);  // a round less for lines of up to 528
  else far_sites_along_x<512, 32>(*this);
}

}  // namespace fathom::grid::cuda::volume
