// The engine for volumes (plain_3d.cu): kernels for any unequal spacings.
#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume_exact.cuh"
#include "grid/cuda/volume_solve.cuh"

namespace fathom::grid::cuda {

namespace {

/// A pass along lines of n elements, in blocks of at least as many threads.
template <class Kernel>
void launch_exact(Kernel small, Kernel middle, Kernel large, std::int64_t tiles, int n, const VolumePasses& p,
                  const ExactSpacing& spacing) {
  const int threads = n <= 256 ? 256 : n <= 512 ? 512 : 1024;
  Kernel kernel = n <= 256 ? small : n <= 512 ? middle : large;
  launch(kernel, 2 * tiles, threads, brackets_memory(n), p.stream, p.volume, spacing);
}

template <bool kSides>
void solve_lines(const VolumePasses& p, const ExactSpacing& spacing) {
  launch_exact(solve_exact_along_y<256, kSides>, solve_exact_along_y<512, kSides>, solve_exact_along_y<1024, kSides>,
               p.y_tiles(), p.volume.ny, p, spacing);
  launch_exact(solve_exact_along_z<256, kSides>, solve_exact_along_z<512, kSides>, solve_exact_along_z<1024, kSides>,
               p.z_tiles(), p.volume.nz, p, spacing);
}

}  // namespace

void VolumePasses::solve_exact(const ExactWeights& weights, bool has_sides) const {
  const ExactSpacing spacing = ExactSpacing::of(weights, volume.side.scale);
  tabulate_steps<<<kTabulateBlocks, kTabulateWarps * 32, 0, stream>>>(volume.step_tables, spacing, volume.nz);
  fathom::cuda::check_launch("measuring near sites");
  if (has_sides) solve_lines<true>(*this, spacing);
  else solve_lines<false>(*this, spacing);
}

}  // namespace fathom::grid::cuda
