// Nearest voxels through the pyramid of bits, word after word: depth first, the nearest child first, as the CPU goes
// where answers are approximate (points/cpu/voxel_search.cpp), so that what is left out is the same, too.
//
// Work: a warp for each query. Of a word's 64 children each lane measures two; where these are words of level 0, each
// asks for its own, so that they are on their way together. What is left of the words above waits as bits, each level's
// in a lane of its own; their bounds are computed again on the way back up. Of many queries for the nearest one,
// exactly, a lane takes each (voxel_climb.cuh), and the warp together those that need more or squares beyond double.
// The most are sorted before, so that lanes look at the same words. Launch: blocks of 4 warps. Cost: as on the CPU; the
// first way down waits for a word at each level.
#include "core/cuda/resident.h"
#include "core/cuda/runtime.h"
#include "points/cuda/order.h"
#include "points/cuda/tuning.h"
#include "points/cuda/voxel_climb.cuh"
#include "points/cuda/voxel_query.cuh"
#include "points/cuda/voxel_search.h"
#include "points/cuda/voxel_tuning.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::resident_blocks;

constexpr int kSearchWarps = kSearchBlock / 32;

template <class Query, int kAxes>
class VoxelDescent {
 public:
  __device__ VoxelDescent(const DevicePyramid& pyramid, Query& query) : pyramid_(pyramid), query_(query) {}

  __device__ void run() {
    if (pyramid_.levels == 1) return query_.take({}, *pyramid_.level[0].words);
    enter(pyramid_.levels - 1, {});
    do {
      Child child;
      while (find_nearest(child)) {
        if (query_.is_content()) return leave();
        rest_ &= ~(1ull << child.bit);
        const Cell cell = child_of(word_, child.bit, kAxes);
        if (!query_.may_better(child.bound, cell, shift())) continue;
        if (level_ > 1) enter(level_ - 1, cell);
        else query_.take(cell, from_lane(child.bit < kLanes ? below_[0] : below_[1], child.bit % kLanes));
      }
    } while (go_up());
  }

 private:
  using Bound = typename Query::Bound;
  struct Child {
    Bound bound;
    int bit;
  };

  __device__ int shift() const { return word_shift(kAxes) * level_; }

  __device__ void measure() {
    for (int half = 0; half < kHalves; ++half) {
      const Cell child = child_of(word_, bit_of_lane(half), kAxes);
      bound_[half] = query_.bound_of(child, shift());
      if (level_ > 1) continue;
      const bool wanted = has(rest_, half) && query_.is_near(bound_[half]);
      below_[half] = wanted ? *pyramid_.level[0].word_at(child, kAxes) : 0;
    }
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
    Bound bound[kHalves];
    for (int half = 0; half < kHalves; ++half)
      bound[half] = has(rest_, half) && query_.is_near(bound_[half]) ? bound_[half] : Query::nowhere();
    const Bound least = least_of_lanes(smaller(bound[0], bound[1]));
    if (least == Query::nowhere()) return false;
    const unsigned first = __ballot_sync(kAllLanes, bound[0] == least);
    const unsigned second = __ballot_sync(kAllLanes, bound[1] == least);
    child = {least, first != 0 ? __ffs(static_cast<int>(first)) - 1 : kLanes + __ffs(static_cast<int>(second)) - 1};
    return true;
  }

  /// All that is left.
  __device__ void leave() {
    Child child;
    do
      if (find_nearest(child)) query_.leave(child.bound);
    while (go_up());
  }

  const DevicePyramid& pyramid_;
  Query& query_;
  int level_ = DevicePyramid::kMostLevels;
  Cell word_;
  Bound bound_[kHalves];               ///< of the lane's children of the word
  unsigned long long below_[kHalves];  ///< those children, where they are words of level 0
  unsigned long long rest_ = 0;        ///< of the word's bits, what is still to be visited …
  unsigned long long waiting_ = 0;     ///< … and of the word that the lane's level waits with
};

/// Whether anything can be near.
template <int kAxes>
__device__ bool is_somewhere(const DevicePyramid& pyramid, const Place<kAxes>& place) {
  bool somewhere = !pyramid.empty();
  for (const double x : place.at) somewhere &= x == x;
  return somewhere;
}

template <class Query, int kAxes>
__device__ void answer(const DevicePyramid& pyramid, const DeviceRequest& request, std::int64_t number,
                       const Place<kAxes>& place) {
  Query query(pyramid, request, number, place);
  if (is_somewhere(pyramid, place)) VoxelDescent<Query, kAxes>(pyramid, query).run();
  query.write();
}

/// What is asked for: one neighbour, exactly, outside of cones; one; or more.
enum class Wanted { nearest, one, many };

template <int kAxes, Wanted kWanted>
__global__ void __launch_bounds__(kSearchBlock)
    search_words(const __grid_constant__ DevicePyramid pyramid, const __grid_constant__ DeviceTree outline,
                 const __grid_constant__ DeviceRequest request) {
  constexpr bool kMany = kWanted == Wanted::many;
  using Narrow = std::conditional_t<kWanted == Wanted::nearest, NearestVoxel<kAxes>, AnyVoxels<double, kAxes, kMany>>;
  const std::int64_t query = std::int64_t{blockIdx.x} * kSearchWarps + threadIdx.x / 32;
  if (query >= request.queries.count) return;
  const auto place = Place<kAxes>::template of<false>(request, query);
  if (request.may_be_wide && place.is_wide(outline))
    answer<AnyVoxels<Wide, kAxes, kMany>>(pyramid, request, query, place);
  else answer<Narrow>(pyramid, request, query, place);
}

/// The nearest one of each query, exactly: a lane for each, and the warp together for those that need more.
template <int kAxes>
__global__ void __launch_bounds__(kSearchBlock, resident_blocks(kSearchBlock, kClimbBlocks))
    climb_words(const __grid_constant__ DevicePyramid pyramid, const __grid_constant__ DeviceTree outline,
                const __grid_constant__ DeviceRequest request) {
  const std::int64_t number = std::int64_t{blockIdx.x} * kSearchBlock + threadIdx.x;
  const bool counts = number < request.queries.count;
  const std::int64_t last = smaller(number, request.queries.count - 1);
  const std::int64_t query = request.order ? std::int64_t{request.order[last]} : last;
  const auto place = Place<kAxes>::template of<false>(request, query);
  const bool wide = request.may_be_wide && place.is_wide(outline);
  bool done = !counts;
  if (counts && !wide) {
    VoxelClimb<kAxes> climb(pyramid, request, place);
    done = !is_somewhere(pyramid, place) || climb.run();
    if (done) climb.write(request, query);
  }
  for (unsigned left = __ballot_sync(kAllLanes, !done); left != 0; left &= left - 1) {
    const int lane = __ffs(static_cast<int>(left)) - 1;
    Place<kAxes> there;
    for (int k = 0; k < kAxes; ++k) there.at[k] = from_lane(place.at[k], lane);
    const std::int64_t its = from_lane(query, lane);
    if (from_lane(wide, lane)) answer<AnyVoxels<Wide, kAxes, false>>(pyramid, request, its, there);
    else answer<NearestVoxel<kAxes>>(pyramid, request, its, there);
  }
}

template <int kAxes>
auto search_for(const DeviceRequest& request, bool many) {
  if (many) return climb_words<kAxes>;
  if (request.k > 1) return search_words<kAxes, Wanted::many>;
  return request.simple && request.exact ? search_words<kAxes, Wanted::nearest> : search_words<kAxes, Wanted::one>;
}

/// Whether lanes serve.
bool are_many(bool simple, bool exact, std::int64_t queries) { return simple && exact && queries >= kManyVoxelQueries; }

}  // namespace

std::size_t voxel_order_bytes(const Request& request) {
  const std::int64_t queries = request.queries.count;
  if (!are_many(request.simple(), request.exact(), queries)) return 0;
  const bool worth_it = queries >= kOrderedVoxelQueries && queries <= std::int64_t{UINT32_MAX};
  return worth_it ? curve_order_bytes(queries) : 0;
}

void search_voxels(const DevicePyramid& pyramid, const DeviceRequest& unordered, std::byte* for_order,
                   cudaStream_t stream) {
  DeviceRequest request = unordered;
  const DeviceTree outline = pyramid.outline();
  if (for_order) request.order = curve_order(outline, request.queries, for_order, stream);
  const bool many = are_many(request.simple, request.exact, request.queries.count);
  const std::int64_t of_block = many ? kSearchBlock : kSearchWarps;
  const auto blocks = static_cast<unsigned>((request.queries.count + of_block - 1) / of_block);
  const auto search = pyramid.axes == 2 ? search_for<2>(request, many) : search_for<3>(request, many);
  search<<<blocks, kSearchBlock, 0, stream>>>(pyramid, outline, request);
  fathom::cuda::check_launch("searching the nearest voxels");
}

}  // namespace fathom::points::cuda
