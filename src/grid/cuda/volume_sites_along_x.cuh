// The last pass of a transposed volume (volume_along_x.cuh) with nearest sites, where these are near, or rows with sites
// few: it writes float distances and indices of 32 bits.
//
// Of several nearest sites the first counts: that with the lowest z, of these that with the lowest y, and only then x.
// The passes before leave of each plane across x the first site by that order. So what is compared here holds the steps
// along z and y, and behind them the side on which the site lies; how far along x follows from the square.
//
// Work mapping: block = half a tile, which is 16 neighbours along y by whole rows along x, in memory one piece of each
// output. The search of volume_sites_along_y.cuh, but that what it finds goes to shared memory, and to the outputs when
// all is there (volume_lines.cuh).
// Cost: as there, and one store to shared memory and one load for each element.
#pragma once

#include "grid/cuda/volume_filled_rows.cuh"
#include "grid/cuda/volume_gaps.cuh"
#include "grid/cuda/volume_lines.cuh"
#include "grid/cuda/volume_same_sites.cuh"

namespace fathom::grid::cuda {

/// A line's squared distance and the way to the site, so that of equally near sites the first is least:
/// square · 2¹⁷ + (steps along z + 128) · 2⁹ + (steps along y + 128) · 2 + whether the site lies to the right.
struct SitesAlongX : WindowSites {
  using Stored = SitesAlongX;
  static constexpr unsigned kStep = 0, kRight = 1;

  /// From a lead of the row, in which x and y have changed places.
  static __device__ unsigned near_site(unsigned lead) {
    const int steps = static_cast<int>(Leads::along_x(lead));
    return far_site(lead & 1 ? steps : -steps, Leads::along_z(lead));
  }
  static __device__ unsigned far_site(int along_y, int along_z) {
    const auto square = static_cast<unsigned>(along_y * along_y + along_z * along_z);
    return square * kSquare + static_cast<unsigned>((along_z + 128) << 9 | (along_y + 128) << 1);
  }
};

/// Bytes of dynamic shared memory.
inline __host__ __device__ std::size_t sites_along_x_memory(int length) {
  return window_memory(length) + FoundWords::memory(length);
}

/// Results of half a tile of a transposed volume: its lines are rows of the outputs.
template <int kThreads>
class SiteLineWriter {
 public:
  struct Result {
    std::uint32_t square;  ///< UINT32_MAX: there is no site
    std::int32_t site;     ///< −1 then
  };

  __device__ SiteLineWriter(const Volume& v, const Emitter<std::int64_t>& emitter, const HalfTile& half)
      : lines(min(16, v.nx - first_line_of(half))),
        plain_(emitter.plain),
        rows_(plain_.row(v.first_item + half.tile.item, half.tile.line, first_line_of(half))),
        first_(static_cast<std::int32_t>((half.tile.line * v.nx + first_line_of(half)) * v.ny)),
        nx_(v.ny),
        ny_(v.nx) {}

  /// Linear index of the site so many steps away from element x of a line along z, y and x.
  __device__ std::int32_t site(int line, int x, int along_z, int along_y) const {
    return first_ + (line + along_y + along_z * ny_) * nx_ + x;
  }
  /// From what a search says of an element.
  __device__ Result near_result(int line, int x, unsigned word) const {
    const int steps = WindowSites::steps(word);
    return {WindowSites::square(word), site(line, x + WindowSites::along_x(word), WindowSites::along_z_of(steps),
                                            WindowSites::along_line_of(steps))};
  }
  /// All rows, a warp each. @param results  of a line, from an element on: results(line)(x)(k), as write_row() asks
  template <class Results>
  __device__ void write_rows(Results&& results) const {
    for (int line = static_cast<int>(threadIdx.x) / 32; line < lines; line += kThreads / 32)
      write_row(distance(line), nx_, results(line), [from = distance(line), to = nearest(line)](int x, Result result) {
        __stcs(from + x, distance_of(result));
        __stcs(to + x, result.site);
      });
  }
  /// Up to eight neighbours of this thread's line, as TurnedLines has them.
  ///
  /// @param first   neighbour, which is there or not
  /// @param result  of the first, the second and so on
  template <class Of>
  __device__ void write_column(int first, Of&& result) const {
    __shared__ std::uint32_t turned[kThreads / 32][32 * TurnedLines<std::uint32_t>::kPitch];
    const TurnedLines<std::uint32_t> lines_of_warp(turned);
    const int x = __shfl_sync(kAllLanes, first, 0) + lane_id() % 16, line = lane_id() / 16;
    const int count = x < nx_ ? lines - line : 0;
    Result results[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) results[j] = result(j);
    lines_of_warp.turn([&](int j) { return __float_as_uint(distance_of(results[j])); },
                       [&](int k, std::uint32_t bits) {
                         if (k < count) distance(line + k)[x] = __uint_as_float(bits);
                       });
    lines_of_warp.turn([&](int j) { return static_cast<std::uint32_t>(results[j].site); },
                       [&](int k, std::uint32_t site) {
                         if (k < count) nearest(line + k)[x] = static_cast<std::int32_t>(site);
                       });
  }

  const int lines;  ///< that are there

 private:
  static __device__ int first_line_of(const HalfTile& half) { return half.tile.word * 32 + half.first; }
  static __device__ float distance_of(const Result& result) {
    return result.square == UINT32_MAX ? __int_as_float(0x7F800000) : small_root(small_float(result.square));
  }
  __device__ float* distance(int line) const { return plain_.down(rows_, line).distance; }
  __device__ std::int32_t* nearest(int line) const {
    return reinterpret_cast<std::int32_t*>(plain_.down(rows_, line).nearest);
  }

  const PlainSites& plain_;
  const PlainSites::Row rows_;
  const std::int32_t first_, nx_, ny_;  ///< linear index of the first element; the array's extents
};

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

/// What a tile's rows hold.
struct SiteRows {
  int filled, far;   ///< rows that have sites, and those of them whose sites are far
  bool may_be_same;  ///< whether all may have the same
};

/// By all threads.
template <int kThreads>
__device__ SiteRows look_at_rows(const SitesOfRows& sites, int rows) {
  __shared__ int both;  // far ones in the upper half
  if (threadIdx.x == 0) both = 0;
  __syncthreads();
  int own = 0;
  bool may_be_same = !sites.is_here(0);  // a search ends at once there
  for (int r = static_cast<int>(threadIdx.x); r < rows; r += kThreads) {
    own += sites.has_site(r) + (sites.is_far(r) << 16);
    may_be_same &= sites.is_like_first(r);
  }
  add_over_block(own, &both);
  may_be_same = __syncthreads_and(may_be_same);
  return {both & 0xFFFF, both >> 16, may_be_same};
}

/// A tile's rows as the pass along z left them, to shared memory. By all threads.
/// @returns whether sites are near enough for a search
template <int kThreads>
__device__ bool load_sites(WindowRows<SitesAlongX>& rows, const Volume& v, const HalfTile& half,
                           const SitesOfRows& sites) {
  __shared__ unsigned near_of_warps[kThreads / 32];
  const int t = static_cast<int>(threadIdx.x), n = v.ny, first = t % 2 * 8;
  const int inside = v.nx - half.tile.word * 32 - half.first - first;
  const auto* from = reinterpret_cast<const uint4*>(narrow_half(v, half, half.tile.line, 0) + first);
  NearRows<kThreads, 64> near;
  rows.pad(n);
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    unsigned site[8];
    sites.sites<SitesAlongX>(EightLeads(__ldg(from + r * 4)), r, half.first + first, site);
    near.add(r, least_inside(site, inside) < 64 * 64 * WindowSites::kSquare);
    rows.put(r, first / 4, make_uint4(site[0], site[1], site[2], site[3]));
    rows.put(r, first / 4 + 1, make_uint4(site[4], site[5], site[6], site[7]));
  }
  near.put(near_of_warps);
  __syncthreads();
  return near.suffice(near_of_warps, n);
}

/// By all threads. @returns whether all sites are found
template <int kThreads>
__device__ bool find_near_sites(const WindowRows<SitesAlongX>& rows, int length, const FoundWords& found) {
  __shared__ int work;
  if (threadIdx.x == 0) work = 0;
  __syncthreads();
  const int lane = lane_id() % 16;
  bool failed = false;
  for (int q0 = static_cast<int>(threadIdx.x) / 32 * 2; q0 < rows.groups && !failed; q0 += kThreads / 16) {
    const int q = min(q0 + lane_id() / 16, rows.groups - 1);
    GapWindow<SitesAlongX> window(rows, q, lane);
    failed = !window.search(&work, GapWindow<SitesAlongX>::budget_of(length));
    if (!failed) found.put(q, lane, window.best);
  }
  return !__syncthreads_or(failed);
}

/// Blocks per multiprocessor, as far as its shared memory goes.
constexpr int sites_along_x_blocks(int threads) {
  return resident_blocks(threads, threads == kSitesAlongXBlock ? 3 : 2);
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads, sites_along_x_blocks(kThreads))
    search_sites_along_x(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  using Result = typename SiteLineWriter<kThreads>::Result;
  extern __shared__ uint4 window_shared[];
  v.clear_counter(0);
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const SitesOfRows sites(v, half.tile, half.x);
  const SiteLineWriter<kThreads> writer(v, emitter, half);
  const SiteRows counts = look_at_rows<kThreads>(sites, v.ny);
  if (counts.filled == 0)
    return writer.write_rows([](int) { return [](int) { return [](int) { return Result{UINT32_MAX, -1}; }; }; });
  if (counts.filled <= kFewRows) return FewSitesAlongX<kThreads>::solve(sites, v.ny, writer);
  if (counts.may_be_same && are_same_sites(sites, v.ny)) return write_same_sites(sites, writer);
  const FoundWords found(window_shared + window_memory(v.ny) / sizeof(uint4));
  WindowRows<SitesAlongX> rows(reinterpret_cast<unsigned*>(window_shared), v.ny);
  if (counts.far * 2 > v.ny || !load_sites<kThreads>(rows, v, half, sites) ||
      !find_near_sites<kThreads>(rows, v.ny, found)) {
    if (threadIdx.x == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
    return;
  }
  writer.write_rows([&](int line) {
    return [&, line](int x) {
      const unsigned* words = found.from(line, x);
      return [&writer, line, x, words](int k) {
        return writer.near_result(line, x + 32 * k, words[k * FoundWords::kNext]);
      };
    };
  });
}

/// Bytes of dynamic shared memory of the envelope: behind it the sites' planes and rows, [row][16].
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
        if (there)
          places[(first + r) * 16 + lane] = static_cast<unsigned>((sites.z() + way.z) << 10 | (half.x + way.x));
        value[r] = there ? way.square() : kNone32;
      }
    };
    const SiteLineWriter<kThreads> writer(v, emitter, half);
    const auto store = [&](int first, const unsigned* winners, int) {
      writer.write_column(first, [&](int j) {
        if (winners[j] == kNoKey) return Result{UINT32_MAX, -1};
        const auto x = static_cast<int>(winners[j] & kKeyIndex);
        const unsigned place = places[x * 16 + lane];
        return Result{winners[j] >> 10, static_cast<std::int32_t>((place >> 10) * static_cast<unsigned>(v.nx * v.ny) +
                                                                  (place & 1023) * static_cast<unsigned>(v.ny)) +
                                            x};
      });
    };
    using Sites = Envelope<kThreads, kChunk, Finding::least_companion, std::uint32_t>;
    Sites(reinterpret_cast<unsigned*>(envelope_shared), n, places).run(load, store);
  }
}

}  // namespace fathom::grid::cuda
