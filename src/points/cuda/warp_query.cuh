// One query, worked on by a warp: what it has found, and how it measures sites and boxes, one in each lane. The
// arithmetic is that of points/measure.hd.h, so that the CPU's bytes come out; float32 numbers that are rounded down
// say before that what cannot matter.
#pragma once

#include "points/cuda/carried.cuh"
#include "points/cuda/device_request.h"
#include "points/cuda/float_bound.cuh"
#include "points/cuda/lane_list.cuh"
#include "points/cuda/read_points.cuh"

namespace fathom::points::cuda {

/// Where a query is. One that is not sound is nowhere: no distance to it compares.
template <int kAxes>
struct Place {
  double at[kAxes];

  /// @tparam kPeriodic  there may be periods
  template <bool kPeriodic>
  __device__ static Place of(const DeviceRequest& request, std::int64_t query) {
    double place[1][kAxes];
    read_points(request.queries, {query}, place);
    Place result;
    for (int k = 0; k < kAxes; ++k) {
      const double x = place[0][k];
      result.at[k] = is_sound(x) ? x : NAN;
      if constexpr (kPeriodic) result.at[k] = into_period(result.at[k], request.period[k]);
    }
    return result;
  }

  /// Whether float32 holds whole coordinates of it.
  __device__ bool is_small() const {
    bool small = true;
    for (const double x : at) small &= fabs(x) <= kWholeInFloat;
    return small;
  }

  /// Whether squared distances to the sites may pass what double holds exactly.
  __device__ bool is_wide(const DeviceTree& tree) const {
    if (tree.whole && is_small()) return false;  // mostly, and known without the sites' extent
    double sum = 0;
    for (int k = 0; k < kAxes; ++k) {
      const double reach = larger(larger(at[k], tree.high[k]) - smaller(at[k], tree.low[k]), 0.0);
      sum += reach * reach;
    }
    return sum > static_cast<double>(kExactInDouble);
  }
};

/// What is asked for: whatever there is, by each metric; or one Euclidean neighbour without periods and cones, of sites
/// in the caller's order or of sorted ones.
enum class Kind { general, taxicab, chessboard, in_order, sorted };

FATHOM_HD constexpr bool is_general(Kind kind) { return kind != Kind::in_order && kind != Kind::sorted; }
FATHOM_HD constexpr Metric metric_of(Kind kind) {
  return kind == Kind::taxicab ? Metric::taxicab : kind == Kind::chessboard ? Metric::chessboard : Metric::euclidean;
}

/// Calls visitor(std::integral_constant<Kind, kind>{}) with the general kind of a metric.
template <class Visitor>
void visit_general(Metric metric, Visitor&& visitor) {
  switch (metric) {
    case Metric::taxicab: return visitor(std::integral_constant<Kind, Kind::taxicab>{});
    case Metric::chessboard: return visitor(std::integral_constant<Kind, Kind::chessboard>{});
    default: return visitor(std::integral_constant<Kind, Kind::general>{});
  }
}

/// Of sites: sorted ones have no more than 32 bits hold.
template <Kind kKind>
using Id = std::conditional_t<kKind == Kind::sorted, std::uint32_t, std::int64_t>;

/// A site that has been measured.
template <class T, int kAxes, Kind kKind>
struct Measured {
  T at[kAxes];
  Id<kKind> id;  ///< kNone: there is none

  static constexpr Id<kKind> kNone = std::numeric_limits<Id<kKind>>::max();
};

/// The box of one of a group of siblings.
template <class T, int kAxes>
struct NodeBox {
  T low[kAxes], high[kAxes];

  NodeBox() = default;
  /// No memory holds boxes of 2³² numbers.
  __device__ NodeBox(const void* boxes, unsigned group, int child) {
    const T* box = static_cast<const T*>(boxes) + (group * (2 * kAxes * kLanes) + static_cast<unsigned>(child));
    for (int k = 0; k < kAxes; ++k) {
      low[k] = box[2 * k * kLanes];
      high[k] = box[(2 * k + 1) * kLanes];
    }
  }
};

/// Writes a query's neighbour j.
template <class Value>
__device__ void put_answer(const DeviceTree& tree, const DeviceRequest& request, std::int64_t query, int j,
                           Value squared, std::int64_t id, Metric metric = Metric::euclidean) {
  if (request.naming.linear && !tree.ids && id != kNobody)
    id = linear_id(request.naming, tree.sites, id / tree.sites.every);
  put_neighbour(request.answers, query, j, squared, id, metric);
}

/// @tparam Value  double, or Wide where that does not hold the squares
/// @tparam T      of the sites' coordinates
template <class Value_, class T, int kAxes, Kind kKind>
class WarpQuery {
  static constexpr bool kGeneral = is_general(kKind);
  static constexpr bool kHasCones = kKind == Kind::general;
  static constexpr Metric kMetric = metric_of(kKind);

 public:
  using Value = Value_;
  using Site = Measured<T, kAxes, kKind>;

  __device__ WarpQuery(const DeviceTree& tree, const DeviceRequest& request, std::int64_t query,
                       const Place<kAxes>& place)
      : tree_(tree), request_(request), query_(query), place_(place) {
    if constexpr (std::is_same_v<Value, double>) list_.clear(request.k, request.limit);
    else list_.clear(request.k, request.wide_limit);
    if constexpr (kHasCones)
      if (request.has_cone) cone_ = request.cones ? request.cones[query] : request.cone;
    for (int k = 0; k < kAxes; ++k) around_[k] = FloatInterval::of(place_.at[k]).kept();
    if constexpr (kIsPlain) {
      squared_ = request.limit;
      nearest_.id = Site::kNone;
    }
    set_limit(limit_of(reach()));
  }

  /// Whether there are distances to it.
  __device__ bool is_somewhere() const {
    bool known = true;
    for (const double x : place_.at) known &= x == x;
    return known;
  }

  /// Bounds beyond do not matter; at most kNoLimit. Lanes may know of different ones.
  __device__ float limit() const { return limit_; }
  /// Somebody else knows that they do not.
  __device__ void lower_limit(float limit) { limit_ = fminf(limit_, limit); }

  /// Looks at `size` ≤ 32 sites from position `first`, a multiple of 32, on.
  __device__ void look_at(std::int64_t first, int size) {
    const int lane = lane_id();
    const std::int64_t position = first + min(lane, size - 1);
    T site[kAxes];
    for (int k = 0; k < kAxes; ++k)
      site[k] = is_sorted() ? static_cast<const T*>(tree_.blocks)[(first * kAxes) + k * kSortedLeaf + lane]
                            : tree_.sites.get<T>(k, position);
    const std::int64_t id = is_sorted() ? tree_.ids[position] : (tree_.first + position) * tree_.sites.every;
    if constexpr (kQuick)
      if (!__any_sync(kAllLanes, float_bound(around_, site, site) <= limit_)) return;
    Value squared{};
    for (int k = 0; k < kAxes; ++k)
      squared = with_way<kMetric>(squared, way(place(k), static_cast<Step>(site[k]), period(k)));
    if constexpr (kIsPlain) {
      if (lane < size) keep(site, squared, id);
      tell_lanes();
    } else {
      list_.offer(lane < size && list_.takes(squared, id) && in_cone(site, squared), squared, id);
      set_limit(limit_of(reach()));
    }
  }

  /// Whether each lane keeps the nearest of the sites that it measures, until settle(): one neighbour, in double.
  static constexpr bool kIsPlain = !kGeneral && std::is_same_v<Value, double>;
  static constexpr int kTogether = 1;  ///< leaves of a list that are on their way together
  /// Whether look_at_leaves() serves.
  static constexpr bool kHasLeaves = kIsPlain && kKind == Kind::sorted;

  /// Begins with a site.
  __device__ void start_from(const Site& site) {
    if (site.id == Site::kNone) return;
    keep(site.at, squared_distance(site.at), site.id);
    set_limit(limit_of(squared_));
  }

  /// Looks at `count` leaves of sorted sites, which are all on their way before the first is measured; what is behind
  /// them in `leaves` are leaves, too.
  /// @returns whether that may have lowered the limit
  template <int kMost>
  __device__ bool look_at_leaves(const unsigned (&leaves)[kMost], int count) {
    T site[kMost][kAxes];
    std::uint32_t id[kMost];
#pragma unroll
    for (int l = 0; l < kMost; ++l) {
      const T* block = static_cast<const T*>(tree_.blocks) + lane_id();
      block += std::size_t{leaves[l]} * (kAxes * kSortedLeaf);
      for (int k = 0; k < kAxes; ++k) site[l][k] = block[k * kSortedLeaf];
      id[l] = tree_.ids[std::size_t{leaves[l]} * kSortedLeaf + static_cast<unsigned>(lane_id())];
    }
    bool any = false;
#pragma unroll
    for (int l = 0; l < kMost; ++l) {
      bool counts = l < count;
      if constexpr (kQuick) counts &= float_bound(around_, site[l], site[l]) <= limit_;
      if (!__any_sync(kAllLanes, counts)) continue;
      any = true;
      keep(site[l], squared_distance(site[l]), id[l]);
    }
    if (any) tell_lanes();
    return any;
  }

  /// Which of `count` leaves of sorted sites, all on their way together, have a site within the limit: a bit for each.
  template <int kMost>
  __device__ unsigned near_leaves(const unsigned (&leaves)[kMost], int count) const {
    T site[kMost][kAxes];
#pragma unroll
    for (int l = 0; l < kMost; ++l) {
      const T* block = static_cast<const T*>(tree_.blocks) + lane_id();
      block += std::size_t{leaves[l]} * (kAxes * kSortedLeaf);
      for (int k = 0; k < kAxes; ++k) site[l][k] = block[k * kSortedLeaf];
    }
    unsigned near = 0;
#pragma unroll
    for (int l = 0; l < kMost; ++l)
      near |= (__any_sync(kAllLanes, float_bound(around_, site[l], site[l]) <= limit_) ? 1u : 0u) << l;
    return near & ((1u << count) - 1);
  }

  /// The nearest of what the lanes have kept.
  struct Kept {
    double squared;
    Id<kKind> id;  ///< Site::kNone: there is none
    int lane;      ///< that has it
  };
  __device__ Kept nearest_of_lanes() const {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(squared_));
    const unsigned long long least = least_of_lanes(bits);
    const Id<kKind> own = bits == least ? nearest_.id : Site::kNone, lowest = least_of_lanes(own);
    const int lane = __ffs(static_cast<int>(__ballot_sync(kAllLanes, own == lowest))) - 1;
    return {__longlong_as_double(static_cast<long long>(least)), lowest, lane};
  }

  /// Tells another warp.
  __device__ void put_nearest(Kept& kept) const {
    const Kept nearest = nearest_of_lanes();
    if (lane_id() == 0) kept = nearest;
  }

  /// Goes by what another warp has told.
  __device__ void begin_with(const Kept& kept) {
    if (lane_id() == 0 && (kept.squared < squared_ || (kept.squared == squared_ && kept.id < nearest_.id))) {
      squared_ = kept.squared;
      nearest_.id = kept.id;
    }
    lower_limit(limit_of(kept.squared));
  }

  /// Puts that on the list.
  __device__ void settle() {
    const Kept kept = nearest_of_lanes();
    if (kept.id != Site::kNone) list_.offer_one(kept.squared, kept.id);
  }
  /// What the lane has kept.
  __device__ const Site& own() const { return nearest_; }

  /// A site, and its squared distance.
  struct Nearest {
    Value squared;
    std::int64_t id;
  };
  /// None yet that is near enough.
  __device__ Nearest nobody() const { return {list_.worst_squared(), kNobody}; }

  /// The nearest and lowest of what a lane knows already and its share of sites in the caller's order, whose
  /// coordinates are on their way together: `kShare` · 32 from position `first` on, of which the last may be beyond the
  /// end.
  template <int kShare>
  __device__ void look_past(std::int64_t first, Nearest& nearest) const {
    std::int64_t at[kShare];
    T site[kShare][kAxes];
#pragma unroll
    for (int s = 0; s < kShare; ++s) {
      at[s] = smaller(first + s * kLanes + lane_id(), tree_.count - 1);
      for (int k = 0; k < kAxes; ++k) site[s][k] = tree_.sites.get<T>(k, at[s]);
    }
#pragma unroll
    for (int s = 0; s < kShare; ++s) {
      Value squared{};
      for (int k = 0; k < kAxes; ++k) squared += square<Value>(way(place(k), static_cast<Step>(site[s][k]), Step{0}));
      const std::int64_t id = (tree_.first + at[s]) * tree_.sites.every;
      if (squared < nearest.squared || (squared == nearest.squared && id < nearest.id)) nearest = {squared, id};
    }
  }

  using Box = NodeBox<T, kAxes>;

  /// Least for the box that is most likely to have the nearest site: of some that are as near, as where the place is in
  /// all of them, the one about it. Any will do.
  __device__ float guess_of(const Box& box, float bound) const {
    constexpr float kLittle = 0x1p-12f;
    float squared = 0;  // of twice the way to the middle
    for (int k = 0; k < kAxes; ++k) {
      const float at = around_[k].low;
      const float way = (static_cast<float>(box.low[k]) - at) + (static_cast<float>(box.high[k]) - at);
      squared = fmaf(way, way, squared);
    }
    return fminf(bound + kLittle * squared, kNoLimit);
  }

  /// A box of a group is at least so far away, squared; infinitely, if nothing in it qualifies.
  __device__ float bound_of(const void* boxes, unsigned group, int child) const {
    return bound_of(Box(boxes, group, child));
  }
  __device__ float bound_of(const Box& box) const {
    if constexpr (kQuick) return float_bound(around_, box.low, box.high);
    return meets_cone(box.low, box.high) ? round_down(exact_bound_of(box)) : INFINITY;
  }

  /// The same in the arithmetic that decides, for boxes that are about as far as the worst of the list.
  /// @param worst  as the lanes know it together
  __device__ bool may_improve(const Nearest& worst, const Box& box, std::int64_t lowest_id) const {
    const Value bound = exact_bound_of(box);
    if (kGeneral && reach() < bound) return false;
    return bound < worst.squared || (bound == worst.squared && lowest_id < worst.id);
  }
  __device__ Nearest worst() const {
    if constexpr (kIsPlain) {
      const Kept kept = nearest_of_lanes();
      return {kept.squared, kept.id};
    } else {
      return {list_.worst_squared(), list_.worst_id()};
    }
  }

  /// Whether so many sites are as many as it may look at.
  __device__ bool is_content_with(std::int64_t sites) const {
    if constexpr (kGeneral) return request_.work_limit > 0 && sites >= request_.work_limit;
    return false;
  }
  /// Says that nothing nearer than `bound` is left, instead of nothing at all.
  __device__ void stop_at(float bound) { left_ = bound; }

  __device__ LaneList<Value, kGeneral>& list() { return list_; }

  /// Goes on from what has been found among earlier pieces of the set.
  __device__ void resume() {
    if (!request_.carried.begun) return;
    for (int begin = 0; begin < request_.k; begin += kLanes) {
      const int j = begin + lane_id();
      const auto before = carried<Value>(request_, query_, min(j, request_.k - 1));
      list_.offer(j < request_.k && before.id != kNobody, before.squared, before.id);
    }
    set_limit(limit_of(reach()));
  }

  /// Writes the answers; or, if more pieces are to come, what is carried on to them.
  __device__ void finish() const {
    if (!request_.carried.more) return write();
    list_.each([&](int j, Value squared, std::int64_t id) { carry<Value>(request_, query_, j, {squared, id}); });
  }

  __device__ void write() const {
    list_.each([&](int j, Value squared, std::int64_t id) {
      put_answer(tree_, request_, query_, j, squared, id, kMetric);
      if (j > 0) return;
      const bool is_known = id != kNobody || left_ < INFINITY;
      put_root(request_.answers.lower, query_, 0, is_known, lower_bound(squared), kMetric);
    });
  }

 private:
  using Step = Difference<Value>;

  __device__ bool is_sorted() const { return kGeneral ? tree_.blocks != nullptr : kKind == Kind::sorted; }

  __device__ double squared_distance(const T (&site)[kAxes]) const {
    double squared = 0;
    for (int k = 0; k < kAxes; ++k) squared += square<double>(place_.at[k] - static_cast<double>(site[k]));
    return squared;
  }

  /// In the lane, if it is nearer or lower than what it has.
  __device__ void keep(const T (&site)[kAxes], double squared, Id<kKind> id) {
    if (!(squared < squared_ || (squared == squared_ && id < nearest_.id))) return;
    squared_ = squared;
    nearest_.id = id;
    for (int k = 0; k < kAxes; ++k) nearest_.at[k] = site[k];
  }

  /// How near the nearest of what they have kept is.
  __device__ void tell_lanes() { lower_limit(__uint_as_float(warp_min(__float_as_uint(limit_of(squared_))))); }

  __device__ void set_limit(float limit) { limit_ = fminf(limit, kNoLimit); }

  template <class Bits>
  __device__ static Bits least_of_lanes(Bits value) {
    if constexpr (sizeof(Bits) == sizeof(unsigned)) {
      return warp_min(value);
    } else {
      const auto high = static_cast<unsigned>(value >> 32), least = warp_min(high);
      const unsigned low = warp_min(high == least ? static_cast<unsigned>(value) : ~0u);
      return static_cast<Bits>(static_cast<unsigned long long>(least) << 32 | low);
    }
  }

  /// Squared distance beyond which nothing needs to be looked at.
  __device__ Value reach() const {
    if constexpr (kGeneral) return reach_of(request_, list_.worst_squared(), list_.worst_id());
    else return list_.worst_squared();
  }

  /// No site that was not looked at is nearer. @param best  of those that were
  __device__ Value lower_bound(Value best) const {
    if constexpr (!kGeneral) return best;
    const Value lower = smaller(best, reach());
    return left_ < INFINITY ? smaller(lower, static_cast<Value>(left_)) : lower;
  }
  /// Bounds in float32 are no slower than those of double, and serve.
  static constexpr bool kQuick = !kGeneral && std::is_same_v<Value, double> && sizeof(T) == sizeof(float);

  __device__ Value exact_bound_of(const Box& box) const {
    Value bound{};
    for (int k = 0; k < kAxes; ++k)
      bound = with_way<kMetric>(
          bound, way_to_interval(place(k), static_cast<Step>(box.low[k]), static_cast<Step>(box.high[k]), period(k)));
    return bound;
  }

  __device__ Step place(int k) const { return static_cast<Step>(place_.at[k]); }
  __device__ Step period(int k) const {
    if constexpr (kGeneral) return static_cast<Step>(request_.period[k]);
    else return Step{0};
  }

  __device__ bool in_cone(const T* site, Value squared) const {
    if constexpr (kHasCones) {
      if (!request_.has_cone) return true;
      double offset[kAxes];
      for (int k = 0; k < kAxes; ++k) offset[k] = static_cast<double>(site[k]) - place_.at[k];
      return holds(cone_, offset, static_cast<double>(squared), kAxes);
    }
    return true;
  }

  __device__ bool meets_cone(const T* low, const T* high) const {
    if constexpr (kHasCones) {
      if (!request_.has_cone) return true;
      double from[kAxes], to[kAxes];
      for (int k = 0; k < kAxes; ++k) {
        from[k] = static_cast<double>(low[k]) - place_.at[k];
        to[k] = static_cast<double>(high[k]) - place_.at[k];
      }
      return may_hold(cone_, from, to, kAxes);
    }
    return true;
  }

  const DeviceTree& tree_;
  const DeviceRequest& request_;
  const std::int64_t query_;
  const Place<kAxes> place_;
  LaneList<Value, kGeneral> list_;
  ConeOfQuery cone_;
  FloatInterval around_[kAxes];  ///< the place
  float limit_;
  double squared_;         ///< of nearest_; at first the farthest that qualifies
  Site nearest_;           ///< of what the lane has measured
  float left_ = INFINITY;  ///< least bound of what was left out when the work limit ended the search
};

/// Calls work(WarpQuery) with the arithmetic that a query at a place needs.
template <class T, Kind kKind, int kAxes, class Work>
__device__ void with_query_at(const Place<kAxes>& place, const DeviceTree& tree, const DeviceRequest& request,
                              std::int64_t query, const Work& work) {
  if constexpr (std::is_same_v<T, std::int32_t> && metric_of(kKind) == Metric::euclidean) {
    if (request.may_be_wide && place.is_wide(tree)) {
      WarpQuery<Wide, T, kAxes, kKind> wide(tree, request, query, place);
      return work(wide);
    }
  }
  WarpQuery<double, T, kAxes, kKind> narrow(tree, request, query, place);
  work(narrow);
}

template <class T, int kAxes, Kind kKind, class Work>
__device__ void with_query(const DeviceTree& tree, const DeviceRequest& request, std::int64_t query, const Work& work) {
  constexpr bool kPeriodic = is_general(kKind);
  with_query_at<T, kKind>(Place<kAxes>::template of<kPeriodic>(request, query), tree, request, query, work);
}

}  // namespace fathom::points::cuda
