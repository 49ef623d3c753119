// The launches that volume/solve.cuh declares, for the files that compile their kernels.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/along_y.cuh"
#include "grid/cuda/volume/along_z.cuh"
#include "grid/cuda/volume/envelope_kernels.cuh"
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

/// Along short lines, a tile to a warp.
template <class Kernel, class... Arguments>
void launch_short(Kernel kernel, std::int64_t tiles, cudaStream_t stream, const Arguments&... arguments) {
  constexpr int kWarps = kShortLinesBlock / 32;
  const std::int64_t blocks = persistent_blocks(kernel, (tiles + kWarps - 1) / kWarps, kShortLinesBlock, 0);
  launch(kernel, blocks, kShortLinesBlock, 0, stream, arguments...);
}

template <class Solver, bool kLabels = false>
void far_along_z(const VolumePasses& p) {
  launch_far(envelope_along_z<kLabels, Solver>, p.z_tiles(), Solver::kThreadsOfBlock, Solver::memory(p.volume.nz),
             p.stream, p.volume);
}

template <bool kLabels>
void VolumePasses::search_along_z() const {
  const int n = volume.nz;
  if constexpr (!kLabels) {
    if (n <= kShortLines / 2) return launch_short(short_along_z<kShortLines / 2, false>, z_tiles(), stream, volume);
    if (n <= kShortLines) return launch_short(short_along_z<kShortLines, false>, z_tiles(), stream, volume);
  }
  const auto search = [&](auto threads) {
    launch(volume::search_along_z<threads, kLabels>, z_tiles(), threads, window_memory(n), stream, volume);
  };
  if constexpr (kLabels) with_block<128, 256, 512>(search_block(n, kTinyBlocks), search);
  else if (n > kLongestKeyed) search(std::integral_constant<int, 1024>{});
  else with_block<128, 256, 512>(search_block_along_z(n), search);
  if constexpr (!kLabels) {
    if (n <= kShortFarLines) return launch_short(short_along_z<kShortFarLines, true>, z_tiles(), stream, volume);
    if (is_long && n > kLongestKeyed) return far_along_z<LongEnvelope<1024>>(*this);
    if (is_long && n > kShortAlongZ) return far_along_z<LongEnvelope<512>>(*this);
  }
  if (n <= 256) far_along_z<Envelope<256, 16>, kLabels>(*this);
  else if (n <= 512) far_along_z<Envelope<256, 32>, kLabels>(*this);
  else far_along_z<Envelope<512, 32>, kLabels>(*this);
}

template <class Solver, Writing kWriting>
void far_along_y(const VolumePasses& p) {
  launch_far(envelope_along_y<kWriting, Solver>, p.y_tiles(), Solver::kThreadsOfBlock, Solver::memory(p.volume.ny),
             p.stream, p.volume, p.emitter);
}
/// Of a volume with a long axis, lines of any length.
template <Writing kWriting>
void far_of_long_along_y(const VolumePasses& p) {
  const int n = p.volume.ny;
  using Short = Envelope<256, 16, Finding::values, std::uint16_t, Lines::far>;
  if (n <= kShortAlongY) far_along_y<Short, kWriting>(p);
  else if (n <= 512) far_along_y<LongEnvelope<256>, kWriting>(p);
  else if (n <= kLongestKeyed) far_along_y<LongEnvelope<512>, kWriting>(p);
  else far_along_y<LongEnvelope<512, 8>, kWriting>(p);
}

/// The tiles where sites are near or few.
template <Writing kWriting>
void search_near_along_y(const VolumePasses& p) {
  const int n = p.volume.ny;
  const bool turns_words = may_turn_words(kWriting) && p.turns_words;
  const std::int64_t blocks = p.y_tiles() + (turns_words ? turning_blocks(p.volume) : 0);
  const auto search = [&](auto threads) {
    launch(search_along_y<threads, kWriting>, blocks, threads, window_memory(n), p.stream, p.volume, p.emitter);
  };
  if constexpr (!is_of_labels(kWriting))
    if (n > kLongestKeyed) return search(std::integral_constant<int, 1024>{});
  if constexpr (kWriting == Writing::aligned)
    with_block<128, 160, 192, 256, 288, 320, 512>(float_search_block(n, p.writes_sectors), search);
  else if constexpr (kWriting == Writing::unaligned)  // few of these begin with sectors
    with_block<128, 256, 288, 320, 512>(float_search_block(n, false), search);
  else
    with_block<128, 256, 512>(search_block(n, kWriting == Writing::general ? kTinyBlocksOfMasks : kTinyBlocks), search);
}

template <Writing kWriting>
void VolumePasses::search_along_y() const {
  constexpr bool kLabels = is_of_labels(kWriting);
  constexpr bool kFloats = kWriting == Writing::aligned || kWriting == Writing::unaligned;
  const int n = volume.ny;
  constexpr Writing kFar = kFloats ? Writing::unaligned : kWriting;  // one by one: rows need no alignment
  if constexpr (!kLabels)
    if (n <= kShortLines && !turns_words)
      return launch_short(
          n <= kShortLines / 2 ? short_along_y<kShortLines / 2, kFar, false> : short_along_y<kShortLines, kFar, false>,
          y_tiles(), stream, volume, emitter);
  search_near_along_y<kWriting>(*this);
  if constexpr (!kLabels) {
    if (n <= kShortFarLines)
      return launch_short(short_along_y<kShortFarLines, kFar, true>, y_tiles(), stream, volume, emitter);
    if (is_long) return far_of_long_along_y<kFar>(*this);
  }
  if (n <= 256) far_along_y<Envelope<256, 16>, kFar>(*this);
  else if (n <= 512) far_along_y<Envelope<256, 32>, kFar>(*this);
  else far_along_y<Envelope<512, 32>, kFar>(*this);
}

}  // namespace fathom::grid::cuda::volume
