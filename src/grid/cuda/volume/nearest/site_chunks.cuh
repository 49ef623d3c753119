// Chunks of rows with nearest sites for the envelope of volume/envelope.cuh: from leads along z
// (volume/nearest/sites.cuh) to squares, and where the sites lie.
//
// Work mapping: a unit of 16 lanes for a chunk, a lane for a column. Cost: a lead of 16 bits and a word of the row that
// it names are read for each element, the words mostly from the cache: neighbours' leads name the same ones.
#pragma once

#include "grid/cuda/volume/nearest/sites.cuh"

namespace fathom::grid::cuda::volume {

/// Chunks of rows along y, a unit of 16 lanes each, as the envelope takes them: from leads to squares.
///
/// @param Place  what is kept of where a site lies: of(plane, steps along x, own column)
template <int kChunk, class Place>
class SiteChunks {
 public:
  /// @param squares  shared, [row][16], as many rows as the chunks have
  /// @param places   the same
  __device__ SiteChunks(const Volume& v, const SitesOfRows& sites, int x, unsigned* squares, Place* places)
      : sites_(sites), x_(x), rows_(v.ny), squares_(squares), places_(places) {}

  /// What the unit's rows hold goes through shared memory, eight at a time, so that few registers are taken: what lies
  /// there is the unit's alone.
  __device__ void load(unsigned* value) const {
    const int lane = lane_id() % 16, first = unit() * kChunk;
    // Odd chunks swap even and odd rows, so that units meet different banks.
    const int swap = unit() % 2 * 16;
    unsigned* own = squares_ + first * 16 + lane;
    Place* places = places_ + first * 16 + lane;
#pragma unroll 1
    for (int r = 0; r < kChunk; r += 8)
      load_eight(first + r, own + r * 16 + swap, own + r * 16 - swap, places + r * 16);
#pragma unroll
    for (int r = 0; r < kChunk; ++r) value[r] = own[r * 16 + (r % 2 ? -swap : swap)];
  }

 private:
  static __device__ int unit() { return static_cast<int>(threadIdx.x) / 16; }

  /// @param even, odd  where squares of such rows go
  __device__ void load_eight(int y, unsigned* even, unsigned* odd, Place* places) const {
    unsigned lead[8];
    uint2 word[8];
    // All are read before any is looked at, so that the waits are one.
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const TileKind kind = y + k < rows_ ? sites_.kind(y + k) : kEmpty;
      lead[k] = Leads::not_kept(kind);
      if (keeps_rows(kind)) lead[k] = sites_.lead(y + k);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) word[k] = sites_.word_by(lead[k], y + k);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const SitesOfRows::Steps way = sites_.way_by(lead[k], word[k]);
      places[k * 16] = Place::of(static_cast<unsigned>(sites_.z() + way.z), way.x, x_);
      (k % 2 ? odd : even)[k * 16] = lead[k] == Leads::kNone ? kNone32 : way.square();
    }
  }

  const SitesOfRows& sites_;
  const int x_, rows_;
  unsigned* const squares_;
  Place* const places_;
};

}  // namespace fathom::grid::cuda::volume
