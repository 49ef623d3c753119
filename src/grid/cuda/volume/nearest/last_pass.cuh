// The last pass of volumes with nearest sites, which writes results: along y, or of a transposed volume along x. The search
// of volume/window.cuh where sites are near; else the envelope of volume/envelope.cuh, which compares sites with the
// squares.
//
// Work mapping: block = half a tile. Tiles in which few rows have sites, or none, and those in whose rows far ones lie
// alike, or which have sites alone, need no search; those whose search would be long are left to the envelope, by a list,
// whose blocks are persistent.
// Cost: an operation per element where rows have the same sites, six for each of few rows; else as there.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/rows_with_sites.cuh"
#include "grid/cuda/volume/solve_kernels.cuh"
#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// What a tile's rows hold.
struct SiteRows {
  int filled;        ///< rows that have sites
  bool are_far;      ///< more than half of all rows are, or those of a stretch that are not empty
  bool may_be_same;  ///< whether all may have the same
};

/// By all threads.
template <int kThreads>
__device__ SiteRows look_at_rows(const SitesOfRows& sites, int rows) {
  __shared__ unsigned row_counts;  // with sites, and in the upper half far ones
  __shared__ unsigned may_be_near_of_warps[kThreads / 32];
  if (threadIdx.x == 0) row_counts = 0;
  __syncthreads();
  unsigned counts = 0;
  NearRows<kThreads, 64> may_be_near;
  const TileKind first_kind = sites.kind(0);
  const unsigned first = sites.any_lead(0);
  // Where the first is a site, a search ends at once.
  bool may_be_same = first_kind == kFull || (keeps_rows(first_kind) && first != Leads::kHere);
  for (int r = thread(); r < rows; r += kThreads) {
    const TileKind kind = sites.kind(r);
    const bool is_far = kind == kWide && Leads::is_far(sites.any_lead(r));
    counts += (kind != kEmpty ? 1u : 0u) + (is_far ? 1u << 16 : 0u);
    may_be_near.add(r, kind != kEmpty && !is_far);
    may_be_same = may_be_same && (first_kind == kFull ? kind == kFull : keeps_rows(kind) && sites.any_lead(r) == first);
  }
  add_over_block(counts, &row_counts);
  may_be_near.put(may_be_near_of_warps);
  may_be_same = __syncthreads_and(may_be_same);
  const int filled = static_cast<int>(row_counts & 0xFFFFu), far = static_cast<int>(row_counts >> 16);
  return {filled, far * 2 > rows || !may_be_near.suffice(may_be_near_of_warps, rows), may_be_same};
}

/// Whether sites lie in all rows as they do in the first, in which there are some; all keep leads. By all threads.
__device__ inline bool are_same_sites(const SitesOfRows& sites, int rows) {
  const int t = thread(), threads = static_cast<int>(blockDim.x);
  bool same = true;
  const uint4 first = sites.eight_leads(0, t % 2);
#pragma unroll 4
  for (int r = t / 2; r < rows; r += threads / 2) {
    const uint4 own = sites.eight_leads(r, t % 2);
    same &= own.x == first.x && own.y == first.y && own.z == first.z && own.w == first.w;
  }
  const unsigned lead = sites.lead(0);
  if (Leads::is_far(lead)) {
    const int along_x = sites.way_by(lead, 0).x;
#pragma unroll 4
    for (int r = t / 16; r < rows; r += threads / 16) same &= sites.way_by(lead, r).x == along_x;
  }
  return __syncthreads_and(same);
}

/// Tiles of which at most kFewRows rows have sites: each of these is tried everywhere, and of equally near sites that with
/// the lowest index wins. By all threads.
template <int kThreads, class Sink>
__device__ void write_few_sites(const SitesOfRows& sites, int rows, const Sink& sink) {
  using Result = typename Sink::Result;
  __shared__ SortedRows filled;
  __shared__ Result of_row[kFewRows][16];
  filled.find(rows, [&](int r) { return sites.kind(r) != kEmpty; });
  const int column = thread() % 16;
  for (int k = thread() / 16; k < filled.count; k += kThreads / 16) {
    const SitesOfRows::Steps way = sites.way(filled.row[k]);
    of_row[k][column] = {way.square(), sink.site(column, filled.row[k], way)};
  }
  __syncthreads();
  sink.write_all([&](int line) {
    return [&, line](int at) {
      Result best{UINT32_MAX, -1};
      for (int k = 0; k < filled.count; ++k) {
        const int steps = at - filled.row[k];
        const Result own{of_row[k][line].square + static_cast<unsigned>(steps * steps), of_row[k][line].site};
        if (own.square < best.square || (own.square == best.square && own.site < best.site)) best = own;
      }
      return best;
    };
  });
}

/// Tiles in whose rows sites lie as they do in the first. By all threads.
template <class Sink>
__device__ void write_same_sites(const SitesOfRows& sites, const Sink& sink) {
  __shared__ SitesOfRows::Steps ways[16];
  if (threadIdx.x < 16) ways[threadIdx.x] = sites.way(0);
  __syncthreads();
  sink.write_all([&](int line) {
    const SitesOfRows::Steps way = ways[line];
    const std::int32_t next = sink.site(line, 1, way), first = sink.site(line, 0, way);
    return [=](int at) { return typename Sink::Result{way.square(), first + at * (next - first)}; };
  });
}

/// What windows find. By all threads. @returns whether they find it everywhere
template <int kThreads, class Sink>
__device__ bool write_near_sites(const WindowRows<typename Sink::Word>& rows, int length, const Sink& sink) {
  using SiteWindow = Window<typename Sink::Word>;
  __shared__ int work;
  if (threadIdx.x == 0) work = 0;
  __syncthreads();
  bool failed = false;
  for (int q0 = warp_number() * 2; q0 < rows.groups && !failed; q0 += kThreads / 16) {
    const int q = q0 + lane_id() / 16;
    SiteWindow window(rows, min(q, rows.groups - 1), lane_id() % 16);
    failed = !window.search(&work, SiteWindow::budget_of(length));
    if (!failed) sink.put(q, window.best);
  }
  if (__syncthreads_or(failed)) return false;
  sink.finish();
  return true;
}

template <int kThreads, template <int> class SinkOf>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    search_sites(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  using Sink = SinkOf<kThreads>;
  extern __shared__ uint4 window_shared[];
  __shared__ unsigned near_of_warps[kThreads / 32];
  v.clear_counter(0);
  const int n = v.ny;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const SitesOfRows sites(v, half.tile, half.x);
  // Where it is used, for the registers.
  const auto sink = [&] { return Sink(v, emitter, half, window_shared + window_memory(n) / sizeof(uint4)); };
  const SiteRows told = look_at_rows<kThreads>(sites, n);
  if (told.filled <= kFewRows) return write_few_sites<kThreads>(sites, n, sink());
  if (told.may_be_same && (sites.kind(0) == kFull || are_same_sites(sites, n))) return write_same_sites(sites, sink());
  if (!told.are_far) {
    const WindowRows<typename Sink::Word> rows(reinterpret_cast<unsigned*>(window_shared), n);
    NearRows<kThreads, 64> near;
    load_rows_of_sites<kThreads, Sink::kTogether, typename Sink::Sites>(rows, v, half, sites, near);
    near.put(near_of_warps);
    __syncthreads();
    if (near.suffice(near_of_warps, n) && write_near_sites<kThreads>(rows, n, sink())) return;
  }
  if (threadIdx.x == 0) enlist(v.y_list, v.counters + 1, blockIdx.x);
}

/// Chunks of rows along y, a unit of 16 lanes each, as the envelope takes them: from leads to squares, and where the
/// sites lie. The words that leads name come mostly from the cache: neighbours' leads name the same ones.
///
/// @param Place  what is kept of where a site lies: of(plane, steps along x, own column)
template <int kChunk, class Place>
struct SiteChunks {
  const SitesOfRows& sites;
  const HalfTile& half;
  const int rows;
  unsigned* const squares;  ///< shared, [row][16], as many rows as the chunks have
  Place* const all_places;  ///< the same

  /// What the unit's rows hold goes through shared memory, eight at a time, so that few registers are taken: what lies
  /// there is the unit's alone.
  __device__ void load(unsigned* value) const {
    const int lane = lane_id() % 16, first = unit() * kChunk;
    // Odd chunks swap even and odd rows, so that units meet different banks.
    const int swap = unit() % 2 * 16;
    unsigned* own = squares + first * 16 + lane;
    Place* places = all_places + first * 16 + lane;
#pragma unroll 1
    for (int r = 0; r < kChunk; r += 8)
      load_eight(first + r, own + r * 16 + swap, own + r * 16 - swap, places + r * 16);
#pragma unroll
    for (int r = 0; r < kChunk; ++r) value[r] = own[r * 16 + (r % 2 ? -swap : swap)];
  }

 private:
  static __device__ int unit() { return thread() / 16; }

  /// @param even, odd  where squares of such rows go
  __device__ void load_eight(int y, unsigned* even, unsigned* odd, Place* places) const {
    unsigned lead[8];
    uint2 word[8];
    // All are read before any is looked at, so that the waits are one.
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const TileKind kind = y + k < rows ? sites.kind(y + k) : kEmpty;
      lead[k] = Leads::not_kept(kind);
      if (keeps_rows(kind)) lead[k] = sites.lead(y + k);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) word[k] = sites.word_by(lead[k], y + k);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const SitesOfRows::Steps way = sites.way_by(lead[k], word[k]);
      places[k * 16] = Place::of(static_cast<unsigned>(half.tile.line + way.z), way.x, half.x);
      (k % 2 ? odd : even)[k * 16] = lead[k] == Leads::kNone ? kNone32 : way.square();
    }
  }
};

/// Bytes of dynamic shared memory of the envelope's kernel.
template <class Sink>
std::size_t far_sites_memory(int n, int chunk) {
  return envelope_memory(n, chunk) + places_memory<typename Sink::Place>(n) + Sink::template memory<std::uint16_t>(n);
}

/// Of the tiles that a search leaves, all have rows with sites.
template <int kThreads, int kChunk, template <int> class SinkOf>
__global__ void __launch_bounds__(kThreads, kEnvelopeThreads / kThreads)
    envelope_sites(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  using Sink = SinkOf<kThreads>;
  using Place = typename Sink::Place;
  using Solver = Envelope<kThreads, kChunk, Finding::least_companion, Place>;
  extern __shared__ uint4 envelope_shared[];
  fathom::cuda::wait_for_last();
  const int n = v.ny;
  const unsigned count = v.counters[1];
  auto* memory = reinterpret_cast<unsigned*>(envelope_shared);
  auto* places = reinterpret_cast<Place*>(memory + envelope_memory(n, kChunk) / sizeof(unsigned));
  for (unsigned job = blockIdx.x; job < count; job += gridDim.x) {
    const HalfTile half = half_along_y(v, v.y_list[job]);
    const SitesOfRows sites(v, half.tile, half.x);
    const SiteChunks<kChunk, Place> chunks{sites, half, n, memory, places};
    const auto load = [&](unsigned* value, int, int) { chunks.load(value); };
    const auto sink = [&] {
      return Sink(v, emitter, half, reinterpret_cast<std::byte*>(places) + places_memory<Place>(n));
    };
    const auto store = [&](int first, const unsigned* winners, int rows) {
      sink().put_winners(first, winners, rows, places);
    };
    Solver(memory, n, places).run(load, store);
    sink().finish_winners(places);
  }
}

/// Both. @param threads  of a block that searches
template <template <int> class SinkOf>
void find_sites_along_line(const VolumePasses& p, int threads) {
  const int n = p.volume.ny;
  with_block<128, 256, 320, 512>(threads, [&](auto block) {
    launch(search_sites<block, SinkOf>, 2 * p.y_tiles(), block, window_memory(n) + SinkOf<block>::memory(n), p.stream,
           p.volume, p.emitter);
  });
  with_far_block(n, [&](auto block, auto chunk) {
    launch_far(envelope_sites<block, chunk, SinkOf>, p.y_tiles(), block, far_sites_memory<SinkOf<block>>(n, chunk),
               p.stream, p.volume, p.emitter);
  });
}

}  // namespace fathom::grid::cuda::volume
