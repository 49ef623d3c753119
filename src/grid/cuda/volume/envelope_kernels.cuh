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

/// What the rows of half a tile along y hold, in bits; those behind the last, nothing.
/// @tparam kMask  whether they may have sites alone
template <bool kMask>
class RowKindBits {
 public:
  /// By all threads; they meet.
  __device__ void fill(const RowKinds& kinds, int rows) {
    for (int r = static_cast<int>(threadIdx.x); r < (rows + 31) / 32 * 32; r += static_cast<int>(blockDim.x)) {
      const TileKind kind = r < rows ? kinds[r] : kEmpty;
      const unsigned wide = __ballot_sync(kAllLanes, kind == kWide), narrow = __ballot_sync(kAllLanes, kind == kNarrow);
      if (lane_id() == 0) wide_[r / 32] = wide, narrow_[r / 32] = narrow;
      if constexpr (kMask) {
        const unsigned full = __ballot_sync(kAllLanes, kind == kFull);
        if (lane_id() == 0) full_[r / 32] = full;
      }
    }
    __syncthreads();
  }
  /// Of up to 32 rows from one on, a multiple of as many.
  __device__ unsigned wide(int row) const { return wide_[row / 32] >> row % 32; }
  __device__ unsigned narrow(int row) const { return narrow_[row / 32] >> row % 32; }
  __device__ unsigned full(int row) const { return kMask ? full_[row / 32] >> row % 32 : 0; }

 private:
  static constexpr int kWords = kLongestAxis / 32;
  unsigned wide_[kWords], narrow_[kWords], full_[kMask ? kWords : 1];
};

/// From row to row of a word that has all pairs, in `narrow`: a constant, so that where rows lie is not computed.
struct UsualStep {
  __device__ constexpr operator int() const { return 2 * kPairsOfWord; }
};

/// @param Solver  the envelope, which takes chunks of kChunk rows
template <int kThreads, int kChunk, bool kLabels, class Solver = Envelope<kThreads, kChunk>>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
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
    const EnvelopeRows<kThreads, kChunk> rows(envelope_shared);
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

template <int kThreads, int kChunk, Writing kWriting, class Solver = Envelope<kThreads, kChunk>>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  constexpr bool kLabels = is_of_labels(kWriting);
  __shared__ RunWords<kLabels> run_words;
  constexpr int kLines = Solver::kLines, kParts = 32 / kLines;  // of a tile
  const int n = v.ny, lane = static_cast<int>(threadIdx.x) % kLines;
  const unsigned count = v.counters[1] * kParts;
  const RunEnds ends(run_words, n);
  constexpr bool kSide = kWriting == Writing::one_side;
  __shared__ RowKindBits<!kLabels> kinds;
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const Volume::Tile tile = v.tile(v.y_list[job / kParts], v.nz);
    const int column = static_cast<int>(job % kParts) * kLines + lane, x0 = tile.word * 32 + column - lane;
    if (x0 >= v.nx) continue;
    const int narrow_step = 2 * v.pairs_of(tile.word);
    const auto* narrow = reinterpret_cast<const std::uint16_t*>(v.narrow_row(tile.item, tile.word, tile.line, 0)) +
                         min(column, narrow_step - 1);
    // Beyond the volume's edges what lies last again, so that no branch keeps the loads from being in flight together.
    const int x = x0 + lane;
    const std::uint32_t* wide = v.wide_at(tile.item, tile.line, 0, min(x, v.nx - 1));
    const std::int64_t wide_step = v.wide.y_stride;
    kinds.fill(RowKinds(v, tile, column / 16), n);
    const auto load_rows = [&](unsigned* value, int first, auto step) {
      constexpr unsigned kAll = 0xFFFFFFFFu >> (32 - kChunk);
      const unsigned are_wide = kinds.wide(first) & kAll, are_narrow = kinds.narrow(first) & kAll;
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
        const unsigned are_full = kinds.full(first);
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
