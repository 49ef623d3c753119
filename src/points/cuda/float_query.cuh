// One query of sorted sites, worked on by a warp in float32: which site may be the nearest. Mostly one alone may, and
// the arithmetic that decides need measure no other.
//
// Where float32 holds the coordinates, the roundings of a squared distance are those of a difference, twice, of a
// square and of two sums: 5 · 2⁻²⁴ of it. So a site may be the nearest, or as near, to the numbers that decide, as long
// as it is no farther than the nearest by 10 · 2⁻²⁴; kClose allows for 12, which covers its own rounding and those of
// double, and kTiny for what underflows.
#pragma once

#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

/// What float32 has beyond this is farther than what it has at `squared`; at most infinite.
__device__ inline float beyond(float squared) {
  constexpr float kClose = 1 + 0x1.8p-21f, kTiny = 0x1p-140f;
  return fmaf(squared, kClose, kTiny);
}

/// A leaf's site of the lane.
template <class T, int kAxes>
__device__ void fetch_in_float(const DeviceTree& tree, unsigned leaf, float (&site)[kAxes]) {
  const T* block = static_cast<const T*>(tree.blocks) + lane_id();
  block += std::size_t{leaf} * (kAxes * kSortedLeaf);
  for (int k = 0; k < kAxes; ++k) site[k] = static_cast<float>(block[k * kSortedLeaf]);
}

template <int kAxes>
__device__ float squared_in_float(const float (&place)[kAxes], const float (&site)[kAxes]) {
  float squared = 0;
  for (int k = 0; k < kAxes; ++k) {
    const float way = site[k] - place[k];
    squared = k == 0 ? way * way : fmaf(way, way, squared);
  }
  return squared;
}

template <class T, int kAxes>
class FloatQuery {
 public:
  using Box = NodeBox<T, kAxes>;
  static constexpr bool kHasLeaves = true;
  static constexpr int kTogether = kListedTogether;             ///< leaves of a list that are on their way together
  static constexpr unsigned kNoSite = ~0u, kUnclear = ~0u - 1;  ///< the last of 2³² − 1 sites is never clear

  /// Whether float32 holds a place, and double the squared distances between it and sites of integers.
  __device__ static bool holds(const Place<kAxes>& place) {
    bool held = true;
    for (const double x : place.at) {
      held &= static_cast<double>(static_cast<float>(x)) == x;
      if constexpr (std::is_same_v<T, std::int32_t>) held &= fabs(x) <= kWholeInFloat;
    }
    return held;
  }

  /// @param places  one in each lane
  /// @param lane    whose it is
  /// @param limit   what does not matter is beyond
  __device__ FloatQuery(const DeviceTree& tree, const Place<kAxes>& places, int lane, float limit)
      : tree_(tree), limit_(limit) {
    for (int k = 0; k < kAxes; ++k) at_[k] = from_lane(static_cast<float>(places.at[k]), lane);
  }

  /// What is within a squared distance, as far as float32 tells; at most kNoLimit.
  __device__ static float about(float squared) { return fminf(beyond(squared), kNoLimit); }

  __device__ float limit() const { return limit_; }

  /// Goes by how far a site is, which is yet to be looked at.
  __device__ void start_from(unsigned position) {
    const T* site = site_at(tree_, position);
    float place[kAxes];
    for (int k = 0; k < kAxes; ++k) place[k] = static_cast<float>(site[k * kSortedLeaf]);
    limit_ = fminf(limit_, about(squared_in_float(at_, place)));
  }
  /// All sites are to be looked at again.
  __device__ void begin_again() { best_ = second_ = INFINITY; }

  __device__ float bound_of(const void* boxes, unsigned group, int child) const {
    const Box box(boxes, group, child);
    FloatInterval around[kAxes];
    for (int k = 0; k < kAxes; ++k) around[k] = {at_[k], at_[k]};
    return float_bound(around, box.low, box.high);
  }
  /// What is about as near as the nearest is looked at.
  __device__ int worst() const { return 0; }
  __device__ bool may_improve(int, const Box&, std::int64_t) const { return true; }
  __device__ bool is_content_with(std::int64_t) const { return false; }
  __device__ void stop_at(float) const {}

  /// Looks at `count` leaves, each once. @returns that it did
  template <int kMost>
  __device__ bool look_at_leaves(const unsigned (&leaves)[kMost], int count) {
    float site[kMost][kAxes];
#pragma unroll
    for (int l = 0; l < kMost; ++l) fetch_in_float<T>(tree_, leaves[l], site[l]);
#pragma unroll
    for (int l = 0; l < kMost; ++l)
      if (l < count) keep(squared_in_float(at_, site[l]), leaves[l]);
    limit_ = fminf(limit_, about(__uint_as_float(warp_min(__float_as_uint(best_)))));
    return true;
  }

  /// Position of the nearest site, the lowest id if some are as near; kNoSite: none is within the limit that it began
  /// with; kUnclear: float32 does not tell. @param places  as above
  __device__ unsigned winner(const Place<kAxes>& places, int lane) const {
    const bool mine = best_ <= limit_;
    const unsigned lanes = __ballot_sync(kAllLanes, mine);
    if (limit_ == kNoLimit || __any_sync(kAllLanes, second_ <= limit_)) return kUnclear;
    if (lanes == 0) return kNoSite;
    int found = __ffs(static_cast<int>(lanes)) - 1;
    if ((lanes & (lanes - 1)) != 0) found = nearest_of(mine, places, lane);
    return from_lane(leaf_, found) * kLanes + static_cast<unsigned>(found);
  }

  /// In the arithmetic that decides.
  __device__ static double squared_distance(const DeviceTree& tree, const Place<kAxes>& place, unsigned position) {
    const T* site = site_at(tree, position);
    double squared = 0;
    for (int k = 0; k < kAxes; ++k) squared += square<double>(place.at[k] - static_cast<double>(site[k * kSortedLeaf]));
    return squared;
  }

 private:
  __device__ void keep(float squared, unsigned leaf) {
    second_ = fminf(second_, fmaxf(squared, best_));
    if (squared < best_) leaf_ = leaf;
    best_ = fminf(best_, squared);
  }

  __device__ static const T* site_at(const DeviceTree& tree, unsigned position) {
    return static_cast<const T*>(tree.blocks) + std::size_t{position / kLanes} * (kAxes * kSortedLeaf) +
           position % kLanes;
  }

  /// The lane with the nearest of the sites that some lanes have.
  __device__ int nearest_of(bool mine, const Place<kAxes>& places, int lane) const {
    Place<kAxes> place;
    for (int k = 0; k < kAxes; ++k) place.at[k] = from_lane(places.at[k], lane);
    unsigned long long bits = ~0ull;
    unsigned id = ~0u;
    if (mine) {
      const unsigned position = leaf_ * kLanes + static_cast<unsigned>(lane_id());
      bits = static_cast<unsigned long long>(__double_as_longlong(squared_distance(tree_, place, position)));
      id = tree_.ids[position];
    }
    const auto high = static_cast<unsigned>(bits >> 32), least_high = warp_min(high);
    const unsigned low = high == least_high ? static_cast<unsigned>(bits) : ~0u, least_low = warp_min(low);
    const bool nearest = mine && high == least_high && low == least_low;
    return lane_of(nearest ? id : ~0u, warp_min(nearest ? id : ~0u));
  }

  const DeviceTree& tree_;
  float at_[kAxes], limit_;
  float best_ = INFINITY, second_ = INFINITY;  ///< of the lane's sites the nearest, and the next
  unsigned leaf_ = 0;                          ///< of the nearest
};

}  // namespace fathom::points::cuda
