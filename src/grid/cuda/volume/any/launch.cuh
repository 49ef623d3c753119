// How the passes of volumes with any spacings are launched.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/any/along_y.cuh"
#include "grid/cuda/volume/any/along_z.cuh"
#include "grid/cuda/volume/any/sites.cuh"
#include "grid/cuda/volume/solve.cuh"

namespace fathom::grid::cuda::volume {

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

/// Calls pass(threads, rows) with those of a block, constants. @param chosen  its number
template <int... kNumbers, class Pass>
void pass_line_block(std::integer_sequence<int, kNumbers...>, int chosen, Pass&& pass) {
  const auto pass_if_chosen = [&](auto k) {
    constexpr LineBlock kBlock = kLineBlocks[k];
    if (k == chosen) pass(Constant<kBlock.threads>{}, Constant<kBlock.rows>{});
  };
  (pass_if_chosen(Constant<kNumbers>{}), ...);
}

/// The same with the block for lines of n elements.
/// @param memory  that it takes
/// @param share   as line_block_for() has it
template <class Pass>
void with_line_block(int n, std::size_t memory, int share, Pass&& pass) {
  constexpr std::size_t kOfSystem = 1024;  // for each block, at most
  constexpr int kCount = static_cast<int>(std::size(kLineBlocks));
  const int chosen = line_block_for(n, memory + kOfSystem, fathom::cuda::multiprocessor_memory(), share);
  pass_line_block(std::make_integer_sequence<int, kCount>{}, chosen, pass);
}

/// Both passes.
template <Runs kRuns>
void solve_lines(const VolumePasses& p, const AnySpacing& spacing) {
  // What blocks take besides.
  constexpr std::size_t kBesides = sizeof(typename LineEnds<kRuns>::Words) + sizeof(SortedRows) + kNumbersMemory,
                        kBesidesAlongY = kBesides + sizeof(ByteDistances) + 2 * sizeof(PlaneKeys);
  const Volume& v = p.volume;
  const std::size_t along_y = any_memory_along_y(v.ny), along_z = brackets_memory(v.nz);
  with_line_block(v.ny, along_y + kBesidesAlongY, kBusyShare, [&](auto threads, auto rows) {
    launch(solve_any_along_y<threads, rows, kRuns>, 2 * p.y_tiles(), threads, along_y, p.stream, v, spacing);
  });
  with_line_block(
      v.nz, along_z + kBesides, p.writes_sectors ? kBusyShare : kBusyShareOfPieces, [&](auto threads, auto rows) {
        launch(solve_any_along_z<threads, rows, kRuns>, 2 * p.z_tiles(), threads, along_z, p.stream, v, spacing);
      });
}

template <Runs kRuns>
void VolumePasses::solve_any(const ExactWeights& weights) const {
  solve_lines<kRuns>(*this, AnySpacing::of(weights, volume.side.scale));
}

/// Calls pass(threads, rows) with those of a block for lines of n elements, constants: two rows to a thread in long
/// ones, so that a multiprocessor holds more blocks, which do not wait for each other.
template <class Pass>
void with_block_of_sites(int n, Pass&& pass) {
  if (n <= 128) pass(Constant<128>{}, Constant<128>{});
  else if (n <= 256) pass(Constant<256>{}, Constant<256>{});
  else if (n <= 512) pass(Constant<256>{}, Constant<512>{});
  else pass(Constant<512>{}, Constant<1024>{});
}

template <Runs kRuns, class V>
void VolumePasses::find_any_sites(const ExactWeights& weights, const Emitter<V>& to) const {
  const AnySpacing spacing = AnySpacing::of(weights, volume.side.scale);
  const int nz = volume.nz, ny = volume.ny;
  with_block_of_sites(ny, [&](auto threads, auto rows) {
    launch(find_any_along_y<threads, rows, kRuns>, 2 * y_tiles(), threads, any_site_memory_along_y(ny), stream, volume,
           spacing);
  });
  with_block_of_sites(nz, [&](auto threads, auto rows) {
    launch(find_any_along_z<threads, rows, V, kRuns>, 2 * z_tiles(), threads, brackets_memory(nz), stream, volume,
           spacing, to);
  });
}

}  // namespace fathom::grid::cuda::volume
