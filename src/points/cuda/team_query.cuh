// One query of sorted sites that float32 holds, worked on by a team of warps in float32: each lane keeps the nearest of
// the sites that it has measured, the lowest id if some are as near, by the arithmetic that decides. That is asked only
// where float32 does not tell two sites apart, which is rare.
//
// How far apart they must be for float32 to tell: float_query.cuh.
#pragma once

#include "points/cuda/float_query.cuh"

namespace fathom::points::cuda {

template <class T, int kAxes>
class TeamQuery {
 public:
  using Box = NodeBox<T, kAxes>;
  static constexpr bool kHasLeaves = true;
  static constexpr unsigned kNone = ~0u;  ///< 2³² − 1 sites have lower ids

  /// A site, and how far it is in float32.
  struct Kept {
    float at[kAxes], squared;
    unsigned id;  ///< kNone: there is none
  };
  /// A site in the arithmetic that decides.
  struct Nearest {
    double squared;
    unsigned id;
    __device__ bool operator<(const Nearest& other) const {
      return squared < other.squared || (squared == other.squared && id < other.id);
    }
  };

  /// Reads a query's place. @returns whether float32 holds it, and double the squared distances between it and sites
  __device__ static bool read(const DeviceTree& tree, const Cloud& queries, std::int64_t query, float (&at)[kAxes]) {
    constexpr float kLargest = std::is_same_v<T, float> ? kNoLimit : static_cast<float>(kWholeInFloat);
    if (!std::is_same_v<T, float> && !tree.whole) return false;
    bool held = true;
    if (queries.dtype == DType::float32) {
      for (int k = 0; k < kAxes; ++k) at[k] = queries.get<float>(k, query);
      for (int k = 0; k < kAxes; ++k) held &= fabsf(at[k]) <= kLargest;
      return held;
    }
    if (queries.dtype != DType::int32) return false;
    int whole[kAxes];
    for (int k = 0; k < kAxes; ++k) whole[k] = queries.get<std::int32_t>(k, query);
    for (int k = 0; k < kAxes; ++k) {
      at[k] = static_cast<float>(whole[k]);
      held &= fabsf(at[k]) < static_cast<float>(kWholeInFloat);
    }
    return held;
  }

  /// @param farthest  squared distance beyond which nothing qualifies
  __device__ TeamQuery(const DeviceTree& tree, const float (&place)[kAxes], double farthest)
      : tree_(tree), limit_(FloatQuery<T, kAxes>::about(limit_of(farthest))) {
    for (int k = 0; k < kAxes; ++k) at_[k] = place[k];
    for (int k = 0; k < kAxes; ++k) kept_.at[k] = 0;
    kept_.squared = INFINITY;
    kept_.id = kNone;
  }

  /// What is beyond does not matter; at most kNoLimit.
  __device__ float limit() const { return limit_; }
  __device__ void lower_limit(float limit) { limit_ = fminf(limit_, limit); }

  __device__ float bound_of(const void* boxes, unsigned group, int child) const {
    return bound_of(Box(boxes, group, child));
  }
  __device__ float bound_of(const Box& box) const {
    float bound = 0;
    for (int k = 0; k < kAxes; ++k) {
      const float gap = fmaxf(fmaxf(below(box, k), above(box, k)), 0.f);
      bound = __fmaf_rd(gap, gap, bound);
    }
    return bound;
  }

  /// Least for the box that is most likely to have the nearest site, as WarpQuery says.
  __device__ float guess_of(const Box& box, float bound) const {
    constexpr float kLittle = 0x1p-12f;
    float squared = 0;  // of twice the way to the middle
    for (int k = 0; k < kAxes; ++k) {
      const float way = below(box, k) - above(box, k);
      squared = fmaf(way, way, squared);
    }
    return fminf(fmaf(kLittle, squared, bound), kNoLimit);
  }

  /// Looks at `count` leaves, which are all on their way together; what is behind them in `leaves` are leaves, too.
  /// @returns that it did
  template <int kMost>
  __device__ bool look_at_leaves(const unsigned (&leaves)[kMost], int count) {
    float site[kMost][kAxes];
    unsigned id[kMost];
#pragma unroll
    for (int l = 0; l < kMost; ++l) {
      fetch_in_float<T>(tree_, leaves[l], site[l]);
      id[l] = id_of(leaves[l]);
    }
#pragma unroll
    for (int l = 0; l < kMost; ++l)
      if (l < count) keep(site[l], id[l]);
    lower_limit(beyond(__uint_as_float(warp_min(rank_of(kept_.squared)))));
    return true;
  }

  /// Which of `count` leaves, all on their way together, may have the nearest site: a bit for each; mostly none has. It
  /// goes by how near their sites are.
  template <int kMost>
  __device__ unsigned near_leaves(const unsigned (&leaves)[kMost], int count) {
    float site[kMost][kAxes], squared[kMost], least = kNoLimit;
#pragma unroll
    for (int l = 0; l < kMost; ++l) fetch_in_float<T>(tree_, leaves[l], site[l]);
#pragma unroll
    for (int l = 0; l < kMost; ++l) {
      squared[l] = squared_in_float(at_, site[l]);
      least = fminf(least, squared[l]);
    }
    if (!__any_sync(kAllLanes, least <= limit_)) return 0;
    lower_limit(beyond(__uint_as_float(warp_min(rank_of(least)))));
    unsigned near = 0;
#pragma unroll
    for (int l = 0; l < kMost; ++l)
      near |= (__any_sync(kAllLanes, fminf(squared[l], kNoLimit) <= limit_) ? 1u : 0u) << l;
    return near & ((1u << count) - 1);
  }

  /// Tells another warp of one of the nearest sites that the lanes have kept.
  __device__ void put_nearest(Kept& kept) const {
    const unsigned rank = rank_of(kept_.squared);
    if (lane_id() == lane_of(rank, warp_min(rank))) kept = kept_;
  }
  /// Goes by what another warp has told.
  __device__ void begin_with(const Kept& kept) {
    if (lane_id() == 0 && kept.id != kNone) keep(kept.at, kept.id);
    lower_limit(beyond(kept.squared));
  }

  /// What float32 does not tell of boxes. @param worst  as the lanes know it together
  __device__ bool may_improve(const Nearest& worst, const Box& box, unsigned lowest_id) const {
    double bound = 0;
    for (int k = 0; k < kAxes; ++k)
      bound += square<double>(way_to_interval(static_cast<double>(at_[k]), static_cast<double>(box.low[k]),
                                              static_cast<double>(box.high[k]), 0.0));
    return Nearest{bound, lowest_id} < worst;
  }
  /// The nearest of what the lanes have kept.
  __device__ Nearest worst() const { return nearest_of(kept_.id == kNone ? nobody() : own()); }

  __device__ bool is_content_with(std::int64_t) const { return false; }
  __device__ void stop_at(float) const {}

  /// Whether what the lane has kept may be the nearest. @param limit  as the team knows it
  __device__ bool is_left(float limit) const { return kept_.id != kNone && fminf(kept_.squared, kNoLimit) <= limit; }

  __device__ static Nearest nobody() { return {INFINITY, kNone}; }

  /// What the lane has kept.
  __device__ Nearest own() const { return {squared_distance_to(kept_.at), kept_.id}; }

  /// The nearest of what the lanes have.
  __device__ static Nearest nearest_of(const Nearest& own) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(own.squared));
    const auto high = static_cast<unsigned>(bits >> 32), least_high = warp_min(high);
    const unsigned low = high == least_high ? static_cast<unsigned>(bits) : ~0u, least_low = warp_min(low);
    const unsigned id = high == least_high && low == least_low ? own.id : kNone;
    const auto least = static_cast<unsigned long long>(least_high) << 32 | least_low;
    return {__longlong_as_double(static_cast<long long>(least)), warp_min(id)};
  }

 private:
  /// Of the lane's site.
  __device__ unsigned id_of(unsigned leaf) const {
    return tree_.ids[std::size_t{leaf} * kSortedLeaf + static_cast<unsigned>(lane_id())];
  }

  /// How far the place is below a box, and how far above, along an axis: at most.
  __device__ float below(const Box& box, int k) const { return __fsub_rd(static_cast<float>(box.low[k]), at_[k]); }
  __device__ float above(const Box& box, int k) const { return __fsub_rd(at_[k], static_cast<float>(box.high[k])); }

  __device__ double squared_distance_to(const float (&site)[kAxes]) const {
    double squared = 0;
    for (int k = 0; k < kAxes; ++k)
      squared += square<double>(static_cast<double>(at_[k]) - static_cast<double>(site[k]));
    return squared;
  }

  /// A site, if it is nearer or lower than what the lane has.
  __device__ void keep(const float (&site)[kAxes], unsigned id) {
    const float squared = squared_in_float(at_, site);
    if (beyond(kept_.squared) < squared) return;
    const bool is_clear = beyond(squared) < kept_.squared || kept_.id == kNone;
    if (!is_clear && !(Nearest{squared_distance_to(site), id} < own())) return;
    for (int k = 0; k < kAxes; ++k) kept_.at[k] = site[k];
    kept_.squared = squared;
    kept_.id = id;
  }

  const DeviceTree& tree_;
  float at_[kAxes], limit_;
  Kept kept_;
};

}  // namespace fathom::points::cuda
