// The last pass of a transposed volume with nearest sites where these are far: the envelope of volume_envelope.cuh, by
// halves of the tiles that the search left (volume_sites_along_x.cuh).
//
// Work mapping: as in envelope_sites_along_y() (volume_sites.cuh), but that words hold where sites lie across x, which
// decide between winners that are as near: the lowest z, then the lowest y. Cost: as there.
#pragma once

#include "grid/cuda/volume_envelope.cuh"
#include "grid/cuda/volume_site_lines.cuh"

namespace fathom::grid::cuda {

/// Where the site of a plane across x lies in it, in a word.
struct PlaceAcrossX {
  static constexpr int kLineBits = 10;
  static_assert(kLongestKeyed <= 1 << kLineBits);

  static __device__ unsigned of(int z, int y) { return static_cast<unsigned>(z << kLineBits | y); }
  static __device__ unsigned z(unsigned place) { return place >> kLineBits; }
  static __device__ unsigned y(unsigned place) { return place & ((1u << kLineBits) - 1); }
};

/// Bytes of dynamic shared memory: the envelope, and behind it the places of sites, [row][16].
inline __host__ __device__ std::size_t sites_envelope_memory(int rows, int chunk) {
  return envelope_memory(rows, chunk) + static_cast<std::size_t>(row_groups(rows)) * 8 * 16 * sizeof(std::uint32_t);
}

/// As envelope_sites_along_y(), of what search_sites_along_x() leaves.
template <int kThreads, int kChunk>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_sites_along_x(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 envelope_shared[];
  using Result = typename SiteLineWriter<kThreads>::Result;
  const int n = v.ny, lane = static_cast<int>(threadIdx.x) % 16;
  const auto plane_size = static_cast<unsigned>(v.nx * v.ny), row_size = static_cast<unsigned>(v.ny);
  const unsigned jobs = v.counters[1];
  auto* places = reinterpret_cast<std::uint32_t*>(envelope_shared) + envelope_memory(n, kChunk) / sizeof(std::uint32_t);
  for (unsigned job = blockIdx.x; job < jobs; job += gridDim.x) {
    const HalfTile half = half_along_y(v, v.y_list[job]);
    const SitesOfRows sites(v, half.tile, half.x);
    const auto load = [&](unsigned* value, int first, int) {
#pragma unroll
      for (int r = 0; r < kChunk; ++r) value[r] = sites.lead(min(first + r, n - 1));
#pragma unroll
      for (int r = 0; r < kChunk; ++r) {
        const bool there = first + r < n && value[r] != Leads::kNone;
        const SitesOfRows::Steps way = sites.way_by(value[r], min(first + r, n - 1));
        if (there) places[(first + r) * 16 + lane] = PlaceAcrossX::of(sites.z() + way.z, half.x + way.x);
        value[r] = there ? way.square() : kNone32;
      }
    };
    const SiteLineWriter<kThreads> writer(v, emitter, half);
    const auto store = [&](int first, const unsigned* winners, int) {
      writer.write_column(first, [&](int j) {
        if (winners[j] == kNoKey) return Result{UINT32_MAX, -1};
        const auto x = static_cast<int>(winners[j] & kKeyIndex);
        const unsigned place = places[x * 16 + lane];
        const unsigned row = PlaceAcrossX::z(place) * plane_size + PlaceAcrossX::y(place) * row_size;
        return Result{winners[j] >> kKeyBits, static_cast<std::int32_t>(row) + x};
      });
    };
    using Sites = Envelope<kThreads, kChunk, Finding::least_companion, std::uint32_t>;
    Sites(reinterpret_cast<unsigned*>(envelope_shared), n, places).run(load, store);
  }
}

}  // namespace fathom::grid::cuda
