// The corners of all tiles are asked for their sides; then all points of the tiles about which corners do not agree.
// Tiles in which they do not either are put among the near ones.
// Cost: a side for each tile, and 512 for each about which inside and outside meet; scratch: two bytes for each tile.
#include "core/cuda/scratch.h"
#include "fathom/core/error.h"
#include "mesh/cuda/cut_tiles.h"
#include "mesh/cuda/pieces.h"
#include "mesh/cuda/side_questions.cuh"

namespace fathom::mesh::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::DeviceMemory;
using fathom::cuda::Scratch;

/// Where tiles meet, also beyond the lattice's end, and those of the tiles next to these.
struct TileCorners {
  TileGrid tiles;
  std::uint8_t* inside;  ///< [corner]

  FATHOM_HD std::int64_t along(int axis) const {
    return tiles.shape[axis] + 1 + (axis == 2 ? tiles.below + tiles.above : 0);
  }
  FATHOM_HD std::int64_t questions() const { return along(0) * along(1) * along(2); }
  __device__ Question question(std::int64_t i) const {
    return {true, tiles.grid.point(i % along(0) * kTileSide, i / along(0) % along(1) * kTileSide,
                                   (i / along(0) / along(1) - tiles.below) * kTileSide)};
  }
  __device__ void take(std::int64_t i, bool is_in) const { inside[i] = is_in; }

  __device__ bool is_inside(std::int64_t tx, std::int64_t ty, std::int64_t tz) const {
    return inside[((tz + tiles.below) * along(1) + ty) * along(0) + tx] != 0;
  }
  /// Whether all corners of a tile, and of `around` tiles on each side of it, are on one side.
  __device__ bool agree(const std::int64_t (&tile)[3], std::int64_t around) const {
    std::int64_t low[3], high[3];
    for (int k = 0; k < 3; ++k) {
      const std::int64_t least = k == 2 ? -tiles.below : 0, most = along(k) - 1 + least;
      low[k] = max(tile[k] - around, least);
      high[k] = min(tile[k] + 1 + around, most);
    }
    const bool first = is_inside(tile[0], tile[1], tile[2]);
    for (std::int64_t z = low[2]; z <= high[2]; ++z)
      for (std::int64_t y = low[1]; y <= high[1]; ++y)
        for (std::int64_t x = low[0]; x <= high[0]; ++x)
          if (is_inside(x, y, z) != first) return false;
    return true;
  }
};

/// A list of tiles that threads add to, or of which they count how many there are to be.
struct NumberList {
  std::uint64_t* numbers;  ///< null: counted
  unsigned long long* count;

  __device__ void add(std::int64_t number) const {
    const unsigned long long at = atomicAdd(count, 1ull);
    if (numbers) numbers[at] = static_cast<std::uint64_t>(number);
  }
};

/// A thread for each tile: marks those whose corners do not agree, and lists those about which corners do not.
__global__ void __launch_bounds__(kAnswerBlock)
    look_at_corners(const __grid_constant__ TileCorners corners, std::uint8_t* marks,
                    const __grid_constant__ NumberList list) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x;
  if (i >= corners.tiles.count()) return;
  std::int64_t tile[3];
  corners.tiles.place_of(i, tile);
  const bool is_cut = !corners.agree(tile, 0);
  marks[i] = is_cut;
  if (!is_cut && !corners.agree(tile, 1)) list.add(i);
}

/// All points of some tiles.
struct PointsOfTiles {
  TileCorners corners;
  const std::uint64_t* numbers;
  std::int64_t count;
  std::uint8_t* marks;

  FATHOM_HD std::int64_t questions() const { return count * kTilePoints; }
  __device__ Question question(std::int64_t i) const {
    std::int64_t tile[3];
    corners.tiles.place_of(static_cast<std::int64_t>(numbers[i / kTilePoints]), tile);
    const std::int64_t n = i % kTilePoints;
    return {true, corners.tiles.grid.point(tile[0] * kTileSide + n % 8, tile[1] * kTileSide + n / 8 % 8,
                                           tile[2] * kTileSide + n / 64)};
  }
  __device__ void take(std::int64_t i, bool is_in) const {
    const auto number = static_cast<std::int64_t>(numbers[i / kTilePoints]);
    std::int64_t tile[3];
    corners.tiles.place_of(number, tile);
    if (is_in != corners.is_inside(tile[0], tile[1], tile[2])) marks[number] = 1;  // the same from all threads
  }
};

/// A thread for each tile: lists those that are marked and not among the near ones.
__global__ void __launch_bounds__(kAnswerBlock)
    list_marked(const std::uint8_t* marks, std::int64_t tiles, const std::uint64_t* near, std::int64_t near_count,
                const __grid_constant__ NumberList list) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x;
  if (i >= tiles || !marks[i]) return;
  std::int64_t low = 0, high = near_count;  // the first that is not before it
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (near[middle] < static_cast<std::uint64_t>(i)) low = middle + 1;
    else high = middle;
  }
  if (low == near_count || near[low] != static_cast<std::uint64_t>(i)) list.add(i);
}

/// Runs a kernel that adds to a list, once to count and once to fill it.
/// @param launch    launch(list)
/// @param allocate  allocate(count): where the list is to be
/// @return how many there are. Waits
template <class Launch, class Allocate>
std::int64_t make_list(const Launch& launch, const Allocate& allocate, cudaStream_t stream) {
  const DeviceMemory counter(sizeof(unsigned long long), stream);
  NumberList list{nullptr, reinterpret_cast<unsigned long long*>(counter.data())};
  const auto run = [&] {
    check(cudaMemsetAsync(list.count, 0, sizeof *list.count, stream), "clearing a count");
    launch(list);
    check_launch("listing tiles");
  };
  run();
  unsigned long long count = 0;
  check(cudaMemcpyAsync(&count, list.count, sizeof count, cudaMemcpyDeviceToHost, stream), "reading a count");
  check(cudaStreamSynchronize(stream), "listing tiles");
  list.numbers = allocate(static_cast<std::int64_t>(count));
  if (count > 0) run();
  return static_cast<std::int64_t>(count);
}

}  // namespace

CutTiles add_cut_tiles(const TreeView& tree, const TileGrid& tiles, NearTiles& near, const Execution& execution,
                       cudaStream_t stream) {
  TileCorners corners{tiles, nullptr};
  if (static_cast<double>(corners.along(0)) * static_cast<double>(corners.along(1)) *
          static_cast<double>(corners.along(2)) >
      0x1p37)
    throw fathom::cuda::OutOfMemory(
        "the lattice has more tiles of 8 × 8 × 8 points than fit a device; give a coarser one");
  CutTiles cut;
  cut.bytes = static_cast<std::size_t>(tiles.count());
  std::size_t taken = near.bytes + cut.bytes + static_cast<std::size_t>(corners.questions());
  check_scratch(execution, taken, "at least ");
  const auto memory_for = [&](std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(std::uint64_t);
    check_scratch(execution, taken += bytes, "at least ");
    return std::make_unique<DeviceMemory>(bytes, stream);
  };
  const DeviceMemory of_corners(static_cast<std::size_t>(corners.questions()), stream);
  corners.inside = reinterpret_cast<std::uint8_t*>(of_corners.data());
  ask_sides(tree, corners, stream);

  cut.memory = std::make_unique<DeviceMemory>(static_cast<std::size_t>(tiles.count()), stream);
  auto* const marks = reinterpret_cast<std::uint8_t*>(cut.memory->data());
  cut.marks = marks;
  const unsigned blocks = blocks_for(tiles.count(), kAnswerBlock);
  std::unique_ptr<DeviceMemory> of_list;
  PointsOfTiles points{corners, nullptr, 0, marks};
  points.count = make_list(
      [&](const NumberList& list) { look_at_corners<<<blocks, kAnswerBlock, 0, stream>>>(corners, marks, list); },
      [&](std::int64_t count) {
        of_list = memory_for(count);
        return reinterpret_cast<std::uint64_t*>(of_list->data());
      },
      stream);
  points.numbers = reinterpret_cast<const std::uint64_t*>(of_list->data());
  ask_sides(tree, points, stream);

  NearTiles all;
  all.count =
      near.count +
      make_list(
          [&](const NumberList& list) {
            list_marked<<<blocks, kAnswerBlock, 0, stream>>>(marks, tiles.count(), near.tiles, near.count, list);
          },
          [&](std::int64_t count) {
            all.bytes = static_cast<std::size_t>(near.count + count) * sizeof(std::uint64_t);
            taken += all.bytes;  // sorting takes as much
            all.memory = memory_for(near.count + count);
            auto* const numbers = reinterpret_cast<std::uint64_t*>(all.memory->data());
            all.tiles = numbers;
            check(cudaMemcpyAsync(numbers, near.tiles, static_cast<std::size_t>(near.count) * sizeof *numbers,
                                  cudaMemcpyDeviceToDevice, stream),
                  "copying tiles");
            return numbers + near.count;
          },
          stream);
  sort(all, tiles, stream);
  all.cubes = near.cubes;
  all.of_cubes = std::move(near.of_cubes);
  near = std::move(all);
  return cut;
}

}  // namespace fathom::mesh::cuda
