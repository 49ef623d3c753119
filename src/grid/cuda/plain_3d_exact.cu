// The engine for volumes (plain_3d.cu): kernels for any unequal spacings.
#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume_exact.cuh"
#include "grid/cuda/volume_solve.cuh"

namespace fathom::grid::cuda {

void VolumePasses::solve_exact(const ExactWeights& weights, bool is_one_side) const {
  const int nz = volume.nz, ny = volume.ny;
  const ExactSpacing spacing = ExactSpacing::of(weights);
  tabulate_steps<<<kTabulateBlocks, kTabulateWarps * 32, 0, stream>>>(volume.step_tables, spacing, nz);
  fathom::cuda::check_launch("measuring near sites");
  const auto solve = [&](auto* small, auto* large, std::int64_t tiles, int n, std::size_t memory) {
    const bool is_small = n <= 256;
    launch(is_small ? small : large, 2 * tiles, is_small ? 256 : 512, memory, stream, volume, spacing);
  };
  solve(solve_exact_along_y<256>, solve_exact_along_y<512>, y_tiles(), ny, exact_memory_along_y(ny));
  if (is_one_side)
    solve(solve_exact_along_z<256, true>, solve_exact_along_z<512, true>, z_tiles(), nz, exact_memory_along_z(nz));
  else solve(solve_exact_along_z<256, false>, solve_exact_along_z<512, false>, z_tiles(), nz, exact_memory_along_z(nz));
}

}  // namespace fathom::grid::cuda
