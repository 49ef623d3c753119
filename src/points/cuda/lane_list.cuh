// The nearest sites found so far by one query, in ascending order of (squared distance, id), held by a warp: place j in
// lane j % 32, whose place j / 32 it is. With a list of one every lane holds it.
#pragma once

#include "core/cuda/warp.cuh"
#include "points/cuda/float_bound.cuh"
#include "points/nearest_list.h"

namespace fathom::points::cuda {

using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;
using fathom::cuda::lane_of;
using fathom::cuda::warp_min;

/// What another lane holds.
template <class T>
__device__ T from_lane(T value, int lane) {
  if constexpr (sizeof(T) == sizeof(Wide)) {
    const auto low = __shfl_sync(kAllLanes, static_cast<unsigned long long>(value), lane);
    const auto high = __shfl_sync(kAllLanes, static_cast<unsigned long long>(value >> 64), lane);
    return static_cast<T>(high) << 64 | low;
  } else {
    return __shfl_sync(kAllLanes, value, lane);
  }
}

/// Rises with the value, in 32 bits: says which of some values to look at first.
__device__ inline unsigned rank_of(float squared) { return __float_as_uint(squared); }
inline constexpr unsigned kNoRank = ~0u;

/// @tparam kMany  up to 64 sites; else one
template <class Value, bool kMany>
class LaneList {
 public:
  __device__ void clear(int k, Value limit) {
    k_ = k;
    worst_squared_ = limit;
    worst_id_ = kNobody;
    for (int s = 0; s < kPlaces; ++s) {
      squared_[s] = limit;
      id_[s] = kNobody;
    }
  }

  __device__ Value worst_squared() const { return worst_squared_; }
  __device__ std::int64_t worst_id() const { return worst_id_; }
  __device__ bool takes(Value squared, std::int64_t id) const {
    return squared < worst_squared_ || (squared == worst_squared_ && id < worst_id_);
  }

  /// Takes what each lane has, if it has any (`mine`) and it is near enough, the nearest first.
  __device__ void offer(bool mine, Value squared, std::int64_t id) {
    while (__any_sync(kAllLanes, mine = mine && takes(squared, id))) {
      const unsigned rank = mine ? rank_of(round_down(squared)) : kNoRank;
      const int lane = lane_of(rank, warp_min(rank));
      insert(from_lane(squared, lane), from_lane(id, lane));
      if (lane == lane_id()) mine = false;
    }
  }

  /// Takes what all lanes have, if it is near enough.
  __device__ void offer_one(Value squared, std::int64_t id) {
    if (takes(squared, id)) insert(squared, id);
  }

  /// Calls visit(j, squared, id) for each place j, in the lane that holds it (a single one: in lane 0).
  template <class Visit>
  __device__ void each(const Visit& visit) const {
    if constexpr (kMany) {
      for (int s = 0, j = lane_id(); s < kPlaces; ++s, j += 32)
        if (j < k_) visit(j, squared_[s], id_[s]);
    } else if (lane_id() == 0) {
      visit(0, worst_squared_, worst_id_);
    }
  }

 private:
  static constexpr int kPlaces = kMany ? 2 : 0;

  /// Moves what comes after the new one up by a place. Places from k on hold anything.
  __device__ void insert(Value squared, std::int64_t id) {
    if constexpr (!kMany) {
      worst_squared_ = squared;
      worst_id_ = id;
    } else {
      int place = 0;
      for (int s = 0; s < kPlaces; ++s)
        place += __popc(__ballot_sync(kAllLanes, squared_[s] < squared || (squared_[s] == squared && id_[s] < id)));
      const int lane = lane_id(), before = (lane + 31) % 32;
      const Value low = from_lane(squared_[0], before), high = from_lane(squared_[1], before);
      const std::int64_t low_id = from_lane(id_[0], before), high_id = from_lane(id_[1], before);
      shift(1, lane + 32 - place, squared, id, lane == 0 ? low : high, lane == 0 ? low_id : high_id);
      shift(0, lane - place, squared, id, low, low_id);
      const int last = (k_ - 1) % 32;
      worst_squared_ = from_lane(k_ > 32 ? squared_[1] : squared_[0], last);
      worst_id_ = from_lane(k_ > 32 ? id_[1] : id_[0], last);
    }
  }

  /// @param behind  how many places this one is behind the new one's
  __device__ void shift(int s, int behind, Value squared, std::int64_t id, Value left, std::int64_t left_id) {
    if (behind < 0) return;
    squared_[s] = behind == 0 ? squared : left;
    id_[s] = behind == 0 ? id : left_id;
  }

  int k_ = 1;
  Value worst_squared_;
  std::int64_t worst_id_;
  Value squared_[kMany ? 2 : 1];
  std::int64_t id_[kMany ? 2 : 1];
};

}  // namespace fathom::points::cuda
