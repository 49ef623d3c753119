// The passes of volumes with nearest sites where these are far: the envelope of volume/envelope.cuh by halves of the
// tiles that the searches left (volume/nearest/sites_along_z.cuh, volume/nearest/sites_along_y.cuh), which compares
// sites with the squares. Of the shortest lines along z, what ranges of rows (volume/nearest/site_ranges.cuh) do not
// settle.
//
// Work mapping and cost: as without sites, but a tile is 16 neighbours along x, half a word, by one whole line.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/site_chunks.cuh"
#include "grid/cuda/volume/nearest/site_ranges.cuh"

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
  constexpr bool kShortest = kThreads == kLeastBlocksOfSites;  // lines
  __shared__ uint2 of_byte[256];
  __shared__ std::conditional_t<kShortest, ByteSides, char> sides;
  const int t = static_cast<int>(threadIdx.x), n = v.nz;
  using Solver = Envelope<kThreads, kChunk, Finding::winners>;
  // Ranges settle all of a half tile.
  const SharedTiles<Solver> tiles(v.counters[0], kShortest ? 1 : Solver::rounds_of(n));
  if (blockIdx.x >= tiles.jobs()) return;
  for (int i = t; i < 256; i += kThreads) of_byte[i] = kByteDistances.of[i];
  if constexpr (kShortest) copy_byte_sides<kThreads>(sides);
  for (unsigned job = blockIdx.x; job < tiles.jobs(); job += gridDim.x) {
    const HalfTile half = narrow_half_along_z(v, v.z_list[tiles.tile(job)]);
    if constexpr (kShortest)
      if (try_ranges_along_z<kThreads>(v, half, envelope_shared, sides)) {
        if (t == 0) kinds_of_half(v, half.tile, half.first / 16)[half.tile.line] = kNarrow;
        continue;
      }
    const EnvelopeRows<kThreads, kChunk> rows(envelope_shared);
    rows.load(v.word_line(half.tile), n, half.first, of_byte);
    const WinnerLeads leads(v, half);
    const auto load = [&](unsigned* value, int first, int lane) { rows.squares(value, first, lane, n); };
    const auto store = [&](int z, const unsigned* winners, int count) { leads.put(z, winners, count); };
    Solver(reinterpret_cast<unsigned*>(envelope_shared), n).run(load, store, tiles.part(job));
  }
}

/// Where a site of a row along y lies: its plane, and whether to the right. To an envelope, the plane.
struct SitePlace {
  static constexpr unsigned kRight = 1u << 15;
  static_assert(kLongestKeyed <= kRight);

  std::uint16_t bits;

  /// @param along_x  steps, to the right if positive
  static __device__ SitePlace of(unsigned plane, int along_x, int /*x*/) {
    return {static_cast<std::uint16_t>(plane + (along_x > 0 ? kRight : 0))};
  }
  __device__ operator unsigned() const { return bits & (kRight - 1); }
  __device__ bool is_right() const { return (bits & kRight) != 0; }
};
/// Bytes of those of a tile along y, [row][16], in shared memory behind an envelope, whose chunks are all there.
inline __host__ __device__ std::size_t site_places_memory(int rows) {
  return static_cast<std::size_t>((rows + 31) / 32 * 32) * 16 * sizeof(SitePlace);
}

/// Of the tiles that it leaves, all have rows with sites.
template <int kThreads, int kChunk>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_sites_along_y(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  const int n = v.ny;
  using Solver = Envelope<kThreads, kChunk, Finding::least_companion, SitePlace>;
  const SharedTiles<Solver> tiles(v.counters[1], Solver::rounds_of(n));
  auto* memory = reinterpret_cast<unsigned*>(envelope_shared);
  auto* places = reinterpret_cast<SitePlace*>(memory + envelope_memory(n, kChunk) / sizeof(unsigned));
  const int lane = static_cast<int>(threadIdx.x) % 16;
  for (unsigned job = blockIdx.x; job < tiles.jobs(); job += gridDim.x) {
    const HalfTile half = half_along_y(v, v.y_list[tiles.tile(job)]);
    const SitesOfRows sites(v, half.tile, half.x);
    const SiteChunks<kChunk, SitePlace> chunks(v, sites, half.x, memory, places);
    const auto load = [&](unsigned* value, int, int) { chunks.load(value); };
    const auto store = [&](int y0, const unsigned* winners, int count) {
      if (count == 0) return;
      const SiteWriter writer(v, emitter, half.tile, half.x);
      writer.write_group(y0, count, [&](int j) {
        const auto y = static_cast<int>(winners[j] & kKeyIndex);
        const SitePlace place = places[y * 16 + lane];
        const int along_z = static_cast<int>(unsigned{place}) - sites.z();
        return writer.result(y0 + j, winners[j] >> kKeyBits, y - (y0 + j), along_z, place.is_right());
      });
    };
    Solver(memory, n, places).run(load, store, tiles.part(job));
  }
}

}  // namespace fathom::grid::cuda::volume
