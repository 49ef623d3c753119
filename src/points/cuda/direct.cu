// The nearest of all sites, for many queries and one neighbour each: a filter says which groups of 128 sites may hold
// the nearest, and the arithmetic that decides looks into those alone.
//
// Filter: a block takes 512 queries, which each of its two teams of 4 warps has in registers. A team takes every n-th
// group of sites, its slice, which passes through shared memory. The least distance of each group and query goes into a
// table, as long as groups are few, or that of the nearest group of each slice, where distances are exact; else a group
// whose least distance is no farther than what is known so far allows becomes a candidate of the query
// (candidates.cuh). Distances are those between points of a lattice, from tensor cores where these have proved exact on
// the device: coordinates that are small whole numbers are such points; others are rounded to the lattice, at the price
// of more candidates. Queries that get too many that way, and queries away from the sites, go through a filter in
// float32, as do those of sets that a lattice does not suit (trial.h), which leaves out copies of early sites where
// these are frequent (early_sites.cuh).
//
// Finish: a block reads eight columns of the table at once and lists the groups to look into, which two warps for each
// query do, or one, where exact distances to few sites mostly leave one group; groups of queries for which these are
// many are measured in float32 before that. It begins while the filter ends. Or four warps for each query look into its
// candidates, and into all groups, should there still be too many. Launch: as many blocks of 8 warps as fill the
// device; to finish, blocks of 16, or of 8. Queries are taken in chunks, so that scratch has a bound.
//
// Bounds: in float32, offsets from a center are rounded, by at most E in all, of site and query together; so the
// nearest site's distance is at most (r + 2E)(1 + 2⁻²⁰), r being the least. Whole numbers below 2²⁴ are exact: the
// lowest group with the least distance has it. On the lattice, E is the way of both from their points to its, and r is
// rounded to float16, if it is not a small whole number. Cost: O(n) per query. Scratch: 34 MB at most, whatever the
// number of queries and of sites.
#include <algorithm>
#include <climits>
#include <cmath>

#include "core/cuda/early_launch.cuh"
#include "core/cuda/runtime.h"
#include "points/cuda/candidates.cuh"
#include "points/cuda/early_sites.cuh"
#include "points/cuda/float_offsets.cuh"
#include "points/cuda/products.cuh"
#include "points/cuda/products.h"
#include "points/cuda/search.h"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::Scratch;

constexpr int kGroup = kDirectBlock;  ///< sites: one for each thread to fetch
constexpr int kTile = kDirectBlock * kDirectQueries;
constexpr int kFilterBlock = kDirectBlock * kDirectTeams;

/// What a pass has found where groups are few.
struct Table {
  int* least;          ///< [group][query]: bits of the least squared distance; or of slices, [slice][query]: entry_of()
  Accuracy* accuracy;  ///< [query]

  /// Of a slice's nearest and lowest group, which takes bits that no product has: it rises with the distance, then with
  /// the group.
  __device__ static int entry_of(int least, std::int64_t group) { return least | static_cast<int>(group); }
  static constexpr int kGroups = 0x1FFF;
  static_assert(kTableGroups <= kGroups + 1);
};

/// Queries [first, first + count) and how their work is cut.
struct Plan {
  std::int64_t first, count, groups;
  int tiles, slices;
  Frame frame;
  Lattice lattice;
  Table table;       ///< of few groups; of more:
  Candidates near;   ///< found on the lattice, or where that does not serve in float32
  Candidates again;  ///< found in float32 for queries that have too many on the lattice
  std::size_t bytes;

  static Plan of(const DeviceTree& tree, std::int64_t queries, std::byte* memory) {
    Plan plan{};
    plan.groups = (tree.count + kGroup - 1) / kGroup;
    plan.count = std::min(queries, plan.chunk());
    plan.tiles = static_cast<int>((plan.count + kTile - 1) / kTile);
    const std::int64_t teams = std::int64_t{fathom::cuda::multiprocessors()} * (kDirectBlocks * kDirectTeams);
    plan.slices = static_cast<int>(std::clamp<std::int64_t>(teams / plan.tiles, 1, plan.groups));
    plan.frame = Frame::of(tree);
    plan.lattice = Lattice::of(tree);
    Scratch scratch(memory);
    if (plan.has_table()) {
      plan.table = {scratch.take<int>(plan.groups * plan.count), scratch.take<Accuracy>(plan.count)};
    } else {
      plan.near = Candidates::take(scratch, plan.count);
      if (tree.products) plan.again = Candidates::take(scratch, plan.count);
    }
    plan.bytes = scratch.bytes();
    return plan;
  }

  bool has_table() const { return groups <= kTableGroups; }
  /// Queries at a time, at most.
  std::int64_t chunk() const { return std::min(kDirectChunk, has_table() ? kTableSize / groups : kDirectChunk); }
};

__global__ void __launch_bounds__(kSearchBlock) clear_candidates(const __grid_constant__ Plan plan) {
  const std::int64_t query = std::int64_t{blockIdx.x} * kSearchBlock + threadIdx.x;
  if (query >= plan.count) return;
  plan.near.clear(query);
  if (plan.again.found) plan.again.clear(query);
}

/// A team's part of the work. All teams of a block take the same queries.
struct Part {
  int team, thread;    ///< of the block, of the team
  int slice;           ///< beyond the last where their number is odd: no group is in it
  std::int64_t first;  ///< query of the plan

  __device__ static Part of() {
    const auto thread = static_cast<int>(threadIdx.x), team = thread / kDirectBlock;
    const int slice = static_cast<int>(blockIdx.x) * kDirectTeams + team;
    return {team, thread % kDirectBlock, slice, std::int64_t{blockIdx.y} * kTile};
  }
  __device__ std::int64_t first_group(const Plan& plan) const { return slice < plan.slices ? slice : plan.groups; }
  /// The thread's i-th query, which may be beyond the last.
  __device__ std::int64_t query(int i) const { return first + i * kDirectBlock + thread; }

  /// The thread's queries among all; beyond the last, that.
  __device__ void find(const Plan& plan, Queries& index) const {
#pragma unroll
    for (int q = 0; q < kDirectQueries; ++q) index[q] = plan.first + smaller(query(q), plan.count - 1);
  }

  /// The threads of the team wait for one another.
  __device__ void meet() const { asm volatile("bar.sync %0, %1;" ::"r"(1 + team), "n"(kDirectBlock) : "memory"); }
  /// And learn whether anything holds for any of them.
  __device__ bool meet_or(bool mine) const {
    int any;
    asm volatile(
        "{.reg .pred mine, any; setp.ne.s32 mine, %1, 0; bar.red.or.pred any, %2, %3, mine; selp.s32 %0, 1, 0, any;}"
        : "=r"(any)
        : "r"(static_cast<int>(mine)), "r"(1 + team), "n"(kDirectBlock)
        : "memory");
    return any != 0;
  }
};

/// A site on its way from memory: what is made of it waits until it is needed.
template <class T, int kAxes>
struct Fetched {
  T at[kAxes];
  bool present;

  __device__ void fetch(const DeviceTree& tree, std::int64_t site) { fetch(tree.sites, tree.count, site); }
  __device__ void fetch(const Cloud& sites, std::int64_t count, std::int64_t site) {
    present = site < count;
    for (int k = 0; k < kAxes; ++k) at[k] = sites.get<T>(k, present ? site : 0);
  }
  /// In float32; infinite beyond the last.
  __device__ float4 rounded() const {
    const float x = present ? static_cast<float>(at[0]) : INFINITY;
    return {x, static_cast<float>(at[1]), kAxes == 3 ? static_cast<float>(at[kAxes - 1]) : 0.f, 0.f};
  }
  /// From a center, in float32; infinite beyond the last.
  __device__ float4 offset(const double* center) const {
    float result[3] = {};
    for (int k = 0; k < kAxes; ++k) {
      if constexpr (std::is_same_v<T, float>) result[k] = at[k] - static_cast<float>(center[k]);
      else result[k] = static_cast<float>(static_cast<double>(at[k]) - center[k]);
      if (!present) result[k] = INFINITY;
    }
    return {result[0], result[1], result[2], 0};
  }
};

/// Where a thread puts the least distances of its queries, group by group: into the table …
struct IntoTable {
  const Plan& plan;
  const Queries& query;

  __device__ void refresh(unsigned) const {}
  /// Whether groups without a site count.
  __device__ bool takes_nobody() const { return true; }
  __device__ bool has_use_for(int) const { return true; }
  __device__ void take(std::int64_t group, const int (&least)[kDirectQueries]) const {
    int* row = plan.table.least + group * plan.count;
#pragma unroll
    for (int i = 0; i < kDirectQueries; ++i)
      if (query[i] < plan.count) row[query[i]] = least[i];
  }
};

/// … or, of exact products, the nearest of a slice …
struct NearestOfSlice {
  int (&best)[kDirectQueries];  ///< entries of the table

  __device__ void refresh(unsigned) const {}
  __device__ bool has_use_for(int) const { return true; }
  __device__ void take(std::int64_t group, const int (&least)[kDirectQueries]) const {
#pragma unroll
    for (int i = 0; i < kDirectQueries; ++i) best[i] = min(best[i], Table::entry_of(least[i], group));
  }
};

/// … or, as far as they may matter, among candidates.
template <class Of>
struct AmongCandidates {
  const Candidates& candidates;
  const Queries& query;
  int (&limit)[kDirectQueries];  ///< of what may matter; −1: nothing does
  int& most;                     ///< of the limits of the warp's queries
  const Of& accuracy;

  /// Learns in turns 1, 2, 4, 8, … what other blocks have found.
  __device__ void refresh(unsigned turn) const {
    if (turn == 0 || (turn & (turn - 1)) != 0) return;
#pragma unroll
    for (int i = 0; i < kDirectQueries; ++i)
      if (limit[i] >= 0) limit[i] = min(limit[i], candidates.limit_of(query[i]));
    find_most();
  }
  __device__ bool takes_nobody() const { return false; }
  /// Whether any lane's least distance may matter to any of the warp's queries. By whole warps.
  __device__ bool has_use_for(int least) const { return __any_sync(kAllLanes, least <= most); }
  __device__ void take(std::int64_t group, const int (&least)[kDirectQueries]) const {
    candidates.offer(query, least, limit, static_cast<unsigned>(group), accuracy);
    find_most();
  }

 private:
  __device__ void find_most() const {
    int own = 0;
    for (const int bits : limit) own = max(own, bits);
    most = static_cast<int>(fathom::cuda::warp_max(static_cast<unsigned>(own)));
  }
};

// On the lattice
// ---------------------------------------------------------------------------------------------------------------------

/// The nearest whole number, where that is below 2²²: two sums are faster than the instruction that rounds.
__device__ float to_lattice(float x) {
  constexpr float kUnitsInLastPlace = 0x1.8p23f;
  return (x + kUnitsInLastPlace) - kUnitsInLastPlace;
}

/// From the lattice's center to a coordinate, in float32.
struct LatticeOffset {
  float value;
  bool whole;  ///< the coordinate, before the center was taken off it; on exact lattices, where that is asked for

  /// @tparam Site  type of the sites' coordinates
  template <class Site, class X>
  __device__ static LatticeOffset of(const Lattice& lattice, int k, X x) {
    if constexpr (std::is_same_v<X, std::int32_t>)  // differences of 2³² minus a few do not occur
      if (lattice.exact) return {static_cast<float>(wrapped(x, static_cast<std::int32_t>(lattice.middle[k]))), true};
    if constexpr (std::is_same_v<X, float>)
      if (lattice.exact || std::is_same_v<Site, float>) return {x - lattice.middle[k], x == floorf(x)};
    const auto at = static_cast<double>(x);
    return {static_cast<float>(at - lattice.center[k]), at == floor(at)};
  }

 private:
  __device__ static std::int32_t wrapped(std::int32_t x, std::int32_t y) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) - static_cast<std::uint32_t>(y));
  }
};

/// A site's factors.
template <class T, int kAxes>
__device__ Factors factors_of(const Lattice& lattice, const Fetched<T, kAxes>& site) {
  if (!site.present) return Factors::of_nobody();
  float at[3] = {};
  for (int k = 0; k < kAxes; ++k) at[k] = LatticeOffset::of<T>(lattice, k, site.at[k]).value;
  if (!lattice.exact) {
    const auto scale = static_cast<float>(lattice.scale);
    for (int k = 0; k < kAxes; ++k) at[k] = to_lattice(at[k] * scale);
  }
  return Factors::of_site(at[0], at[1], at[2]);
}

/// A thread's share of the block's queries, on the lattice.
template <class T, int kAxes>
struct LatticeQueries {
  static constexpr int kCount = kTile / kFilterBlock;
  float at[kCount][3] = {};
  bool near = true;   ///< on the part of the lattice that products.cuh serves
  bool exact = true;  ///< nothing was rounded

  __device__ LatticeQueries(const DeviceRequest& request, const Plan& plan, const Part& part) {
    switch (request.queries.dtype) {
      case DType::int32: put<std::int32_t>(request.queries, plan, part); break;
      case DType::float32: put<float>(request.queries, plan, part); break;
      default: put<double>(request.queries, plan, part);
    }
  }

  /// The q-th one's among the block's.
  __device__ static int number(int q) { return q * kFilterBlock + static_cast<int>(threadIdx.x); }

 private:
  template <class X>
  __device__ void put(const Cloud& queries, const Plan& plan, const Part& part) {
    std::int64_t index[kCount];
#pragma unroll
    for (int q = 0; q < kCount; ++q) index[q] = plan.first + smaller(part.first + number(q), plan.count - 1);
    X place[kCount][kAxes];
    fetch_points(queries, index, place);
    exact = plan.lattice.exact;
    if constexpr (std::is_same_v<X, std::int32_t>)
      if (exact) return put_whole(plan.lattice, place);
    const auto scale = static_cast<float>(plan.lattice.scale);
#pragma unroll
    for (int q = 0; q < kCount; ++q)
      for (int k = 0; k < kAxes; ++k) {
        const auto offset = LatticeOffset::of<T>(plan.lattice, k, place[q][k]);
        at[q][k] = to_lattice(offset.value * scale);
        near &= fabsf(at[q][k]) <= kProductReach;
        exact &= offset.whole && at[q][k] == offset.value;
      }
  }

  /// Nothing is to be rounded.
  __device__ void put_whole(const Lattice& lattice, const std::int32_t (&place)[kCount][kAxes]) {
#pragma unroll
    for (int q = 0; q < kCount; ++q)
      for (int k = 0; k < kAxes; ++k) {
        at[q][k] = LatticeOffset::of<T>(lattice, k, place[q][k]).value;
        near &= fabsf(at[q][k]) <= kProductReach;
      }
  }
};

constexpr int kRows = 4 * kDirectQueries;  ///< of a lane: two of each product of 16 queries and 8 sites, two columns

/// The queries whose least distances a lane gets from three others.
__device__ void rows_of(const Part& part, Queries& query) {
  const int warp = part.thread / 32;
  for (int i = 0; i < kDirectQueries; ++i)
    query[i] = part.first + (warp * kDirectQueries + i) * 32 + lane_id() % 4 * 8 + lane_id() / 4;
}

/// The least of two words' halves that this lane and the one at `step` hold: of the first where the lane's bit is 0.
__device__ unsigned share(unsigned first, unsigned second, int step) {
  const bool odd = (lane_id() & step) != 0;
  return __vmins2(odd ? second : first, from_lane(odd ? first : second, lane_id() ^ step));
}

/// The least of each of four rows' two columns, of the lanes that have parts of these rows: in the halves of a word the
/// two rows of those that go to this lane's pair of lanes.
__device__ unsigned least_of_rows(const unsigned* row) {
  const auto of_columns = [](unsigned first, unsigned second) {
    return __vmins2(low_halves(first, second), high_halves(first, second));
  };
  return share(of_columns(row[0], row[1]), of_columns(row[2], row[3]), 2);
}

/// The least distances of the lane's queries (rows_of) from those that lanes have found for all rows.
__device__ void share_rows(const unsigned (&row)[kRows], int (&least)[kDirectQueries]) {
#pragma unroll
  for (int i = 0; i < kDirectQueries; i += 2) {
    const unsigned first = least_of_rows(row + 4 * i), second = least_of_rows(row + 4 * i + 4);
    const unsigned both = share(low_halves(first, second), high_halves(first, second), 1);
    least[i] = product_bits(both);
    least[i + 1] = product_bits(both >> 16);
  }
}

/// Lowers the least of a warp's rows to two products with 8 sites each.
__device__ void multiply_two(const unsigned (&row)[kRows], unsigned sites, unsigned more, unsigned (&least)[kRows]) {
#pragma unroll
  for (int m = 0; m < kRows; m += 2) {
    unsigned first[2], second[2];
    multiply(first, row[m], row[m + 1], sites);
    multiply(second, row[m], row[m + 1], more);
    for (int r = 0; r < 2; ++r) least[m + r] = __vimin3_s16x2(least[m + r], first[r], second[r]);
  }
}

/// What a block multiplies: factors of its queries and of its teams' sites.
struct ProductTiles {
  uint4 queries[kTile];
  uint4 sites[kDirectTeams][2][kGroup];

  /// One for all ways to use it.
  __device__ static ProductTiles& of_block() {
    __shared__ ProductTiles tiles;
    return tiles;
  }

  template <class T, int kAxes>
  __device__ void put(const LatticeQueries<T, kAxes>& places) {
#pragma unroll
    for (int q = 0; q < places.kCount; ++q)
      queries[places.number(q)] = Factors::of_query(places.at[q][0], places.at[q][1], places.at[q][2]).words;
  }
  template <class T, int kAxes>
  __device__ void put(const Plan& plan, const Part& part, unsigned turn, const Fetched<T, kAxes>& site) {
    sites[part.team][turn % 2][part.thread] = factors_of(plan.lattice, site).words;
  }
};

/// A warp takes 128 queries, whose factors all threads of the block have put there, and the team's first sites', too.
/// Lanes that have parts of the same rows share out what they have found.
template <class T, int kAxes, class Sink>
__device__ void filter_on_lattice(const DeviceTree& tree, const Plan& plan, const Part& part, const Sink& sink) {
  auto& tiles = ProductTiles::of_block();
  unsigned row[kRows];
#pragma unroll
  for (int r = 0; r < kRows; r += 4) load_words(&tiles.queries[(part.thread / 32 * kRows + r) * 8], row + r);
  unsigned turn = 0;
  for (std::int64_t group = part.slice;; ++turn) {
    const uint4* sites = tiles.sites[part.team][turn % 2];
    const std::int64_t next_group = group + plan.slices;
    Fetched<T, kAxes> next;
    if (next_group < plan.groups) next.fetch(tree, next_group * kGroup + part.thread);
    sink.refresh(turn);
    unsigned least[kRows];  // of two columns each
#pragma unroll
    for (unsigned& pair : least) pair = kFarProducts;
#pragma unroll
    for (int j = 0; j < kGroup; j += 32) {
      unsigned site[4];
      load_words(sites + j, site);
      multiply_two(row, site[0], site[1], least);
      multiply_two(row, site[2], site[3], least);
    }
    unsigned lowest = kFarProducts;
#pragma unroll
    for (int r = 0; r < kRows; r += 2) lowest = __vimin3_s16x2(lowest, least[r], least[r + 1]);
    if (sink.has_use_for(product_bits(__vmins2(lowest, lowest >> 16)))) {
      int shared[kDirectQueries];
      share_rows(least, shared);
      sink.take(group, shared);
    }
    if (next_group >= plan.groups) return;
    group = next_group;
    tiles.put(plan, part, turn + 1, next);
    part.meet();
  }
}

// In float32
// ---------------------------------------------------------------------------------------------------------------------

/// Of filter_sites(), in float32, where the set has copies: an EarlySites.
extern __shared__ __align__(16) std::byte early_memory[];

template <class T, int kAxes, class Sink>
__device__ void filter_in_float(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                                const Part& part, const Sink& sink) {
  __shared__ float4 tiles[kDirectTeams][2][kGroup];
  auto& sites = tiles[part.team];
  Queries index;
  part.find(plan, index);
  double place[kDirectQueries][kAxes];
  read_points(request.queries, index, place);
  float at[kDirectQueries][kAxes];
#pragma unroll
  for (int q = 0; q < kDirectQueries; ++q)
    for (int k = 0; k < kAxes; ++k) {
      const double x = place[q][k];
      at[q][k] = is_sound(x) ? static_cast<float>(x - plan.frame.center[k]) : INFINITY;
    }
  Fetched<T, kAxes> next;
  next.fetch(tree, std::int64_t{part.slice} * kGroup + part.thread);
  auto& early = *reinterpret_cast<EarlySites<T, kAxes>*>(early_memory);
  if (tree.copies) early.fill(tree.sites);
  unsigned turn = 0;
  for (std::int64_t group = part.first_group(plan); group < plan.groups; group += plan.slices, ++turn) {
    const float4* tile = sites[turn % 2];
    if (tree.copies) next.present &= !early.have(next.at, group * kGroup);
    sites[turn % 2][part.thread] = next.offset(plan.frame.center);
    const bool any = part.meet_or(next.present);  // else all are copies
    next.fetch(tree, (group + plan.slices) * kGroup + part.thread);
    if (!any && !sink.takes_nobody()) continue;
    sink.refresh(turn);
    int least[kDirectQueries];
#pragma unroll
    for (int& bits : least) bits = kFarBits;
    if (any)
#pragma unroll 8
      for (int j = 0; j < kGroup; j += 2) {
        const float4 a = tile[j], b = tile[j + 1];
#pragma unroll
        for (int q = 0; q < kDirectQueries; ++q)
          least[q] = __vimin3_s32(least[q], float_bits<kAxes>(at[q], a), float_bits<kAxes>(at[q], b));
      }
    sink.take(group, least);
  }
}

/// Calls work(sink) for a thread's queries; those beyond the last take no part.
/// @param accuracy  called with the number of a query
template <bool kTable, class Of, class Work>
__device__ void with_sink(const Plan& plan, const Part& part, const Candidates& candidates, const Queries& query,
                          const Of& accuracy, const Work& work) {
  if constexpr (kTable) {
#pragma unroll
    for (const std::int64_t q : query)
      if (part.slice == 0 && q < plan.count) plan.table.accuracy[q] = accuracy(q);
    work(IntoTable{plan, query});
  } else {
    int limit[kDirectQueries];
    for (int i = 0; i < kDirectQueries; ++i) limit[i] = query[i] < plan.count ? kFarBits : -1;
    int most = kFarBits;
    work(AmongCandidates<Of>{candidates, query, limit, most, accuracy});
  }
}

/// The filter of a block by exact products, of which the finish needs the nearest group alone.
template <class T, int kAxes>
__device__ void fill_slice(const DeviceTree& tree, const Plan& plan, const Part& part, Accuracy accuracy,
                           const Queries& query) {
  int best[kDirectQueries];
  for (int& entry : best) entry = INT_MAX;
  filter_on_lattice<T, kAxes>(tree, plan, part, NearestOfSlice{best});
  accuracy.of_slices = true;
#pragma unroll
  for (int i = 0; i < kDirectQueries; ++i) {
    if (query[i] >= plan.count) continue;
    plan.table.least[part.slice * plan.count + query[i]] = best[i];
    if (part.slice == 0) plan.table.accuracy[query[i]] = accuracy;
  }
}

/// The float32 filter of a block.
template <class T, int kAxes, bool kTable>
__device__ void work_in_float(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan, const Part& part,
                              const Candidates& candidates, const Queries& query) {
  with_sink<kTable>(
      plan, part, candidates, query,
      [&](std::int64_t q) { return accuracy_of<kAxes>(tree, request, plan.frame, plan.first + q); },
      [&](const auto& sink) { filter_in_float<T, kAxes>(tree, request, plan, part, sink); });
}

template <class T, int kAxes, bool kTable>
__global__ void __launch_bounds__(kFilterBlock, kDirectBlocks)
    filter_sites(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                 const __grid_constant__ Plan plan) {
  if constexpr (kTable) fathom::cuda::let_next_begin();
  const Part part = Part::of();
  Queries query;
  if (tree.products) {
    Fetched<T, kAxes> first;
    first.fetch(tree, std::int64_t{part.slice} * kGroup + part.thread);
    const LatticeQueries<T, kAxes> places(request, plan, part);
    auto& tiles = ProductTiles::of_block();
    tiles.put(places);
    tiles.put(plan, part, 0, first);
    const bool exact = __syncthreads_and(places.near && places.exact);
    if (exact || __syncthreads_and(places.near)) {
      if (part.slice >= plan.slices) return;
      const Accuracy accuracy = Accuracy::of_products(exact, kAxes);
      rows_of(part, query);
      if constexpr (kTable)
        if (exact) return fill_slice<T, kAxes>(tree, plan, part, accuracy, query);
      return with_sink<kTable>(
          plan, part, plan.near, query, [&](std::int64_t) { return accuracy; },
          [&](const auto& sink) { filter_on_lattice<T, kAxes>(tree, plan, part, sink); });
    }
  }
  for (int q = 0; q < kDirectQueries; ++q) query[q] = part.query(q);
  work_in_float<T, kAxes, kTable>(tree, request, plan, part, plan.near, query);
}

/// In float32 for queries that have too many candidates on the lattice.
template <class T, int kAxes>
__global__ void __launch_bounds__(kFilterBlock, kDirectBlocks)
    filter_again(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                 const __grid_constant__ Plan plan) {
  const Part part = Part::of();
  Queries query;
  bool any = false;
  for (int q = 0; q < kDirectQueries; ++q) {
    query[q] = part.query(q);
    if (query[q] < plan.count && !plan.near.found[query[q]].is_full()) query[q] = plan.count;
    any |= query[q] < plan.count;
  }
  if (!__syncthreads_or(any)) return;
  if (!__syncthreads_and(LatticeQueries<T, kAxes>(request, plan, part).near)) return;
  work_in_float<T, kAxes, false>(tree, request, plan, part, plan.again, query);
}

// Finish
// ---------------------------------------------------------------------------------------------------------------------

constexpr int kListedQueries = 8;      ///< of a block that finishes from the table
constexpr int kCandidatesQueries = 4;  ///< of one that does from candidates
constexpr int kWarpsOfCandidates = 4;  ///< of each of these
constexpr int kCandidatesBlock = kCandidatesQueries * kWarpsOfCandidates * 32;

/// How blocks finish from a table of many rows, …
struct ManyRows {
  static constexpr int kWarps = 2;  ///< of a query
  static constexpr int kBlock = kListedQueries * kWarps * 32;
  static constexpr int kRows = kTableGroups;  ///< at most
};
/// … or of few, where blocks are small enough to begin beside those of the filter.
struct FewRows {
  static constexpr int kWarps = 1;
  static constexpr int kBlock = kListedQueries * kWarps * 32;
  static constexpr int kRows = 256;
};

/// Which groups may hold the nearest of a block's queries, neighbours in the table, whose rows are read 32 bytes at a
/// time. In shared memory.
template <class Rows>
class GroupLists {
 public:
  static constexpr int kQueries = kListedQueries;

  /// By all threads of the block, in each of whose warps all of its queries have lanes.
  /// @param first  of the block's queries
  /// @returns whether any list is long
  __device__ bool fill(const Plan& plan, std::int64_t first) {
    const int q = static_cast<int>(threadIdx.x) % kQueries, row = static_cast<int>(threadIdx.x) / kQueries;
    const std::int64_t number = first + q;
    const bool known = number < plan.count;
    if (row == 0) {
      best_[q] = INT_MAX;
      lowest_[q] = UINT_MAX;
      count_[q] = 0;
    }
    const unsigned query = known ? static_cast<unsigned>(number) : 0;
    Column column(plan, query, row);
    const Accuracy accuracy = plan.table.accuracy[query];  // on its way together with the column
    column.know(plan, query, accuracy.of_slices);
    __syncthreads();
    int best = INT_MAX;
    column.each([&](int i) { best = min(best, column.entry[i]); });
    for (int step = kQueries; step < 32; step *= 2) best = min(best, from_lane(best, lane_id() ^ step));
    if (lane_id() < kQueries) atomicMin(&best_[q], best);
    __syncthreads();
    if (row == 0) judge(q, accuracy, column.no_bits);
    const bool exact = accuracy.holds(best_[q] & ~column.no_bits), settled = !known || (exact && accuracy.of_slices);
    __syncthreads();
    if (__all_sync(kAllLanes, settled)) return false;  // in all warps, then
    if (!settled) exact ? find_lowest(q, column) : list(q, column);
    __syncthreads();
    return __syncthreads_or(is_long(q));
  }

  /// Makes entries of slices those of all their groups, which are no nearer. By all threads of the block.
  __device__ void spread(const Plan& plan, std::int64_t first) const {
    const std::int64_t number = first + static_cast<int>(threadIdx.x) % kQueries;
    const bool of_slices = number < plan.count && plan.table.accuracy[number].of_slices;
    __syncthreads();
    if (!of_slices) return;
    constexpr int kNext = Table::kGroups + 1;  // what float16 holds next
    int* const column = plan.table.least + number;
    for (std::int64_t row = threadIdx.x / kQueries; row < plan.slices; row += kRows) {
      const int entry = column[row * plan.count], bits = entry & ~Table::kGroups, nearest = entry & Table::kGroups;
      for (std::int64_t group = row; group < plan.groups; group += plan.slices)
        column[group * plan.count] = group < nearest ? bits + kNext : bits;
    }
    if (threadIdx.x < kQueries) plan.table.accuracy[number].of_slices = false;
  }

  /// Too many, which float32 may tell apart.
  __device__ bool is_long(int q) const { return from_products_[q] && size(q) > kTooMany; }
  /// Of the least distances, in bits, of the groups on the list.
  __device__ int limit(int q) const { return limit_[q]; }
  /// Whether squared distances to all sites that may be the nearest are whole numbers that float32 holds.
  __device__ bool is_whole(int q) const { return whole_[q]; }
  __device__ unsigned size(int q) const { return exact_[q] ? 1 : count_[q]; }
  __device__ unsigned group(int q, unsigned i) const { return exact_[q] ? lowest_[q] : groups_[q][i]; }

 private:
  static constexpr int kRows = Rows::kBlock / kQueries, kMine = Rows::kRows / kRows;
  static constexpr int kAtOnce = 4;

  /// A thread's part of a query's column in the table, which has less than 2³² elements.
  struct Column {
    int row, rows;  ///< of the first entry; of the table
    int groups, no_bits = 0;
    int entry[kMine];

    /// Of exact products slices alone, to begin with.
    __device__ Column(const Plan& plan, unsigned query, int first_row)
        : row(first_row),
          rows(plan.lattice.exact ? plan.slices : static_cast<int>(plan.groups)),
          groups(static_cast<int>(plan.groups)) {
      read(plan, query);
    }

    /// Learns what the entries are of.
    __device__ void know(const Plan& plan, unsigned query, bool of_slices) {
      if (of_slices) no_bits = Table::kGroups;
      if (of_slices || rows == groups) return;
      rows = groups;
      read(plan, query);
    }

    __device__ void read(const Plan& plan, unsigned query) {
      const auto count = static_cast<unsigned>(plan.count);
      each([&](int i) {
        const int at = row + i * kRows;
        entry[i] = INT_MAX;
        if (at < rows) entry[i] = plan.table.least[static_cast<unsigned>(at) * count + query];
      });
    }

    /// Calls visit(i) for the entries that there are, and a few more.
    template <class Visit>
    __device__ void each(const Visit& visit) const {
#pragma unroll
      for (int begin = 0; begin < kMine; begin += kAtOnce) {
        if (begin * kRows >= rows) return;
#pragma unroll
        for (int i = begin; i < begin + kAtOnce; ++i) visit(i);
      }
    }

    __device__ int bits(int i) const { return entry[i] & ~no_bits; }
    /// Calls visit(group) for all that some entries tell of. @param some  bit i for entry i
    template <class Visit>
    __device__ void each_group(unsigned some, const Visit& visit) const {
#pragma unroll 1
      for (; some != 0; some &= some - 1)
        for (int group = row + (__ffs(static_cast<int>(some)) - 1) * kRows; group < groups; group += rows) visit(group);
    }
  };

  /// @param no_bits  of the best entry, which name the lowest group that has it
  __device__ void judge(int q, const Accuracy& accuracy, int no_bits) {
    const int least = best_[q] & ~no_bits;
    exact_[q] = accuracy.holds(least);
    if (no_bits != 0) lowest_[q] = static_cast<unsigned>(best_[q] & no_bits);
    from_products_[q] = accuracy.from_products;
    limit_[q] = exact_[q] ? least : accuracy.limit(least);
    whole_[q] = accuracy.exact_below > 0 && __int_as_float(limit_[q]) < kWholeInFloat;
  }

  __device__ void find_lowest(int q, const Column& column) {
    int lowest = INT_MAX;
    column.each([&](int i) {
      if (column.entry[i] == limit_[q]) lowest = min(lowest, column.row + i * kRows);
    });
    if (lowest != INT_MAX) atomicMin(&lowest_[q], static_cast<unsigned>(lowest));
  }

  __device__ void list(int q, const Column& column) {
    static_assert(kMine <= 32);
    unsigned open = 0;
    column.each([&](int i) { open |= (column.bits(i) <= limit_[q] ? 1u : 0u) << i; });
    if (open == 0) return;
    unsigned count = 0;
    column.each_group(open, [&](int) { ++count; });
    unsigned place = atomicAdd(&count_[q], count);
    column.each_group(open, [&](int group) { groups_[q][place++] = static_cast<std::uint16_t>(group); });
  }

  int best_[kQueries];   ///< entry of the table
  int limit_[kQueries];  ///< bits of a squared distance
  unsigned lowest_[kQueries], count_[kQueries];
  bool exact_[kQueries], whole_[kQueries], from_products_[kQueries];
  std::uint16_t groups_[kQueries][Rows::kRows];
};

/// Measures the groups of queries with long lists again, in float32, into the table. By all threads of the block: each
/// warp takes its share of the groups, four sites in each lane, which are on their way one group ahead, for all of the
/// queries.
template <class T, int kAxes, class Rows>
__device__ void measure_again(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                              const GroupLists<Rows>& lists, std::int64_t first) {
  constexpr int kQueries = kListedQueries, kShare = kGroup / kLanes, kStep = Rows::kBlock / 32;
  __shared__ float places[kQueries][kAxes];
  const int q = lane_id() % kQueries;
  const bool is_open = lane_id() < kQueries && lists.is_long(q);
  const int limit = is_open ? lists.limit(q) : -1;
  if (threadIdx.x < kQueries) {
    const std::int64_t query = plan.first + smaller(first + q, plan.count - 1);
    double place[1][kAxes];
    read_points(request.queries, {query}, place);
    for (int k = 0; k < kAxes; ++k) places[q][k] = static_cast<float>(place[0][k] - plan.frame.center[k]);
    if (is_open) plan.table.accuracy[first + q] = accuracy_of<kAxes>(tree, request, plan.frame, query);
  }
  __syncthreads();
  const Cloud sites = tree.sites;  // in registers: what is stored below might change them otherwise
  const std::int64_t count = tree.count, groups = plan.groups, queries = plan.count;
  int* const column = plan.table.least + first + q;
  double center[kAxes];
  for (int k = 0; k < kAxes; ++k) center[k] = plan.frame.center[k];

  Fetched<T, kAxes> next[kShare];
  int next_bits = kFarBits;
  const auto fetch = [&](std::int64_t group) {
#pragma unroll
    for (int s = 0; s < kShare; ++s) next[s].fetch(sites, count, group * kGroup + s * kLanes + lane_id());
    if (is_open && group < groups) next_bits = column[group * queries];
  };
  std::int64_t group = threadIdx.x / 32;
  for (fetch(group); group < groups; group += kStep) {
    float4 at[kShare];
#pragma unroll
    for (int s = 0; s < kShare; ++s) at[s] = next[s].offset(center);
    const unsigned wanted = __ballot_sync(kAllLanes, next_bits <= limit);
    fetch(group + kStep);
    unsigned least = kFarBits;
#pragma unroll
    for (int other = 0; other < kQueries; ++other) {
      if ((wanted >> other & 1) == 0) continue;
      int bits = kFarBits;
#pragma unroll
      for (int s = 0; s < kShare; s += 2)
        bits = __vimin3_s32(bits, float_bits<kAxes>(places[other], at[s]), float_bits<kAxes>(places[other], at[s + 1]));
      const unsigned found = warp_min(static_cast<unsigned>(bits));
      if (other == lane_id()) least = found;
    }
    if (is_open) column[group * queries] = static_cast<int>(least);
  }
  __syncthreads();
}

/// Not inlined: its registers would be taken from what queries with short lists need.
template <class T, int kAxes, class Rows>
__device__ __noinline__ void shorten(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                                     GroupLists<Rows>& lists, std::int64_t first) {
  do {
    if (plan.lattice.exact) lists.spread(plan, first);
    measure_again<T, kAxes>(tree, request, plan, lists, first);
  } while (lists.fill(plan, first));
}

/// A warp's part in a query, one of `kQueries` of a block, that `kWarps` share.
template <int kQueries, int kWarps>
struct Share {
  int place;  ///< of the query in the block
  int warp;

  __device__ Share()
      : place(static_cast<int>(threadIdx.x) / (kWarps * 32)), warp(static_cast<int>(threadIdx.x) / 32 % kWarps) {}

  __device__ std::int64_t number() const { return std::int64_t{blockIdx.x} * kQueries + place; }

  /// All warps of the query wait for one another, whatever the block's other queries do.
  __device__ void meet() const { asm volatile("bar.sync %0, %1;" ::"r"(1 + place), "n"(kWarps * 32) : "memory"); }
};

using ShareOfCandidates = Share<kCandidatesQueries, kWarpsOfCandidates>;

template <class Query>
__device__ void look_into(const Query& query, std::int64_t group, typename Query::Nearest& nearest) {
  query.template look_past<kGroup / kLanes>(group * kGroup, nearest);
}

/// Looks into a warp's share of the candidates; into all groups, if there are too many.
template <class Query>
__device__ void look_into_candidates(const Query& query, const Plan& plan, const ShareOfCandidates& share,
                                     typename Query::Nearest& nearest) {
  const std::int64_t number = share.number();
  Found found = plan.near.found[number];
  const Candidates* candidates = &plan.near;
  if (found.is_full() && plan.again.found && plan.again.found[number].key != ~0ull) {
    found = plan.again.found[number];
    candidates = &plan.again;
  }
  if (found.is_full()) {
    for (std::int64_t group = share.warp; group < plan.groups; group += kWarpsOfCandidates)
      look_into(query, group, nearest);
    return;
  }
  int turn = 0;
  if (turn++ == share.warp) look_into(query, found.group(), nearest);
  for (unsigned begin = 0; begin < found.count; begin += kLanes) {
    const unsigned i = begin + static_cast<unsigned>(lane_id());
    const Candidate mine =
        i < found.count ? candidates->entries[number * kCandidates + i] : Candidate{kFarBits, found.group()};
    const bool counts = mine.least <= found.limit && mine.group != found.group();
    for (unsigned left = __ballot_sync(kAllLanes, counts); left != 0; left &= left - 1)
      if (turn++ % kWarpsOfCandidates == share.warp)
        look_into(query, from_lane(mine.group, __ffs(static_cast<int>(left)) - 1), nearest);
  }
}

/// Answers a query. @param look  called with the query and what a warp looks for: fills in what it has found
template <class T, int kAxes, int kQueries, int kWarps, class Look>
__device__ void finish_query(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan,
                             const Share<kQueries, kWarps>& share, const Place<kAxes>& place, const Look& look) {
  with_query_at<T, Kind::in_order>(place, tree, request, plan.first + share.number(), [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    __shared__ typename Query::Nearest best[kQueries][kWarps];
    auto nearest = mine.nobody();
    if (mine.is_somewhere()) look(mine, nearest);
    mine.list().offer(nearest.id != kNobody, nearest.squared, nearest.id);
    if (lane_id() == 0) best[share.place][share.warp] = {mine.list().worst_squared(), mine.list().worst_id()};
    share.meet();
    if (share.warp > 0) return;
    for (const auto& other : best[share.place]) mine.list().offer_one(other.squared, other.id);
    mine.resume();
    mine.finish();
  });
}

/// Answers a query, by a warp, where float32 tells exactly how far the sites are that may be the nearest.
template <class T, int kAxes, class Rows>
__device__ void finish_in_float(const DeviceTree& tree, const DeviceRequest& request, std::int64_t query,
                                const float (&at)[kAxes], const GroupLists<Rows>& lists, int q) {
  constexpr int kShare = kGroup / kLanes;
  unsigned best = kFarBits, position = ~0u;
  for (unsigned i = 0; i < lists.size(q); ++i) {
    const unsigned first = lists.group(q, i) * kGroup + static_cast<unsigned>(lane_id());
    Fetched<T, kAxes> sites[kShare];
#pragma unroll
    for (int s = 0; s < kShare; ++s) sites[s].fetch(tree, first + s * kLanes);
#pragma unroll
    for (int s = 0; s < kShare; ++s) {
      const auto bits = static_cast<unsigned>(float_bits<kAxes>(at, sites[s].rounded()));
      const unsigned mine = first + s * kLanes;
      if (bits > best || (bits == best && mine > position)) continue;
      best = bits;
      position = mine;
    }
  }
  const unsigned least = warp_min(best), lowest = warp_min(best == least ? position : ~0u);
  if (lane_id() != 0) return;
  const double squared = __uint_as_float(least);
  const bool near = squared <= request.limit;
  put_answer(tree, request, query, 0, squared, near ? (tree.first + lowest) * tree.sites.every : kNobody);
  put_root(request.answers.lower, query, 0, near, squared);
}

/// A query, as far as it is known before there is a table.
template <int kAxes>
struct Asked {
  Place<kAxes> place;
  float at[kAxes];
  bool in_float;  ///< finish_in_float() serves, as far as the query goes

  __device__ static Asked of(const DeviceRequest& request, std::int64_t query) {
    Asked asked{Place<kAxes>::template of<false>(request, query), {}, false};
    for (int k = 0; k < kAxes; ++k) asked.at[k] = static_cast<float>(asked.place.at[k]);
    asked.in_float = !request.carried.begun && !request.carried.more && asked.place.is_small();
    return asked;
  }
};

template <class T, int kAxes, class Rows>
__global__ void __launch_bounds__(Rows::kBlock)
    finish_listed(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                  const __grid_constant__ Plan plan) {
  __shared__ GroupLists<Rows> lists;
  __shared__ Asked<kAxes> queries[kListedQueries];
  const Share<kListedQueries, Rows::kWarps> share;
  const std::int64_t first = share.number() - share.place;
  const std::int64_t number = plan.first + smaller(share.number(), plan.count - 1);
  const Asked<kAxes>& asked = queries[share.place];
  if (share.warp == 0 && lane_id() == 0) queries[share.place] = Asked<kAxes>::of(request, number);
  fathom::cuda::wait_for_last();
  if (lists.fill(plan, first)) shorten<T, kAxes>(tree, request, plan, lists, first);
  if (share.number() >= plan.count) return;
  if (asked.in_float && lists.is_whole(share.place)) {
    if (share.warp == 0) finish_in_float<T>(tree, request, number, asked.at, lists, share.place);
    return;
  }
  finish_query<T>(tree, request, plan, share, asked.place, [&](const auto& query, auto& nearest) {
    for (unsigned i = static_cast<unsigned>(share.warp); i < lists.size(share.place); i += Rows::kWarps)
      look_into(query, lists.group(share.place, i), nearest);
  });
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kCandidatesBlock)
    finish_candidates(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                      const __grid_constant__ Plan plan) {
  const ShareOfCandidates share;
  if (share.number() >= plan.count) return;
  const auto place = Place<kAxes>::template of<false>(request, plan.first + share.number());
  finish_query<T>(tree, request, plan, share, place,
                  [&](const auto& query, auto& nearest) { look_into_candidates(query, plan, share, nearest); });
}

template <class T, int kAxes>
void launch(const DeviceTree& tree, const DeviceRequest& request, const Plan& plan, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((plan.slices + kDirectTeams - 1) / kDirectTeams),
                    static_cast<unsigned>(plan.tiles));
  const auto cleared = static_cast<unsigned>((plan.count + kSearchBlock - 1) / kSearchBlock);
  const auto finished = [&](int of_block) { return static_cast<unsigned>((plan.count + of_block - 1) / of_block); };
  const std::size_t early = tree.copies ? sizeof(EarlySites<T, kAxes>) : 0;
  if (plan.has_table()) {
    filter_sites<T, kAxes, true><<<blocks, kFilterBlock, early, stream>>>(tree, request, plan);
    const auto finish = [&](auto rows) {
      using Rows = decltype(rows);
      fathom::cuda::launch_early(finish_listed<T, kAxes, Rows>, finished(kListedQueries), Rows::kBlock, stream, tree,
                                 request, plan);
    };
    const bool few = plan.lattice.exact && plan.groups <= FewRows::kRows;
    few ? finish(FewRows{}) : finish(ManyRows{});
  } else {
    clear_candidates<<<cleared, kSearchBlock, 0, stream>>>(plan);
    filter_sites<T, kAxes, false><<<blocks, kFilterBlock, early, stream>>>(tree, request, plan);
    if (tree.products) filter_again<T, kAxes><<<blocks, kFilterBlock, 0, stream>>>(tree, request, plan);
    finish_candidates<T, kAxes><<<finished(kCandidatesQueries), kCandidatesBlock, 0, stream>>>(tree, request, plan);
  }
}

}  // namespace

bool direct_serves(const DeviceTree& tree, std::int64_t queries, bool simple) {
  constexpr double kFarthest = 1e37;  // offsets are float32 numbers
  bool near = true;
  for (int k = 0; k < tree.axes; ++k) near &= tree.low[k] >= -kFarthest && tree.high[k] <= kFarthest;
  return simple && near && tree.count > 0 && queries >= kFewQueries;
}

std::size_t direct_scratch_bytes(const DeviceTree& tree, std::int64_t queries) {
  return Plan::of(tree, queries, nullptr).bytes;
}

void direct(const DeviceTree& tree, const DeviceRequest& request, std::byte* scratch, cudaStream_t stream) {
  const std::int64_t queries = request.queries.count;
  Plan plan = Plan::of(tree, queries, scratch);
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    for (; plan.first < queries; plan.first += plan.chunk()) {
      plan.count = std::min(queries - plan.first, plan.chunk());
      launch<T, decltype(axes)::value>(tree, request, plan, stream);
    }
  });
  fathom::cuda::check_launch("looking for the nearest of all sites");
}

}  // namespace fathom::points::cuda
