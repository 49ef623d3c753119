// Nearest voxels through the pyramid of bits, word after word as the CPU goes (points/cpu/voxel_search.cpp): depth first,
// the nearest child first, so that what is left out of approximate answers is the same, too.
//
// Work: a warp for each query. Of a word's 64 children each lane measures two, those of bits `lane` and `lane + 32`.
// What is left of the words above waits as bits, each level's in a lane of its own; their bounds are computed again on
// the way back up. Launch: blocks of 4 warps. Cost: as on the CPU; the first way down waits for a word at each level.
#include "core/cuda/runtime.h"
#include "points/cuda/tuning.h"
#include "points/cuda/voxel_search.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

constexpr int kSearchWarps = kSearchBlock / 32;
constexpr int kHalves = 2;  ///< of a word's bits

template <class Value>
__device__ Value farther_than_all() {
  if constexpr (std::is_same_v<Value, double>) return INFINITY;
  else return ~Value{0};
}

/// The least of the lanes' values, 32 bits at a time. Doubles that are not negative rise with their bits.
__device__ unsigned long long least_of_lanes(unsigned long long value) {
  const auto high = static_cast<unsigned>(value >> 32), least = warp_min(high);
  const unsigned low = warp_min(high == least ? static_cast<unsigned>(value) : ~0u);
  return static_cast<unsigned long long>(least) << 32 | low;
}
__device__ double least_of_lanes(double value) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  return __longlong_as_double(static_cast<long long>(least_of_lanes(bits)));
}
__device__ Wide least_of_lanes(Wide value) {
  const auto high = static_cast<unsigned long long>(value >> 64), least = least_of_lanes(high);
  const unsigned long long low = least_of_lanes(high == least ? static_cast<unsigned long long>(value) : ~0ull);
  return static_cast<Wide>(least) << 64 | low;
}

/// @tparam kMany  more than one neighbour
template <class Value, int kAxes, bool kMany>
class VoxelDescent {
 public:
  __device__ VoxelDescent(const DevicePyramid& pyramid, const DeviceRequest& request, std::int64_t query,
                          const Place<kAxes>& place)
      : pyramid_(pyramid), request_(request), query_(query), place_(place) {
    if constexpr (std::is_same_v<Value, double>) list_.clear(request.k, request.limit);
    else list_.clear(request.k, request.wide_limit);
    if (request.has_cone) cone_ = request.cones ? request.cones[query] : request.cone;
    reach_ = unseen_ = reach_of(request, list_.worst_squared());
  }

  __device__ void run() {
    if (pyramid_.levels == 1) return take({});
    enter(pyramid_.levels - 1, {});
    do {
      Child child;
      while (find_nearest(child)) {
        if (is_content()) return stop();
        rest_ &= ~(1ull << child.bit);
        const Cell cell = child_of(word_, child.bit, kAxes);
        if (!may_better(child.bound, cell)) continue;
        level_ > 1 ? enter(level_ - 1, cell) : take(cell);
      }
    } while (go_up());
  }

  __device__ void write() const {
    list_.each([&](int j, Value squared, std::int64_t id) {
      put_neighbour(request_.answers, query_, j, squared, id);
      if (j == 0)
        put_root(request_.answers.lower, query_, 0, stopped_ || id != kNobody,
                 smaller(squared, smaller(reach_, unseen_)));
    });
  }

 private:
  struct Child {
    Value bound;
    int bit;
  };

  static __device__ int bit_of_lane(int half) { return half * kLanes + lane_id(); }
  static __device__ bool has(unsigned long long bits, int half) { return (bits >> bit_of_lane(half) & 1) != 0; }

  /// Of the lane's child in one half of a word's bits.
  __device__ Value bound_of(const Cell& word, int half, int shift) const {
    Value bound{};
    for (int k = 0; k < kAxes; ++k)
      bound += square_to_cell<Value>(place_.at[k],
                                     (word[k] << word_shift(kAxes)) + step_of(bit_of_lane(half), k, kAxes), shift);
    return bound;
  }

  __device__ int shift() const { return word_shift(kAxes) * level_; }

  __device__ void measure() {
    for (int half = 0; half < kHalves; ++half) bound_[half] = bound_of(word_, half, shift());
  }

  __device__ void enter(int level, const Cell& word) {
    if (lane_id() == level_) waiting_ = rest_;
    level_ = level;
    word_ = word;
    rest_ = *pyramid_.level[level].word_at(word, kAxes);
    measure();
  }

  /// @returns whether there is a level above with anything left
  __device__ bool go_up() {
    do {
      if (level_ == pyramid_.levels - 1) return false;
      ++level_;
      word_ = parent_of(word_, kAxes);
      rest_ = from_lane(waiting_, level_);
    } while (rest_ == 0);
    measure();
    return true;
  }

  /// The nearest child that is left and near enough, of equally near ones that of the lowest bit.
  __device__ bool find_nearest(Child& child) const {
    constexpr int kFirst = 0, kSecond = 1;
    const Value none = farther_than_all<Value>();
    Value bound[kHalves];
    for (int half = 0; half < kHalves; ++half)
      bound[half] = has(rest_, half) && !(bound_[half] > reach_) ? bound_[half] : none;
    const Value least = least_of_lanes(smaller(bound[kFirst], bound[kSecond]));
    if (least == none) return false;
    const unsigned first = __ballot_sync(kAllLanes, bound[kFirst] == least);
    const unsigned second = __ballot_sync(kAllLanes, bound[kSecond] == least);
    child = {least, first != 0 ? __ffs(static_cast<int>(first)) - 1 : kLanes + __ffs(static_cast<int>(second)) - 1};
    return true;
  }

  /// Whether one of a child's elements could go on the list.
  __device__ bool may_better(Value bound, const Cell& cell) const {
    if (bound != list_.worst_squared() && !request_.has_cone) return true;
    const CellBox box = CellBox::of(cell, shift(), pyramid_.extents, kAxes);
    if (bound == list_.worst_squared() && linear_index(box.low, pyramid_.extents, kAxes) > list_.worst_id())
      return false;
    return !request_.has_cone || may_hold(cone_, place_.at, box, kAxes);
  }

  __device__ bool is_content() const { return request_.work_limit > 0 && work_ >= request_.work_limit; }

  /// Leaves all that is left unseen.
  __device__ void stop() {
    stopped_ = true;
    Child child;
    do
      if (find_nearest(child)) unseen_ = smaller(unseen_, child.bound);
    while (go_up());
  }

  /// The elements of a word of level 0.
  __device__ void take(const Cell& word) {
    const unsigned long long bits = *pyramid_.level[0].word_at(word, kAxes);
    work_ += __popcll(bits);
    for (int half = 0; half < kHalves; ++half) {
      const Cell element = child_of(word, bit_of_lane(half), kAxes);
      const Value squared = bound_of(word, half, 0);
      const std::int64_t id = linear_index(element, pyramid_.extents, kAxes);
      const bool counts = has(bits, half) && list_.takes(squared, id);
      list_.offer(counts && in_cone(element, squared), squared, id);
    }
    reach_ = reach_of(request_, list_.worst_squared());
  }

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
  int level_ = DevicePyramid::kMostLevels;
  Cell word_;
  Value bound_[kHalves];            ///< of the lane's children of the word
  unsigned long long rest_ = 0;     ///< of the word's bits, what is still to be visited …
  unsigned long long waiting_ = 0;  ///< … and of the word that the lane's level waits with
};

template <class Value, int kAxes, bool kMany>
__device__ void answer(const DevicePyramid& pyramid, const DeviceRequest& request, std::int64_t query,
                       const Place<kAxes>& place, bool somewhere) {
  VoxelDescent<Value, kAxes, kMany> descent(pyramid, request, query, place);
  if (somewhere) descent.run();
  descent.write();
}

template <int kAxes, bool kMany>
__global__ void __launch_bounds__(kSearchBlock)
    search_words(const __grid_constant__ DevicePyramid pyramid, const __grid_constant__ DeviceTree outline,
                 const __grid_constant__ DeviceRequest request) {
  const std::int64_t query = std::int64_t{blockIdx.x} * kSearchWarps + threadIdx.x / 32;
  if (query >= request.queries.count) return;
  const auto place = Place<kAxes>::template of<false>(request, query);
  bool somewhere = pyramid.level[0].words != nullptr;
  for (const double x : place.at) somewhere &= x == x;
  if (request.may_be_wide && place.is_wide(outline))
    answer<Wide, kAxes, kMany>(pyramid, request, query, place, somewhere);
  else answer<double, kAxes, kMany>(pyramid, request, query, place, somewhere);
}

}  // namespace

void search_voxels(const DevicePyramid& pyramid, const DeviceRequest& request, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((request.queries.count + kSearchWarps - 1) / kSearchWarps);
  const auto search = pyramid.axes == 2 ? (request.k == 1 ? search_words<2, false> : search_words<2, true>)
                                        : (request.k == 1 ? search_words<3, false> : search_words<3, true>);
  search<<<blocks, kSearchBlock, 0, stream>>>(pyramid, pyramid.outline(), request);
  fathom::cuda::check_launch("searching the nearest voxels");
}

}  // namespace fathom::points::cuda
