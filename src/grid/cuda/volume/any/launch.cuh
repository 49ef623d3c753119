// How the passes of volumes with any spacings are launched.
#pragma once

#include <iterator>
#include <utility>

#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/any/along_y.cuh"
#include "grid/cuda/volume/any/along_z.cuh"
#include "grid/cuda/volume/solve.cuh"

namespace fathom::grid::cuda::volume {

/// Where nearest sites are asked for: two rows to a thread in long lines, so that a multiprocessor holds more blocks,
/// which do not wait for each other.
inline constexpr LineBlock kSiteBlocks[] = {{128, 128}, {256, 256}, {256, 512}, {512, 1024}};

/// Calls pass(number) with that of a block of a table, a constant.
template <const auto& kBlocks, class Pass>
void with_line_block(int chosen, Pass&& pass) {
  const auto among = [&]<int... k>(std::integer_sequence<int, k...>) { with_block<k...>(chosen, pass); };
  among(std::make_integer_sequence<int, static_cast<int>(std::size(kBlocks))>{});
}

/// Both passes, each by a block of a table.
/// @tparam Sink   of the results
/// @param chosen  which for the passes along y and z
template <const auto& kBlocks, Runs kRuns, class Sink>
void solve_lines(const VolumePasses& p, const ExactWeights& weights, const typename Sink::Target& target, int2 chosen) {
  const Volume& v = p.volume;
  const AnySpacing spacing{weights.z, weights.y, weights.x, v.side.scale};
  with_line_block<kBlocks>(chosen.x, [&](auto k) {
    using Pass = PassAlongY<kBlocks[k].threads, kBlocks[k].rows, kRuns, Sink::kFinds>;
    launch(solve_any<Pass>, 2 * p.y_tiles(), Pass::kThreads, any_memory_along_y(v.ny), p.stream, v, spacing,
           typename Pass::Target{});
  });
  with_line_block<kBlocks>(chosen.y, [&](auto k) {
    using Pass = PassAlongZ<kBlocks[k].threads, kBlocks[k].rows, kRuns, Sink>;
    launch(solve_any<Pass>, 2 * p.z_tiles(), Pass::kThreads, brackets_memory(v.nz), p.stream, v, spacing, target);
  });
}

template <Runs kRuns>
void VolumePasses::solve_any(const ExactWeights& weights) const {
  // What blocks take besides, with what the system takes of each at most.
  constexpr std::size_t kBesides = sizeof(RunWords<kRuns != Runs::none>) + sizeof(SortedRows) + kNumbersMemory + 1024,
                        kBesidesAlongY = kBesides + sizeof(ByteDistances) + 2 * sizeof(PlaneKeys);
  const std::size_t of_all = fathom::cuda::multiprocessor_memory();
  const int ny = volume.ny, nz = volume.nz, share = writes_sectors ? kBusyShare : kBusyShareOfPieces;
  solve_lines<kLineBlocks, kRuns, DistanceSink<kRuns>>(
      *this, weights, {},
      {line_block_for(ny, any_memory_along_y(ny) + kBesidesAlongY, of_all, kBusyShare),
       line_block_for(nz, brackets_memory(nz) + kBesides, of_all, share)});
}

template <Runs kRuns, class V>
void VolumePasses::find_any_sites(const ExactWeights& weights, const Emitter<V>& to) const {
  const auto block_for = [](int rows) {
    int k = 0;
    while (kSiteBlocks[k].rows < rows) ++k;
    return k;
  };
  solve_lines<kSiteBlocks, kRuns, SiteSink<kRuns, V>>(*this, weights, to, {block_for(volume.ny), block_for(volume.nz)});
}

}  // namespace fathom::grid::cuda::volume
