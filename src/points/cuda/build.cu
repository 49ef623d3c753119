// The tree over a cloud: sites along a Hilbert curve or in the caller's order, boxes over leaves of them, boxes over 32
// boxes, and so on upwards.
//
// Kernels: the extent of all sites; the order; leaves, a warp for each; and, for each level above, a warp for each node
// with a lane for each child. In the caller's order the boxes come first and tell the extent, and whether they divide.
// Source: packed R-trees in Hilbert order, Kamel & Faloutsos 1993. Cost: O(n).
#include <algorithm>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/check.h"
#include "points/cuda/boxes.cuh"
#include "points/cuda/build.h"
#include "points/cuda/order.h"
#include "points/cuda/tuning.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Scratch;

/// Sites first, first + step, …, of those up to the last, whose coordinates are on their way together.
constexpr int kInFlight = 4;

template <class T, int kAxes>
struct Flight {
  std::int64_t site[kInFlight];
  T at[kInFlight][kAxes];

  __device__ Flight(const Cloud& sites, std::int64_t first, std::int64_t step, std::int64_t last) {
#pragma unroll
    for (int s = 0; s < kInFlight; ++s) {
      site[s] = smaller(first + s * step, last);
      for (int k = 0; k < kAxes; ++k) at[s][k] = sites.get<T>(k, site[s]);
    }
  }
};

// Extent
// -----------------------------------------------------------------------------------------------------------------

using Bits = unsigned long long;
constexpr Bits kSign = Bits{1} << 63;

/// Bits that rise with the number.
__host__ __device__ Bits bits_of(double x) {
  Bits bits;
  memcpy(&bits, &x, sizeof x);
  return bits & kSign ? ~bits : bits | kSign;
}
double number_of(Bits bits) {
  bits = bits & kSign ? bits & ~kSign : ~bits;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/// For each axis: bits of the lowest coordinate and of the highest negated, and the first site that is no number to
/// count with; and 0 where there is a coordinate that is not whole. All start from the largest.
struct ExtentBits {
  Bits low[3], high[3], unsound[3], broken;
};

__device__ ExtentBits& lower(ExtentBits& to, const ExtentBits& from) {
  for (int k = 0; k < 3; ++k) {
    atomicMin(&to.low[k], from.low[k]);
    atomicMin(&to.high[k], from.high[k]);
    atomicMin(&to.unsound[k], from.unsound[k]);
  }
  atomicMin(&to.broken, from.broken);
  return to;
}

/// Whether a coordinate is a number to count with; and whether it is whole.
__device__ bool is_sound(std::int32_t) { return true; }
__device__ bool is_sound(float x) { return isfinite(x); }
__device__ bool is_sound(double x) { return points::is_sound(x); }
__device__ bool is_whole(std::int32_t) { return true; }
__device__ bool is_whole(float x) { return x == floorf(x); }
__device__ bool is_whole(double x) { return x == floor(x); }

/// Threads stride over the sites; then one atomic operation for each warp, and for each block.
template <class T, int kAxes>
__global__ void __launch_bounds__(kBuildBlock) measure_extent(const __grid_constant__ Cloud sites, ExtentBits* result) {
  ExtentBits mine;
  memset(&mine, 0xFF, sizeof mine);
  T low[kAxes], high[kAxes];
  for (int k = 0; k < kAxes; ++k) low[k] = high[k] = sites.get<T>(k, 0);
  const std::int64_t step = std::int64_t{gridDim.x} * kBuildBlock;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kBuildBlock + threadIdx.x; i < sites.count; i += kInFlight * step) {
    const Flight<T, kAxes> flight(sites, i, step, sites.count - 1);
    for (int s = 0; s < kInFlight; ++s)
      for (int k = 0; k < kAxes; ++k) {
        const T x = flight.at[s][k];
        if (!is_sound(x)) mine.unsound[k] = min(mine.unsound[k], static_cast<Bits>(flight.site[s]));
        if (!is_whole(x)) mine.broken = 0;
        low[k] = smaller(low[k], x);
        high[k] = larger(high[k], x);
      }
  }
  for (int k = 0; k < kAxes; ++k) {
    mine.low[k] = bits_of(static_cast<double>(low[k]));
    mine.high[k] = bits_of(-static_cast<double>(high[k]));
  }
  __shared__ ExtentBits block;
  if (threadIdx.x == 0) block = mine;
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    mine.low[k] = warp_lowest(mine.low[k]);
    mine.high[k] = warp_lowest(mine.high[k]);
    mine.unsound[k] = warp_lowest(mine.unsound[k]);
  }
  mine.broken = warp_lowest(mine.broken);
  if (lane_id() == 0) lower(block, mine);
  __syncthreads();
  if (threadIdx.x == 0) lower(*result, block);
}

[[noreturn]] void refuse(const Cloud& sites, int axis, std::int64_t i) {
  double x = 0;
  visit_coordinates(sites.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value;
    const T* from = reinterpret_cast<const T*>(sites.data[axis]) + i * sites.step[axis];
    check(cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost), "reading a site");
    x = static_cast<double>(value);
  });
  refuse_coordinate("site", i * sites.every, x);
}

// Boxes
// ------------------------------------------------------------------------------------------------------------------

template <class T, int kAxes>
__global__ void __launch_bounds__(kBuildBlock)
    fill_sorted_leaves(const __grid_constant__ DeviceTree tree, const __grid_constant__ Cloud sites,
                       const std::uint32_t* order, const std::uint32_t* ids) {
  std::int64_t leaf;
  if (!is_at_work(tree.level[0].count, leaf)) return;
  const std::int64_t position = leaf * kSortedLeaf + lane_id();
  const std::uint32_t index = order[smaller(position, tree.count - 1)];
  T* block = static_cast<T*>(tree.blocks) + leaf * kAxes * kSortedLeaf + lane_id();
  T* box = box_at<T>(tree.level[0], kAxes, leaf);
  for (int k = 0; k < kAxes; ++k) {
    const T x = sites.get<T>(k, index);
    block[k * kSortedLeaf] = x;
    put_bounds(box, k, x, x);
  }
  const std::uint32_t id = ids ? ids[index] : static_cast<std::uint32_t>(index * sites.every);
  tree.ids[position] = id;
  const std::uint32_t lowest = warp_min(id);
  if (lane_id() == 0) tree.level[0].lowest[leaf] = lowest;
}

/// What the boxes tell when all are there.
struct BoxedBits {
  ExtentBits extent;
  double shares;  ///< of the whole box that the leaves' boxes are, added up
};

/// @param result  learns of coordinates that are no numbers to count with, or not whole; its sum begins
template <class T, int kAxes>
__global__ void __launch_bounds__(kBuildBlock) box_leaves(const __grid_constant__ DeviceTree tree, BoxedBits* result) {
  if (blockIdx.x == 0 && threadIdx.x == 0) result->shares = 0;
  std::int64_t leaf;
  if (!is_at_work(tree.level[0].count, leaf)) return;
  const std::int64_t first = leaf * tree.leaf, last = smaller(first + tree.leaf, tree.count) - 1;
  T low[kAxes], high[kAxes];
  for (int k = 0; k < kAxes; ++k) low[k] = high[k] = tree.sites.get<T>(k, last);
  bool whole = true;
  for (std::int64_t i = first + lane_id(); i <= last; i += kInFlight * 32) {
    const Flight<T, kAxes> flight(tree.sites, i, 32, last);
    for (int s = 0; s < kInFlight; ++s)
      for (int k = 0; k < kAxes; ++k) {
        const T x = flight.at[s][k];
        if (!is_sound(x)) atomicMin(&result->extent.unsound[k], static_cast<Bits>(flight.site[s]));
        whole &= is_whole(x);
        low[k] = smaller(low[k], x);
        high[k] = larger(high[k], x);
      }
  }
  const bool broken = !__all_sync(kAllLanes, whole);
  Bits& known = result->extent.broken;
  if (broken && lane_id() == 0 && known != 0) atomicMin(&known, Bits{0});
  for (int k = 0; k < kAxes; ++k) put_bounds(box_at<T>(tree.level[0], kAxes, leaf), k, low[k], high[k]);
}

template <class T, int kAxes>
__global__ void __launch_bounds__(kBuildBlock) box_nodes(const __grid_constant__ DeviceTree tree, int number) {
  const DeviceLevel &level = tree.level[number], &below = tree.level[number - 1];
  std::int64_t node;
  if (!is_at_work(level.count, node)) return;
  const std::int64_t child = smaller(node * kLanes + lane_id(), below.count - 1);
  const T* from = box_at<T>(below, kAxes, child);
  for (int k = 0; k < kAxes; ++k)
    put_bounds(box_at<T>(level, kAxes, node), k, from[2 * k * kLanes], from[(2 * k + 1) * kLanes]);
  if (!below.lowest) return;
  const std::uint32_t lowest = warp_min(below.lowest[child]);
  if (lane_id() == 0) level.lowest[node] = lowest;
}

/// The whole box, a node of the top level in each lane of a warp; and the shares. Threads take a leaf each.
template <class T, int kAxes>
__global__ void __launch_bounds__(kBuildBlock)
    measure_boxes(const __grid_constant__ DeviceTree tree, BoxedBits* result) {
  __shared__ double low[kAxes], high[kAxes];
  if (threadIdx.x < 32) {
    const DeviceLevel& top = tree.level[tree.levels - 1];
    const T* box = box_at<T>(top, kAxes, smaller(std::int64_t{lane_id()}, top.count - 1));
    for (int k = 0; k < kAxes; ++k) {
      const double lowest = warp_lowest(static_cast<double>(box[2 * k * kLanes]));
      const double highest = warp_highest(static_cast<double>(box[(2 * k + 1) * kLanes]));
      if (lane_id() > 0) continue;
      low[k] = lowest;
      high[k] = highest;
      if (blockIdx.x > 0) continue;
      result->extent.low[k] = bits_of(lowest);
      result->extent.high[k] = bits_of(-highest);
    }
  }
  __syncthreads();
  const std::int64_t leaf = std::int64_t{blockIdx.x} * kBuildBlock + threadIdx.x;
  double share = leaf < tree.level[0].count ? 1 : 0;
  for (int k = 0; share > 0 && k < kAxes; ++k) {
    const T* box = box_at<T>(tree.level[0], kAxes, leaf);
    const double all = high[k] - low[k];
    const double own = static_cast<double>(box[(2 * k + 1) * kLanes]) - static_cast<double>(box[2 * k * kLanes]);
    if (all > 0) share *= own / all;
  }
  for (int step = 16; step > 0; step /= 2) share += from_lane(share, lane_id() ^ step);
  __shared__ double block;
  if (threadIdx.x == 0) block = 0;
  __syncthreads();
  if (lane_id() == 0) atomicAdd(&block, share);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&result->shares, block);
}

/// @throws InvalidArgument a coordinate is no number to count with
Extent judged(const ExtentBits& bits, const Cloud& sites) {
  Extent extent;
  extent.whole = bits.broken == ~Bits{0};
  for (int k = 0; k < sites.axes; ++k) {
    if (bits.unsound[k] != ~Bits{0}) refuse(sites, k, static_cast<std::int64_t>(bits.unsound[k]));
    const auto axis = static_cast<std::size_t>(k);
    extent.box.low[axis] = number_of(bits.low[k]);
    extent.box.high[axis] = -number_of(bits.high[k]);
    extent.whole &= extent.box.low[axis] >= -kWholeInFloat && extent.box.high[axis] <= kWholeInFloat;
  }
  return extent;
}

}  // namespace

Extent extent_of(const Cloud& sites, cudaStream_t stream) {
  const DeviceMemory memory(sizeof(ExtentBits), stream);
  auto* result = reinterpret_cast<ExtentBits*>(memory.data());
  check(cudaMemsetAsync(result, 0xFF, sizeof(ExtentBits), stream), "clearing the extent");
  const std::int64_t most = std::int64_t{fathom::cuda::multiprocessors()} * kExtentBlocks;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(blocks_of(sites.count), most));
  visit_kind(sites.dtype, sites.axes, [&](auto tag, auto axes) {
    measure_extent<typename decltype(tag)::type, decltype(axes)::value>
        <<<blocks, kBuildBlock, 0, stream>>>(sites, result);
  });
  fathom::cuda::check_launch("measuring the sites' extent");
  ExtentBits bits;
  check(cudaMemcpyAsync(&bits, result, sizeof bits, cudaMemcpyDeviceToHost, stream), "reading the extent");
  check(cudaStreamSynchronize(stream), "measuring the sites' extent");
  return judged(bits, sites);
}

DeviceTree make_tree(const Cloud& sites, Storage storage) {
  DeviceTree tree;
  tree.dtype = sites.dtype;
  tree.axes = sites.axes;
  tree.count = sites.count;
  tree.leaf = storage == Storage::sorted ? kSortedLeaf : boxed_leaf(sites.dtype);
  if (storage != Storage::sorted) tree.sites = sites;
  if (storage == Storage::plain) return tree;
  std::int64_t nodes = tree.leaves();
  for (; tree.levels == 0 || nodes > 1; nodes = (nodes + kLanes - 1) / kLanes) tree.level[tree.levels++].count = nodes;
  return tree;
}

void set_extent(DeviceTree& tree, const Extent& extent) {
  std::copy_n(extent.box.low.data(), 3, tree.low);
  std::copy_n(extent.box.high.data(), 3, tree.high);
  tree.whole = extent.whole;
}

std::size_t place_tree(DeviceTree& tree, Storage storage, std::byte* base) {
  Scratch memory(base);
  const auto size = static_cast<std::int64_t>(size_of(tree.dtype));
  const bool sorted = storage == Storage::sorted;
  if (sorted) tree.blocks = memory.take<std::byte>(tree.leaves() * tree.axes * kSortedLeaf * size);
  if (sorted) tree.ids = memory.take<std::uint32_t>(tree.leaves() * kSortedLeaf);
  for (int l = 0; l < tree.levels; ++l) {
    DeviceLevel& level = tree.level[l];
    level.boxes = memory.take<std::byte>((level.count + kLanes - 1) / kLanes * (2 * tree.axes * kLanes) * size);
    if (sorted) level.lowest = memory.take<std::uint32_t>(level.count);
  }
  return memory.bytes();
}

std::size_t sort_scratch_bytes(const DeviceTree& tree) { return fine_order_bytes(tree.count); }

void sort_tree(const DeviceTree& tree, const Cloud& sites, const std::uint32_t* ids, std::byte* scratch,
               cudaStream_t stream) {
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    const std::uint32_t* order = fine_order(tree, sites, scratch, stream);
    fill_sorted_leaves<typename decltype(tag)::type, decltype(axes)::value>
        <<<blocks_of(tree.level[0].count * 32), kBuildBlock, 0, stream>>>(tree, sites, order, ids);
  });
  box_levels(tree, stream);
}

void box_levels(const DeviceTree& tree, cudaStream_t stream) {
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    for (int level = 1; level < tree.levels; ++level)
      box_nodes<typename decltype(tag)::type, decltype(axes)::value>
          <<<blocks_of(tree.level[level].count * 32), kBuildBlock, 0, stream>>>(tree, level);
  });
  fathom::cuda::check_launch("building the tree");
}

Boxed box_tree(const DeviceTree& tree, cudaStream_t stream) {
  constexpr double kMostMean = 0.5;
  const DeviceMemory memory(sizeof(BoxedBits), stream);
  auto* result = reinterpret_cast<BoxedBits*>(memory.data());
  check(cudaMemsetAsync(&result->extent, 0xFF, sizeof(ExtentBits), stream), "clearing the extent");
  const std::int64_t leaves = tree.level[0].count;
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    using T = typename decltype(tag)::type;
    constexpr int kAxes = decltype(axes)::value;
    box_leaves<T, kAxes><<<blocks_of(leaves * 32), kBuildBlock, 0, stream>>>(tree, result);
    box_levels(tree, stream);
    measure_boxes<T, kAxes><<<blocks_of(leaves), kBuildBlock, 0, stream>>>(tree, result);
  });
  fathom::cuda::check_launch("building the tree");
  BoxedBits bits;
  check(cudaMemcpyAsync(&bits, result, sizeof bits, cudaMemcpyDeviceToHost, stream), "reading the extent");
  check(cudaStreamSynchronize(stream), "building the tree");
  return {judged(bits.extent, tree.sites), leaves == 1 || bits.shares <= kMostMean * static_cast<double>(leaves)};
}

}  // namespace fathom::points::cuda
