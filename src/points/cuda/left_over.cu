// Few queries past every one of sorted sites, in float32: those for which the tree leaves out next to nothing. Blocks
// that look at the same sites for many queries at once read each site once for all of them, and all blocks share out
// even a single query.
//
// Kernels: a filter, a thread for each of up to four queries, which measures groups of sites, its team's slice of them,
// and tells each group's least distance; and a finish, a block for four queries, which lists the groups that hold what
// float32 does not tell from the nearest, and looks at these in the arithmetic that decides, four warps for each query.
// Both find the queries that are left by themselves, and leave where there are none. The finish begins while the filter
// ends; the filter when all before has ended, so that its blocks spread evenly, as its slices do. Groups are of 128
// sites, or of so many times 128 that a table holds a number for each group and query.
//
// Bounds: as in direct.cu. Cost: O(n) per query that is left. Scratch: a byte and at most 8 KB per query.
#include <algorithm>
#include <array>
#include <climits>

#include "core/cuda/early_launch.cuh"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/cuda/float_offsets.cuh"
#include "points/cuda/left_over.h"
#include "points/cuda/tuning.h"
#include "points/cuda/warp_query.cuh"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;

constexpr int kLeavesOfTile = 4;
constexpr int kTile = kLeavesOfTile * kSortedLeaf;  ///< sites: one for each thread of a team to fetch
constexpr int kTeams = 2;                           ///< of a block of the filter
constexpr int kFilterBlock = kTeams * kTile;
constexpr int kFilterBlocks = 2;    ///< per multiprocessor
constexpr int kThreadsQueries = 4;  ///< of a thread, where there are more than a thread each
constexpr int kMostGroups = 2048;   ///< rows of the table

constexpr int kFinished = 4;  ///< queries of a block of the finish: neighbours in the table
constexpr int kFinishWarps = 4;
constexpr int kFinishBlock = kFinished * kFinishWarps * 32;

// Which queries are left
// ---------------------------------------------------------------------------------------------------------------------

/// Their numbers, in order.
class Numbers {
  static constexpr int kWords = kMostLeftOver / 32;

 public:
  struct Memory {
    unsigned left[kWords];  ///< a bit for each query
    std::uint16_t number[kMostLeftOver];
  };

  /// By all threads of a block. @param given_up  null: all are left
  __device__ Numbers(const std::uint8_t* given_up, int queries, Memory& shared)
      : count_(queries), all_(given_up == nullptr), shared_(shared) {
    if (!all_) gather(given_up, queries);
  }

  __device__ int count() const { return count_; }
  __device__ int operator[](int i) const { return all_ ? i : shared_.number[i]; }

 private:
  __device__ void gather(const std::uint8_t* given_up, int queries) {
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
#pragma unroll 4
    for (int i = thread; i < kMostLeftOver; i += threads) {
      const unsigned lanes = __ballot_sync(kAllLanes, i < queries && given_up[i] != 0);
      if (lane_id() == 0) shared_.left[i / 32] = lanes;
    }
    __syncthreads();
    int all = 0;
    for (int i = lane_id(); i < kWords; i += 32) all += __popc(shared_.left[i]);
    count_ = fathom::cuda::warp_sum(all);
    for (int word = thread; count_ > 0 && word < kWords; word += threads) put(word);
    __syncthreads();
  }

  __device__ void put(int word) {
    int place = 0;
    for (int i = 0; i < word; ++i) place += __popc(shared_.left[i]);
    for (unsigned lanes = shared_.left[word]; lanes != 0; lanes &= lanes - 1)
      shared_.number[place++] = static_cast<std::uint16_t>(word * 32 + __ffs(static_cast<int>(lanes)) - 1);
  }

  int count_;
  const bool all_;
  Memory& shared_;
};

// Filter
// ---------------------------------------------------------------------------------------------------------------------

/// A site's offset from the center in float32, as far away as can be where there is none.
template <class T, int kAxes>
__device__ float4 fetch(const DeviceTree& tree, const Frame& frame, std::int64_t position) {
  const bool present = position < tree.count;
  const std::int64_t leaf = present ? position / kSortedLeaf : 0;
  const T* at = static_cast<const T*>(tree.blocks) + leaf * (kAxes * kSortedLeaf) + position % kSortedLeaf;
  float offset[3] = {};
  for (int k = 0; k < kAxes; ++k) offset[k] = frame.offset(k, at[k * kSortedLeaf]);
  return {present ? offset[0] : INFINITY, offset[1], offset[2], 0.f};
}

/// A query's, infinite where it is nowhere.
template <int kAxes>
__device__ void fetch_query(const DeviceRequest& request, const Frame& frame, int query, float (&at)[kAxes]) {
  double place[1][kAxes];
  read_points(request.queries, {query}, place);
  for (int k = 0; k < kAxes; ++k) at[k] = is_sound(place[0][k]) ? frame.offset(k, place[0][k]) : INFINITY;
}

/// A team's part of the filter: kQueries of each thread, and a slice of the groups.
template <class T, int kAxes, int kQueries>
__device__ void measure(const DeviceTree& tree, const DeviceRequest& request, const LeftOver& left,
                        const Numbers& numbers, float4 (&tiles)[2][kTile]) {
  const int count = numbers.count();
  const int team = static_cast<int>(threadIdx.x) / kTile, thread = static_cast<int>(threadIdx.x) % kTile;
  const int number = static_cast<int>(blockIdx.x) * kTeams + team, teams = static_cast<int>(gridDim.x) * kTeams;
  const int parts = (count + kTile * kQueries - 1) / (kTile * kQueries), slices = max(teams / parts, 1);
  const auto fetch_tile = [&](int group, int tile) {
    const std::int64_t first = (std::int64_t{group} * left.tiles + tile) * kTile;
    return fetch<T, kAxes>(tree, left.frame, first + thread);
  };
  float4 next = fetch_tile(number / parts, 0);
  if (number / parts >= slices) return;
  const int first = number % parts * (kTile * kQueries) + thread;
  float at[kQueries][kAxes];
#pragma unroll
  for (int q = 0; q < kQueries; ++q)
    fetch_query(request, left.frame, numbers[min(first + q * kTile, count - 1)], at[q]);
  int turn = 0;
  for (int group = number / parts; group < left.groups; group += slices) {
    int least[kQueries];
#pragma unroll
    for (int& bits : least) bits = kFarBits;
#pragma unroll 1
    for (int t = 1; t <= left.tiles; ++t, turn ^= 1) {
      float4(&tile)[kTile] = tiles[turn];
      tile[thread] = next;
      asm volatile("bar.sync %0, %1;" ::"r"(1 + team), "n"(kTile) : "memory");  // the threads of the team
      next = t < left.tiles ? fetch_tile(group, t) : fetch_tile(group + slices, 0);
#pragma unroll 8
      for (int j = 0; j < kTile; j += 2) {
        const float4 a = tile[j], b = tile[j + 1];
#pragma unroll
        for (int q = 0; q < kQueries; ++q)
          least[q] = __vimin3_s32(least[q], float_bits<kAxes>(at[q], a), float_bits<kAxes>(at[q], b));
      }
    }
#pragma unroll
    for (int q = 0; q < kQueries; ++q)
      if (first + q * kTile < count) left.least[group * count + first + q * kTile] = least[q];
  }
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kFilterBlock, kFilterBlocks)
    filter_left_over(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                     const __grid_constant__ LeftOver left) {
  __shared__ Numbers::Memory memory;
  __shared__ float4 tiles[kTeams][2][kTile];
  fathom::cuda::let_next_begin();
  const Numbers numbers(left.given_up, static_cast<int>(request.queries.count), memory);
  if (numbers.count() == 0) return;
  auto& own = tiles[threadIdx.x / kTile];
  if (numbers.count() <= kTile) measure<T, kAxes, 1>(tree, request, left, numbers, own);
  else if (numbers.count() <= 2 * kTile) measure<T, kAxes, 2>(tree, request, left, numbers, own);
  else measure<T, kAxes, kThreadsQueries>(tree, request, left, numbers, own);
}

// Finish
// ---------------------------------------------------------------------------------------------------------------------

/// The groups to look into for each of a block's queries. In shared memory.
class GroupLists {
 public:
  /// By all threads of the block. @param first  of its queries, of `queries` that are left
  /// @param accuracy  of the thread's query, number threadIdx.x % kFinished of the block
  __device__ void fill(const LeftOver& left, int first, int queries, const Accuracy& accuracy) {
    const int q = static_cast<int>(threadIdx.x) % kFinished, row = static_cast<int>(threadIdx.x) / kFinished;
    const int* column = left.least + min(first + q, queries - 1);
    if (row == 0) {
      best_[q] = kFarBits;
      count_[q] = 0;
    }
    int entry[kMine], best = kFarBits;
#pragma unroll
    for (int i = 0; i < kMine; ++i)
      entry[i] = row + i * kRows < left.groups ? column[(row + i * kRows) * queries] : INT_MAX;
#pragma unroll
    for (const int bits : entry) best = min(best, bits);
    __syncthreads();
    for (int step = kFinished; step < 32; step *= 2) best = min(best, from_lane(best, lane_id() ^ step));
    if (lane_id() < kFinished) atomicMin(&best_[q], best);
    __syncthreads();
    const int near = accuracy.limit(best_[q]);
#pragma unroll
    for (int i = 0; i < kMine; ++i)
      if (entry[i] <= near) group_[q][atomicAdd(&count_[q], 1)] = static_cast<std::uint16_t>(row + i * kRows);
    __syncthreads();
  }
  __device__ int size(int q) const { return count_[q]; }
  __device__ unsigned group(int q, int i) const { return group_[q][i]; }

 private:
  static constexpr int kRows = kFinishBlock / kFinished, kMine = kMostGroups / kRows;

  int best_[kFinished], count_[kFinished];
  std::uint16_t group_[kFinished][kMostGroups];
};

/// Looks at a group's leaves.
template <class Query>
__device__ void look_into(Query& query, const DeviceTree& tree, unsigned group, unsigned tiles) {
  const auto all = static_cast<unsigned>(tree.level[0].count);
  const unsigned first = group * tiles * kLeavesOfTile, end = min(first + tiles * kLeavesOfTile, all);
#pragma unroll 1
  for (unsigned leaf = first; leaf < end; leaf += kLeavesOfTile) {
    if constexpr (Query::kHasLeaves) {
      unsigned leaves[kLeavesOfTile];
#pragma unroll
      for (unsigned l = 0; l < kLeavesOfTile; ++l) leaves[l] = min(leaf + l, end - 1);
      query.look_at_leaves(leaves, static_cast<int>(min(end - leaf, unsigned{kLeavesOfTile})));
    } else {
      for (unsigned l = leaf; l < min(leaf + kLeavesOfTile, end); ++l) {
        const std::int64_t at = std::int64_t{l} * kSortedLeaf;
        query.look_at(at, static_cast<int>(smaller(tree.count - at, std::int64_t{kSortedLeaf})));
      }
    }
  }
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kFinishBlock)
    finish_left_over(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                     const __grid_constant__ LeftOver left) {
  __shared__ Numbers::Memory memory;
  __shared__ GroupLists lists;
  const Numbers numbers(left.given_up, static_cast<int>(request.queries.count), memory);
  const int first = static_cast<int>(blockIdx.x) * kFinished, count = numbers.count();
  const auto number_of = [&](int place) { return numbers[min(first + place, count - 1)]; };
  Accuracy accuracy;
  if (first < count)
    accuracy = accuracy_of<kAxes>(tree, request, left.frame, number_of(static_cast<int>(threadIdx.x) % kFinished));
  fathom::cuda::wait_for_last();  // all else was there when the filter began
  if (first >= count) return;
  lists.fill(left, first, count, accuracy);
  const int warp = static_cast<int>(threadIdx.x) / 32, q = warp / kFinishWarps, part = warp % kFinishWarps;
  if (first + q >= count) return;
  with_query<T, kAxes, Kind::sorted>(tree, request, number_of(q), [&](auto& mine) {
    using Query = std::remove_reference_t<decltype(mine)>;
    __shared__ typename Query::Nearest best[kFinished][kFinishWarps];
    const int size = mine.is_somewhere() ? lists.size(q) : 0;
    for (int i = part; i < size; i += kFinishWarps)
      look_into(mine, tree, lists.group(q, i), static_cast<unsigned>(left.tiles));
    if constexpr (Query::kIsPlain) mine.settle();
    if (lane_id() == 0) best[q][part] = {mine.list().worst_squared(), mine.list().worst_id()};
    asm volatile("bar.sync %0, %1;" ::"r"(1 + q), "n"(kFinishWarps * 32) : "memory");  // the warps of the query
    if (part > 0) return;
    for (const auto& other : best[q]) mine.list().offer_one(other.squared, other.id);
    mine.write();
  });
}

// Which sets have such queries
// ---------------------------------------------------------------------------------------------------------------------

constexpr int kPlaces = 32, kPlacesBlock = 512, kTriedNodes = 1 << 14;

/// The middle of the sites' box, or place `i` of a sequence that fills it evenly (Roberts 2018).
template <int kAxes>
__device__ void find_place(const DeviceTree& tree, unsigned i, double (&place)[kAxes]) {
  constexpr double kStep[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  for (int k = 0; k < kAxes; ++k) {
    const double turn = 0.5 + i * kStep[k];
    place[k] = tree.low[k] + (turn - floor(turn)) * (tree.high[k] - tree.low[k]);
  }
}

/// A block for each place: whether more than a quarter of a level's nodes may hold its nearest site, as far as boxes
/// tell. Nodes as far as the nearest do not count: where many sites are at one place, a search drops them.
template <class T, int kAxes>
__global__ void __launch_bounds__(kPlacesBlock)
    try_places(const __grid_constant__ DeviceTree tree, int level, int* hollow) {
  __shared__ unsigned nearest;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto nodes = static_cast<int>(tree.level[level].count);
  double place[kAxes];
  find_place<kAxes>(tree, blockIdx.x, place);
  if (thread == 0) nearest = kFarBits;
  __syncthreads();
  const auto squared = [&](int node, bool farthest) {
    const NodeBox<T, kAxes> box(tree.level[level].boxes, static_cast<unsigned>(node / kLanes), node % kLanes);
    double sum = 0;
    for (int k = 0; k < kAxes; ++k) {
      const double below = static_cast<double>(box.low[k]) - place[k],
                   above = place[k] - static_cast<double>(box.high[k]);
      const double way = farthest ? fmax(fabs(below), fabs(above)) : fmax(fmax(below, above), 0.0);
      sum += way * way;
    }
    return static_cast<float>(sum);
  };
  float least = INFINITY;
  for (int node = thread; node < nodes; node += kPlacesBlock) least = fminf(least, squared(node, true));
  atomicMin(&nearest, __float_as_uint(least));
  __syncthreads();
  int near = 0;
  for (int node = thread; node < nodes; node += kPlacesBlock) near += squared(node, false) < __uint_as_float(nearest);
  for (int step = 16; step > 0; step /= 2) near += from_lane(near, lane_id() ^ step);
  __shared__ int all;
  if (thread == 0) all = 0;
  __syncthreads();
  if (lane_id() == 0) atomicAdd(&all, near);
  __syncthreads();
  if (thread == 0) hollow[blockIdx.x] = all > nodes / 4;
}

}  // namespace

bool is_hollow(const DeviceTree& tree, cudaStream_t stream) {
  constexpr double kFarthest = 1e37;  // offsets are float32 numbers
  if (tree.count < kFewHollow) return false;
  for (int k = 0; k < tree.axes; ++k)
    if (tree.low[k] < -kFarthest || tree.high[k] > kFarthest) return false;
  int level = 0;
  while (tree.level[level].count > kTriedNodes) ++level;
  std::array<int, kPlaces> hollow;
  const fathom::cuda::DeviceMemory memory(sizeof hollow, stream);
  auto* result = reinterpret_cast<int*>(memory.data());
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    try_places<typename decltype(tag)::type, decltype(axes)::value>
        <<<kPlaces, kPlacesBlock, 0, stream>>>(tree, level, result);
  });
  fathom::cuda::check_launch("trying places");
  check(cudaMemcpyAsync(hollow.data(), result, sizeof hollow, cudaMemcpyDeviceToHost, stream),
        "reading what was tried");
  check(cudaStreamSynchronize(stream), "trying places");
  return std::ranges::any_of(hollow, [](int is) { return is != 0; });
}

Patience Patience::of(const DeviceTree& tree) {
  if (tree.count <= kFewSearched) return {0, 0};
  return {std::max(kPatience, static_cast<int>(tree.count / kSitesOfStep)), kStepsOfNode};
}

LeftOver::LeftOver(const DeviceTree& tree, std::int64_t queries, std::byte* base) : frame(Frame::of(tree)) {
  const std::int64_t all = (tree.count + kTile - 1) / kTile;
  tiles = static_cast<int>((all + kMostGroups - 1) / kMostGroups);
  groups = static_cast<int>((all + tiles - 1) / tiles);
  fathom::cuda::Scratch scratch(base);
  patience = Patience::of(tree);
  given_up = patience.steps > 0 ? scratch.take<std::uint8_t>(queries) : nullptr;
  least = scratch.take<int>(groups * queries);
  bytes = scratch.bytes();
}

void answer_left_over(const DeviceTree& tree, const DeviceRequest& request, const LeftOver& left, cudaStream_t stream) {
  const auto queries = static_cast<int>(request.queries.count);
  const int teams = left.groups * ((queries + kThreadsQueries * kTile - 1) / (kThreadsQueries * kTile));
  const int most = fathom::cuda::multiprocessors() * kFilterBlocks;
  const auto filtering = static_cast<unsigned>(std::min((teams + kTeams - 1) / kTeams, most));
  const auto finishing = static_cast<unsigned>((queries + kFinished - 1) / kFinished);
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    constexpr int kAxes = decltype(axes)::value;
    filter_left_over<T, kAxes><<<filtering, kFilterBlock, 0, stream>>>(tree, request, left);
    fathom::cuda::launch_early(finish_left_over<T, kAxes>, finishing, kFinishBlock, stream, tree, request, left);
  });
}

}  // namespace fathom::points::cuda
