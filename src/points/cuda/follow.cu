// Sites that come and go: the leaves that changed in the tree of the host are packed, copied, 8192 at once, and put
// where they belong; boxes above the leaves are all made again, since a look at each costs less than to find out which
// changed.
//
// Work: a warp for each leaf, a lane for each place. Cost: O(changed leaves), and 1/32 of the leaves' boxes.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "points/cuda/boxes.cuh"
#include "points/cuda/build.h"
#include "points/cuda/follow.h"

namespace fathom::points::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Scratch;

/// Packed leaves, of the host or the device.
struct Leaves {
  std::uint32_t *numbers, *ids;  ///< of the leaves; of their sites
  std::uint8_t* sizes;
  std::byte* blocks;

  Leaves(const DeviceTree& tree, std::int64_t count, Scratch& memory)
      : numbers(memory.take<std::uint32_t>(count)),
        ids(memory.take<std::uint32_t>(count * kSortedLeaf)),
        sizes(memory.take<std::uint8_t>(count)),
        blocks(memory.take<std::byte>(count * block_bytes(tree))) {}

  static std::int64_t block_bytes(const DeviceTree& tree) {
    return tree.axes * kSortedLeaf * static_cast<std::int64_t>(size_of(tree.dtype));
  }
};

template <class T, int kAxes>
__global__ void __launch_bounds__(kBuildBlock)
    put_packed(const __grid_constant__ DeviceTree tree, const __grid_constant__ Leaves leaves, std::int64_t count) {
  std::int64_t number;
  if (!is_at_work(count, number)) return;
  const std::int64_t leaf = leaves.numbers[number];
  const T* from = reinterpret_cast<const T*>(leaves.blocks) + number * kAxes * kSortedLeaf + lane_id();
  T* block = static_cast<T*>(tree.blocks) + leaf * kAxes * kSortedLeaf + lane_id();
  for (int k = 0; k < kAxes; ++k) {
    const T x = block[k * kSortedLeaf] = from[k * kSortedLeaf];
    put_bounds(box_at<T>(tree.level[0], kAxes, leaf), k, x, x);
  }
  const std::uint32_t id = leaves.ids[number * kSortedLeaf + lane_id()];
  tree.ids[leaf * kSortedLeaf + lane_id()] = id;
  const std::uint32_t lowest = warp_min(id);
  if (lane_id() != 0) return;
  tree.level[0].lowest[leaf] = lowest;
  tree.sizes[leaf] = leaves.sizes[number];
}

/// Copies some leaves; waits for it, since what they are packed in goes.
void put_some(const DeviceTree& tree, const Tree& from, std::span<const std::uint32_t> numbers, cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  Scratch sizing(nullptr);
  const Leaves unplaced(tree, count, sizing);
  std::vector<std::byte> packed(sizing.bytes());
  Scratch of_host(packed.data());
  const Leaves leaves(tree, count, of_host);
  const auto block = static_cast<std::size_t>(Leaves::block_bytes(tree));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t leaf = leaves.numbers[i] = numbers[i];
    leaves.sizes[i] = from.sizes[leaf];
    std::memcpy(leaves.blocks + i * block, from.blocks.data() + leaf * block, block);
    std::memcpy(leaves.ids + i * kSortedLeaf, &from.ids[leaf * kSortedLeaf], kSortedLeaf * sizeof(std::uint32_t));
  }
  const DeviceMemory memory(packed.size(), stream);
  Scratch of_device(memory.data());
  const Leaves there(tree, count, of_device);
  check(cudaMemcpyAsync(memory.data(), packed.data(), packed.size(), cudaMemcpyHostToDevice, stream), "copying sites");
  visit_kind(tree.dtype, tree.axes, [&](auto tag, auto axes) {
    put_packed<typename decltype(tag)::type, decltype(axes)::value>
        <<<blocks_of(count * 32), kBuildBlock, 0, stream>>>(tree, there, count);
  });
  fathom::cuda::check_launch("changing sites");
  check(cudaStreamSynchronize(stream), "changing sites");
}

}  // namespace

DeviceTree make_tree(const Tree& from) {
  Cloud places;
  places.dtype = from.dtype;
  places.axes = from.axes;
  places.count = from.count;
  return make_tree(places, Storage::sorted);
}

void put_leaves(const DeviceTree& tree, const Tree& from, std::span<const std::uint32_t> numbers, cudaStream_t stream) {
  constexpr std::size_t kAtOnce = 1 << 13;  // so that a set that is built takes little more than what it keeps
  for (std::size_t first = 0; first < numbers.size(); first += kAtOnce)
    put_some(tree, from, numbers.subspan(first, std::min(kAtOnce, numbers.size() - first)), stream);
  if (numbers.empty()) return;
  box_levels(tree, stream);
  check(cudaStreamSynchronize(stream), "changing sites");
}

}  // namespace fathom::points::cuda
