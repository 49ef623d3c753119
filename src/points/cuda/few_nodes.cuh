// A query among sorted sites of so few leaves, or parents of leaves, that a team of warps has the boxes of all of them
// at hand: each warp looks at its own share of them, which are apart along the curve, so that all have about as much to
// do and share no list of what is left.
//
// Work: a lane for each box. A warp takes what is most likely to have the nearest site, two things at a time: two
// nodes, and of their leaves two, which are on their way together. It tells the others how near that is. They wait for
// one another once, when each has looked at its first two leaves. Cost: the boxes, and mostly two steps more for each
// level. Where much is left then, as inside a sphere, its leaves are sifted, kTogether at a time; of what is as near as
// the nearest, as where many sites are at one place, what holds no lower id is dropped. A query that may be given up
// learns what is left (patience.cuh).
#pragma once

#include "points/cuda/rounds.cuh"

namespace fathom::points::cuda {

/// Boxes to choose from, kBoxes in each lane.
template <class Query, int kBoxes>
class Choice {
 public:
  struct Taken {
    int lane, i;
  };

  /// The lane's box i. @param is_there  else there is none, and `box` is any
  __device__ void put(int i, bool is_there, const Query& query, const typename Query::Box& box) {
    bound_[i] = query.bound_of(box);
    const unsigned guess = rank_of(query.guess_of(box, bound_[i]));
    rank_[i] = is_there ? (guess & ~kWhich) | static_cast<unsigned>(i) : kNoRank;
  }
  __device__ void put_none(int i) {
    bound_[i] = INFINITY;
    rank_[i] = kNoRank;
  }

  /// Takes the most likely one of those within the limit. @returns whether there was one
  __device__ bool take(float limit, Taken& taken) {
    unsigned own = kNoRank;
#pragma unroll
    for (int i = 0; i < kBoxes; ++i)
      if (bound_[i] <= limit) own = min(own, rank_[i]);
    const unsigned least = warp_min(own);
    if (least == kNoRank) return false;
    taken = {lane_of(own, least), static_cast<int>(least & kWhich)};
#pragma unroll
    for (int i = 0; i < kBoxes; ++i)
      if (lane_id() == taken.lane && rank_[i] == least) rank_[i] = kNoRank;
    return true;
  }

  /// How many are left within the limit.
  __device__ int left(float limit) const {
    int count = 0;
#pragma unroll
    for (int i = 0; i < kBoxes; ++i)
      count += __popc(__ballot_sync(kAllLanes, bound_[i] <= limit && rank_[i] != kNoRank));
    return count;
  }

  static constexpr int kCount = kBoxes;

  /// Drops those of the lane of which a bit is not set.
  __device__ void keep(unsigned boxes) {
#pragma unroll
    for (int i = 0; i < kBoxes; ++i)
      if ((boxes >> i & 1) == 0) rank_[i] = kNoRank;
  }

  /// Lists them. @param numbers  by lane and box
  /// @returns how many they are
  template <class Numbers>
  __device__ int list(float limit, const Numbers& numbers, Left* list) const {
    int count = 0;
#pragma unroll
    for (int i = 0; i < kBoxes; ++i) {
      const bool is_left = bound_[i] <= limit && rank_[i] != kNoRank;
      const unsigned lanes = __ballot_sync(kAllLanes, is_left);
      const int place = count + __popc(lanes & fathom::cuda::lanes_before(lane_id()));
      if (is_left) list[place] = Left::of(bound_[i], 0, numbers.number_of(i, lane_id()));
      count += __popc(lanes);
    }
    return count;
  }

 private:
  static_assert((kBoxes & (kBoxes - 1)) == 0);
  static constexpr unsigned kWhich = kBoxes - 1;  ///< bits that say which of the lane's

  float bound_[kBoxes];
  unsigned rank_[kBoxes];  ///< of the guess how far what is nearest in it is, and which it is; kNoRank: taken, or none
};

/// Leaves that each warp has left, which are too many to look at one after the other.
template <int kWarps>
struct LeavesLeft {
  static constexpr int kMost = kFirstNodes / kWarps;
  Left left[kWarps][kMost];
};

/// @tparam kTogether  leaves that are sifted together
template <class Query, class First, int kWarps, int kTogether>
class FewNodes {
 public:
  __device__ FewNodes(const DeviceTree& tree, Query& query, const First& first, LeavesLeft<kWarps>& left,
                      const Team<kWarps>& team)
      : tree_(tree), query_(query), first_(first), left_(left.left[team.warp]), team_(team) {}

  /// All warps are done with it when it returns.
  __device__ void run() {
    Choice<Query, First::kGroups> nodes;
#pragma unroll
    for (int i = 0; i < First::kGroups; ++i)
      if (first_.has(i)) nodes.put(i, first_.is_there(i), query_, first_.box[i]);
      else nodes.put_none(i);
    for (bool are_more = true; are_more; sift()) {
      are_more = look_on(nodes);
      if constexpr (requires { query_.expect(0); })
        if (are_more) query_.expect(nodes.left(query_.limit()));
    }
    if (!has_met_) meet();
    __syncthreads();
  }

 private:
  using Box = typename Query::Box;
  static constexpr float kClearly = 1 - 0x1p-18;

  /// Children of two nodes.
  struct Pair {
    unsigned parent[2];
    __device__ unsigned number_of(int i, int lane) const {
      return (i == 0 ? parent[0] : parent[1]) * kLanes + static_cast<unsigned>(lane);
    }
  };

  /// At nodes that are leaves, or at leaves of the two most likely ones. @returns whether there may be more
  template <class Nodes>
  __device__ bool look_on(Nodes& nodes) {
    if (first_.level.level == 0) {
      look_at(nodes, first_);
      return false;
    }
    typename Nodes::Taken taken;
    if (!nodes.take(query_.limit(), taken)) return false;
    const unsigned nearest = first_.number_of(taken.i, taken.lane);
    const bool has_two = nodes.take(query_.limit(), taken);
    const Pair pair{{nearest, has_two ? first_.number_of(taken.i, taken.lane) : nearest}};
    auto leaves = leaves_of(pair, has_two);
    look_at(leaves, pair);
    if (nodes.left(query_.limit()) > kMostNear) drop_tied(nodes, first_, tree_.level[1]);
    return true;
  }

  __device__ Choice<Query, 2> leaves_of(const Pair& pair, bool has_two) const {
    Box box[2];
    bool is_there[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned last = static_cast<unsigned>(tree_.level[0].count - 1) - pair.parent[i] * kLanes;
      const auto lane = static_cast<unsigned>(lane_id());
      is_there[i] = lane <= last && (i == 0 || has_two);
      box[i] = {tree_.level[0].boxes, pair.parent[i], static_cast<int>(min(lane, last))};
    }
    Choice<Query, 2> leaves;
#pragma unroll
    for (int i = 0; i < 2; ++i) leaves.put(i, is_there[i], query_, box[i]);
    return leaves;
  }

  /// Looks at the most likely leaves, until none is left, or so many that they are listed.
  /// @param numbers  of the leaves, by lane and box
  template <class Leaves, class Numbers>
  __device__ void look_at(Leaves& leaves, const Numbers& numbers) {
    typename Leaves::Taken taken;
    while (!has_met_ || !list(leaves, numbers)) {
      if (!leaves.take(query_.limit(), taken)) return;
      const unsigned nearest = numbers.number_of(taken.i, taken.lane);
      const bool has_two = leaves.take(query_.limit(), taken);
      const unsigned number[] = {nearest, has_two ? numbers.number_of(taken.i, taken.lane) : nearest};
      query_.look_at_leaves(number, has_two ? 2 : 1);
      team_.tell(query_.limit());
      if (!has_met_) meet();
      query_.lower_limit(team_.least());
    }
  }

  /// Lists leaves if many are left. @returns whether it did
  template <class Leaves, class Numbers>
  __device__ bool list(Leaves& leaves, const Numbers& numbers) {
    if (leaves.left(query_.limit()) <= kMostNear) return false;
    drop_tied(leaves, numbers, tree_.level[0]);
    if (leaves.left(query_.limit()) <= kMostNear) return false;
    count_ = leaves.list(query_.limit(), numbers, left_);
    return true;
  }

  /// Where all boxes that are left are about as far as what is known, as where many sites are at a place, drops those
  /// that hold no lower id.
  template <class Boxes, class Numbers>
  __device__ void drop_tied(Boxes& boxes, const Numbers& numbers, const DeviceLevel& level) const {
    if (boxes.left(kClearly * query_.limit()) > 0) return;
    const auto worst = query_.worst();
    unsigned use = 0;
#pragma unroll 1
    for (int i = 0; i < Boxes::kCount; ++i) {
      const unsigned number = numbers.number_of(i, lane_id());
      if (number < static_cast<unsigned>(level.count) && may_improve(worst, level, number)) use |= 1u << i;
    }
    boxes.keep(use);
  }

  __device__ bool may_improve(const typename Query::Nearest& worst, const DeviceLevel& level, unsigned node) const {
    const Box box(level.boxes, node / kLanes, static_cast<int>(node % kLanes));
    return query_.may_improve(worst, box, level.lowest[node]);
  }

  /// Looks at the leaves that are listed, some at a time.
  __device__ void sift() {
    __syncwarp();
#pragma unroll 1
    for (int begin = 0; begin < count_; begin += kTogether) {
      const int count = min(kTogether, count_ - begin);
      const Left own = left_[begin + min(lane_id(), count - 1)];
      unsigned open = with_use((1u << count) - 1, own);
      if (open == 0) continue;
      unsigned leaves[kTogether];
#pragma unroll
      for (int l = 0; l < kTogether; ++l) leaves[l] = left_[begin + min(l, count - 1)].number();
      open &= query_.near_leaves(leaves, count);
      if (open == 0) continue;
      for (; open != 0; open = with_use(open & (open - 1), own))
        query_.look_at_leaves({from_lane(own.number(), __ffs(static_cast<int>(open)) - 1)}, 1);
      team_.tell(query_.limit());
      query_.lower_limit(team_.least());
    }
    __syncwarp();
    count_ = 0;
  }

  /// Of some lanes those with a leaf that may hold the nearest, as drop_tied() has it.
  __device__ unsigned with_use(unsigned lanes, const Left& own) const {
    lanes &= __ballot_sync(kAllLanes, own.bound <= query_.limit());
    if (lanes == 0 || (lanes & __ballot_sync(kAllLanes, own.bound <= kClearly * query_.limit())) != 0) return lanes;
    return lanes & __ballot_sync(kAllLanes, may_improve(query_.worst(), tree_.level[0], own.number()));
  }

  /// Each warp once.
  __device__ void meet() {
    __syncthreads();
    has_met_ = true;
    query_.lower_limit(team_.least());
  }

  const DeviceTree& tree_;
  Query& query_;
  const First& first_;
  Left (&left_)[LeavesLeft<kWarps>::kMost];
  const Team<kWarps> team_;
  int count_ = 0;  ///< of leaves that are listed
  bool has_met_ = false;
};

}  // namespace fathom::points::cuda
