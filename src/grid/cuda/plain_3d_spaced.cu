// The engine for volumes (plain_3d.cu): kernels for unequal spacings in a unit, without nearest sites.
#include "grid/cuda/volume_solve_kernels.cuh"
#include "grid/cuda/volume_spaced.cuh"
#include "grid/cuda/volume_spaced_far.cuh"

namespace fathom::grid::cuda {

namespace {

/// The half tiles that the search along y left.
void solve_far_along_y(const VolumePasses& p) {
  const int n = p.volume.ny, threads = n <= 512 ? 512 : 1024;
  launch_far(n <= 512 ? solve_spaced_far_along_y<512> : solve_spaced_far_along_y<1024>, p.y_tiles(), threads,
             spaced_far_memory(n), p.stream, p.volume, p.emitter);
}

}  // namespace

template <Writing kWriting>
void VolumePasses::solve_spaced() const {
  constexpr Runs kRuns = runs_of(kWriting);
  const int nz = volume.nz, ny = volume.ny;
  launch_line(solve_spaced_along_z<256, kRuns>, solve_spaced_along_z<512, kRuns>, z_tiles(), nz, spaced_memory(nz),
              stream, volume);
  const auto solve_along_y = [&](auto* small, auto* large) {
    launch_line(small, large, y_tiles(), ny, spaced_memory(ny), stream, volume, emitter, limits.value_or(Limits{}));
  };
  if constexpr (kWriting == Writing::unaligned || kWriting == Writing::both_sides)
    if (limits)
      return solve_along_y(solve_spaced_along_y<256, kWriting, true>, solve_spaced_along_y<512, kWriting, true>);
  solve_along_y(solve_spaced_along_y<256, kWriting, false>, solve_spaced_along_y<512, kWriting, false>);
  if constexpr (kWriting == Writing::unaligned)
    if (volume.y_list) solve_far_along_y(*this);
}

template void VolumePasses::solve_spaced<Writing::unaligned>() const;
template void VolumePasses::solve_spaced<Writing::both_sides>() const;
template void VolumePasses::solve_spaced<Writing::labels>() const;
template void VolumePasses::solve_spaced<Writing::general>() const;
template void VolumePasses::solve_spaced<Writing::general_labels>() const;

}  // namespace fathom::grid::cuda
