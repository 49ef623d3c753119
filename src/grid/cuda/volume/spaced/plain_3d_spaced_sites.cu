// The engine for volumes (volume/plain_3d.cu): kernels that find nearest sites, one for each pass: with unequal
// spacings, or of labels.
#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/solve.cuh"
#include "grid/cuda/volume/spaced/sites.cuh"

namespace fathom::grid::cuda::volume {

namespace {

/// A multiprocessor holds one block with such a line.
template <class Kernel, class... Arguments>
void find_in_long_lines(Kernel kernel, std::int64_t tiles, int n, const VolumePasses& p,
                        const Arguments&... arguments) {
  launch(kernel, 2 * tiles, 1024, spaced_site_memory(n), p.stream, p.volume, arguments...);
}

template <Winners kWinners, bool kLabels>
void find_along_y(const VolumePasses& p) {
  const int n = p.volume.ny;
  if constexpr (kWinners == Winners::keyed && !kLabels)
    if (n > kLongestKeyed) return find_in_long_lines(find_spaced_along_y<kWinners, 1024, false>, p.y_tiles(), n, p);
  with_block<256, 512>(line_block(n), [&](auto threads) {
    launch(find_spaced_along_y<kWinners, threads, kLabels>, 2 * p.y_tiles(), threads, spaced_site_memory(n), p.stream,
           p.volume);
  });
}

template <Winners kWinners, bool kLabels>
void find_along_z(const VolumePasses& p) {
  const int n = p.volume.nz;
  if constexpr (kWinners == Winners::keyed && !kLabels)
    if (n > kLongestKeyed)
      return find_in_long_lines(find_spaced_along_z<kWinners, 1024, false>, p.z_tiles(), n, p, p.emitter);
  with_block<256, 512>(line_block(n), [&](auto threads) {
    launch(find_spaced_along_z<kWinners, threads, kLabels>, 2 * p.z_tiles(), threads, spaced_site_memory(n), p.stream,
           p.volume, p.emitter);
  });
}

}  // namespace

template <bool kLabels>
void VolumePasses::find_spaced_sites(bool is_keyed) const {
  if (is_keyed) {
    find_along_y<Winners::keyed, kLabels>(*this);
    find_along_z<Winners::keyed, kLabels>(*this);
  } else {
    find_along_y<Winners::sought, kLabels>(*this);
    find_along_z<Winners::sought, kLabels>(*this);
  }
}

template void VolumePasses::find_spaced_sites<false>(bool) const;
template void VolumePasses::find_spaced_sites<true>(bool) const;

}  // namespace fathom::grid::cuda::volume
