// The engine for volumes (plain_3d.cu): kernels for any unequal spacings.
#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume_exact.cuh"
#include "grid/cuda/volume_solve.cuh"
#include "grid/cuda/volume_tabulate.cuh"

namespace fathom::grid::cuda {

namespace {

/// For lines of n elements, calls pass(threads) with the size of its blocks, a constant: at least as many threads.
template <class Pass>
void with_block_for(int n, Pass&& pass) {
  const int threads = n <= 320                 ? (n + 63) / 64 * 64
                      : n <= 512               ? 512
                      : n <= kUnevenExactBlock ? kUnevenExactBlock
                                               : 1024;
  with_block<64, 128, 192, 256, 320, 512, kUnevenExactBlock, 1024>(threads, pass);
}

template <bool kSides>
void solve_lines(const VolumePasses& p, const ExactSpacing& spacing) {
  const Volume& v = p.volume;
  with_block_for(v.ny, [&](auto threads) {
    launch(solve_exact_along_y<threads, kSides>, 2 * p.y_tiles(), threads, brackets_memory(v.ny), p.stream, v, spacing);
  });
  with_block_for(v.nz, [&](auto threads) {
    launch(solve_exact_along_z<threads, kSides>, 2 * p.z_tiles(), threads, brackets_memory(v.nz), p.stream, v, spacing);
  });
}

}  // namespace

void tabulate_near_sites(const Volume& volume, const ExactWeights& weights, float scale, cudaStream_t stream) {
  launch(tabulate_steps, kShells, kTabulateBlock, 0, stream, volume.step_tables, ExactSpacing::of(weights, scale),
         volume.nz, volume.ny);
}

void VolumePasses::solve_exact(const ExactWeights& weights, bool has_sides) const {
  const ExactSpacing spacing = ExactSpacing::of(weights, volume.side.scale);
  if (has_sides) solve_lines<true>(*this, spacing);
  else solve_lines<false>(*this, spacing);
}

}  // namespace fathom::grid::cuda
