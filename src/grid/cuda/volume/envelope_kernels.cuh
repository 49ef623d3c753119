// The passes along z and y by envelopes (volume/envelope.cuh), of the tiles that the searches left, without nearest
// sites.
//
// Work mapping: persistent blocks take halves of these tiles; else as the envelope has it.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/far_rows.cuh"
#include "grid/cuda/volume/writer.cuh"

namespace fathom::grid::cuda::volume {

/// From row to row of a word that has all pairs, in `narrow`: a constant, so that where rows lie is not computed.
struct UsualStep {
  __device__ constexpr operator int() const { return 2 * kPairsOfWord; }
};

/// @param Solver  the envelope
template <bool kLabels, class Solver>
__global__ void __launch_bounds__(Solver::kThreadsOfBlock, kEnvelopeThreads / Solver::kThreadsOfBlock)
    envelope_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  constexpr int kThreads = Solver::kThreadsOfBlock;
  __shared__ uint2 of_byte[256];
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  const unsigned count = v.counters[0] * 2;
  if (blockIdx.x >= count) return;
  for (int i = t; i < 256; i += kThreads) of_byte[i] = byte_distances(i, kLabels);
  __shared__ RunWords<kLabels> run_words;
  const RunEnds ends(run_words, n);
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const Volume::Tile tile = v.narrow_tile(v.z_list[job / 2]);
    const int half = static_cast<int>(job % 2) * 16;
    const EnvelopeRows<kThreads, Solver::kRows> rows(envelope_shared);
    rows.load(v.word_line(tile), n, half, of_byte, kLabels);
    if constexpr (kLabels) ends.fill([&](int r) { return v.runs_along_z(tile, v.changes_along_z(tile), r); });
    const auto load = [&](unsigned* value, int first, int lane) { rows.squares(value, first, lane, n); };
    const FarRows far(v, tile, half + t % 16);
    const auto store = [&](int z, unsigned* values, int count) {
      if constexpr (kLabels)
        if (count > 0) ends.bound(z / 8, half + t % 16, values);
      far.put(z, values, count);
    };
    Solver(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store);
  }
}

template <Writing kWriting, class Solver>
__global__ void __launch_bounds__(Solver::kThreadsOfBlock, kEnvelopeThreads / Solver::kThreadsOfBlock)
    envelope_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  constexpr bool kLabels = is_of_labels(kWriting);
  __shared__ RunWords<kLabels> run_words;
  constexpr int kChunk = Solver::kRows, kLines = Solver::kLines, kParts = 32 / kLines;  // of a tile
  const int n = v.ny, lane = static_cast<int>(threadIdx.x) % kLines;
  const unsigned count = v.counters[1] * kParts;
  const RunEnds ends(run_words, n);
  constexpr bool kSide = kWriting == Writing::one_side;
  __shared__ unsigned wide_of[kLongestAxis / 32], narrow_of[kLongestAxis / 32],
      full_of[kLabels ? 1 : kLongestAxis / 32];
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const Volume::Tile tile = v.tile(v.y_list[job / kParts], v.nz);
    const int column = static_cast<int>(job % kParts) * kLines + lane, x0 = tile.word * 32 + column - lane;
    if (x0 >= v.nx) continue;
    const int narrow_step = 2 * v.pairs_of(tile.word);
    const auto* narrow = reinterpret_cast<const std::uint16_t*>(v.narrow_row(tile.item, tile.word, tile.line, 0)) +
                         min(column, narrow_step - 1);
    const int x = x0 + lane;
    const std::uint32_t* wide = v.wide_at(tile.item, tile.line, 0, min(x, v.nx - 1));
    const std::int64_t wide_step = v.wide.y_stride;
    const RowKinds row_kinds(v, tile, column / 16);
    for (int w = static_cast<int>(threadIdx.x) / 32; w * 32 < n; w += static_cast<int>(blockDim.x) / 32) {
      const KindBits bits = KindBits::of(row_kinds, w * 32, n);
      if (lane_id() != 0) continue;
      wide_of[w] = bits.wide, narrow_of[w] = bits.narrow;
      if constexpr (!kLabels) full_of[w] = bits.full;
    }
    __syncthreads();
    const auto load_rows = [&](unsigned* value, int first, auto step) {
      constexpr unsigned kAll = 0xFFFFFFFFu >> (32 - kChunk);
      const int w = first / 32;
      const unsigned are_wide = wide_of[w] >> first % 32 & kAll, are_narrow = narrow_of[w] >> first % 32 & kAll;
      const std::uint32_t* row = wide + first * wide_step;
      const std::uint16_t* narrow_row = narrow + first * step;
      if (are_wide == kAll) {
#pragma unroll
        for (int r = 0; r < kChunk; ++r, row += wide_step) value[r] = wide_square<kSide>(*row);
      } else if (are_narrow == kAll) {
#pragma unroll
        for (int r = 0; r < kChunk; ++r) value[r] = narrow_row[r * step];
      } else {  // all that is read is on its way before any of it is looked at
#pragma unroll
        for (int r = 0; r < kChunk; ++r, row += wide_step) {
          value[r] = kNone32;
          if (are_wide >> r & 1) value[r] = wide_square<kSide>(*row);
          if (are_narrow >> r & 1) value[r] = narrow_row[r * step];
        }
        const unsigned are_full = kLabels ? 0 : full_of[w] >> first % 32;
        if (are_full == 0) return;
#pragma unroll
        for (int r = 0; r < kChunk; ++r)
          if (are_full >> r & 1) value[r] = 0;
      }
    };
    const auto load = [&](unsigned* value, int first, int) {
      if (narrow_step == UsualStep{}) load_rows(value, first, UsualStep{});
      else load_rows(value, first, narrow_step);
    };
    if constexpr (kLabels) ends.fill_changes([&](int r) { return __ldg(v.changes_along_y(tile) + r); });
    const VolumeWriter<kWriting> writer(v, emitter, tile);
    const auto store = [&](int y, unsigned* values, int count) {
      if (count == 0) return;
      if constexpr (kLabels) ends.bound(y / 8, column, values);
      writer.template write_column<Solver::kSmall>(y, x, values, count);
    };
    Solver(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store);
  }
}

}  // namespace fathom::grid::cuda::volume
