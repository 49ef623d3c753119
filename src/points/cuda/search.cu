// Nearest sites through the tree: depth first, the nearest child first, leaving out what is farther than the worst of
// the list. Bounds need no margin (measure.hd.h), and equally near nodes that hold no lower id are left out.
//
// Work: a warp for each query; a lane for each of a node's 32 children, and for each of 32 sites of a leaf, or of up to
// four leaves together, whose sites are in flight at the same time. What the lanes know of the levels above waits in
// shared memory. Where the time of the slowest counts, because queries are fewer than the warps that fit, four warps
// share out each. Many queries are taken in the order of the curve, so that warps at work look at the same nodes, and a
// warp takes 32 one after the other, where sites are sorted each begun with the site that was nearest to the one
// before. Launch: blocks of 4 warps. Source: Roussopoulos et al. 1995; the CPU's search (points/cpu/search.cpp) with
// four times as many children. Cost: O(log n) nodes per query for sites spread out; at worst, for sites all equally
// far, every site.
#include "core/cuda/runtime.h"
#include "points/cuda/order.h"
#include "points/cuda/search.h"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

constexpr int kSearchWarps = kSearchBlock / 32;

/// A warp's part in a query that several share out: all go down to the same leaves, and from there back up each takes
/// its lanes' children. They tell one another how near the nearest is.
template <int kWarps>
struct Team {
  int warp = 0;
  unsigned* limit = nullptr;  ///< bits of the least that any of them knows, in shared memory

  __device__ bool owns_lane() const { return lane_id() % kWarps == warp; }
  __device__ void tell(float known) const {
    if (lane_id() == 0) atomicMin(limit, __float_as_uint(known));
  }
  /// The same for all lanes, though others may lower it meanwhile.
  __device__ float least() const { return from_lane(__uint_as_float(*const_cast<volatile unsigned*>(limit)), 0); }
};

/// What a lane knows of a level above: its child's bound, and the least of the levels above that.
struct Waiting {
  float bound, above;
};

/// @tparam kTogether  leaves that are looked at together, at most
/// @tparam kWarps     that share the query
template <class Query, int kTogether, int kWarps = 1>
class Descent {
 public:
  /// @param waiting  this warp's
  __device__ Descent(const DeviceTree& tree, Query& query, Waiting (&waiting)[kMostLevels][kLanes],
                     const Team<kWarps>& team = {})
      : tree_(tree), query_(query), waiting_(waiting), team_(team) {}

  __device__ void run() {
    enter(tree_.levels - 1, 0);
    while (true) {
      if (query_.is_content_with(work_)) return query_.stop_at(least_open());
      const int lane = next_child();
      if (lane >= 0 && level_ == 0) {
        visit_leaf(lane);
        if constexpr (kWarps > 1) team_.tell(query_.limit());
      } else if (lane >= 0) {
        go_down(lane);
      } else if (above_ <= query_.limit() && above_ < kVisited) {
        go_up();
      } else {
        return;
      }
    }
  }

 private:
  __device__ void go_down(int lane) {
    if (together_) leave_others_theirs();
    waiting_[level_][lane_id()] = {bound_, above_};
    above_ = fminf(above_, __uint_as_float(least_bound()));
    enter(level_ - 1, group_ * kLanes + static_cast<unsigned>(lane));
  }

  __device__ void go_up() {
    together_ = false;
    const Waiting waiting = waiting_[++level_][lane_id()];
    bound_ = waiting.bound;
    above_ = waiting.above;
    group_ /= kLanes;
  }

  /// Measures the boxes of a group of siblings.
  __device__ void enter(int level, unsigned group) {
    level_ = level;
    group_ = group;
    const bool present = group * kLanes + lane_id() < static_cast<unsigned>(tree_.level[level].count);
    bound_ = present ? query_.bound_of(tree_.level[level].boxes, group) : kVisited;
    if (together_ && level == 0) {
      leave_others_theirs();
      together_ = false;
    }
  }

  __device__ void leave_others_theirs() {
    if (!team_.owns_lane()) bound_ = kVisited;
  }

  /// The lane of the nearest child that is worth a visit, which is then taken off; −1: none is.
  __device__ int next_child() {
    if constexpr (kWarps > 1)
      if (!together_) query_.lower_limit(team_.least());
    unsigned least = least_bound();
    constexpr float kClearly = 1 - 0x1p-20;
    if (__uint_as_float(least) >= kClearly * query_.limit() && is_within_reach(__uint_as_float(least))) {
      if (!is_worth_it()) bound_ = kVisited;
      least = least_bound();
    }
    if (!is_within_reach(__uint_as_float(least))) return -1;
    const int lane = lane_of(rank_of(bound_), least);
    if (lane == lane_id()) bound_ = kVisited;
    return lane;
  }

  /// What float32 does not tell where bounds and limit are about the same.
  __device__ bool is_worth_it() const {
    return is_within_reach(bound_) && query_.may_improve(tree_.level[level_].boxes, group_, lowest_id());
  }

  __device__ unsigned least_bound() const { return warp_min(rank_of(bound_)); }
  __device__ bool is_within_reach(float bound) const { return bound <= query_.limit() && bound < kVisited; }

  /// Of the lane's child.
  __device__ std::int64_t lowest_id() const {
    const DeviceLevel& level = tree_.level[level_];
    const std::int64_t node = std::int64_t{group_} * kLanes + lane_id();
    if (level.lowest) return level.lowest[node];
    return (node * tree_.leaf << (5 * level_)) * tree_.sites.every;
  }

  __device__ void visit_leaf(int lane) {
    const unsigned leaf = group_ * kLanes + static_cast<unsigned>(lane);
    if constexpr (Query::kIsPlain)
      if (tree_.blocks) return visit_leaves(leaf);
    const std::int64_t first = std::int64_t{leaf} * tree_.leaf;
    const std::int64_t end = tree_.sizes ? first + tree_.sizes[leaf] : smaller(first + tree_.leaf, tree_.count);
    work_ += end - first;
    for (std::int64_t at = first; at < end; at += kLanes)
      query_.look_at(at, static_cast<int>(smaller(end - at, std::int64_t{kLanes})));
  }

  /// The nearest leaf, and with it others of its group that are near enough, too, as far as is known.
  __device__ void visit_leaves(unsigned nearest) {
    unsigned leaves[kTogether], near = 0;
    int count = 1;
    if (kTogether > 1 && query_.limit() < INFINITY) near = __ballot_sync(kAllLanes, bound_ < query_.limit());
    leaves[0] = nearest;
#pragma unroll
    for (int l = 1; l < kTogether; ++l) {
      leaves[l] = nearest;
      if (near == 0) continue;
      const int lane = __ffs(static_cast<int>(near)) - 1;
      near &= near - 1;
      leaves[l] = group_ * kLanes + static_cast<unsigned>(lane);
      count = l + 1;
      if (lane == lane_id()) bound_ = kVisited;
    }
    query_.look_at_leaves(leaves, count);
  }

  /// Least bound of all that is still to be visited.
  __device__ float least_open() const { return fminf(above_, __uint_as_float(least_bound())); }

  static constexpr float kVisited = INFINITY;

  const DeviceTree& tree_;
  Query& query_;
  Waiting (&waiting_)[kMostLevels][kLanes];
  const Team<kWarps> team_;
  bool together_ = kWarps > 1;  ///< all do the same, and go by what each knows itself
  int level_ = 0;
  unsigned group_ = 0;      ///< of the siblings at hand: no memory holds 2³² leaves
  std::int64_t work_ = 0;   ///< sites that were looked at
  float bound_ = 0;         ///< of the lane's child in it; kVisited: there is nothing to do there any more
  float above_ = INFINITY;  ///< least of those that wait in the levels above
};

/// A warp for each query.
template <class T, int kAxes, bool kGeneral>
__global__ void __launch_bounds__(kSearchBlock)
    search_one_by_one(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request) {
  constexpr int kTogether = kGeneral ? 1 : kLeavesTogether;
  __shared__ Waiting waiting[kSearchWarps][kMostLevels][kLanes];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t number = std::int64_t{blockIdx.x} * kSearchWarps + warp;
  if (number >= request.queries.count) return;
  const std::int64_t query = request.order ? request.order[number] : number;
  with_query<T, kAxes, kGeneral>(tree, request, query, [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    if (mine.is_somewhere()) Descent<Query, kTogether>(tree, mine, waiting[warp]).run();
    mine.write();
  });
}

/// A warp for a run of queries along the curve, of which each lane reads one and writes one's answer. One after the
/// other, each begins with the site that was nearest to the one before.
template <class T, int kAxes>
__global__ void __launch_bounds__(kSearchBlock, kRunBlocks)
    search_runs(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request) {
  __shared__ Waiting waiting[kSearchWarps][kMostLevels][kLanes];
  __shared__ Before<T, kAxes> before[kSearchWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first = (std::int64_t{blockIdx.x} * kSearchWarps + warp) * kQueriesInARow;
  const auto count = static_cast<int>(smaller(request.queries.count - first, std::int64_t{kQueriesInARow}));
  if (count <= 0) return;
  const std::int64_t own = request.order[first + min(lane_id(), count - 1)];
  const auto places = Place<kAxes>::template of<false>(request, own);
  if (lane_id() == 0) before[warp].id = kNoId;
  bool is_mine = false;
  double squared = 0;
  std::int64_t id = kNobody;
  for (int i = 0; i < count; ++i) {
    Place<kAxes> place;
    for (int k = 0; k < kAxes; ++k) place.at[k] = from_lane(places.at[k], i);
    __syncwarp();
    with_query_at<T, false>(place, tree, request, from_lane(own, i), [&](auto& mine) {
      using Query = std::remove_reference_t<decltype(mine)>;
      if constexpr (Query::kIsPlain) mine.start_from(before[warp]);
      if (mine.is_somewhere()) Descent<Query, 1>(tree, mine, waiting[warp]).run();
      if constexpr (!Query::kIsPlain) {
        mine.write();
      } else if (lane_id() == i) {
        is_mine = true;
        squared = mine.list().worst_squared();
        id = mine.list().worst_id();
      }
    });
  }
  if (!is_mine) return;
  put_answer(tree, request, own, 0, squared, id);
  put_root(request.answers.lower, own, 0, id != kNobody, squared);
}

/// A block of warps for each query.
template <class T, int kAxes>
__global__ void __launch_bounds__(32 * kTeam, kTeamBlocks)
    search_in_teams(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request) {
  __shared__ Waiting waiting[kTeam][kMostLevels][kLanes];
  __shared__ unsigned limit;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) limit = __float_as_uint(INFINITY);
  __syncthreads();
  with_query<T, kAxes, false>(tree, request, blockIdx.x, [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    __shared__ typename Query::Nearest best[kTeam];
    if (mine.is_somewhere()) Descent<Query, kLeavesOfTeam, kTeam>(tree, mine, waiting[warp], {warp, &limit}).run();
    if (lane_id() == 0) best[warp] = {mine.list().worst_squared(), mine.list().worst_id()};
    __syncthreads();
    if (warp > 0) return;
    for (const auto& other : best) mine.list().offer_one(other.squared, other.id);
    mine.write();
  });
}

unsigned blocks_of(std::int64_t queries, std::int64_t of_block) {
  return static_cast<unsigned>((queries + of_block - 1) / of_block);
}

/// Queries for which there are warps to spare.
std::int64_t most_in_teams() { return std::int64_t{fathom::cuda::multiprocessors()} * kTeamBlocks; }

/// Whether it is worth sorting the queries, whose number 32 bits must hold.
bool are_many(std::int64_t queries) { return queries >= kManyQueries && queries <= std::int64_t{UINT32_MAX}; }

}  // namespace

std::size_t search_scratch_bytes(std::int64_t queries) { return are_many(queries) ? curve_order_bytes(queries) : 0; }

void search(const DeviceTree& tree, const DeviceRequest& unordered, std::byte* scratch, cudaStream_t stream) {
  DeviceRequest request = unordered;
  if (are_many(request.queries.count)) request.order = curve_order(tree, request.queries, scratch, stream);
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    constexpr int kAxes = decltype(axes)::value;
    const std::int64_t queries = request.queries.count;
    const unsigned blocks = blocks_of(queries, kSearchWarps), runs = blocks_of(queries, kSearchWarps * kQueriesInARow);
    if (!request.simple || !request.exact)
      search_one_by_one<T, kAxes, true><<<blocks, kSearchBlock, 0, stream>>>(tree, request);
    else if (request.order) search_runs<T, kAxes><<<runs, kSearchBlock, 0, stream>>>(tree, request);
    else if (queries <= most_in_teams())
      search_in_teams<T, kAxes><<<static_cast<unsigned>(queries), 32 * kTeam, 0, stream>>>(tree, request);
    else search_one_by_one<T, kAxes, false><<<blocks, kSearchBlock, 0, stream>>>(tree, request);
  });
  fathom::cuda::check_launch("searching the nearest sites");
}

}  // namespace fathom::points::cuda
