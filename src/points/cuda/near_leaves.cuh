// The leaves near some queries that are neighbours, listed for all of them: those within a reach of the box about the
// queries, found level by level from the root. A query whose nearest site turns out to be within the reach needs no
// other leaf, and is spared the way through the tree.
//
// Work: a warp, and for each step a lane for each child of a node, or for each listed leaf, whose boxes are copied to
// shared memory. Cost: a vote for each node near the box, once for all queries; for each query the bounds of the
// leaves.
#pragma once

#include "points/cuda/boxes.cuh"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

/// In a warp's shared memory.
template <class T, int kAxes>
class NearLeaves {
 public:
  /// There is none yet.
  __device__ void clear() {
    if (lane_id() == 0) count_ = 0;
    __syncwarp();
  }

  /// Lists the leaves near some queries; none, if they are too many.
  /// @param at      where the lane's query is
  /// @param counts  whether it is one of them
  /// @param reach   squared
  __device__ void find(const DeviceTree& tree, const Place<kAxes>& at, bool counts, float reach) {
    FloatInterval around[kAxes];
    for (int k = 0; k < kAxes; ++k) {
      const bool there = counts && at.at[k] == at.at[k];
      around[k] = there ? FloatInterval::of(at.at[k]) : FloatInterval{INFINITY, -INFINITY};
      around[k] = {warp_lowest(around[k].low), warp_highest(around[k].high)};
    }
    __syncwarp();
    int count = 1, first = 0;
    if (lane_id() == 0) node_[first] = 0;
    for (int l = tree.levels - 1; l >= 0 && count > 0; --l) {
      __syncwarp();
      count = expand(tree.level[l], around, reach, node_ + first, count, node_ + (kMost - first));
      first = kMost - first;
    }
    __syncwarp();
    keep_boxes(tree.level[0], node_ + first, count);
    if (lane_id() == 0) {
      first_ = first;
      count_ = count;
      reach_ = reach;
    }
    __syncwarp();
  }

  /// Looks at the listed leaves. @returns whether no other matters to the query
  template <class Query>
  __device__ bool serve(Query& query) const {
    if (count_ == 0) return false;
    float bound[kBatches], least = kVisited;
#pragma unroll
    for (int b = 0; b < kBatches; ++b) {
      bound[b] = kVisited;
      if (b * kLanes >= count_) continue;
      const float own = query.bound_of(boxes_, static_cast<unsigned>(b), lane_id());
      if (b * kLanes + lane_id() < count_) bound[b] = own;
      least = fminf(least, bound[b]);
    }
    visit(query, bound, __uint_as_float(warp_min(rank_of(least))));
    visit(query, bound, kVisited);
    return query.limit() <= reach_;
  }

 private:
  static constexpr int kMost = kNearLeaves, kBatches = kMost / kLanes;
  static constexpr float kVisited = INFINITY;
  static constexpr int kInFlight = 2;  ///< groups of siblings whose boxes are on their way together

  /// The children within reach of the groups of siblings in `groups`. @returns how many; 0: too many
  __device__ static int expand(const DeviceLevel& level, const FloatInterval (&around)[kAxes], float reach,
                               const unsigned* groups, int count, unsigned* children) {
    int found = 0;
    for (int i = 0; i < count && found <= kMost; i += kInFlight) {
      bool is_near[kInFlight];
      unsigned child[kInFlight];
#pragma unroll
      for (int j = 0; j < kInFlight; ++j) {
        const unsigned group = groups[min(i + j, count - 1)];
        const auto last = static_cast<int>(static_cast<unsigned>(level.count - 1) - group * kLanes);
        const NodeBox<T, kAxes> box(level.boxes, group, min(lane_id(), last));
        is_near[j] = i + j < count && lane_id() <= last && float_bound(around, box.low, box.high) <= reach;
        child[j] = group * kLanes + static_cast<unsigned>(lane_id());
      }
#pragma unroll
      for (int j = 0; j < kInFlight; ++j) {
        const unsigned near = __ballot_sync(kAllLanes, is_near[j]);
        const int place = found + __popc(near & fathom::cuda::lanes_before(lane_id()));
        if (is_near[j] && place < kMost) children[place] = child[j];
        found += __popc(near);
      }
    }
    return found <= kMost ? found : 0;
  }

  __device__ void keep_boxes(const DeviceLevel& level, const unsigned* leaves, int count) {
    for (int i = lane_id(); i < count; i += kLanes) {
      const unsigned leaf = leaves[i];
      const NodeBox<T, kAxes> box(level.boxes, leaf / kLanes, static_cast<int>(leaf % kLanes));
      for (int k = 0; k < kAxes; ++k) {
        boxes_[i / kLanes][2 * k][lane_id()] = box.low[k];
        boxes_[i / kLanes][2 * k + 1][lane_id()] = box.high[k];
      }
    }
  }

  /// Looks at leaves that are within a limit, and within the query's, as many at a time as it has on their way.
  template <class Query>
  __device__ void visit(Query& query, float (&bound)[kBatches], float limit) const {
#pragma unroll
    for (int b = 0; b < kBatches; ++b)
      while (true) {
        const unsigned near = __ballot_sync(kAllLanes, bound[b] <= fminf(limit, query.limit()));
        if (near == 0) break;
        unsigned leaves[Query::kTogether], left = near;  // what is behind the last is a leaf, too
        int count = 0;
#pragma unroll
        for (int l = 0; l < Query::kTogether; ++l) {
          if (l > 0) leaves[l] = leaves[0];
          if (left == 0) continue;
          leaves[l] = node_[first_ + b * kLanes + __ffs(static_cast<int>(left)) - 1];
          left &= left - 1;
          count = l + 1;
        }
        if (((near ^ left) >> lane_id() & 1) != 0) bound[b] = kVisited;
        query.look_at_leaves(leaves, count);
      }
  }

  unsigned node_[2 * kMost];              ///< of the level at hand and the one below; leaves, in the end
  T boxes_[kBatches][2 * kAxes][kLanes];  ///< as those of a group of siblings
  float reach_;
  int first_, count_;
};

/// Of sites in the caller's order, whose leaves are not listed.
struct NoLeaves {
  __device__ void clear() {}
  template <int kAxes>
  __device__ void find(const DeviceTree&, const Place<kAxes>&, bool, float) {}
  template <class Query>
  __device__ bool serve(const Query&) const {
    return false;
  }
};

}  // namespace fathom::points::cuda
