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
      : sites_(sites),
        x_(x),
        column_(x % 32),
        last_plane_(static_cast<unsigned>(v.nz - 1)),
        last_row_(v.ny - 1),
        squares_(squares),
        places_(places),
        kept_(kept_rows(v.ny)) {}

  /// What the unit's rows hold goes through shared memory, eight at a time, so that few registers are taken: what lies
  /// there is the unit's alone.
  __device__ void load(unsigned* value) const {
    const int lane = lane_id() % 16, first = unit() * kChunk;
    // Odd chunks swap even and odd rows, so that units meet different banks.
    const int swap = unit() % 2 * 16;
    unsigned* own = squares_ + first * 16 + lane;
    Place* places = places_ + first * 16 + lane;
    Rows rows = sites_.rows_from(first);
#pragma unroll 1
    for (int r = 0; r < kChunk; r += 8) {
      load_eight(rows, kept_ >> r, own + r * 16 + swap, own + r * 16 - swap, places + r * 16);
      sites_.advance(rows);
    }
    if (kept_ != kAllRows)
      put_full(sites_.kinds() + first, min(kChunk, last_row_ + 1 - first), own, swap, places, here());
#pragma unroll
    for (int r = 0; r < kChunk; ++r) value[r] = own[r * 16 + (r % 2 ? -swap : swap)];
  }

 private:
  static constexpr unsigned kAllRows = 0xFFFFFFFFu >> (32 - kChunk);
  using Rows = SitesOfRows::EightRows;

  static __device__ int unit() { return static_cast<int>(threadIdx.x) / 16; }

  /// Which of the unit's rows keep leads, in bits. By whole warps.
  __device__ unsigned kept_rows(int rows) const {
    unsigned kept = 0;
#pragma unroll
    for (int r = 0; r < kChunk; r += 16) {
      const int row = unit() * kChunk + r + lane_id() % 16;
      const unsigned both = __ballot_sync(kAllLanes, row < rows && keeps_rows(sites_.kind(row)));
      kept |= (both >> (lane_id() & 16) & 0xFFFFu) << r;
    }
    return kept;
  }

  /// The place of a site in the plane of the tile and in this lane's column.
  __device__ Place here() const { return Place::of(static_cast<unsigned>(sites_.z()), 0, x_); }
  /// Of the unit's rows that have sites alone, as load() does of the others. Not inlined, since there are mostly none.
  static __device__ __noinline__ void put_full(const std::uint8_t* kinds, int rows, unsigned* own, int swap,
                                               Place* places, Place here) {
    for (int r = 0; r < rows; ++r) {
      if (__ldg(kinds + r) != kFull) continue;
      own[r * 16 + (r % 2 ? -swap : swap)] = 0;
      places[r * 16] = here;
    }
  }

  /// @param kept       which of the rows keep leads; the others are to have no sites
  /// @param even, odd  where squares of such rows go
  __device__ void load_eight(const Rows& rows, unsigned kept, unsigned* even, unsigned* odd, Place* places) const {
    if ((kept & 255) == 0) {
#pragma unroll
      for (int k = 0; k < 8; ++k) (k % 2 ? odd : even)[k * 16] = kNone32;
      return;
    }
    unsigned lead[8], least = ~0u, most = 0;  // plane of a site that is far; of others it is none
    if ((kept & 255) == 255) {
#pragma unroll
      for (int k = 0; k < 8; ++k) lead[k] = __ldg(rows.leads + k * kLeadsOfRow);
    } else {
#pragma unroll
      for (int k = 0; k < 8; ++k) lead[k] = kept >> k & 1 ? __ldg(rows.leads + k * kLeadsOfRow) : Leads::kNone;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      least = min(least, lead[k] - Leads::kFirstFar);
      most = max(most, lead[k] - Leads::kFirstFar);
    }
    if (least <= last_plane_) put_far(rows, lead, even, odd, places);
    if (most > last_plane_) put_near(kept, lead, even, odd, places);
  }
  /// Of all rows, of those whose sites are not far whatever.
  __device__ void put_far(const Rows& rows, const unsigned* lead, unsigned* even, unsigned* odd, Place* places) const {
    uint2 word[8];  // all are read before any is looked at, so that the waits are one
    const unsigned last = sites_.depth(last_row_ - rows.y) + last_plane_;  // word of the line, from these rows'
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned plane = min(lead[k] - Leads::kFirstFar, last_plane_);
      word[k] = __ldg(rows.words + __viaddmin_u32(plane, sites_.depth(k), last));
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned plane = lead[k] - Leads::kFirstFar;
      const SitesOfRows::Steps way{column_.nearest(word[k]), static_cast<int>(plane) - sites_.z()};
      places[k * 16] = Place::of(plane, way.x, x_);
      (k % 2 ? odd : even)[k * 16] = way.square();
    }
  }
  /// Of rows whose sites are not far, and those that have none.
  __device__ void put_near(unsigned kept, const unsigned* lead, unsigned* even, unsigned* odd, Place* places) const {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (Leads::is_far(lead[k])) continue;
      const SitesOfRows::Steps way = sites_.way_by(lead[k], make_uint2(0, 0));
      const auto plane = static_cast<unsigned>(sites_.z() + way.z);
      places[k * 16] = Place::of(plane, way.x, x_);
      (k % 2 ? odd : even)[k * 16] = kept >> k & 1 ? way.square() : kNone32;
    }
  }

  const SitesOfRows& sites_;
  const int x_;
  const ColumnOfWords column_;
  const unsigned last_plane_;
  const int last_row_;
  unsigned* const squares_;
  Place* const places_;
  const unsigned kept_;  ///< which of the unit's rows keep leads
};

}  // namespace fathom::grid::cuda::volume
