// The engine for volumes (plain_3d.cu): kernels that find nearest sites.
#include "grid/cuda/volume_sites.cuh"
#include "grid/cuda/volume_solve_kernels.cuh"
#include "grid/cuda/volume_spaced_sites.cuh"

namespace fathom::grid::cuda {

namespace {

/// A multiprocessor holds one block with such a line.
template <class Kernel, class... Arguments>
void find_in_long_lines(Kernel kernel, std::int64_t tiles, int n, const VolumePasses& p,
                        const Arguments&... arguments) {
  launch(kernel, 2 * tiles, 1024, spaced_site_memory(n), p.stream, p.volume, arguments...);
}

template <Winners kWinners>
void find_sites_in_lines(const VolumePasses& p) {
  const int nz = p.volume.nz, ny = p.volume.ny;
  const bool is_keyed = kWinners == Winners::keyed;
  if (is_keyed && ny > kLongestKeyed) find_in_long_lines(find_spaced_along_y<Winners::keyed, 1024>, p.y_tiles(), ny, p);
  else
    launch_line(find_spaced_along_y<kWinners, 256>, find_spaced_along_y<kWinners, 512>, p.y_tiles(), ny,
                spaced_site_memory(ny), p.stream, p.volume);
  if (is_keyed && nz > kLongestKeyed)
    find_in_long_lines(find_spaced_along_z<Winners::keyed, 1024>, p.z_tiles(), nz, p, p.emitter);
  else
    launch_line(find_spaced_along_z<kWinners, 256>, find_spaced_along_z<kWinners, 512>, p.z_tiles(), nz,
                spaced_site_memory(nz), p.stream, p.volume, p.emitter);
}

}  // namespace

void VolumePasses::find_sites() const {
  const int nz = volume.nz, ny = volume.ny;
  launch_search(search_sites_along_z<128>, search_sites_along_z<256>, search_sites_along_z<512>, 2 * z_tiles(), nz,
                stream, volume);
  launch_far(envelope_sites_along_z<512, 32>, z_tiles(), 512, envelope_memory(nz, 32), stream, volume);
  launch_search(search_sites_along_y<128>, search_sites_along_y<256>, search_sites_along_y<512>, 2 * y_tiles(), ny,
                stream, volume, emitter);
  launch_far(envelope_sites_along_y<512, 32>, y_tiles(), 512, envelope_memory(ny, 32) + planes_memory(ny), stream,
             volume, emitter);
}

void VolumePasses::find_spaced_sites(bool is_keyed) const {
  if (is_keyed) find_sites_in_lines<Winners::keyed>(*this);
  else find_sites_in_lines<Winners::sought>(*this);
}

}  // namespace fathom::grid::cuda
