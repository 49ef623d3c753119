// One query against voxels, worked on by a warp: what it has found, and how it measures the 64 children of a word, of
// which each lane has those of bits `lane` and `lane + 32`. The arithmetic that decides is the CPU's.
#pragma once

#include "points/cuda/device_pyramid.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

inline constexpr int kHalves = 2;  ///< of a word's bits

__device__ inline int bit_of_lane(int half) { return half * kLanes + lane_id(); }
__device__ inline bool has(unsigned long long bits, int half) { return (bits >> bit_of_lane(half) & 1) != 0; }

/// The least of the lanes' values, 32 bits at a time. Numbers that are not negative rise with their bits.
__device__ inline float least_of_lanes(float value) { return __uint_as_float(warp_min(__float_as_uint(value))); }
__device__ inline unsigned long long least_of_lanes(unsigned long long value) {
  const auto high = static_cast<unsigned>(value >> 32), least = warp_min(high);
  const unsigned low = warp_min(high == least ? static_cast<unsigned>(value) : ~0u);
  return static_cast<unsigned long long>(least) << 32 | low;
}
__device__ inline std::int64_t least_of_lanes(std::int64_t value) {
  return static_cast<std::int64_t>(least_of_lanes(static_cast<unsigned long long>(value)));
}
__device__ inline double least_of_lanes(double value) {
  return __longlong_as_double(least_of_lanes(std::int64_t{__double_as_longlong(value)}));
}
__device__ inline Wide least_of_lanes(Wide value) {
  const auto high = static_cast<unsigned long long>(value >> 64), least = least_of_lanes(high);
  const unsigned long long low = least_of_lanes(high == least ? static_cast<unsigned long long>(value) : ~0ull);
  return static_cast<Wide>(least) << 64 | low;
}

/// Squared distance to a cell that is 2^shift elements wide.
template <class Value, int kAxes>
__device__ Value squared_to(const Place<kAxes>& place, const Cell& cell, int shift) {
  Value squared{};
  for (int k = 0; k < kAxes; ++k) squared += square_to_cell<Value>(place.at[k], cell[k], shift);
  return squared;
}

/// Whatever is asked for, decided as on the CPU at every step.
/// @tparam kMany  more than one neighbour
template <class Value, int kAxes, bool kMany>
class AnyVoxels {
 public:
  using Bound = Value;

  __device__ AnyVoxels(const DevicePyramid& pyramid, const DeviceRequest& request, std::int64_t query,
                       const Place<kAxes>& place)
      : pyramid_(pyramid), request_(request), query_(query), place_(place) {
    if constexpr (std::is_same_v<Value, double>) list_.clear(request.k, request.limit);
    else list_.clear(request.k, request.wide_limit);
    if (request.has_cone) cone_ = request.cones ? request.cones[query] : request.cone;
    reach_ = unseen_ = reach_of(request, list_.worst_squared(), list_.worst_id());
  }

  /// Beyond all bounds.
  __device__ static Bound nowhere() {
    if constexpr (std::is_same_v<Value, double>) return INFINITY;
    else return ~Value{0};
  }
  __device__ Bound bound_of(const Cell& cell, int shift) const { return squared_to<Value>(place_, cell, shift); }
  __device__ bool is_near(Bound bound) const { return !(bound > reach_); }

  /// Whether one of a cell's elements could go on the list.
  __device__ bool may_better(Bound bound, const Cell& cell, int shift) const {
    if (bound != list_.worst_squared() && !request_.has_cone) return true;
    const CellBox box = CellBox::of(cell, shift, pyramid_.extents, kAxes);
    if (bound == list_.worst_squared() && linear_index(box.low, pyramid_.extents, kAxes) > list_.worst_id())
      return false;
    return !request_.has_cone || may_hold(cone_, place_.at, box, kAxes);
  }

  /// The elements of a word of level 0.
  __device__ void take(const Cell& word, unsigned long long bits) {
    work_ += __popcll(bits);
    for (int half = 0; half < kHalves; ++half) {
      const Cell element = child_of(word, bit_of_lane(half), kAxes);
      const Value squared = squared_to<Value>(place_, element, 0);
      const std::int64_t id = linear_index(element, pyramid_.extents, kAxes);
      const bool counts = has(bits, half) && list_.takes(squared, id);
      list_.offer(counts && in_cone(element, squared), squared, id);
    }
    reach_ = reach_of(request_, list_.worst_squared(), list_.worst_id());
  }

  /// Whether it has looked at as many elements as it may.
  __device__ bool is_content() const { return request_.work_limit > 0 && work_ >= request_.work_limit; }
  /// Says that what is left is no nearer than this.
  __device__ void leave(Bound bound) {
    stopped_ = true;
    unseen_ = smaller(unseen_, bound);
  }

  __device__ void write() const {
    list_.each([&](int j, Value squared, std::int64_t id) {
      put_neighbour(request_.answers, query_, j, squared, id);
      const Value lower = smaller(squared, smaller(reach_, unseen_));
      if (j == 0) put_root(request_.answers.lower, query_, 0, stopped_ || id != kNobody, lower);
    });
  }

 private:
  __device__ bool in_cone(const Cell& element, Value squared) const {
    return !request_.has_cone || holds(cone_, place_.at, element, static_cast<double>(squared), kAxes);
  }

  const DevicePyramid& pyramid_;
  const DeviceRequest& request_;
  const std::int64_t query_;
  const Place<kAxes> place_;
  LaneList<Value, kMany> list_;
  ConeOfQuery cone_;
  Value reach_, unseen_;  ///< as on the CPU
  std::int64_t work_ = 0;
  bool stopped_ = false;
};

/// The nearest element that a lane has measured; which others may be nearer, float32 numbers rounded down tell first.
template <int kAxes>
class NearestOfLane {
 public:
  struct Found {
    double squared;
    std::int64_t id;
  };

  __device__ NearestOfLane(const DevicePyramid& pyramid, const DeviceRequest& request, const Place<kAxes>& place)
      : pyramid_(pyramid), place_(place), found_{request.limit, kNobody} {
    for (int k = 0; k < kAxes; ++k) around_[k] = FloatInterval::of(place.at[k]).kept();
    limit_ = fminf(limit_of(found_.squared), kNoLimit);
  }

  __device__ const Found& found() const { return found_; }
  __device__ const FloatInterval& around(int axis) const { return around_[axis]; }

  /// Bounds beyond do not matter.
  __device__ float limit() const { return limit_; }
  __device__ void lower_limit(float limit) { limit_ = fminf(limit_, limit); }

  template <class Index>
  __device__ float bound_of(const CellOf<Index>& cell, int shift) const {
    Ends low[kAxes], high[kAxes];
    for (int k = 0; k < kAxes; ++k) {
      const auto at = static_cast<unsigned>(cell[k]);
      low[k] = {at << shift};
      high[k] = {((at + 1) << shift) - 1};
    }
    return float_bound(around_, low, high);
  }

  /// Whether one of a cell's elements could come before what is kept. Where float32 does not tell, the arithmetic that
  /// decides does.
  template <class Index>
  __device__ bool may_better(float bound, const CellOf<Index>& cell, int shift) const {
    return is_clearly_near(bound) || may_come_before(found_, cell, shift);
  }
  __device__ bool is_clearly_near(float bound) const { return bound < (1 - 0x1p-20f) * limit_; }
  template <class Index>
  __device__ bool may_come_before(const Found& best, const CellOf<Index>& given, int shift) const {
    const Cell cell{{given[0], given[1], given[2]}};
    const double squared = squared_to<double>(place_, cell, shift);
    const CellBox box = CellBox::of(cell, shift, pyramid_.extents, kAxes);
    return squared < best.squared ||
           (squared == best.squared && linear_index(box.low, pyramid_.extents, kAxes) < best.id);
  }

  /// Keeps it, if it comes before what is kept.
  __device__ void measure(const ShortCell& element) {
    double squared = 0;
    for (int k = 0; k < kAxes; ++k) squared += square<double>(place_.at[k] - static_cast<double>(element[k]));
    if (squared > found_.squared) return;
    const std::int64_t id = linear_index(element, pyramid_.extents, kAxes);
    if (squared == found_.squared && id > found_.id) return;
    found_ = {squared, id};
    lower_limit(limit_of(squared));
  }

 private:
  /// A coordinate that 32 bits hold, as float_bound() asks for it.
  struct Ends {
    unsigned at;
    friend __device__ float float_below(Ends x) { return __uint2float_rd(x.at); }
    friend __device__ float float_above(Ends x) { return __uint2float_ru(x.at); }
  };

  const DevicePyramid& pyramid_;
  const Place<kAxes>& place_;
  FloatInterval around_[kAxes];  ///< the place
  Found found_;                  ///< at first the farthest that qualifies
  float limit_;
};

__device__ inline void put_nearest(const DeviceRequest& request, std::int64_t query, double squared, std::int64_t id) {
  put_neighbour(request.answers, query, 0, squared, id);
  put_root(request.answers.lower, query, 0, id != kNobody, squared);
}

/// The nearest one, exactly: each lane keeps the nearest that it has measured.
template <int kAxes>
class NearestVoxel {
 public:
  using Bound = float;

  __device__ NearestVoxel(const DevicePyramid& pyramid, const DeviceRequest& request, std::int64_t query,
                          const Place<kAxes>& place)
      : request_(request), query_(query), own_(pyramid, request, place) {}

  __device__ static Bound nowhere() { return INFINITY; }
  __device__ Bound bound_of(const Cell& cell, int shift) const { return own_.bound_of(cell, shift); }
  __device__ bool is_near(Bound bound) const { return bound <= own_.limit(); }
  __device__ bool may_better(Bound bound, const Cell& cell, int shift) const {
    return own_.is_clearly_near(bound) || own_.may_come_before(nearest_of_lanes(), cell, shift);
  }

  __device__ void take(const Cell& word, unsigned long long bits) {
    const ShortCell cell{{static_cast<int>(word[0]), static_cast<int>(word[1]), static_cast<int>(word[2])}};
    for (int half = 0; half < kHalves; ++half)
      if (has(bits, half)) own_.measure(child_of(cell, bit_of_lane(half), kAxes));
    own_.lower_limit(least_of_lanes(own_.limit()));
  }

  __device__ static bool is_content() { return false; }
  __device__ static void leave(Bound) {}

  __device__ void write() const {
    const Found best = nearest_of_lanes();
    if (lane_id() == 0) put_nearest(request_, query_, best.squared, best.id);
  }

 private:
  using Found = typename NearestOfLane<kAxes>::Found;

  __device__ Found nearest_of_lanes() const {
    const Found& mine = own_.found();
    const double least = least_of_lanes(mine.squared);
    return {least, least_of_lanes(mine.squared == least ? mine.id : kNobody)};
  }

  const DeviceRequest& request_;
  const std::int64_t query_;
  NearestOfLane<kAxes> own_;
};

}  // namespace fathom::points::cuda
