// Halves of tiles of a transposed volume whose nearest sites need no search: at most kFewRows of their rows have sites,
// or sites lie in all rows as they do in the first.
//
// Work mapping: block = half a tile, warp = line of it, lane = each 32nd element. Cost: an operation per element where
// rows have the same sites, six for each of few rows.
#pragma once

#include "grid/cuda/volume/filled_rows.cuh"
#include "grid/cuda/volume/nearest/same_sites.cuh"
#include "grid/cuda/volume/nearest/site_lines.cuh"

namespace fathom::grid::cuda::volume {

/// Tiles of which at most kFewRows rows have sites: each of these is tried everywhere, and of equally near sites that
/// with the lowest index wins.
template <int kThreads>
class FewSitesAlongX {
 public:
  using Writer = SiteLineWriter<kThreads>;
  using Result = typename Writer::Result;

  /// By all threads.
  static __device__ void solve(const SitesOfRows& sites, int rows, const Writer& writer) {
    __shared__ FilledRows<kFewRows> filled;
    __shared__ Result of_row[kFewRows][16];
    filled.find(rows, [&](int r) { return sites.has_site(r); });
    for (int i = static_cast<int>(threadIdx.x); i < filled.count * 16; i += kThreads) {
      const int row = filled.row[i / 16];
      const SitesOfRows::Steps way = sites.way(row);
      of_row[i / 16][i % 16] = {way.square(), writer.site(i % 16, row, way.z, way.x)};
    }
    __syncthreads();
    writer.write_rows([&](int line) {
      OfLine few{.count = filled.count};
#pragma unroll
      for (int k = 0; k < kFewRows; ++k)
        if (k < filled.count) few.row[k] = filled.row[k], few.result[k] = of_row[k][line];
      return [few](int x) { return [&few, x](int k) { return few.at(x + 32 * k); }; };
    });
  }

 private:
  struct OfLine {
    int count, row[kFewRows];
    Result result[kFewRows];

    __device__ Result at(int x) const {
      Result best{kNone32, -1};
#pragma unroll
      for (int k = 0; k < kFewRows; ++k) {
        if (k >= count) continue;
        const unsigned square = result[k].square + static_cast<unsigned>((x - row[k]) * (x - row[k]));
        const bool is_first = square == best.square && result[k].site < best.site;
        if (square < best.square || is_first) best = {square, result[k].site};
      }
      return best;
    }
  };
};

/// Tiles in whose rows sites lie as they do in the first. By all threads.
template <int kThreads>
__device__ void write_same_sites(const SitesOfRows& sites, const SiteLineWriter<kThreads>& writer) {
  __shared__ SitesOfRows::Steps ways[16];
  if (threadIdx.x < 16) ways[threadIdx.x] = sites.way(0);
  __syncthreads();
  writer.write_rows([&](int line) {
    const SitesOfRows::Steps way = ways[line];
    const std::int32_t first = writer.site(line, 0, way.z, way.x);
    return [=](int x) {
      return [=](int k) { return typename SiteLineWriter<kThreads>::Result{way.square(), first + x + 32 * k}; };
    };
  });
}

}  // namespace fathom::grid::cuda::volume
