// The filter among all sites (points/cuda/direct.cu): in float32, or on the lattice where that serves a block's
// queries.
#pragma once

#include <climits>

#include "core/cuda/early_launch.cuh"
#include "points/cuda/direct/lattice.cuh"
#include "points/cuda/early_sites.cuh"

namespace fathom::points::cuda::direct_search {

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

}  // namespace fathom::points::cuda::direct_search
