// The way through the tree for a query: depth first, the nearest child first, leaving out what is farther than the
// worst of the list. Bounds need no margin (measure.hd.h), and equally near nodes that hold no lower id are left out.
//
// Work: a warp, or several that share it; a lane for each of a node's 32 children, and for each of 32 sites of a leaf,
// or of up to four leaves together, whose sites are in flight at the same time. What the lanes know of the levels above
// waits in shared memory. Launch: blocks of 4 warps, with a query each.
#pragma once

#include "points/cuda/team.cuh"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

inline constexpr int kSearchWarps = kSearchBlock / 32;

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

template <class T, int kAxes, Kind kKind>
void launch_one_by_one(const DeviceTree& tree, const DeviceRequest& request, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((request.queries.count + kSearchWarps - 1) / kSearchWarps);
  search_one_by_one<T, kAxes, kKind><<<blocks, kSearchBlock, 0, stream>>>(tree, request);
}

}  // namespace fathom::points::cuda
