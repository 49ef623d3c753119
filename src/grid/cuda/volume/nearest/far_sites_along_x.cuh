// The last pass of a transposed volume with nearest sites where these are far: the envelope of volume/envelope.cuh, by
// halves of the tiles that the search left (volume/nearest/sites_along_x.cuh).
//
// Work mapping: as in envelope_sites_along_y() (volume/nearest/far_sites.cuh), but that words hold where sites lie
// across x, which decide between winners that are as near: the lowest z, then the lowest y. Cost: as there.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/site_chunks.cuh"
#include "grid/cuda/volume/nearest/site_lines.cuh"

namespace fathom::grid::cuda::volume {

/// Where the site of a plane across x lies, so that the first of them is the least: to an envelope, too.
struct PlaceAcrossX {
  static constexpr int kLineBits = 10;
  static_assert(kLongestKeyed <= 1 << kLineBits);

  std::uint32_t bits;  ///< the place in the line below the plane

  static __device__ PlaceAcrossX of(unsigned plane, int along_x, int x) {
    return {plane << kLineBits | static_cast<unsigned>(x + along_x)};
  }
  __device__ operator unsigned() const { return bits; }
  __device__ unsigned z() const { return bits >> kLineBits; }
  __device__ unsigned y() const { return bits & ((1u << kLineBits) - 1); }
};

/// Bytes of dynamic shared memory: the envelope, and behind it the places of sites, [row][16], of all its chunks.
inline __host__ __device__ std::size_t sites_envelope_memory(int rows, int chunk) {
  return envelope_memory(rows, chunk) +
         static_cast<std::size_t>((rows + chunk - 1) / chunk * chunk) * 16 * sizeof(PlaceAcrossX);
}

/// As envelope_sites_along_y(), of what search_sites_along_x() leaves.
template <int kThreads, int kChunk>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_sites_along_x(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  using Result = typename SiteLineWriter<kThreads>::Result;
  const int n = v.ny, lane = static_cast<int>(threadIdx.x) % 16;
  const auto row_size = static_cast<unsigned>(v.ny);
  const auto plane_size = static_cast<unsigned>(lines_of_array(emitter)) * row_size;
  using Solver = Envelope<kThreads, kChunk, Finding::least_companion, PlaceAcrossX>;
  const SharedTiles<Solver> tiles(v.counters[1], Solver::rounds_of(n));
  auto* memory = reinterpret_cast<unsigned*>(envelope_shared);
  auto* places = reinterpret_cast<PlaceAcrossX*>(memory + envelope_memory(n, kChunk) / sizeof(unsigned));
  for (unsigned job = blockIdx.x; job < tiles.jobs(); job += gridDim.x) {
    const HalfTile half = half_along_y(v, v.y_list[tiles.tile(job)]);
    const SitesOfRows sites(v, half.tile, half.x);
    const SiteChunks<kChunk, PlaceAcrossX> chunks(v, sites, v.first_x + half.x, memory, places);
    const auto load = [&](unsigned* value, int, int) { chunks.load(value); };
    const SiteLineWriter<kThreads> writer(v, emitter, half);
    const auto store = [&](int first, const unsigned* winners, int) {
      writer.write_column(first, [&](int j) {
        if (winners[j] == kNoKey) return Result{UINT32_MAX, -1};
        const auto x = static_cast<int>(winners[j] & kKeyIndex);
        const PlaceAcrossX place = places[x * 16 + lane];
        const unsigned row = place.z() * plane_size + place.y() * row_size;
        return Result{winners[j] >> kKeyBits, static_cast<std::int32_t>(row) + x};
      });
    };
    Solver(memory, n, places).run(load, store, tiles.part(job));
  }
}

}  // namespace fathom::grid::cuda::volume
