// The engine for volumes (volume/plain_3d.cu): kernels that find nearest sites with any unequal spacings.
#include <type_traits>

#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/exact/sites.cuh"
#include "grid/cuda/volume/solve.cuh"

namespace fathom::grid::cuda::volume {

namespace {

/// Calls pass(threads, rows) with those of a block for lines of n elements, constants: two rows to a thread in long
/// ones, so that a multiprocessor holds more blocks, which do not wait for each other.
template <class Pass>
void with_block_of_sites(int n, Pass&& pass) {
  const auto call = [&](auto threads, auto rows_of_thread) {
    pass(threads, std::integral_constant<int, threads * rows_of_thread>{});
  };
  constexpr std::integral_constant<int, 1> kOne;
  constexpr std::integral_constant<int, 2> kTwo;
  if (n <= 128) call(std::integral_constant<int, 128>{}, kOne);
  else if (n <= 256) call(std::integral_constant<int, 256>{}, kOne);
  else if (n <= 512) call(std::integral_constant<int, 256>{}, kTwo);
  else call(std::integral_constant<int, 512>{}, kTwo);
}

}  // namespace

template <class V>
void VolumePasses::find_exact_sites(const ExactWeights& weights, const Emitter<V>& to) const {
  const ExactSpacing spacing = ExactSpacing::of(weights, volume.side.scale);
  const int nz = volume.nz, ny = volume.ny;
  with_block_of_sites(ny, [&](auto threads, auto rows) {
    launch(find_exact_along_y<threads, rows>, 2 * y_tiles(), threads, exact_site_memory_along_y(ny), stream, volume,
           spacing);
  });
  with_block_of_sites(nz, [&](auto threads, auto rows) {
    launch(find_exact_along_z<threads, rows, V>, 2 * z_tiles(), threads, brackets_memory(nz), stream, volume, spacing,
           to);
  });
}

template void VolumePasses::find_exact_sites(const ExactWeights&, const Emitter<std::int64_t>&) const;
template void VolumePasses::find_exact_sites(const ExactWeights&, const Emitter<double>&) const;

}  // namespace fathom::grid::cuda::volume
