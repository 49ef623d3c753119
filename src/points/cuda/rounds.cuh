// A query among sorted sites that a team of warps answers in rounds, so that the depth of what there is to look at
// counts and not its sum: of sites too many for few_nodes.cuh.
//
// Work: all warps look at the nodes of the first level, the lowest one that has no more than kFirstNodes. One warp goes
// straight down from there to a near leaf; the others wait and leave the multiprocessor to it. What is passed by on all
// levels is left, unless the site found there rules it out, and listed in shared memory. All warps take from the list:
// of a node a lane looks at each child, and those that are left are for the next round; of a leaf a lane measures each
// site. What is beyond a quarter of the distance known waits until nothing nearer is left: after a way down to the
// wrong leaf, as where boxes overlap, that distance is large, and would let too much through. Cost: the nodes of the
// first level, a step for each level below it, and mostly two rounds more; where more is left than a list holds, a
// Descent by each warp.
#pragma once

#include "points/cuda/team.cuh"
#include "points/cuda/tuning.h"
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

/// The level at which a search by many lanes begins.
struct FirstLevel {
  int level;
  unsigned count;  ///< of its nodes, at most kFirstNodes
  const void* boxes;

  static FirstLevel of(const DeviceTree& tree) {
    int level = tree.levels - 1;
    while (level > 0 && tree.level[level - 1].count <= kFirstNodes) --level;
    return {level, static_cast<unsigned>(tree.level[level].count), tree.level[level].boxes};
  }

  /// Of leaves or parents of leaves.
  __device__ bool is_low() const { return level <= 1; }
};

/// A warp's share of its boxes: every kWarps-th of low nodes, of others every kWarps-th group of siblings.
template <class T, int kAxes, int kWarps>
struct FirstBoxes {
  static constexpr int kGroups = kFirstNodes / (kWarps * kLanes);
  const FirstLevel level;
  const int warp;
  NodeBox<T, kAxes> box[kGroups];

  /// On their way from memory, when this returns.
  __device__ FirstBoxes(const FirstLevel& first, int of_warp) : level(first), warp(of_warp) {
#pragma unroll
    for (int i = 0; i < kGroups; ++i)
      if (has(i)) box[i] = box_of(min(number_of(i, lane_id()), level.count - 1));
  }

  /// Of siblings, of all warps.
  __device__ int groups() const { return static_cast<int>((level.count + kLanes - 1) / kLanes); }
  __device__ unsigned group(int i) const { return static_cast<unsigned>(i * kWarps + warp); }
  /// Whether the warp has number i.
  __device__ bool has(int i) const { return number_of(i, 0) < level.count; }
  /// Whether the lane does; else its box is any.
  __device__ bool is_there(int i) const { return number_of(i, lane_id()) < level.count; }
  /// Of a lane's node.
  __device__ unsigned number_of(int i, int lane) const {
    return static_cast<unsigned>(level.is_low() ? (i * kLanes + lane) * kWarps + warp
                                                : (i * kWarps + warp) * kLanes + lane);
  }

 private:
  __device__ NodeBox<T, kAxes> box_of(unsigned node) const {
    return {level.boxes, node / kLanes, static_cast<int>(node % kLanes)};
  }
};

/// A node to enter.
struct Entry {
  unsigned rank;  ///< of the guess how far what is nearest in it is
  float bound;
  unsigned number;
};

/// What the warps share. @tparam Kept  what a query tells other warps
template <class Kept, int kWarps>
struct RoundsMemory {
  Entry entry[kWarps];                        ///< the best that each warp knows of the first level
  float first[kFirstNodes / kLanes][kLanes];  ///< bounds of that level
  float beside[kMostLevels][kLanes];          ///< bounds of the children beside the way down
  unsigned siblings;                          ///< the group of leaves in which it ended
  Kept found;                                 ///< there
  LeftList now[3];                            ///< for this round, the next and the one after, in turns
  LeftList later;
  Kept kept[kWarps];  ///< by each warp, in the end
};

template <class Query, class First, int kWarps>
class Rounds {
  using Box = typename Query::Box;
  using Memory = RoundsMemory<typename Query::Kept, kWarps>;

 public:
  __device__ Rounds(const DeviceTree& tree, Query& query, Memory& shared, const Team<kWarps>& team)
      : tree_(tree), query_(query), shared_(shared), team_(team) {}

  /// @returns whether that was all: not, if more was left than a list holds
  __device__ bool run(const First& first) {
    const Entry entry = enter(first);
    const int first_level = first.level.level;
    if (team_.warp == 0) go_down(first_level, entry);
    __syncthreads();
    if (team_.warp > 0) query_.begin_with(shared_.found);
    const int groups = first.groups();
#pragma unroll 1
    for (int i = team_.warp; i < groups + first_level; i += kWarps) {
      const int level = i < groups ? first_level : i - groups;
      const float bound = i < groups ? shared_.first[i][lane_id()] : shared_.beside[level][lane_id()];
      list(0, bound, level, i < groups ? static_cast<unsigned>(i) : shared_.siblings >> (5 * level));
    }
    for (int round = 0; __syncthreads_or(is_full_) == 0; ++round) {
      LeftList* now = &shared_.now[round % 3];
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
  static constexpr float kClearly = 1 - 0x1p-18;
  static constexpr float kNearer = 0x1p-4f;  ///< than what waits: squared, in distances known
  static constexpr int kFew = 4, kMany = 64;

  /// Measures the first level. @returns the team's best node of it
  __device__ Entry enter(const First& first) {
    Entry own{kNoRank, kBeyond, 0};
#pragma unroll
    for (int i = 0; i < First::kGroups; ++i) {
      if (!first.has(i)) continue;
      const bool is_there = first.is_there(i);
      const float of_box = query_.bound_of(first.box[i]), guess = query_.guess_of(first.box[i], of_box);
      const float bound = is_there ? of_box : kBeyond;
      const unsigned rank = rank_of(is_there ? guess : kBeyond);
      if (rank < own.rank) own = {rank, bound, first.number_of(i, lane_id())};
      shared_.first[first.group(i)][lane_id()] = bound;
    }
    if (lane_id() == lane_of(own.rank, warp_min(own.rank))) shared_.entry[team_.warp] = own;
    if (threadIdx.x < 3) shared_.now[threadIdx.x].count = 0;
    if (threadIdx.x == 3) shared_.later.count = 0;
    __syncthreads();
    Entry best = shared_.entry[0];
    for (const Entry& other : shared_.entry)
      if (other.rank < best.rank) best = other;
    if (threadIdx.x == 0) shared_.first[best.number / kLanes][best.number % kLanes] = kBeyond;
    return best;
  }

  /// To a leaf below a node.
  __device__ void go_down(int level, const Entry& entry) {
    unsigned node = entry.number;
    float bound = entry.bound;
#pragma unroll 1
    while (--level >= 0) {
      const int last = last_of(level, node);
      const int lane = go_past(level, Box(tree_.level[level].boxes, node, min(lane_id(), last)), last, bound);
      node = node * kLanes + static_cast<unsigned>(lane);
    }
    if (__any_sync(kAllLanes, bound <= query_.limit())) query_.look_at_leaves({node}, 1);
    team_.tell(query_.limit());
    query_.put_nearest(shared_.found);
    if (lane_id() == 0) shared_.siblings = node / kLanes;
  }

  /// Leaves the bounds of all boxes but the best behind.
  /// @param box  the lane's, of siblings up to the last
  /// @param best_bound  becomes the best one's
  /// @returns the lane that has it
  __device__ int go_past(int level, const Box& box, int last, float& best_bound) {
    const float of_box = query_.bound_of(box), guess = query_.guess_of(box, of_box);
    const float bound = lane_id() <= last ? of_box : kBeyond;
    const unsigned rank = rank_of(lane_id() <= last ? guess : kBeyond);
    const int lane = lane_of(rank, warp_min(rank));
    shared_.beside[level][lane_id()] = lane_id() == lane ? kBeyond : bound;
    best_bound = from_lane(bound, lane);
    return lane;
  }

  /// Each goes on from the nearest that any of them knows.
  __device__ void agree() {
    query_.put_nearest(shared_.kept[team_.warp]);
    __syncthreads();
    for (const auto& other : shared_.kept) query_.begin_with(other);
  }

  /// The last child of a group of siblings.
  __device__ int last_of(int level, unsigned group) const {
    return static_cast<int>(static_cast<unsigned>(tree_.level[level].count - 1) - group * kLanes);
  }

  /// @param next  round, for the children of nodes
  __device__ void take_all(LeftList& list, int next) {
    for (int i = team_.warp; i < list.count && !is_full_; i += kWarps) {
      const Left left = list.left[i];
      query_.lower_limit(team_.least());
      if (!__any_sync(kAllLanes, left.bound <= query_.limit())) continue;
      const bool is_tied = list.count > kMany && __any_sync(kAllLanes, left.bound > kClearly * query_.limit());
      if (is_tied && drop_tied(list, i)) continue;
      take(left, next);
    }
  }

  /// Drops what holds nothing of a warp's share from i on, of things that are as near as what is known: many, where
  /// sites are at the same place. @returns whether that is so of number i
  __device__ bool drop_tied(LeftList& list, int i) const {
    const int mine = i + kWarps * lane_id();
    const bool is_listed = mine < list.count;
    const Left left = list.left[is_listed ? mine : i];
    const bool is_left = is_worth_it(is_listed && left.bound <= query_.limit(), left.level(), left.number());
    if (is_listed && !is_left) list.left[mine].bound = kBeyond;
    __syncwarp();
    return (__ballot_sync(kAllLanes, is_left) & 1) == 0;
  }

  __device__ void take(const Left& left, int next) {
    if (left.level() == 0) {
      if (query_.look_at_leaves({left.number()}, 1)) team_.tell(query_.limit());
      return;
    }
    const int level = left.level() - 1, last = last_of(level, left.number());
    const float bound = query_.bound_of(Box(tree_.level[level].boxes, left.number(), min(lane_id(), last)));
    list(next, lane_id() <= last ? bound : kBeyond, level, left.number());
  }

  /// Lists what is left of a group of siblings.
  /// @param bound  of the lane's
  __device__ void list(int round, float bound, int level, unsigned group) {
    bool is_left = bound <= query_.limit();
    if (!__any_sync(kAllLanes, is_left)) return;
    const unsigned number = group * kLanes + static_cast<unsigned>(lane_id());
    const bool is_tied = is_left && bound > kClearly * query_.limit();
    if (__popc(__ballot_sync(kAllLanes, is_tied)) > kFew) is_left = is_worth_it(is_left, level, number);
    const bool waits = !all_counts_ && bound > kNearer * query_.limit();
    const Left left = Left::of(bound, level, number);
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
  /// @param is_left  whether the lane has a node, which is `number` of a level
  __device__ bool is_worth_it(bool is_left, int level, unsigned number) const {
    const auto worst = query_.worst();
    if (!is_left) return false;
    const DeviceLevel& siblings = tree_.level[level];
    return query_.may_improve(worst, Box(siblings.boxes, number / kLanes, static_cast<int>(number % kLanes)),
                              siblings.lowest[number]);
  }

  const DeviceTree& tree_;
  Query& query_;
  Memory& shared_;
  const Team<kWarps> team_;
  bool all_counts_ = false;  ///< nothing waits any more
  bool is_full_ = false;     ///< a list that the warp has added to
};

}  // namespace fathom::points::cuda
