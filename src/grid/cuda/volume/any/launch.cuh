// How the passes of volumes with any spacings are launched.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/any/along_y.cuh"
#include "grid/cuda/volume/any/along_z.cuh"
#include "grid/cuda/volume/solve.cuh"

namespace fathom::grid::cuda::volume {

/// Where nearest sites are asked for: two rows to a thread in long lines, so that a multiprocessor holds more blocks,
/// which do not wait for each other.
inline constexpr LineBlock kSiteBlocks[] = {{128, 128}, {256, 256}, {256, 512}, {512, 1024}};

/// Calls pass(threads, rows) with those of a block, constants. @param chosen  its number
template <const auto& kBlocks, class Pass>
void with_line_block(int chosen, Pass&& pass) {
  const auto try_all = [&]<int... k>(std::integer_sequence<int, k...>) {
    (void)((k == chosen &&
            (pass(std::integral_constant<int, kBlocks[k].threads>{}, std::integral_constant<int, kBlocks[k].rows>{}),
             true)) ||
           ...);
  };
  try_all(std::make_integer_sequence<int, static_cast<int>(std::size(kBlocks))>{});
}

/// The block for lines of n elements. @param memory  that it takes @param share  as line_block_for() has it
inline int line_block(int n, std::size_t memory, int share) {
  constexpr std::size_t kOfSystem = 1024;  // for each block, at most
  return line_block_for(n, memory + kOfSystem, fathom::cuda::multiprocessor_memory(), share);
}
inline int site_block(int n) {
  int k = 0;
  while (kSiteBlocks[k].rows < n) ++k;
  return k;
}

/// Both passes, each by a block of a table.
/// @tparam Sink  of the results
template <const auto& kBlocks, Runs kRuns, class Sink>
void solve_lines(const VolumePasses& p, const AnySpacing& spacing, const typename Sink::Target& target, int y_block,
                 int z_block) {
  const Volume& v = p.volume;
  with_line_block<kBlocks>(y_block, [&](auto threads, auto rows) {
    using Pass = PassAlongY<threads, rows, kRuns, Sink::kFinds>;
    launch(solve_any<Pass>, 2 * p.y_tiles(), threads, any_memory_along_y(v.ny), p.stream, v, spacing,
           typename Pass::Target{});
  });
  with_line_block<kBlocks>(z_block, [&](auto threads, auto rows) {
    launch(solve_any<PassAlongZ<threads, rows, kRuns, Sink>>, 2 * p.z_tiles(), threads, brackets_memory(v.nz), p.stream,
           v, spacing, target);
  });
}

template <Runs kRuns>
void VolumePasses::solve_any(const ExactWeights& weights) const {
  // What blocks take besides.
  constexpr std::size_t kBesides = sizeof(RunWords<kRuns != Runs::none>) + sizeof(SortedRows) + kNumbersMemory,
                        kBesidesAlongY = kBesides + sizeof(ByteDistances) + 2 * sizeof(PlaneKeys);
  const int ny = volume.ny, nz = volume.nz;
  solve_lines<kLineBlocks, kRuns, DistanceSink<kRuns>>(
      *this, AnySpacing::of(weights, volume.side.scale), {},
      line_block(ny, any_memory_along_y(ny) + kBesidesAlongY, kBusyShare),
      line_block(nz, brackets_memory(nz) + kBesides, writes_sectors ? kBusyShare : kBusyShareOfPieces));
}

template <Runs kRuns, class V>
void VolumePasses::find_any_sites(const ExactWeights& weights, const Emitter<V>& to) const {
  solve_lines<kSiteBlocks, kRuns, SiteSink<kRuns, V>>(*this, AnySpacing::of(weights, volume.side.scale), to,
                                                      site_block(volume.ny), site_block(volume.nz));
}

}  // namespace fathom::grid::cuda::volume
