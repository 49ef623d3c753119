// A query among sorted sites that a team of warps answers in rounds, so that the depth of what there is to look at
// counts and not its sum.
//
// Work: one warp goes straight down to a near leaf; the others wait and leave the multiprocessor to it. What it passes
// by on all levels is left, unless the site found there rules it out, and listed in shared memory. All warps take from
// the list: of a node a lane looks at each child, and those that are left are for the next round; of a leaf a lane
// measures each site. What is beyond a quarter of the distance known waits until nothing nearer is left: after a way
// down to the wrong leaf, as where boxes overlap, that distance is large, and would let too much through. Cost: as many
// steps as the tree has levels, and mostly two rounds more, at most seven for the 1024 queries of 16.8 M uniform sites.
#pragma once

#include "points/cuda/team.cuh"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

/// A node or leaf that is left.
struct Left {
  float bound;
  unsigned place;  ///< its level above its number, which needs 27 bits: ids have 32, and leaves 32 sites

  __device__ static Left of(float bound, int level, unsigned number) {
    return {bound, static_cast<unsigned>(level) << kNumberBits | number};
  }
  __device__ int level() const { return static_cast<int>(place >> kNumberBits); }
  __device__ unsigned number() const { return place & ((1u << kNumberBits) - 1); }

 private:
  static constexpr int kNumberBits = 27;
};

/// Some of them.
struct LeftList {
  int count;  ///< beyond kMostLeft they are not kept
  Left left[kMostLeft];
};

/// What the warps share.
template <class Query, int kWarps>
struct RoundsMemory {
  float beside[kMostLevels][kLanes];  ///< bounds of the children beside the way down
  unsigned siblings;                  ///< the group of leaves in which it ended
  typename Query::Kept found;         ///< there
  LeftList now[3];                    ///< for this round, the next and the one after, in turns
  LeftList later;
  typename Query::Kept kept[kWarps];  ///< by each warp, in the end
};

template <class Query, int kWarps>
class Rounds {
  using Box = typename Query::Box;

 public:
  __device__ Rounds(const DeviceTree& tree, Query& query, RoundsMemory<Query, kWarps>& shared, const Team<kWarps>& team)
      : tree_(tree), query_(query), shared_(shared), team_(team) {}

  /// @param top  the lane's box of the top level
  /// @returns whether that was all: not, if more was left than a list holds
  __device__ bool run(const Box& top) {
    if (team_.warp == 0) go_down(top);
    __syncthreads();
    if (team_.warp > 0) query_.begin_with(shared_.found);
    for (int level = team_.warp; level < tree_.levels; level += kWarps)
      list(0, shared_.beside[level][lane_id()], level, shared_.siblings >> (5 * level));
    for (int round = 0; __syncthreads_or(is_full_) == 0; ++round) {
      const LeftList* now = &shared_.now[round % 3];
      if (threadIdx.x == 0) shared_.now[(round + 2) % 3].count = 0;
      if (now->count == 0) {
        if (all_counts_ || shared_.later.count == 0) return true;
        all_counts_ = true;
        now = &shared_.later;
      }
      take_all(*now, round + 1);
    }
    agree();
    return false;
  }

 private:
  static constexpr float kBeyond = INFINITY;  ///< every limit
  static constexpr float kClearly = 1 - 0x1p-20;
  static constexpr float kNearer = 0x1p-4f;  ///< than what waits: squared, in distances known

  /// Begins with an empty memory.
  __device__ void go_down(const Box& top) {
    if (lane_id() < 3) shared_.now[lane_id()].count = 0;
    if (lane_id() == 3) shared_.later.count = 0;
    unsigned group = 0;
    Entry entry = go_past(tree_.levels - 1, top, last_of(tree_.levels - 1, 0));
    for (int level = tree_.levels - 2; level >= 0; --level) {
      group = group * kLanes + static_cast<unsigned>(entry.lane);
      const int last = last_of(level, group);
      entry = go_past(level, Box(tree_.level[level].boxes, group, min(lane_id(), last)), last);
    }
    if (entry.is_near) query_.look_at_leaves({group * kLanes + static_cast<unsigned>(entry.lane)}, 1);
    team_.tell(query_.limit());
    const auto found = query_.nearest_of_lanes();
    if (lane_id() > 0) return;
    shared_.siblings = group;
    shared_.found = found;
  }

  /// Warps that go on together must know the same, or they go different ways.
  __device__ void agree() {
    auto best = query_.nearest_of_lanes();
    if (lane_id() == 0) shared_.kept[team_.warp] = best;
    __syncthreads();
    for (const auto& other : shared_.kept)
      if (other.squared < best.squared || (other.squared == best.squared && other.id < best.id)) best = other;
    query_.begin_with(best);
  }

  /// The box to enter.
  struct Entry {
    int lane;      ///< that has it
    bool is_near;  ///< there is one, and what is in it may count
  };

  /// Leaves the bounds of the other boxes behind.
  /// @param box  the lane's, of siblings up to the last
  __device__ Entry go_past(int level, const Box& box, int last) {
    const float bound = lane_id() <= last ? query_.bound_of(box) : kBeyond;
    const unsigned rank = rank_of(bound < kBeyond ? query_.guess_of(box, bound) : kBeyond);
    const int lane = lane_of(rank, warp_min(rank));
    shared_.beside[level][lane_id()] = lane_id() == lane ? kBeyond : bound;
    return {lane, __any_sync(kAllLanes, lane_id() == lane && bound <= query_.limit()) != 0};
  }

  /// The last child of a group of siblings.
  __device__ int last_of(int level, unsigned group) const {
    return static_cast<int>(static_cast<unsigned>(tree_.level[level].count - 1) - group * kLanes);
  }

  __device__ void take_all(const LeftList& list, int next) {
    for (int i = team_.warp; i < list.count && !is_full_; i += kWarps) {
      const Left left = list.left[i];
      query_.lower_limit(team_.least());
      if (__any_sync(kAllLanes, left.bound <= query_.limit())) take(left, next);
    }
  }

  /// @param next  round, for its children
  __device__ void take(const Left& left, int next) {
    if (left.level() == 0) {
      if (query_.look_at_leaves({left.number()}, 1)) team_.tell(query_.limit());
      return;
    }
    const int level = left.level() - 1, last = last_of(level, left.number());
    const float bound = query_.bound_of(tree_.level[level].boxes, left.number(), min(lane_id(), last));
    list(next, lane_id() <= last ? bound : kBeyond, level, left.number());
  }

  /// Lists what is left of a group of siblings.
  /// @param bound  of the lane's
  __device__ void list(int round, float bound, int level, unsigned group) {
    constexpr int kFew = 4;
    bool is_left = bound <= query_.limit();
    if (!__any_sync(kAllLanes, is_left)) return;
    const bool is_tied = is_left && bound > kClearly * query_.limit();
    if (__popc(__ballot_sync(kAllLanes, is_tied)) > kFew) is_left = is_worth_it(is_left, level, group);
    const bool waits = !all_counts_ && bound > kNearer * query_.limit();
    const Left left = Left::of(bound, level, group * kLanes + static_cast<unsigned>(lane_id()));
    add(shared_.now[round % 3], is_left && !waits, left);
    add(shared_.later, is_left && waits, left);
  }

  __device__ void add(LeftList& list, bool own, const Left& left) {
    const unsigned all = __ballot_sync(kAllLanes, own);
    if (all == 0) return;
    int first = 0;
    if (lane_id() == 0) first = atomicAdd(&list.count, __popc(all));
    first = from_lane(first, 0);
    const int place = first + __popc(all & fathom::cuda::lanes_before(lane_id()));
    if (own && place < kMostLeft) list.left[place] = left;
    is_full_ |= first + __popc(all) > kMostLeft;
  }

  /// What float32 does not tell where bounds and limit are about the same.
  __device__ bool is_worth_it(bool is_left, int level, unsigned group) const {
    const auto worst = query_.worst();
    const DeviceLevel& siblings = tree_.level[level];
    const std::uint32_t* lowest = siblings.lowest + std::size_t{group} * kLanes;
    return is_left && query_.may_improve(worst, siblings.boxes, group, lowest[lane_id()]);
  }

  const DeviceTree& tree_;
  Query& query_;
  RoundsMemory<Query, kWarps>& shared_;
  const Team<kWarps> team_;
  bool all_counts_ = false;  ///< nothing waits any more
  bool is_full_ = false;     ///< a list that the warp has added to
};

}  // namespace fathom::points::cuda
