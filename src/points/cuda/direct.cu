// The nearest of all sites, for many queries and one neighbour each: a filter says which groups of 128 sites may hold
// the nearest, and the arithmetic that decides looks into those alone.
//
// Filter (direct/filter.cuh, direct/lattice.cuh): a block takes 512 queries, which each of its two teams of 4 warps has
// in registers. A team takes every n-th group of sites, its slice, which passes through shared memory. The least
// distance of each group and query goes into a table, as long as groups are few, or that of the nearest group of each
// slice, where distances are exact; else a group whose least distance is no farther than what is known so far allows
// becomes a candidate of the query (candidates.cuh). Distances are those between points of a lattice, from tensor cores
// where these have proved exact on the device: coordinates that are small whole numbers are such points; others are
// rounded to the lattice, at the price of more candidates. Queries that get too many that way, and queries away from
// the sites, go through a filter in float32, as do those of sets that a lattice does not suit (trial.h), which leaves
// out copies of early sites where these are frequent (early_sites.cuh).
//
// Finish (direct/finish.cuh): a block reads eight columns of the table at once and lists the groups to look into, which
// two warps for each query do, or one, where exact distances to few sites mostly leave one group; groups of queries for
// which these are many are measured in float32 before that. It begins while the filter ends. Or four warps for each
// query look into its candidates, and into all groups, should there still be too many. Launch: as many blocks of 8
// warps as fill the device; to finish, blocks of 16, or of 8. Queries are taken in chunks, so that scratch has a bound.
//
// Bounds: in float32, offsets from a center are rounded, by at most E in all, of site and query together; so the
// nearest site's distance is at most (r + 2E)(1 + 2⁻²⁰), r being the least. Whole numbers below 2²⁴ are exact: the
// lowest group with the least distance has it. On the lattice, E is the way of both from their points to its, and r is
// rounded to float16, if it is not a small whole number. Cost: O(n) per query. Scratch: 34 MB at most, whatever the
// number of queries and of sites.
#include <algorithm>

#include "core/cuda/early_launch.cuh"
#include "core/cuda/runtime.h"
#include "points/cuda/direct/filter.cuh"
#include "points/cuda/direct/finish.cuh"

namespace fathom::points::cuda {

namespace {

using namespace direct_search;

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
