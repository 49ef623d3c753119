// Tiles along y of which only few rows have sites, as with a single site, or none has any, where nearest sites are
// asked for: as in volume/few_rows.cuh, the site of each row is tried everywhere, and of equally near ones that with
// the lowest index wins.
//
// Work mapping: block = tile, both halves, so that rows of 128 bytes are written at once; warp = eight rows, lane =
// column. Cost: two operations per element and a single row with sites, six for each of several.
#pragma once

#include "grid/cuda/volume/filled_rows.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"

namespace fathom::grid::cuda::volume {

/// At most kFewRows rows. All threads call it.
template <int kThreads>
class FewSites {
 public:
  __device__ FewSites(const Volume& v, const Emitter<std::int64_t>& emitter, const Volume::Tile& tile)
      : rows_(v.ny),
        sites_(v, tile, min(tile.word * 32 + lane_id(), v.nx - 1)),
        writer_(v, emitter, tile, tile.word * 32 + lane_id()) {}

  /// @param count  of the rows that have sites
  __device__ void solve(int count) const {
    if (count == 0) return write([](int) { return SiteWriter::NoSite{}; });
    __shared__ FilledRows<kFewRows> filled;
    filled.find(rows_, [&](int r) { return sites_.has_site(r); });
    if (count == 1) write_nearest<1>(filled);
    else write_nearest<kFewRows>(filled);
  }

 private:
  /// @tparam kMost  rows, of which there may be less
  template <int kMost>
  __device__ void write_nearest(const FilledRows<kFewRows>& filled) const {
    int row[kMost];
    SiteWriter::Result of_row[kMost];
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      row[k] = k < filled.count ? filled.row[k] : 0;
      of_row[k] = {kNone32, INT32_MAX};  // farther than any, as far as it may be
      if (k >= filled.count) continue;
      const SitesOfRows::Steps way = sites_.way(row[k]);
      of_row[k] = {way.square(), writer_.site(row[k], way)};
    }
    write([&](int y) {
      SiteWriter::Result best{UINT32_MAX, INT32_MAX};
#pragma unroll
      for (int k = 0; k < kMost; ++k) {
        const std::uint32_t square = of_row[k].square + static_cast<std::uint32_t>((y - row[k]) * (y - row[k]));
        const bool is_first = square == best.square && of_row[k].site < best.site;
        if (square < best.square || is_first) best = {square, of_row[k].site};
      }
      return best;
    });
  }

  /// @param result  of a row
  template <class Of>
  __device__ void write(Of&& result) const {
    for (int y = warp_number() * 8; y < rows_; y += kThreads / 4)
      writer_.write_group(y, rows_ - y, [&](int j) { return result(y + j); });
  }

  const int rows_;
  const SitesOfRows sites_;
  const SiteWriter writer_;
};

}  // namespace fathom::grid::cuda::volume
