// From coarse to fine: cubes of tiles whose middles have a triangle within the cutoff and their radius are divided by
// four along each axis, down to tiles; these are sorted. The cubes above tiles list the triangles that are near to
// them, which serves their tiles in place of the tree.
// Cost: a look at a list for each tile that is looked at, some 100 for each that is near.
#include <cub/device/device_radix_sort.cuh>

#include "core/cuda/scratch.h"
#include "fathom/core/error.h"
#include "mesh/cuda/near_tiles.h"
#include "mesh/cuda/pieces.h"
#include "mesh/cuda/questions.cuh"

namespace fathom::mesh::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Scratch;

constexpr int kParts = kDivision * kDivision * kDivision;
constexpr std::int64_t kMostAtOnce = 1 << 16;  ///< cubes that are all looked at

/// Cubes of `side` tiles.
struct Cubes {
  std::int64_t side, shape[3];

  Cubes(const TileGrid& tiles, std::int64_t of_side) : side(of_side) {
    for (int k = 0; k < 3; ++k) shape[k] = (tiles.shape[k] + side - 1) / side;
  }
  double count() const {
    return static_cast<double>(shape[0]) * static_cast<double>(shape[1]) * static_cast<double>(shape[2]);
  }
};

/// Of cubes on a way down: number i of all, or, with those that are near above it, part i % kParts of one of them.
struct Asked {
  const std::uint64_t* above;   ///< null: all
  std::int64_t above_shape[2];  ///< along x and y
  std::int64_t count;
};

/// @return the number of a cube, or −1 where it is beyond the lattice
__device__ std::int64_t number_of(const Asked& asked, const Cubes& cubes, std::int64_t i, std::int64_t (&at)[3]) {
  std::int64_t whole = i, shape[2] = {cubes.shape[0], cubes.shape[1]};
  if (asked.above) {
    whole = static_cast<std::int64_t>(asked.above[i / kParts]);
    shape[0] = asked.above_shape[0];
    shape[1] = asked.above_shape[1];
  }
  at[0] = whole % shape[0];
  at[1] = whole / shape[0] % shape[1];
  at[2] = whole / shape[0] / shape[1];
  if (asked.above) {
    const int part = static_cast<int>(i % kParts);
    at[0] = at[0] * kDivision + part % kDivision;
    at[1] = at[1] * kDivision + part / kDivision % kDivision;
    at[2] = at[2] * kDivision + part / (kDivision * kDivision);
  }
  if (at[0] >= cubes.shape[0] || at[1] >= cubes.shape[1] || at[2] >= cubes.shape[2]) return -1;
  return (at[2] * cubes.shape[1] + at[1]) * cubes.shape[0] + at[0];
}

/// The ball about a cube, and a reach within which lies what is within the cutoff of some point of it.
struct Reach {
  Vec3 middle;
  double reach;
};

__device__ Reach reach_about(const TreeView& tree, const Grid& grid, std::int64_t side, const std::int64_t (&at)[3],
                             double cutoff) {
  double middle[3], radius_squared = 0;
  for (int k = 0; k < 3; ++k) {
    const double low = grid.at(k, at[k] * side * kTileSide), high = grid.at(k, (at[k] + 1) * side * kTileSide - 1);
    middle[k] = low + 0.5 * (high - low);
    const double radius = fmax(middle[k] - low, high - middle[k]);
    radius_squared += radius * radius;
  }
  const double limit = cutoff + sqrt(radius_squared);
  return {{middle[0], middle[1], middle[2]}, reach_of(limit * limit, tree.longest_squared)};
}

/// A team for each of the near cubes above tiles.
__global__ void __launch_bounds__(kAnswerBlock)
    list_cubes(const __grid_constant__ TreeView tree, const __grid_constant__ Grid grid,
               const __grid_constant__ Asked tiles, double cutoff, const __grid_constant__ CubeLists to,
               int stack_nodes) {
  extern __shared__ Node stacks[];
  Team team(tree, stacks, stack_nodes);
  const std::int64_t i = (std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x) / kFan;
  if (i >= tiles.count / kParts) return;
  const auto number = static_cast<std::int64_t>(tiles.above[i]);
  const std::int64_t at[3] = {number % to.shape[0], number / to.shape[0] % to.shape[1],
                              number / to.shape[0] / to.shape[1]};
  const auto [middle, reach] = reach_about(tree, grid, kDivision, at, cutoff);
  const int count = team.gather(middle, reach, to.lists[i].places, CubeList::kMost);
  if (team.lane() != 0) return;
  to.lists[i].count = count;
  to.numbers[number] = static_cast<std::int32_t>(i);
}

__global__ void __launch_bounds__(kAnswerBlock)
    find_near(const __grid_constant__ TreeView tree, const __grid_constant__ Grid grid,
              const __grid_constant__ Cubes cubes, const __grid_constant__ Asked asked, double cutoff,
              const __grid_constant__ CubeLists lists, std::uint64_t* near, unsigned long long* count,
              int stack_nodes) {
  extern __shared__ Node stacks[];
  Team team(tree, stacks, stack_nodes);
  const std::int64_t i = (std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x) / kFan;
  if (i >= asked.count) return;
  std::int64_t at[3];
  const std::int64_t number = number_of(asked, cubes, i, at);
  if (number < 0) return;
  const auto [middle, reach] = reach_about(tree, grid, cubes.side, at, cutoff);
  const CubeList* const list = lists.of(at);
  const bool is_near =
      list ? team.any_within(list->places, list->count, middle, reach) : team.any_within(middle, reach);
  if (is_near && team.lane() == 0) near[atomicAdd(count, 1ull)] = static_cast<std::uint64_t>(number);
}

/// The near ones of some cubes. Waits.
/// @param taken  bytes that are in use already
NearTiles near_of(const TreeView& tree, const TileGrid& tiles, const Cubes& cubes, const Asked& asked, double cutoff,
                  const CubeLists& lists, std::size_t taken, const Execution& execution, cudaStream_t stream) {
  NearTiles result;
  Scratch sizes(nullptr);
  const auto place = [&](Scratch& scratch) {
    result.tiles = scratch.take<std::uint64_t>(asked.count);
    return scratch.take<unsigned long long>(1);
  };
  place(sizes);
  check_scratch(execution, taken + sizes.bytes(), "at least ");
  result.bytes = sizes.bytes();
  result.memory = std::make_unique<DeviceMemory>(sizes.bytes(), stream);
  Scratch scratch(result.memory->data());
  unsigned long long* const count = place(scratch);
  check(cudaMemsetAsync(count, 0, sizeof *count, stream), "clearing a count");
  if (asked.count > 0)
    find_near<<<blocks_for(asked.count * kFan, kAnswerBlock), kAnswerBlock, stacks_bytes(tree, kAnswerBlock), stream>>>(
        tree, tiles.grid, cubes, asked, cutoff, lists, const_cast<std::uint64_t*>(result.tiles), count,
        stack_size(tree));
  fathom::cuda::check_launch("finding near tiles");
  unsigned long long found = 0;
  check(cudaMemcpyAsync(&found, count, sizeof found, cudaMemcpyDeviceToHost, stream), "reading a count");
  check(cudaStreamSynchronize(stream), "finding near tiles");
  result.count = static_cast<std::int64_t>(found);
  return result;
}

/// Lists for the near cubes above tiles; none where memory is limited, or there are very many cubes.
CubeLists make_lists(const TreeView& tree, const TileGrid& tiles, const Cubes& above, const Asked& asked, double cutoff,
                     const Execution& execution, std::unique_ptr<DeviceMemory>& memory, std::size_t& bytes,
                     cudaStream_t stream) {
  constexpr double kMostCubes = 1 << 26;
  constexpr std::int64_t kMostLists = 1 << 18;
  CubeLists lists;
  const std::int64_t count = asked.count / kParts;
  if (execution.scratch_limit || above.count() > kMostCubes || count == 0 || count > kMostLists) return lists;
  const auto place = [&](Scratch& scratch) {
    lists.lists = scratch.take<CubeList>(count);
    lists.numbers = scratch.take<std::int32_t>(static_cast<std::int64_t>(above.count()));
  };
  Scratch sizes(nullptr);
  place(sizes);
  bytes = sizes.bytes();
  memory = std::make_unique<DeviceMemory>(bytes, stream);
  Scratch scratch(memory->data());
  place(scratch);
  lists.shape[0] = above.shape[0];
  lists.shape[1] = above.shape[1];
  check(cudaMemsetAsync(lists.numbers, 0xff, static_cast<std::size_t>(above.count()) * sizeof(std::int32_t), stream),
        "clearing lists");
  list_cubes<<<blocks_for(count * kFan, kAnswerBlock), kAnswerBlock, stacks_bytes(tree, kAnswerBlock), stream>>>(
      tree, tiles.grid, asked, cutoff, lists, stack_size(tree));
  fathom::cuda::check_launch("listing triangles");
  return lists;
}

}  // namespace

void sort(NearTiles& near, const TileGrid& tiles, cudaStream_t stream) {
  if (near.count < 2) return;
  int bits = 1;
  while (bits < 64 && (std::uint64_t{1} << bits) < static_cast<std::uint64_t>(tiles.count())) ++bits;
  const DeviceMemory other(static_cast<std::size_t>(near.count) * sizeof(std::uint64_t), stream);
  cub::DoubleBuffer<std::uint64_t> keys(const_cast<std::uint64_t*>(near.tiles),
                                        reinterpret_cast<std::uint64_t*>(other.data()));
  std::size_t bytes = 0;
  const auto run = [&](void* temporary) {
    check(cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, near.count, 0, bits, stream), "sorting tiles");
  };
  run(nullptr);
  const DeviceMemory temporary(bytes, stream);
  run(temporary.data());
  if (keys.Current() != near.tiles)
    check(
        cudaMemcpyAsync(const_cast<std::uint64_t*>(near.tiles), keys.Current(),
                        static_cast<std::size_t>(near.count) * sizeof(std::uint64_t), cudaMemcpyDeviceToDevice, stream),
        "sorting tiles");
}

NearTiles near_tiles(const TreeView& tree, const TileGrid& tiles, double cutoff, const Execution& execution,
                     cudaStream_t stream) {
  std::int64_t side = 1;
  while (Cubes(tiles, side).count() > static_cast<double>(kMostAtOnce)) side *= kDivision;
  Cubes cubes(tiles, side);
  if (Cubes(tiles, 1).count() >= 0x1p63)
    throw InvalidArgument("the lattice has more tiles of 8 × 8 × 8 points than can be counted; give a coarser one");
  Asked asked{nullptr, {}, static_cast<std::int64_t>(cubes.count())};
  NearTiles near = near_of(tree, tiles, cubes, asked, cutoff, {}, 0, execution, stream);
  while (side > 1) {
    asked = {near.tiles, {cubes.shape[0], cubes.shape[1]}, near.count * kParts};
    side /= kDivision;
    std::unique_ptr<DeviceMemory> of_cubes;
    std::size_t bytes = 0;
    const CubeLists lists =
        side > 1 ? CubeLists() : make_lists(tree, tiles, cubes, asked, cutoff, execution, of_cubes, bytes, stream);
    cubes = Cubes(tiles, side);
    near = near_of(tree, tiles, cubes, asked, cutoff, lists, near.bytes, execution, stream);
    near.of_cubes = std::move(of_cubes);
    near.cubes = lists;
    near.bytes += bytes;
  }
  check_scratch(execution, near.bytes + 2 * static_cast<std::size_t>(near.count) * sizeof(std::uint64_t), "at least ");
  sort(near, tiles, stream);
  return near;
}

}  // namespace fathom::mesh::cuda
