// The pass along z of volumes with nearest sites where these are far: the envelope of volume/envelope.cuh by the half tiles
// that the search left (volume/nearest/sites_along_z.cuh).
//
// Work mapping and cost: as without sites, but a tile is 16 neighbours along x, half a word, by one whole line.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"

namespace fathom::grid::cuda::volume {

/// Leads along z from what an envelope finds, of lines that all have sites: rows of sixteen near ones as near, so that
/// nothing is looked up for them along y.
class WinnerLeads {
 public:
  __device__ WinnerLeads(const Volume& v, const HalfTile& half)
      : bit_(half.x % 32),
        is_inside_(half.x < v.nx),
        line_(v.word_line(half.tile)),
        leads_(lead_half(v, half, 0, half.tile.line) + lane_id() % 16),
        step_(2 * v.pairs_of_plane) {}

  /// Up to eight rows from z on. By whole warps, of which halves may have no rows.
  __device__ void put(int z, const unsigned* winners, int count) const {
    const unsigned far = far_rows(winners);
    std::uint16_t* to = leads_ + z * step_;
#pragma unroll
    for (int j = 0; j < 8; ++j, to += step_) {
      if (j >= count) break;
      const unsigned plane = winners[j] & kKeyIndex;
      *to = static_cast<std::uint16_t>(far >> j & 1 ? Leads::kFirstFar + plane : near_lead(plane, z + j));
    }
  }

 private:
  /// Bits: in which rows a site of the half tile does not fit a lead with the steps to it.
  __device__ unsigned far_rows(const unsigned* winners) const {
    unsigned far = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) far |= unsigned{is_inside_ && winners[j] >> kKeyBits >= Leads::kFarSquare} << j;
    const int of_half = lane_id() & 16;
    return warp_or(far << of_half) >> of_half;
  }
  __device__ unsigned near_lead(unsigned plane, int z) const {
    if (!is_inside_) return Leads::kHere;
    return Leads::near(steps_along_x(__ldg(line_ + plane), bit_), static_cast<int>(plane) - z);
  }

  const int bit_;
  const bool is_inside_;
  const uint2* const line_;
  std::uint16_t* const leads_;  ///< of the lane's column, in the first row
  const std::int64_t step_;
};

template <int kThreads, int kChunk>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_sites_along_z(const __grid_constant__ Volume v) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  __shared__ uint2 of_byte[256];
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  using Solver = Envelope<kThreads, kChunk, Finding::winners>;
  const unsigned count = v.counters[0];
  if (blockIdx.x >= count) return;
  for (int i = t; i < 256; i += kThreads) of_byte[i] = kByteDistances.of[i];
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const HalfTile half = narrow_half_along_z(v, v.z_list[job]);
    const EnvelopeRows<kThreads, kChunk> rows(envelope_shared);
    rows.load(v.word_line(half.tile), n, half.first, of_byte);
    const WinnerLeads leads(v, half);
    const auto load = [&](unsigned* value, int first, int lane) { rows.squares(value, first, lane, n); };
    const auto store = [&](int z, const unsigned* winners, int count) { leads.put(z, winners, count); };
    Solver(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store);
  }
}

}  // namespace fathom::grid::cuda::volume
