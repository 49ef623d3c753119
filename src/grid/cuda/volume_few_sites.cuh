// Tiles along y of which only few rows have sites, as with a single site, where nearest sites are asked for: as in
// volume_few_rows.cuh, the site of each row is tried everywhere, and of equally near ones that with the lowest index
// wins.
//
// Work mapping: block = half a tile, half warp = eight rows, lane = column. Cost: six operations per element and row
// with sites.
#pragma once

#include "grid/cuda/volume_filled_rows.cuh"
#include "grid/cuda/volume_sites.cuh"

namespace fathom::grid::cuda {

/// At most kFewRows rows.
template <int kThreads>
class FewSites {
 public:
  __device__ FewSites(const SitesOfRows& sites, int rows) : sites_(sites), rows_(rows) {}

  __device__ void solve(const SiteWriter& writer) const {
    __shared__ FilledRows<kFewRows> filled;
    filled.find(rows_, [&](int r) { return sites_.has_site(r); });
    const int count = filled.count, first = static_cast<int>(threadIdx.x) / 16 * 8;
    int row[kFewRows];
    SiteWriter::Result of_row[kFewRows];
#pragma unroll
    for (int k = 0; k < kFewRows; ++k) {
      row[k] = k < count ? filled.row[k] : 0;
      of_row[k] = {kNone32, -1};
      if (k >= count) continue;
      const SitesOfRows::Steps way = sites_.way(row[k]);
      of_row[k] = {way.square(), writer.site(row[k], way)};
    }
    const auto nearest_to = [&](int y) {
      SiteWriter::Result best{kNone32, -1};
#pragma unroll
      for (int k = 0; k < kFewRows; ++k) {
        const std::uint32_t square = of_row[k].square + static_cast<std::uint32_t>((y - row[k]) * (y - row[k]));
        const bool is_first = square == best.square && of_row[k].site < best.site;
        if (k < count && (square < best.square || is_first)) best = {square, of_row[k].site};
      }
      return best;
    };
    for (int y = first; y < rows_; y += kThreads / 16 * 8)
      writer.write(y, rows_ - y, [&](int j) { return nearest_to(y + j); });
  }

 private:
  const SitesOfRows& sites_;
  const int rows_;
};

}  // namespace fathom::grid::cuda
