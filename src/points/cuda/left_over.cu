// Few queries past every one of sorted sites, in float32: those for which the tree leaves out next to nothing. Blocks
// that look at the same sites for many queries at once read each site once for all of them, and all blocks share out
// even a single query.
//
// Kernels: a filter, a thread for each of up to four queries, which measures groups of four leaves, its team's slice of
// them, and tells each group's least distance; and a finish, a block for eight queries, which lists the groups that
// hold what float32 does not tell from the nearest, and looks at these in the arithmetic that decides, two warps for
// each query. Both begin while the kernel before them ends, find the queries that are left by themselves, and leave
// where there are none. Cost: O(n) per query that is left.
#include <algorithm>
#include <array>

#include "core/cuda/early_launch.cuh"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/cuda/left_over.h"
#include "points/cuda/team_query.cuh"
#include "points/cuda/tuning.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;

constexpr int kLeavesOfGroup = 4;
constexpr int kGroup = kLeavesOfGroup * kSortedLeaf;  ///< sites: one for each thread of a team to fetch
constexpr int kTeams = 2;                             ///< of a block of the filter
constexpr int kFilterBlock = kTeams * kGroup;
constexpr int kFilterBlocks = 2;    ///< per multiprocessor
constexpr int kThreadsQueries = 4;  ///< of a thread, where there are more than a thread each
constexpr int kFarBits = 0x7F800000;

constexpr int kFinished = 8;  ///< queries of a block of the finish: neighbours in the table, 32 bytes of a row
constexpr int kFinishWarps = 2;
constexpr int kFinishBlock = kFinished * kFinishWarps * 32;

constexpr std::int64_t kMostGroups = kMostHollow / kGroup;

// Which queries are left
// ---------------------------------------------------------------------------------------------------------------------

/// Their numbers, in order. In shared memory.
class Numbers {
 public:
  /// By all threads of a block. @returns how many they are
  __device__ int gather(const std::uint8_t* given_up, int queries) {
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
#pragma unroll 4
    for (int i = thread; i < kMostLeftOver; i += threads) {
      const unsigned lanes = __ballot_sync(kAllLanes, i < queries && given_up[i] != 0);
      if (lane_id() == 0) left_[i / 32] = lanes;
    }
    __syncthreads();
    int all = 0;
    for (int i = lane_id(); i < kWords; i += 32) all += __popc(left_[i]);
    all = fathom::cuda::warp_sum(all);
    for (int word = thread; all > 0 && word < kWords; word += threads) put(word);
    __syncthreads();
    return all;
  }
  __device__ int operator[](int i) const { return number_[i]; }

 private:
  static constexpr int kWords = kMostLeftOver / 32;

  __device__ void put(int word) {
    int place = 0;
    for (int i = 0; i < word; ++i) place += __popc(left_[i]);
    for (unsigned lanes = left_[word]; lanes != 0; lanes &= lanes - 1)
      number_[place++] = static_cast<std::uint16_t>(word * 32 + __ffs(static_cast<int>(lanes)) - 1);
  }

  unsigned left_[kWords];  ///< a bit for each query
  std::uint16_t number_[kMostLeftOver];
};

// Filter
// ---------------------------------------------------------------------------------------------------------------------

/// A site in float32, as far away as can be where there is none.
template <class T, int kAxes>
__device__ float4 fetch(const DeviceTree& tree, std::int64_t position) {
  const bool present = position < tree.count;
  const std::int64_t leaf = present ? position / kSortedLeaf : 0;
  const T* at = static_cast<const T*>(tree.blocks) + leaf * (kAxes * kSortedLeaf) + position % kSortedLeaf;
  const float x = static_cast<float>(at[0]);
  return {present ? x : INFINITY, static_cast<float>(at[kSortedLeaf]),
          kAxes == 3 ? static_cast<float>(at[(kAxes - 1) * kSortedLeaf]) : 0.f, 0.f};
}

template <int kAxes>
__device__ int bits_between(const float (&place)[kAxes], const float4& site) {
  const float at[3] = {site.x, site.y, site.z};
  float here[kAxes];
  for (int k = 0; k < kAxes; ++k) here[k] = at[k];
  return __float_as_int(squared_in_float(place, here));
}

/// A team's part of the filter: kQueries of each thread, and a slice of the groups.
template <class T, int kAxes, int kQueries>
__device__ void measure(const DeviceTree& tree, const DeviceRequest& request, const LeftOver& left,
                        const Numbers& numbers, int count, float4 (&tiles)[2][kGroup]) {
  const int team = static_cast<int>(threadIdx.x) / kGroup, thread = static_cast<int>(threadIdx.x) % kGroup;
  const int number = static_cast<int>(blockIdx.x) * kTeams + team, teams = static_cast<int>(gridDim.x) * kTeams;
  const int parts = (count + kGroup * kQueries - 1) / (kGroup * kQueries), slices = max(teams / parts, 1);
  float4 next = fetch<T, kAxes>(tree, std::int64_t{number / parts} * kGroup + thread);
  if (number / parts >= slices) return;
  const int first = number % parts * (kGroup * kQueries) + thread;
  float at[kQueries][kAxes];
#pragma unroll
  for (int q = 0; q < kQueries; ++q)
    TeamQuery<T, kAxes>::read(tree, request.queries, numbers[min(first + q * kGroup, count - 1)], at[q]);
  int turn = 0;
  for (int group = number / parts; group < left.groups; group += slices, turn ^= 1) {
    float4(&tile)[kGroup] = tiles[turn];
    tile[thread] = next;
    asm volatile("bar.sync %0, %1;" ::"r"(1 + team), "n"(kGroup) : "memory");  // the threads of the team
    next = fetch<T, kAxes>(tree, std::int64_t{group + slices} * kGroup + thread);
    int least[kQueries];
#pragma unroll
    for (int& bits : least) bits = kFarBits;
#pragma unroll 8
    for (int j = 0; j < kGroup; j += 2) {
      const float4 a = tile[j], b = tile[j + 1];
#pragma unroll
      for (int q = 0; q < kQueries; ++q)
        least[q] = __vimin3_s32(least[q], bits_between(at[q], a), bits_between(at[q], b));
    }
#pragma unroll
    for (int q = 0; q < kQueries; ++q)
      if (first + q * kGroup < count) left.least[group * count + first + q * kGroup] = least[q];
  }
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kFilterBlock, kFilterBlocks)
    filter_left_over(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                     const __grid_constant__ LeftOver left) {
  __shared__ Numbers numbers;
  __shared__ float4 tiles[kTeams][2][kGroup];
  fathom::cuda::let_next_begin();
  fathom::cuda::wait_for_last();
  const int count = numbers.gather(left.given_up, static_cast<int>(request.queries.count));
  if (count == 0) return;
  auto& own = tiles[threadIdx.x / kGroup];
  count <= kGroup ? measure<T, kAxes, 1>(tree, request, left, numbers, count, own)
                  : measure<T, kAxes, kThreadsQueries>(tree, request, left, numbers, count, own);
}

// Finish
// ---------------------------------------------------------------------------------------------------------------------

/// The groups to look into for each of a block's queries. In shared memory.
class GroupLists {
 public:
  /// By all threads of the block. @param first  of its queries, of `queries` that are left
  /// @param limit  what is beyond does not matter
  __device__ void fill(const LeftOver& left, int first, int queries, float limit) {
    const int q = static_cast<int>(threadIdx.x) % kFinished, row = static_cast<int>(threadIdx.x) / kFinished;
    const int* column = left.least + min(first + q, queries - 1);
    if (row == 0) {
      best_[q] = kFarBits;
      count_[q] = 0;
    }
    __syncthreads();
    int best = kFarBits;
#pragma unroll 8
    for (int group = row; group < left.groups; group += kRows) best = min(best, column[group * queries]);
    atomicMin(&best_[q], best);
    __syncthreads();
    const float near = fminf(beyond(__int_as_float(best_[q])), limit);
#pragma unroll 8
    for (int group = row; group < left.groups; group += kRows)
      if (fminf(__int_as_float(column[group * queries]), kNoLimit) <= near)
        group_[q][atomicAdd(&count_[q], 1)] = static_cast<std::uint16_t>(group);
    __syncthreads();
  }
  __device__ int size(int q) const { return count_[q]; }
  __device__ unsigned group(int q, int i) const { return group_[q][i]; }

 private:
  static constexpr int kRows = kFinishBlock / kFinished;

  int best_[kFinished], count_[kFinished];
  std::uint16_t group_[kFinished][kMostGroups];
};

/// Looks at a group's leaves.
template <class Query>
__device__ void look_into(Query& query, unsigned group, unsigned leaves_of_all) {
  unsigned leaves[kLeavesOfGroup];
#pragma unroll
  for (unsigned l = 0; l < kLeavesOfGroup; ++l) leaves[l] = min(group * kLeavesOfGroup + l, leaves_of_all - 1);
  query.look_at_leaves(leaves, static_cast<int>(min(leaves_of_all - group * kLeavesOfGroup, unsigned{kLeavesOfGroup})));
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kFinishBlock)
    finish_left_over(const __grid_constant__ DeviceTree tree, const __grid_constant__ DeviceRequest request,
                     const __grid_constant__ LeftOver left) {
  using Query = TeamQuery<T, kAxes>;
  __shared__ Numbers numbers;
  __shared__ GroupLists lists;
  __shared__ typename Query::Nearest nearest[kFinished][kFinishWarps];
  fathom::cuda::wait_for_last();
  const int count = numbers.gather(left.given_up, static_cast<int>(request.queries.count));
  const int first = static_cast<int>(blockIdx.x) * kFinished;
  if (first >= count) return;
  const int warp = static_cast<int>(threadIdx.x) / 32, q = warp / kFinishWarps, part = warp % kFinishWarps;
  const int query = numbers[min(first + q, count - 1)];
  float place[kAxes];
  Query::read(tree, request.queries, query, place);
  Query mine(tree, place, request.limit);
  lists.fill(left, first, count, mine.limit());
  const auto leaves = static_cast<unsigned>(tree.level[0].count);
  for (int i = part; i < lists.size(q); i += kFinishWarps) look_into(mine, lists.group(q, i), leaves);
  const auto worst = mine.worst();
  if (lane_id() == 0) nearest[q][part] = worst;
  __syncthreads();
  if (part > 0 || lane_id() > 0 || first + q >= count) return;
  auto best = nearest[q][0];
  for (const auto& other : nearest[q])
    if (other < best) best = other;
  const bool found = best.id != Query::kNone && best.squared <= request.limit;
  put_answer(tree, request, query, 0, best.squared, found ? std::int64_t{best.id} : kNobody);
  put_root(request.answers.lower, query, 0, found, best.squared);
}

// Which sets have such queries
// ---------------------------------------------------------------------------------------------------------------------

constexpr int kPlaces = 32, kPlacesBlock = 512;

/// The middle of the sites' box, or place `i` of a sequence that fills it evenly (Roberts 2018).
template <int kAxes>
__device__ void find_place(const DeviceTree& tree, unsigned i, double (&place)[kAxes]) {
  constexpr double kStep[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  for (int k = 0; k < kAxes; ++k) {
    const double turn = 0.5 + i * kStep[k];
    place[k] = tree.low[k] + (turn - floor(turn)) * (tree.high[k] - tree.low[k]);
  }
}

/// A block for each place: whether more than a quarter of the leaves may hold its nearest site, as far as boxes tell.
template <class T, int kAxes>
__global__ void __launch_bounds__(kPlacesBlock) try_places(const __grid_constant__ DeviceTree tree, int* hollow) {
  __shared__ unsigned nearest;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto leaves = static_cast<int>(tree.level[0].count);
  double place[kAxes];
  find_place<kAxes>(tree, blockIdx.x, place);
  if (thread == 0) nearest = kFarBits;
  __syncthreads();
  const auto squared = [&](int leaf, bool farthest) {
    const NodeBox<T, kAxes> box(tree.level[0].boxes, static_cast<unsigned>(leaf / kLanes), leaf % kLanes);
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
  for (int leaf = thread; leaf < leaves; leaf += kPlacesBlock) least = fminf(least, squared(leaf, true));
  atomicMin(&nearest, __float_as_uint(least));
  __syncthreads();
  int near = 0;
  for (int leaf = thread; leaf < leaves; leaf += kPlacesBlock) near += squared(leaf, false) <= __uint_as_float(nearest);
  for (int step = 16; step > 0; step /= 2) near += from_lane(near, lane_id() ^ step);
  __shared__ int all;
  if (thread == 0) all = 0;
  __syncthreads();
  if (lane_id() == 0) atomicAdd(&all, near);
  __syncthreads();
  if (thread == 0) hollow[blockIdx.x] = all > leaves / 4;
}

}  // namespace

bool is_hollow(const DeviceTree& tree, cudaStream_t stream) {
  if (tree.count <= kFewHollow || tree.count > kMostHollow) return false;
  if (tree.dtype == DType::float64 || (tree.dtype == DType::int32 && !tree.whole)) return false;
  std::array<int, kPlaces> hollow;
  const fathom::cuda::DeviceMemory memory(sizeof hollow, stream);
  auto* result = reinterpret_cast<int*>(memory.data());
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) == sizeof(float))
      try_places<T, decltype(axes)::value><<<kPlaces, kPlacesBlock, 0, stream>>>(tree, result);
  });
  fathom::cuda::check_launch("trying places");
  check(cudaMemcpyAsync(hollow.data(), result, sizeof hollow, cudaMemcpyDeviceToHost, stream),
        "reading what was tried");
  check(cudaStreamSynchronize(stream), "trying places");
  return std::ranges::any_of(hollow, [](int is) { return is != 0; });
}

LeftOver::LeftOver(const DeviceTree& tree, std::int64_t queries, std::byte* base) {
  fathom::cuda::Scratch scratch(base);
  groups = static_cast<int>((tree.count + kGroup - 1) / kGroup);
  given_up = scratch.take<std::uint8_t>(queries);
  least = scratch.take<int>(groups * queries);
  bytes = scratch.bytes();
}

void answer_left_over(const DeviceTree& tree, const DeviceRequest& request, const LeftOver& left, cudaStream_t stream) {
  const auto filtering = static_cast<unsigned>(fathom::cuda::multiprocessors() * kFilterBlocks);
  const auto finishing = static_cast<unsigned>((request.queries.count + kFinished - 1) / kFinished);
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    constexpr int kAxes = decltype(axes)::value;
    if constexpr (sizeof(T) == sizeof(float)) {
      using fathom::cuda::launch_early;
      launch_early(filter_left_over<T, kAxes>, filtering, kFilterBlock, stream, tree, request, left);
      launch_early(finish_left_over<T, kAxes>, finishing, kFinishBlock, stream, tree, request, left);
    }
  });
}

}  // namespace fathom::points::cuda
