// From coarse to fine: cubes of tiles whose middles have a triangle within the cutoff and their radius are divided by
// four along each axis, down to tiles; these are sorted.
// Cost: a search in the tree for each cube that is looked at, some 100 for each tile that is near.
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

constexpr int kDivision = 4, kParts = kDivision * kDivision * kDivision;
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

__global__ void __launch_bounds__(kAnswerBlock)
    find_near(const __grid_constant__ TreeView tree, const __grid_constant__ Grid grid,
              const __grid_constant__ Cubes cubes, const __grid_constant__ Asked asked, double cutoff,
              std::uint64_t* near, unsigned long long* count, int stack_nodes) {
  extern __shared__ Node stacks[];
  Team team(tree, stacks, stack_nodes);
  const std::int64_t i = (std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x) / kFan;
  if (i >= asked.count) return;
  std::int64_t at[3];
  const std::int64_t number = number_of(asked, cubes, i, at);
  if (number < 0) return;
  double middle[3], radius_squared = 0;
  for (int k = 0; k < 3; ++k) {
    const double low = grid.at(k, at[k] * cubes.side * kTileSide),
                 high = grid.at(k, (at[k] + 1) * cubes.side * kTileSide - 1);
    middle[k] = low + 0.5 * (high - low);
    const double radius = fmax(middle[k] - low, high - middle[k]);
    radius_squared += radius * radius;
  }
  const double limit = cutoff + sqrt(radius_squared);
  const bool is_near =
      team.any_within({middle[0], middle[1], middle[2]}, reach_of(limit * limit, tree.longest_squared));
  if (is_near && team.lane() == 0) near[atomicAdd(count, 1ull)] = static_cast<std::uint64_t>(number);
}

/// The near ones of some cubes. Waits.
/// @param taken  bytes that are in use already
NearTiles near_of(const TreeView& tree, const TileGrid& tiles, const Cubes& cubes, const Asked& asked, double cutoff,
                  std::size_t taken, const Execution& execution, cudaStream_t stream) {
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
        tree, tiles.grid, cubes, asked, cutoff, const_cast<std::uint64_t*>(result.tiles), count, stack_size(tree));
  fathom::cuda::check_launch("finding near tiles");
  unsigned long long found = 0;
  check(cudaMemcpyAsync(&found, count, sizeof found, cudaMemcpyDeviceToHost, stream), "reading a count");
  check(cudaStreamSynchronize(stream), "finding near tiles");
  result.count = static_cast<std::int64_t>(found);
  return result;
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
  NearTiles near = near_of(tree, tiles, cubes, asked, cutoff, 0, execution, stream);
  while (side > 1) {
    asked = {near.tiles, {cubes.shape[0], cubes.shape[1]}, near.count * kParts};
    side /= kDivision;
    cubes = Cubes(tiles, side);
    near = near_of(tree, tiles, cubes, asked, cutoff, near.bytes, execution, stream);
  }
  check_scratch(execution, near.bytes + 2 * static_cast<std::size_t>(near.count) * sizeof(std::uint64_t), "at least ");
  sort(near, tiles, stream);
  return near;
}

}  // namespace fathom::mesh::cuda
