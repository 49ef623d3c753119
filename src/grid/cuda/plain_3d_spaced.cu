// The engine for volumes (plain_3d.cu): kernels for unequal spacings, without nearest sites.
#include "grid/cuda/volume_exact.cuh"
#include "grid/cuda/volume_solve_kernels.cuh"
#include "grid/cuda/volume_spaced.cuh"

namespace fathom::grid::cuda {

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
}

template void VolumePasses::solve_spaced<Writing::unaligned>() const;
template void VolumePasses::solve_spaced<Writing::both_sides>() const;
template void VolumePasses::solve_spaced<Writing::labels>() const;
template void VolumePasses::solve_spaced<Writing::general>() const;
template void VolumePasses::solve_spaced<Writing::general_labels>() const;

void VolumePasses::solve_exact(const ExactWeights& weights, bool is_one_side) const {
  const int nz = volume.nz, ny = volume.ny;
  const std::size_t along_y = ExactRows::bytes(ny), along_z = ExactRows::bytes(nz);
  if (ny <= 256) launch(solve_exact_along_y<256>, 2 * y_tiles(), 256, along_y, stream, volume, weights.y, weights.x);
  else launch(solve_exact_along_y<512>, 2 * y_tiles(), 512, along_y, stream, volume, weights.y, weights.x);
  const auto small = is_one_side ? solve_exact_along_z<256, true> : solve_exact_along_z<256, false>;
  const auto large = is_one_side ? solve_exact_along_z<512, true> : solve_exact_along_z<512, false>;
  if (nz <= 256) launch(small, 2 * z_tiles(), 256, along_z, stream, volume, weights.z);
  else launch(large, 2 * z_tiles(), 512, along_z, stream, volume, weights.z);
}

}  // namespace fathom::grid::cuda
