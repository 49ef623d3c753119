// Nearest sites through the tree: depth first, the nearest child first, leaving out what is farther than the worst of
// the list. Bounds need no margin (measure.hd.h), and equally near nodes that hold no lower id are left out.
//
// Work: a warp for each query; a lane for each of a node's 32 children, and for each of 32 sites of a leaf, or of up to
// four leaves together, whose sites are in flight at the same time. What the lanes know of the levels above waits in
// shared memory. Many queries are taken in the order of the curve, so that warps at work look at the same nodes, and a
// warp takes eight one after the other, each bounded by the answer before it. Launch: blocks of 4 warps. Source:
// Roussopoulos et al. 1995; the CPU's search (points/cpu/search.cpp) with four times as many children. Cost: O(log n)
// nodes per query for sites spread out; at worst, for sites all equally far, every site.
#include "core/cuda/runtime.h"
#include "points/cuda/order.h"
#include "points/cuda/search.h"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

/// What is asked for: anything; or one neighbour without periods and cones, for few queries, where latency counts, or
/// for many along the curve, where each warp answers some one after the other.
enum class Task { general, few, many };

template <Task kTask>
constexpr int kRun = kTask == Task::many ? kQueriesInARow : 1;

/// @tparam kTogether  leaves that are looked at together, at most
template <class Query, int kTogether>
class Descent {
 public:
  /// @param waiting  kMostLevels × 32 numbers of this warp's
  __device__ Descent(const DeviceTree& tree, Query& query, float* waiting)
      : tree_(tree), query_(query), waiting_(waiting + lane_id()) {}

  __device__ void run() {
    enter(tree_.levels - 1, 0);
    while (true) {
      if (query_.is_content_with(work_)) return query_.stop_at(least_open());
      const int lane = next_child();
      if (lane >= 0 && level_ == 0) {
        visit_leaf(lane);
      } else if (lane >= 0) {
        waiting_[level_ * kLanes] = bound_;
        enter(level_ - 1, group_ * kLanes + lane);
      } else if (level_ + 1 < tree_.levels) {
        bound_ = waiting_[++level_ * kLanes];
        group_ /= kLanes;
      } else {
        return;
      }
    }
  }

 private:
  /// Measures the boxes of a group of siblings.
  __device__ void enter(int level, std::int64_t group) {
    level_ = level;
    group_ = group;
    const bool present = group * kLanes + lane_id() < tree_.level[level].count;
    bound_ = present ? query_.bound_of(tree_.level[level].boxes, group) : INFINITY;
    set_open(bound_ < INFINITY);
  }

  /// The lane of the nearest child that is worth a visit, which is then taken off; −1: none is.
  __device__ int next_child() {
    if (is_open()) set_open(is_worth_it());
    const unsigned rank = is_open() ? rank_of(bound_) : kNoRank, least = warp_min(rank);
    if (least == kNoRank) return -1;
    const int lane = lane_of(rank, least);
    if (lane == lane_id()) set_open(false);
    return lane;
  }

  __device__ bool is_worth_it() const {
    if (bound_ > query_.limit()) return false;
    constexpr float kClearly = 1 - 0x1p-20;
    if (bound_ < kClearly * query_.limit()) return true;
    return query_.may_improve(tree_.level[level_].boxes, group_, lowest_id(group_ * kLanes + lane_id()));
  }

  __device__ std::int64_t lowest_id(std::int64_t node) const {
    const DeviceLevel& level = tree_.level[level_];
    if (level.lowest) return level.lowest[node];
    return (node * tree_.leaf << (5 * level_)) * tree_.sites.every;
  }

  __device__ void visit_leaf(int lane) {
    const std::int64_t leaf = group_ * kLanes + lane;
    if constexpr (Query::kIsPlain)
      if (tree_.blocks) return visit_leaves(leaf);
    const std::int64_t first = leaf * tree_.leaf, end = smaller(first + tree_.leaf, tree_.count);
    work_ += end - first;
    for (std::int64_t at = first; at < end; at += kLanes)
      query_.look_at(at, static_cast<int>(smaller(end - at, std::int64_t{kLanes})));
  }

  /// The nearest leaf, and with it others of its group that are near enough, too, as far as is known.
  __device__ void visit_leaves(std::int64_t nearest) {
    std::int64_t leaves[kTogether] = {nearest};
    int count = 1;
    unsigned near = 0;
    if (kTogether > 1 && query_.limit() < INFINITY)
      near = __ballot_sync(kAllLanes, is_open() && bound_ < query_.limit());
#pragma unroll
    for (int l = 1; l < kTogether; ++l) {
      if (near == 0) break;
      const int lane = __ffs(static_cast<int>(near)) - 1;
      near &= near - 1;
      leaves[l] = group_ * kLanes + lane;
      count = l + 1;
      if (lane == lane_id()) set_open(false);
    }
    query_.look_at_leaves(leaves, count);
  }

  /// Least bound of all that is still to be visited.
  __device__ float least_open() const {
    float least = INFINITY;
    for (int level = level_; level < tree_.levels; ++level)
      if (open_ >> level & 1u) least = fminf(least, level == level_ ? bound_ : waiting_[level * kLanes]);
    return __uint_as_float(warp_min(__float_as_uint(least)));
  }

  __device__ bool is_open() const { return open_ >> level_ & 1u; }
  __device__ void set_open(bool open) { open_ = (open_ & ~(1u << level_)) | (open ? 1u << level_ : 0u); }

  const DeviceTree& tree_;
  Query& query_;
  float* waiting_;
  int level_ = 0;
  std::int64_t group_ = 0;  ///< of the siblings at hand
  std::int64_t work_ = 0;   ///< sites that were looked at
  float bound_ = 0;         ///< of the lane's child in it
  unsigned open_ = 0;       ///< bit l: the lane's child in the group of level l is still to be visited
};

template <class T, int kAxes, Task kTask>
__global__ void __launch_bounds__(kSearchBlock)
    search_tree(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request) {
  constexpr int kWarps = kSearchBlock / 32, kTogether = kTask == Task::few ? kLeavesTogether : 1;
  __shared__ float waiting[kWarps][kMostLevels * kLanes];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first = (std::int64_t{blockIdx.x} * kWarps + warp) * kRun<kTask>;
  Before<kAxes> before;
  for (std::int64_t number = first; number < smaller(first + kRun<kTask>, request.queries.count); ++number) {
    const std::int64_t query = request.order ? request.order[number] : number;
    with_query<T, kAxes, kTask == Task::general>(tree, request, query, [&](auto& mine) {
      using Query = std::remove_reference_t<decltype(mine)>;
      constexpr bool kCarries = kTask == Task::many && Query::kIsPlain;
      if constexpr (kCarries) mine.start_from(before);
      if (mine.is_somewhere()) Descent<Query, kTogether>(tree, mine, waiting[warp]).run();
      mine.write();
      if constexpr (kCarries) mine.leave(before);
    });
  }
}

template <class T, int kAxes, Task kTask>
void launch(const DeviceTree& tree, const DeviceRequest& request, cudaStream_t stream) {
  constexpr std::int64_t kOfBlock = kSearchBlock / 32 * kRun<kTask>;
  const auto blocks = static_cast<unsigned>((request.queries.count + kOfBlock - 1) / kOfBlock);
  search_tree<T, kAxes, kTask><<<blocks, kSearchBlock, 0, stream>>>(tree, request);
}

/// Whether it is worth sorting the queries, whose number 32 bits must hold.
bool are_many(std::int64_t queries) { return queries >= kManyQueries && queries <= std::int64_t{UINT32_MAX}; }

}  // namespace

std::size_t search_scratch_bytes(std::int64_t queries) { return are_many(queries) ? curve_order_bytes(queries) : 0; }

void search(const DeviceTree& tree, const DeviceRequest& unordered, std::byte* scratch, cudaStream_t stream) {
  DeviceRequest request = unordered;
  if (are_many(request.queries.count)) request.order = curve_order(tree, request.queries, scratch, stream);
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    constexpr int kAxes = decltype(axes)::value;
    if (!request.simple || !request.exact) launch<T, kAxes, Task::general>(tree, request, stream);
    else if (request.order) launch<T, kAxes, Task::many>(tree, request, stream);
    else launch<T, kAxes, Task::few>(tree, request, stream);
  });
  fathom::cuda::check_launch("searching the nearest sites");
}

}  // namespace fathom::points::cuda
