// Nearest sites through the tree: depth first, the nearest child first, leaving out what is farther than the worst of
// the list. Bounds need no margin (measure.hd.h), and equally near nodes that hold no lower id are left out.
//
// Work: a warp for each query; a lane for each of a node's 32 children, and for each of 32 sites of a leaf, or of up to
// four leaves together, whose sites are in flight at the same time. Of one neighbour each lane keeps the nearest that
// it has measured itself; what all go by is how near that is. What the lanes know of the levels above waits in shared
// memory. Where the time of the slowest counts, because queries are fewer than the warps that fit, four warps share out
// each: among sorted sites each looks at its share of few nodes (few_nodes.cuh), or all go in rounds through more
// (rounds.cuh), in float32 where that holds sites and query (team_query.cuh), and what rounds leave they share out by
// parents of leaves. Many queries are taken in the order of the curve, so that warps at work look at the same nodes,
// and a warp takes 32 one after the other, each begun with the site that was nearest to the one before; for eight at a
// time it lists the leaves that are near, which spares most of them the way through the tree (near_leaves.cuh). Where
// float32 holds sites and queries, it says first, for most of these, which site is the nearest (float_query.cuh). Few
// queries of a set with a place to which too many sites are about as near are given up after some steps, or are not
// searched at all, and taken past all sites (left_over.cu). Launch: blocks of 4 warps.
// Source: Roussopoulos et al. 1995; the CPU's search (points/cpu/search.cpp) with four times as many children. Cost:
// O(log n) nodes per query for sites spread out; at worst, for sites all equally far, every site.
#include "core/cuda/resident.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/cuda/few_nodes.cuh"
#include "points/cuda/float_query.cuh"
#include "points/cuda/left_over.h"
#include "points/cuda/near_leaves.cuh"
#include "points/cuda/order.h"
#include "points/cuda/patience.cuh"
#include "points/cuda/rounds.cuh"
#include "points/cuda/search.h"
#include "points/cuda/team_query.cuh"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::resident_blocks;
using fathom::cuda::Scratch;

constexpr int kSearchWarps = kSearchBlock / 32;

/// What the lanes know of a warp's levels: the bounds of the children that are left.
using Waiting = float[kMostLevels][kLanes];

/// @tparam kTogether  leaves that are looked at together, at most
/// @tparam kWarps     that share the query
template <class Query, int kTogether, int kWarps = 1>
class Descent {
 public:
  /// @param waiting  this warp's, in shared memory
  __device__ Descent(const DeviceTree& tree, Query& query, Waiting& waiting, const Team<kWarps>& team = {})
      : tree_(tree), query_(query), waiting_(waiting), team_(team) {}

  __device__ void run() {
    enter(tree_.levels - 1, 0);
    while (true) {
      unsigned near = near_children();
      if (level_ > 0 && near != 0) {
        go_down(near);
        continue;
      }
      while (near != 0) {
        near = visit_leaf(near);
        if (query_.is_content_with(work_)) return query_.stop_at(least_open());
      }
      if (open_ == 0) return;
      go_up();
    }
  }

 private:
  /// Lanes whose children are worth a visit.
  __device__ unsigned near_children() {
    constexpr float kClearly = 1 - 0x1p-18;
    if constexpr (kWarps > 1)
      if (!together_) query_.lower_limit(team_.least());
    unsigned near = lanes_within(query_.limit());
    if (near != 0 && lanes_within(kClearly * query_.limit()) == 0) {
      if (!is_worth_it()) bound_ = kVisited;
      near = lanes_within(query_.limit());
    }
    return near;
  }

  __device__ unsigned lanes_within(float limit) const { return __ballot_sync(kAllLanes, bound_ <= limit); }

  /// What float32 does not tell where bounds and limit are about the same.
  __device__ bool is_worth_it() const {
    const auto worst = query_.worst();
    if (bound_ > query_.limit()) return false;
    return query_.may_improve(worst, typename Query::Box(tree_.level[level_].boxes, group_, lane_id()), lowest_id());
  }

  /// Of some lanes the one with the nearest child.
  __device__ int nearest_of(unsigned near) const {
    if ((near & (near - 1)) == 0) return __ffs(static_cast<int>(near)) - 1;
    return lane_of(rank_of(bound_), warp_min(rank_of(bound_)));
  }

  __device__ void take_off(unsigned lanes) {
    if ((lanes >> lane_id() & 1) != 0) bound_ = kVisited;
  }

  __device__ void go_down(unsigned near) {
    const int lane = nearest_of(near);
    take_off(1u << lane | others());
    if ((near & ~(1u << lane | others())) != 0) {
      open_ |= 1u << level_;
      waiting_[level_][lane_id()] = bound_;
    }
    enter(level_ - 1, group_ * kLanes + static_cast<unsigned>(lane));
  }

  __device__ void go_up() {
    together_ = false;
    const int level = __ffs(static_cast<int>(open_)) - 1;
    open_ &= open_ - 1;
    group_ >>= 5 * (level - level_);
    level_ = level;
    bound_ = waiting_[level][lane_id()];
  }

  /// Measures the boxes of a group of siblings.
  __device__ void enter(int level, unsigned group) {
    level_ = level;
    group_ = group;
    const auto last = static_cast<int>(static_cast<unsigned>(tree_.level[level].count - 1) - group * kLanes);
    const float bound = query_.bound_of(tree_.level[level].boxes, group, min(lane_id(), last));
    bound_ = lane_id() <= last ? bound : kVisited;
    if (level > 0 && !kParts) return;
    take_off(others());
    together_ = false;
  }

  /// Lanes that other warps of the team take: while all go the same way, of the leaves they come to; or always, of the
  /// parents of leaves.
  __device__ unsigned others() const { return together_ || (kParts && level_ == 1) ? ~team_.lanes() : 0; }

  /// Of the lane's child.
  __device__ std::int64_t lowest_id() const {
    const DeviceLevel& level = tree_.level[level_];
    const std::int64_t node = std::int64_t{group_} * kLanes + lane_id();
    if (level.lowest) return level.lowest[node];
    return (node * tree_.leaf << (5 * level_)) * tree_.sites.every;
  }

  /// @returns what is left of the lanes whose children are worth a visit
  __device__ unsigned visit_leaf(unsigned near) {
    if constexpr (kParts) return sift_leaves(near);
    const int lane = nearest_of(near);
    if constexpr (Query::kHasLeaves) {
      return visit_leaves(near & ~(1u << lane), lane);
    } else {
      take_off(1u << lane);
      const std::int64_t first = std::int64_t{leaf_of(lane)} * tree_.leaf;
      const std::int64_t end =
          tree_.sizes ? first + tree_.sizes[leaf_of(lane)] : smaller(first + tree_.leaf, tree_.count);
      work_ += end - first;
      for (std::int64_t at = first; at < end; at += kLanes)
        query_.look_at(at, static_cast<int>(smaller(end - at, std::int64_t{kLanes})));
      if constexpr (kWarps > 1) team_.tell(query_.limit());
      return near_children();
    }
  }

  /// The nearest leaf, and with it others of its group that are near enough, too, where that is known.
  __device__ unsigned visit_leaves(unsigned others, int nearest) {
    unsigned leaves[kTogether], visited = 1u << nearest, left = others;
    if (__any_sync(kAllLanes, query_.limit() == kNoLimit)) left = 0;  // for all lanes alike
    int count = 1;
    leaves[0] = leaf_of(nearest);
#pragma unroll
    for (int l = 1; l < kTogether; ++l) {
      leaves[l] = leaves[0];
      if (left == 0) continue;
      leaves[l] = leaf_of(__ffs(static_cast<int>(left)) - 1);
      visited |= left & -left;
      left &= left - 1;
      count = l + 1;
    }
    take_off(visited);
    if (!query_.look_at_leaves(leaves, count)) return others & ~visited;
    return near_children();
  }

  /// Some leaves, of which those are measured that have a site within the limit; for these a site is known already.
  __device__ unsigned sift_leaves(unsigned near) {
    unsigned leaves[kTogether], sifted = 0, left = near;
    int count = 0;
#pragma unroll
    for (int l = 0; l < kTogether; ++l) {
      leaves[l] = l == 0 || left != 0 ? leaf_of(__ffs(static_cast<int>(left)) - 1) : leaves[0];
      sifted |= left & -left;
      count += left != 0 ? 1 : 0;
      left &= left - 1;
    }
    take_off(sifted);
    unsigned open = query_.near_leaves(leaves, count);
    if (open == 0) return left;
    for (; sifted != 0; sifted &= sifted - 1, open >>= 1)
      if ((open & 1) != 0) query_.look_at_leaves({leaf_of(__ffs(static_cast<int>(sifted)) - 1)}, 1);
    team_.tell(query_.limit());
    return near_children();
  }

  __device__ unsigned leaf_of(int lane) const { return group_ * kLanes + static_cast<unsigned>(lane); }

  /// Least bound of all that is still to be visited.
  __device__ float least_open() const {
    float least = bound_;
    for (unsigned open = open_; open != 0; open &= open - 1)
      least = fminf(least, waiting_[__ffs(static_cast<int>(open)) - 1][lane_id()]);
    return __uint_as_float(warp_min(rank_of(least)));
  }

  static constexpr float kVisited = INFINITY;  ///< beyond every limit
  /// Whether the warps of a team go about by themselves: after rounds they begin with a near site.
  static constexpr bool kParts = kWarps > 1 && Query::kHasLeaves;

  const DeviceTree& tree_;
  Query& query_;
  Waiting& waiting_;
  const Team<kWarps> team_;
  bool together_ = kWarps > 1 && !kParts;  ///< all do the same, and go by what each knows itself
  int level_ = 0;
  unsigned group_ = 0;     ///< of the siblings at hand: no memory holds 2³² leaves
  unsigned open_ = 0;      ///< levels above where children are left, a bit for each
  std::int64_t work_ = 0;  ///< sites that were looked at
  float bound_ = 0;        ///< of the lane's child in it; kVisited: there is nothing to do there any more
};

/// A warp for each query.
template <class T, int kAxes, Kind kKind>
__global__ void __launch_bounds__(kSearchBlock)
    search_one_by_one(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request) {
  constexpr int kTogether = kKind == Kind::sorted ? kLeavesTogether : 1;
  __shared__ Waiting waiting[kSearchWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t number = std::int64_t{blockIdx.x} * kSearchWarps + warp;
  if (number >= request.queries.count) return;
  const std::int64_t query = request.order ? request.order[number] : number;
  with_query<T, kAxes, kKind>(tree, request, query, [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    if (mine.is_somewhere()) Descent<Query, kTogether>(tree, mine, waiting[warp]).run();
    if constexpr (Query::kIsPlain) mine.settle();
    mine.write();
  });
}

/// What a warp keeps of a run of queries.
template <class T, int kAxes, Kind kKind>
struct Run {
  double place[kAxes][kQueriesInARow], squared[kQueriesInARow];
  Id<kKind> id[kQueriesInARow];
  Measured<T, kAxes, kKind> before;  ///< nearest to the query before
};

/// A warp for a run of queries along the curve, of which each lane reads one and writes one's answer. One after the
/// other, each begins with the site that was nearest to the one before.
/// @param unclear  [run]: a bit for each query that is to be answered; null: all are
template <class T, int kAxes, Kind kKind>
__global__ void __launch_bounds__(kSearchBlock,
                                  resident_blocks(kSearchBlock, kKind == Kind::sorted ? kRunBlocks : kRunBlocksInOrder))
    search_runs(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                const unsigned* unclear) {
  using Site = Measured<T, kAxes, kKind>;
  __shared__ Waiting waiting[kSearchWarps];
  __shared__ Run<T, kAxes, kKind> runs[kSearchWarps];
  __shared__ std::conditional_t<kKind == Kind::sorted, NearLeaves<T, kAxes>, NoLeaves> leaves[kSearchWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t number = std::int64_t{blockIdx.x} * kSearchWarps + warp, first = number * kQueriesInARow;
  const auto count = static_cast<int>(smaller(request.queries.count - first, std::int64_t{kQueriesInARow}));
  if (count <= 0) return;
  const unsigned wanted = unclear ? unclear[number] : ~0u;
  if (wanted == 0) return;
  Run<T, kAxes, kKind>& run = runs[warp];
  const std::int64_t own = request.order[first + min(lane_id(), count - 1)];
  const auto places = Place<kAxes>::template of<false>(request, own);
  for (int k = 0; k < kAxes; ++k) run.place[k][lane_id()] = places.at[k];
  if (lane_id() == 0) run.before.id = Site::kNone;
  leaves[warp].clear();
  float limit = 0;  // the largest of the queries since the last list: how far the next one reaches goes by it
  unsigned written = ~wanted;
  for (int i = 0; i < count; ++i) {
    if (i == kQueriesBeforeLists || (i > 0 && i % kQueriesOfList == 0)) {
      const bool later = lane_id() >= i && lane_id() / kQueriesOfList == i / kQueriesOfList && lane_id() < count;
      const bool counts = later && (wanted >> lane_id() & 1) == 1;
      leaves[warp].find(tree, places, counts, kReachOfList * limit);
      limit = 0;
    }
    if ((wanted >> i & 1) == 0) continue;
    __syncwarp();
    Place<kAxes> place;
    for (int k = 0; k < kAxes; ++k) place.at[k] = run.place[k][i];
    with_query_at<T, kKind>(place, tree, request, request.order[first + i], [&](auto& mine) {
      using Query = std::remove_reference_t<decltype(mine)>;
      if constexpr (Query::kIsPlain) mine.start_from(run.before);
      bool done = !mine.is_somewhere();
      if constexpr (Query::kHasLeaves) done = done || leaves[warp].serve(mine);
      if (!done) Descent<Query, 1>(tree, mine, waiting[warp]).run();
      limit = fmaxf(limit, mine.limit());
      if constexpr (Query::kIsPlain) {
        const auto kept = mine.nearest_of_lanes();
        __syncwarp();
        if (lane_id() == kept.lane) {
          run.before = mine.own();
          run.squared[i] = kept.squared;
          run.id[i] = kept.id;
        }
      } else {
        mine.write();
        written |= 1u << i;
      }
    });
  }
  __syncwarp();
  if (lane_id() >= count || (written >> lane_id() & 1) != 0) return;
  const double squared = run.squared[lane_id()];
  const std::int64_t id = run.id[lane_id()] == Site::kNone ? kNobody : std::int64_t{run.id[lane_id()]};
  put_answer(tree, request, own, 0, squared, id);
  put_root(request.answers.lower, own, 0, id != kNobody, squared);
}

/// The same for sorted sites that float32 holds, as far as that tells. What is nearest to each of a run is measured in
/// double at last, by a lane each.
/// @param unclear  [run]: a bit for each query that is left to search_runs()
template <class T, int kAxes>
__global__ void __launch_bounds__(kSearchBlock, resident_blocks(kSearchBlock, kFloatRunBlocks))
    search_runs_in_float(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                         unsigned* unclear) {
  using Query = FloatQuery<T, kAxes>;
  __shared__ Waiting waiting[kSearchWarps];
  __shared__ NearLeaves<T, kAxes> leaves[kSearchWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t run = std::int64_t{blockIdx.x} * kSearchWarps + warp, first = run * kQueriesInARow;
  const auto count = static_cast<int>(smaller(request.queries.count - first, std::int64_t{kQueriesInARow}));
  if (count <= 0) return;
  const std::int64_t own = request.order[first + min(lane_id(), count - 1)];
  const auto places = Place<kAxes>::template of<false>(request, own);
  const float farthest = Query::about(limit_of(request.limit));
  unsigned left = ~__ballot_sync(kAllLanes, Query::holds(places)), nearest = Query::kNoSite, before = nearest;
  leaves[warp].clear();
  float limit = 0;  // the largest of the queries since the last list: how far the next one reaches goes by it
  for (int i = 0; i < count; ++i) {
    if (i == kQueriesBeforeLists || (i > 0 && i % kQueriesOfList == 0)) {
      const bool later = lane_id() >= i && lane_id() / kQueriesOfList == i / kQueriesOfList && lane_id() < count;
      const bool counts = later && (left >> lane_id() & 1) == 0;
      leaves[warp].find(tree, places, counts, kReachOfList * limit);
      limit = 0;
    }
    if ((left >> i & 1) != 0) continue;
    Query mine(tree, places, i, farthest);
    if (!leaves[warp].serve(mine)) {
      mine.begin_again();
      if (before != Query::kNoSite) mine.start_from(before);
      Descent<Query, 1>(tree, mine, waiting[warp]).run();
    }
    limit = fmaxf(limit, mine.limit());
    const unsigned winner = mine.winner(places, i);
    if (winner == Query::kUnclear) {
      const bool rarely = kMostUnclear * __popc(left & fathom::cuda::lanes_before(i)) <= i;
      left |= rarely ? 1u << i : ~0u << i;
      continue;
    }
    if (winner != Query::kNoSite) before = winner;
    if (lane_id() == i) nearest = winner;
  }
  if (lane_id() == 0) unclear[run] = left;
  if (lane_id() >= count || (left >> lane_id() & 1) != 0) return;
  const double squared = nearest == Query::kNoSite ? INFINITY : Query::squared_distance(tree, places, nearest);
  const bool found = squared <= request.limit && nearest != Query::kNoSite;
  put_answer(tree, request, own, 0, squared, found ? tree.ids[nearest] : kNobody);
  put_root(request.answers.lower, own, 0, found, squared);
}

/// What a team shares while it answers a query, in whichever arithmetic.
template <class T, int kAxes>
union RoundsOfTeam {
  RoundsMemory<typename TeamQuery<T, kAxes>::Kept, kTeam> in_float;
  RoundsMemory<typename WarpQuery<double, T, kAxes, Kind::sorted>::Kept, kTeam> in_double;
  LeavesLeft<kTeam> few;
};
struct NoRounds {};
template <class T, int kAxes, Kind kKind>
using MemoryOfTeam = std::conditional_t<kKind == Kind::sorted, RoundsOfTeam<T, kAxes>, NoRounds>;

/// A team's way through sorted sites. @returns whether it came to an end: if not, the rest is for a Descent
template <class T, class Query, class First>
__device__ bool go_from(const First& first, const DeviceTree& tree, Query& query,
                        RoundsMemory<typename Query::Kept, kTeam>& rounds, LeavesLeft<kTeam>& few,
                        const Team<kTeam>& team) {
  constexpr int kTogether = kSiftedLeaves * sizeof(float) / sizeof(T);
  if (!first.level.is_low()) return Rounds<Query, First, kTeam>(tree, query, rounds, team).run(first);
  FewNodes<Query, First, kTeam, kTogether>(tree, query, first, few, team).run();
  return true;
}

/// The nearest of the sites that lanes of a team have.
template <class Query>
__device__ typename Query::Nearest nearest_of_team(const typename Query::Nearest& own,
                                                   typename Query::Nearest (&best)[kTeam], int warp) {
  const auto of_warp = Query::nearest_of(own);
  if (lane_id() == 0) best[warp] = of_warp;
  __syncthreads();
  auto nearest = best[0];
  for (const auto& other : best)
    if (other < nearest) nearest = other;
  return nearest;
}

/// What a team has found in float32. Mostly one lane alone may have the nearest site, and writes the answer.
template <class Query>
__device__ void answer_in_float(const Query& mine, const DeviceTree& tree, const DeviceRequest& request,
                                const Team<kTeam>& team) {
  __shared__ typename Query::Nearest best[kTeam];
  const bool is_left = mine.is_left(team.least()), is_clear = __syncthreads_count(is_left) == 1;
  if (is_clear && !is_left) return;
  auto nearest = is_left ? mine.own() : mine.nobody();
  if (!is_clear) nearest = nearest_of_team<Query>(nearest, best, team.warp);
  if (!is_clear && threadIdx.x > 0) return;
  const bool found = nearest.id != Query::kNone && nearest.squared <= request.limit;
  put_answer(tree, request, blockIdx.x, 0, nearest.squared, found ? std::int64_t{nearest.id} : kNobody);
  put_root(request.answers.lower, blockIdx.x, 0, found, nearest.squared);
}

/// A team's search for the nearest site to a place that float32 holds.
/// @param effort  that it may take: Unlimited, or Limited
/// @returns whether it came to an end
template <class T, int kAxes, class First, class Effort>
__device__ bool search_in_float(const First& first, const DeviceTree& tree, const DeviceRequest& request,
                                const float (&place)[kAxes], Waiting& waiting, RoundsOfTeam<T, kAxes>& memory,
                                const Team<kTeam>& team, const Effort& effort) {
  TeamQuery<T, kAxes> asked(tree, place, request.limit);
  decltype(auto) mine = effort.of(asked);
  using Query = std::remove_reference_t<decltype(mine)>;
  if (!go_from<T>(first, tree, mine, memory.in_float, memory.few, team)) {
    Descent<Query, kLeavesOfTeam, kTeam>(tree, mine, waiting, team).run();
    __syncthreads();
  }
  if (effort.is_used_up(mine)) return false;
  answer_in_float(mine, tree, request, team);
  return true;
}

/// The same in the arithmetic that decides.
template <class T, int kAxes, Kind kKind, class First, class Effort>
__device__ bool search_in_double(const First& first, const DeviceTree& tree, const DeviceRequest& request,
                                 Waiting& waiting, MemoryOfTeam<T, kAxes, kKind>& memory, const Team<kTeam>& team,
                                 const Effort& effort) {
  constexpr int kTogether = kKind == Kind::sorted ? kLeavesOfTeam * sizeof(float) / sizeof(T) : 1;
  bool is_answered = true;
  with_query<T, kAxes, kKind>(tree, request, blockIdx.x, [&](auto& asked) {
    decltype(auto) mine = effort.of(asked);
    using Query = std::remove_reference_t<decltype(mine)>;
    __shared__ typename Query::Nearest best[kTeam];
    bool done = !mine.is_somewhere();
    if constexpr (kKind == Kind::sorted)
      if constexpr (Query::kHasLeaves) done = done || go_from<T>(first, tree, mine, memory.in_double, memory.few, team);
    if (!done) Descent<Query, kTogether, kTeam>(tree, mine, waiting, team).run();
    if (effort.is_used_up(mine)) {
      is_answered = false;
      return;
    }
    if constexpr (Query::kIsPlain) mine.settle();
    if (lane_id() == 0) best[team.warp] = {mine.list().worst_squared(), mine.list().worst_id()};
    __syncthreads();
    if (team.warp > 0) return;
    for (const auto& other : best) mine.list().offer_one(other.squared, other.id);
    mine.write();
  });
  return is_answered;
}

/// A block's search, of kTeam warps, for a query.
/// @returns whether it came to an end
template <class T, int kAxes, Kind kKind, class Effort>
__device__ bool search_as_team(const FirstLevel& first_level, const DeviceTree& tree, const DeviceRequest& request,
                               const Effort& effort) {
  using First = FirstBoxes<T, kAxes, kTeam>;
  __shared__ Waiting waiting[kTeam];
  __shared__ MemoryOfTeam<T, kAxes, kKind> memory;
  __shared__ unsigned limit;
  const Team<kTeam> team{static_cast<int>(threadIdx.x) / 32, &limit};
  Waiting& mine = waiting[team.warp];
  const First first(first_level, team.warp);  // with the query
  if (threadIdx.x == 0) limit = __float_as_uint(INFINITY);
  __syncthreads();
  if constexpr (kKind == Kind::sorted && sizeof(T) == sizeof(float)) {
    float place[kAxes];
    if (TeamQuery<T, kAxes>::read(tree, request.queries, blockIdx.x, place))
      return search_in_float<T>(first, tree, request, place, mine, memory, team, effort);
  }
  return search_in_double<T, kAxes, kKind>(first, tree, request, mine, memory, team, effort);
}

/// A block of warps for each query.
template <class T, int kAxes, Kind kKind>
__global__ void __launch_bounds__(32 * kTeam, resident_blocks(32 * kTeam, kTeamBlocks))
    search_in_teams(const __grid_constant__ FirstLevel first_level, const __grid_constant__ DeviceTree tree,
                    const __grid_constant__ DeviceRequest request) {
  search_as_team<T, kAxes, kKind>(first_level, tree, request, Unlimited());
}

/// The same of sorted sites, where queries that take too many steps are given up.
/// @param given_up  [query]: whether it was
template <class T, int kAxes>
__global__ void __launch_bounds__(32 * kTeam, resident_blocks(32 * kTeam, kTeamBlocks))
    search_with_patience(const __grid_constant__ FirstLevel first_level, const __grid_constant__ DeviceTree tree,
                         const __grid_constant__ DeviceRequest request, Patience patience, std::uint8_t* given_up) {
  const bool is_answered = search_as_team<T, kAxes, Kind::sorted>(first_level, tree, request, Limited{patience});
  if (threadIdx.x == 0) given_up[blockIdx.x] = !is_answered;
}

unsigned blocks_of(std::int64_t queries, std::int64_t of_block) {
  return static_cast<unsigned>((queries + of_block - 1) / of_block);
}

/// Queries for which there are warps to spare.
std::int64_t most_in_teams() { return std::int64_t{fathom::cuda::multiprocessors()} * kTeamBlocks; }

template <class T, int kAxes, Kind kKind>
void launch(const DeviceTree& tree, const DeviceRequest& request, unsigned* unclear, cudaStream_t stream) {
  const std::int64_t queries = request.queries.count;
  const unsigned blocks = blocks_of(queries, kSearchWarps), runs = blocks_of(queries, kSearchWarps * kQueriesInARow);
  if constexpr (!is_general(kKind)) {
    if (request.order) {
      if constexpr (kKind == Kind::sorted && sizeof(T) == sizeof(float))
        if (unclear) search_runs_in_float<T, kAxes><<<runs, kSearchBlock, 0, stream>>>(tree, request, unclear);
      return search_runs<T, kAxes, kKind><<<runs, kSearchBlock, 0, stream>>>(tree, request, unclear);
    }
    if (queries <= most_in_teams())
      return search_in_teams<T, kAxes, kKind>
          <<<static_cast<unsigned>(queries), 32 * kTeam, 0, stream>>>(FirstLevel::of(tree), tree, request);
  }
  search_one_by_one<T, kAxes, kKind><<<blocks, kSearchBlock, 0, stream>>>(tree, request);
}

/// Whether queries of one neighbour, without periods and cones, may be given up.
bool may_give_up(const DeviceTree& tree, std::int64_t queries) {
  return tree.hollow && queries <= std::min<std::int64_t>(most_in_teams(), kMostLeftOver);
}

/// Of such queries.
void search_or_give_up(const DeviceTree& tree, const DeviceRequest& request, const LeftOver& left,
                       cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(request.queries.count);
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    const auto search = search_with_patience<typename decltype(tag)::type, decltype(axes)::value>;
    if (left.patience.steps > 0)
      search<<<blocks, 32 * kTeam, 0, stream>>>(FirstLevel::of(tree), tree, request, left.patience, left.given_up);
  });
  answer_left_over(tree, request, left, stream);
  fathom::cuda::check_launch("searching the nearest sites, or past all");
}

/// Whether it is worth sorting the queries, whose number 32 bits must hold.
bool are_many(std::int64_t queries) { return queries >= kManyQueries && queries <= std::int64_t{UINT32_MAX}; }

/// Whether float32 holds sorted sites, and mostly queries of such a type.
bool are_floats(const DeviceTree& tree, const Cloud& queries) {
  const bool held = tree.dtype == DType::float32 || (tree.dtype == DType::int32 && tree.whole);
  return tree.blocks && held && queries.dtype != DType::float64;
}

/// What many queries take of a call's scratch.
struct ManyQueries {
  std::byte* sorting;
  unsigned* unclear;
  std::size_t bytes;

  ManyQueries(std::int64_t queries, std::byte* base) {
    Scratch scratch(base);
    sorting = scratch.take<std::byte>(static_cast<std::int64_t>(curve_order_bytes(queries)));
    unclear = scratch.take<unsigned>((queries + kQueriesInARow - 1) / kQueriesInARow);
    bytes = scratch.bytes();
  }
};

}  // namespace

std::size_t search_scratch_bytes(const DeviceTree& tree, const Request& request, std::size_t room) {
  const std::int64_t queries = request.queries.count;
  if (request.simple() && request.exact() && may_give_up(tree, queries)) {
    const std::size_t bytes = LeftOver(tree, queries, nullptr).bytes;
    return bytes <= room ? bytes : 0;
  }
  return are_many(queries) ? ManyQueries(queries, nullptr).bytes : 0;
}

void search(const DeviceTree& tree, const DeviceRequest& unordered, std::span<std::byte> scratch, cudaStream_t stream) {
  DeviceRequest request = unordered;
  const std::int64_t queries = request.queries.count;
  if (request.simple && request.exact && may_give_up(tree, queries)) {
    const LeftOver left(tree, queries, scratch.data());
    if (left.bytes <= scratch.size()) return search_or_give_up(tree, request, left, stream);
  }
  unsigned* unclear = nullptr;
  if (are_many(queries)) {
    const ManyQueries many(queries, scratch.data());
    request.order = curve_order(tree, request.queries, many.sorting, stream);
    if (are_floats(tree, request.queries)) unclear = many.unclear;
  }
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    constexpr int kAxes = decltype(axes)::value;
    if (!request.simple || !request.exact)
      visit_general(request.metric, [&](auto kind) { launch<T, kAxes, kind>(tree, request, nullptr, stream); });
    else if (tree.blocks) launch<T, kAxes, Kind::sorted>(tree, request, unclear, stream);
    else launch<T, kAxes, Kind::in_order>(tree, request, nullptr, stream);
  });
  fathom::cuda::check_launch("searching the nearest sites");
}

}  // namespace fathom::points::cuda
