// The engine for volumes (plain_3d.cu): kernels that find nearest sites, with equal spacings.
#include "grid/cuda/volume_sites_along_y.cuh"
#include "grid/cuda/volume_solve_kernels.cuh"

namespace fathom::grid::cuda {

void VolumePasses::find_sites() const {
  const int nz = volume.nz, ny = volume.ny;
  launch_search(search_sites_along_z<128>, search_sites_along_z<256>, search_sites_along_z<512>, 2 * z_tiles(),
                kTinyBlocksOfSites, nz, stream, volume);
  launch_far(envelope_sites_along_z<512, 32>, z_tiles(), 512, envelope_memory(nz, 32), stream, volume);
  launch_search(search_sites_along_y<128>, search_sites_along_y<256>, search_sites_along_y<512>, 2 * y_tiles(),
                kTinyBlocksOfSites, ny, stream, volume, emitter);
  launch_far(envelope_sites_along_y<512, 32>, y_tiles(), 512, envelope_memory(ny, 32) + planes_memory(ny), stream,
             volume, emitter);
}

}  // namespace fathom::grid::cuda
