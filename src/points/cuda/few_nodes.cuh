// A query among sorted sites of so few leaves, or parents of leaves, that a team of warps has the boxes of all of them
// at hand: each warp looks at its own share of them, which are apart along the curve, so that all have about as much to
// do and need no list of what is left.
//
// Work: a lane for each box. A warp takes what is most likely to have the nearest site, two things at a time: two
// nodes, and of their leaves two, which are on their way together. It tells the others how near that is. They wait for
// one another once, when each has looked at its first two leaves. Cost: the boxes, and mostly two steps more for each
// level; where much is left then, as inside a sphere or where many sites are at one place, that is for a Descent.
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

 private:
  static_assert((kBoxes & (kBoxes - 1)) == 0);
  static constexpr unsigned kWhich = kBoxes - 1;  ///< bits that say which of the lane's

  float bound_[kBoxes];
  unsigned rank_[kBoxes];  ///< of the guess how far what is nearest in it is, and which it is; kNoRank: taken, or none
};

template <class Query, class First, int kWarps>
class FewNodes {
 public:
  __device__ FewNodes(const DeviceTree& tree, Query& query, const First& first, const Team<kWarps>& team)
      : tree_(tree), query_(query), first_(first), team_(team) {}

  /// @returns whether that was all
  __device__ bool run() {
    Choice<Query, First::kGroups> nodes;
#pragma unroll
    for (int i = 0; i < First::kGroups; ++i)
      if (first_.has(i)) nodes.put(i, first_.is_there(i), query_, first_.box[i]);
      else nodes.put_none(i);
    const bool is_done = first_.level.level == 0 ? look_at(nodes, first_) : go_through(nodes);
    if (!has_met_) meet();
    return __syncthreads_or(!is_done) == 0;
  }

 private:
  using Box = typename Query::Box;

  /// Children of two nodes.
  struct Pair {
    unsigned parent[2];
    __device__ unsigned number_of(int i, int lane) const {
      return (i == 0 ? parent[0] : parent[1]) * kLanes + static_cast<unsigned>(lane);
    }
  };

  /// Through parents of leaves. @returns whether that was all
  template <class Nodes>
  __device__ bool go_through(Nodes& nodes) {
    typename Nodes::Taken taken;
    while (nodes.take(query_.limit(), taken)) {
      const unsigned nearest = first_.number_of(taken.i, taken.lane);
      const bool has_two = nodes.take(query_.limit(), taken);
      const Pair pair{{nearest, has_two ? first_.number_of(taken.i, taken.lane) : nearest}};
      auto leaves = leaves_of(pair, has_two);
      if (!look_at(leaves, pair) || nodes.left(query_.limit()) > kMostNear) return false;
    }
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

  /// @param numbers  of the leaves, by lane and box
  /// @returns whether that was all
  template <class Leaves, class Numbers>
  __device__ bool look_at(Leaves& leaves, const Numbers& numbers) {
    typename Leaves::Taken taken;
    while (leaves.take(query_.limit(), taken)) {
      const unsigned nearest = numbers.number_of(taken.i, taken.lane);
      const bool has_two = leaves.take(query_.limit(), taken);
      const unsigned number[] = {nearest, has_two ? numbers.number_of(taken.i, taken.lane) : nearest};
      query_.look_at_leaves(number, has_two ? 2 : 1);
      team_.tell(query_.limit());
      if (!has_met_) meet();
      query_.lower_limit(team_.least());
      if (leaves.left(query_.limit()) > kMostNear) return false;
    }
    return true;
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
  const Team<kWarps> team_;
  bool has_met_ = false;
};

}  // namespace fathom::points::cuda
