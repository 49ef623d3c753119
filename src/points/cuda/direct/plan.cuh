// How the work of a search among all sites (points/cuda/direct.cu) is cut, and where a filter puts what it finds.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/cuda/runtime.h"
#include "points/cuda/candidates.cuh"
#include "points/cuda/float_offsets.cuh"
#include "points/cuda/products.cuh"
#include "points/cuda/products.h"
#include "points/cuda/search.h"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda::direct_search {

using fathom::cuda::Scratch;

inline constexpr int kGroup = kDirectBlock;  ///< sites: one for each thread to fetch
inline constexpr int kTile = kDirectBlock * kDirectQueries;
inline constexpr int kFilterBlock = kDirectBlock * kDirectTeams;

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

static __global__ void __launch_bounds__(kSearchBlock) clear_candidates(const __grid_constant__ Plan plan) {
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

}  // namespace fathom::points::cuda::direct_search
