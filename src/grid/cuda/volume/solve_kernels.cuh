// The launches that volume/solve.cuh declares, for the files that compile their kernels.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/along_y.cuh"
#include "grid/cuda/volume/along_z.cuh"
#include "grid/cuda/volume/short_lines.cuh"
#include "grid/cuda/volume/solve.cuh"

namespace fathom::grid::cuda::volume {

/// The persistent kernel for the tiles that a search left.
/// @param kernel  begins with wait_for_last()
template <class Kernel, class... Arguments>
void launch_far(Kernel kernel, std::int64_t tiles, int threads, std::size_t memory, cudaStream_t stream,
                const Arguments&... arguments) {
  const std::int64_t blocks = persistent_blocks(kernel, 2 * tiles, threads, memory);
  fathom::cuda::launch(kernel, static_cast<unsigned>(blocks), threads, memory, stream, true, arguments...);
}
/// Calls pass(threads, rows of a chunk) with those of an envelope's block for lines of n elements, constants.
template <class Pass>
void with_far_block(int n, Pass&& pass) {
  if (n <= 256) pass(std::integral_constant<int, 256>{}, std::integral_constant<int, 16>{});
  else if (n <= 512) pass(std::integral_constant<int, 256>{}, std::integral_constant<int, 32>{});
  else pass(std::integral_constant<int, 512>{}, std::integral_constant<int, 32>{});
}

/// Along short lines, a tile to a warp.
template <class Kernel, class... Arguments>
void launch_short(Kernel kernel, std::int64_t tiles, cudaStream_t stream, const Arguments&... arguments) {
  constexpr int kWarps = kShortLinesBlock / 32;
  const std::int64_t blocks = persistent_blocks(kernel, (tiles + kWarps - 1) / kWarps, kShortLinesBlock, 0);
  launch(kernel, blocks, kShortLinesBlock, 0, stream, arguments...);
}

template <class Solver, bool kLabels = false, class Writer = FarRows>
void far_along_z(const VolumePasses& p) {
  launch_far(envelope_along_z<Solver, kLabels, Writer>, p.z_tiles(), Solver::kThreadsOfBlock,
             Solver::memory(p.volume.nz), p.stream, p.volume);
}

template <bool kLabels>
void VolumePasses::search_along_z() const {
  const int n = volume.nz;
  if constexpr (!kLabels)
    if (n <= kShortLines)
      return launch_short(
          n <= kShortLines / 2 ? short_along_z<kShortLines / 2, false> : short_along_z<kShortLines, false>, z_tiles(),
          stream, volume);
  with_block<128, 256, 512, kLabels ? 512 : 1024>(
      search_block(n, kLabels ? kTinyBlocks : kTinyBlocksAlongZ), [&](auto threads) {
        launch(volume::search_along_z<threads, kLabels>, z_tiles(), threads, window_memory(n), stream, volume);
      });
  if constexpr (!kLabels) {
    if (n <= kShortFarLines) return launch_short(short_along_z<kShortFarLines, true>, z_tiles(), stream, volume);
    if (is_long && n > kLongestKeyed) return far_along_z<LongEnvelope<1024>>(*this);
    if (is_long && n > kShortAlongZ) return far_along_z<LongEnvelope<512>>(*this);
  }
  with_far_block(n, [&](auto threads, auto chunk) { far_along_z<Envelope<threads, chunk>, kLabels>(*this); });
}

template <class Solver, Writing kWriting>
void far_along_y(const VolumePasses& p) {
  launch_far(envelope_along_y<kWriting, Solver>, p.y_tiles(), Solver::kThreadsOfBlock, Solver::memory(p.volume.ny),
             p.stream, p.volume, p.emitter);
}

template <Writing kWriting>
void VolumePasses::search_along_y() const {
  constexpr bool kFloats = kWriting == Writing::aligned || kWriting == Writing::unaligned;
  constexpr Writing kFar = kFloats ? Writing::unaligned : kWriting;  // one by one: rows need no alignment
  const int n = volume.ny;
  if constexpr (!is_of_labels(kWriting))
    if (n <= kShortLines)
      return launch_short(
          n <= kShortLines / 2 ? short_along_y<kShortLines / 2, kFar, false> : short_along_y<kShortLines, kFar, false>,
          y_tiles(), stream, volume, emitter);
  const auto search = [&](auto threads) {
    launch(volume::search_along_y<threads, kWriting>, y_tiles(), threads, window_memory(n), stream, volume, emitter);
  };
  if constexpr (kWriting == Writing::aligned)
    with_block<128, 160, 192, 256, 288, 320, 512, 1024>(float_search_block(n, writes_sectors), search);
  else if constexpr (kWriting == Writing::unaligned)  // few of these begin with sectors
    with_block<128, 256, 288, 320, 512, 1024>(float_search_block(n, false), search);
  else
    with_block<128, 256, 512, is_of_labels(kWriting) ? 512 : 1024>(
        search_block(n, kWriting == Writing::general ? kTinyBlocksOfMasks : kTinyBlocks), search);
  if constexpr (!is_of_labels(kWriting)) {
    if (n <= kShortFarLines)
      return launch_short(short_along_y<kShortFarLines, kFar, true>, y_tiles(), stream, volume, emitter);
    if (is_long && n > kLongestKeyed) return far_along_y<LongEnvelope<512, 8>, kFar>(*this);
    if (is_long && n > 512) return far_along_y<LongEnvelope<512>, kFar>(*this);
    if (is_long && n > kShortAlongY) return far_along_y<LongEnvelope<256>, kFar>(*this);
  }
  with_far_block(n, [&](auto threads, auto chunk) { far_along_y<Envelope<threads, chunk>, kFar>(*this); });
}

}  // namespace fathom::grid::cuda::volume
