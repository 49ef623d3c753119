// A tile of a narrow band: a block of threads finds the triangles near it, then the nearest one of each of its points.
//
// Triangles come out of the tree in any order, in portions that fit into shared memory. Each warp has a brick of 8 × 4 × 4
// points; a triangle matters to it that is no farther from its middle than min(cutoff + ρ, least + 2ρ), where ρ is its radius
// and `least` the distance of the nearest one. That, a lane tells of a triangle; those that are left are measured from each
// point, four of a lane's.
// Source: as mesh/cpu/tile.cpp, with larger cubes.
#pragma once

#include "mesh/cuda/near_tiles.h"
#include "mesh/cuda/team.cuh"

namespace fathom::mesh::cuda {

constexpr int kTileBlock = 128;  ///< threads
constexpr int kTileTeams = kTileBlock / kFan;
constexpr int kPointsOfLane = kTilePoints / kTileBlock;
constexpr int kPortion = 256;  ///< triangles

/// Most nodes that stand in a block's stack: all teams take one at a time, the last ones first.
inline int tile_stack_size(const TreeView& tree) { return kTileBlock * (tree.level_count + 1); }

/// Shared memory of a block, with the stack behind it.
struct TileMemory {
  std::uint32_t places[kPortion];  ///< of the triangles that may matter, in the tree
  int triangles, nodes;            ///< there, and in the stack
  std::uint32_t halves[kTileSide][2];  ///< the mask, by bricks
  std::uint64_t inside[kTileSide];
  std::int64_t ticket, slot;
};

/// A box about points of a lattice, as seen from its middle.
struct Ball {
  Vec3 middle;
  double radius;
};

/// Points [first, first + size) along each axis.
__device__ inline Ball ball_about(const Grid& grid, const std::int64_t (&first)[3], const int (&size)[3]) {
  double middle[3], squared = 0;
  for (int k = 0; k < 3; ++k) {
    const double low = grid.at(k, first[k]), high = grid.at(k, first[k] + size[k] - 1);
    middle[k] = low + 0.5 * (high - low);
    const double radius = fmax(middle[k] - low, high - middle[k]);
    squared += radius * radius;
  }
  return {{middle[0], middle[1], middle[2]}, sqrt(squared)};
}

class TileSearch {
 public:
  /// @param first  point of the tile
  /// @param stack  of the block
  __device__ TileSearch(const TreeView& tree, const Grid& grid, const std::int64_t (&first)[3], double cutoff, TileMemory& memory,
                        unsigned* stack)
      : tree_(tree), cutoff_(cutoff), memory_(memory), stack_(stack) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = fathom::cuda::lane_id();
    tile_ = ball_about(grid, first, {kTileSide, kTileSide, kTileSide});
    const std::int64_t of_brick[3] = {first[0], first[1] + warp % 2 * 4, first[2] + warp / 2 * 4};
    brick_ = ball_about(grid, of_brick, {8, 4, 4});
    x_ = grid.at(0, of_brick[0] + lane % 8);
    y_ = grid.at(1, of_brick[1] + lane / 8);
    for (int n = 0; n < kPointsOfLane; ++n) z_[n] = grid.at(2, of_brick[2] + n);
  }

  /// A lane's points are those of its brick's lines along z.
  __device__ Vec3 point(int n) const { return {x_, y_, z_[n]}; }
  /// Number of such a point in the tile.
  static __device__ int index_of(int n) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = fathom::cuda::lane_id();
    return lane + 32 * (warp % 2) + 64 * (warp / 2 * 4 + n);
  }

  /// By all threads. @param found  of the lane's points
  __device__ void run(Found (&found)[kPointsOfLane]) {
    const int lane = static_cast<int>(threadIdx.x) % kFan, team = static_cast<int>(threadIdx.x) / kFan;
    const double limit = cutoff_ + tile_.radius, reach = reach_of(limit * limit, tree_.longest_squared);
    if (threadIdx.x == 0) {
      stack_[0] = root_of(tree_);
      memory_.nodes = 1;
      memory_.triangles = 0;
    }
    __syncthreads();
    for (int nodes = 1; nodes > 0;) {
      const int mine = nodes - 1 - team;
      const unsigned name = mine >= 0 ? stack_[mine] : 0;
      __syncthreads();
      if (threadIdx.x == 0) memory_.nodes = nodes > kTileTeams ? nodes - kTileTeams : 0;
      __syncthreads();
      if (mine >= 0 && level_of(name) > 0) {
        if (gap_squared(boxes_of(tree_, name), lane, tile_.middle) <= reach) stack_[atomicAdd(&memory_.nodes, 1)] = child_of(name, lane);
      } else if (mine >= 0) {
        const std::int64_t place = number_of(name) * kFan + lane;
        if (place < tree_.count && nearest_of(triangle_at(tree_.mesh, place), tile_.middle).squared <= reach)
          memory_.places[atomicAdd(&memory_.triangles, 1)] = static_cast<std::uint32_t>(place);
      }
      __syncthreads();
      nodes = memory_.nodes;
      if (nodes > 0 && memory_.triangles <= kPortion - kTileBlock) continue;
      measure(found);
      __syncthreads();
      if (threadIdx.x == 0) memory_.triangles = 0;
    }
  }

 private:
  /// The triangles of a portion, by each warp for its brick.
  __device__ void measure(Found (&found)[kPointsOfLane]) {
    const int lane = fathom::cuda::lane_id(), count = memory_.triangles;
    double squares[kPortion / 32];
#pragma unroll
    for (int n = 0; n < kPortion / 32; ++n) {
      const int i = n * 32 + lane;
      squares[n] = i < count ? nearest_of(triangle_at(tree_.mesh, memory_.places[i]), brick_.middle).squared : INFINITY;
      least_ = fmin(least_, squares[n]);
    }
    for (int step = 16; step > 0; step /= 2) least_ = fmin(least_, __shfl_xor_sync(fathom::cuda::kAllLanes, least_, step));
    const double limit = fmin(cutoff_ + brick_.radius, sqrt(least_) + 2 * brick_.radius);
    const double reach = reach_of(limit * limit, tree_.longest_squared);
#pragma unroll
    for (int n = 0; n < kPortion / 32; ++n) {
      for (unsigned left = __ballot_sync(fathom::cuda::kAllLanes, n * 32 + lane < count && squares[n] <= reach); left != 0; left &= left - 1)
        measure(memory_.places[n * 32 + lowest_bit(left)], found);
    }
  }

  __device__ void measure(std::int64_t place, Found (&found)[kPointsOfLane]) const {
    const Triangle triangle = triangle_at(tree_.mesh, place);
    const std::int32_t id = tree_.mesh.ids[place];
    for (int n = 0; n < kPointsOfLane; ++n) {
      const double squared = nearest_of(triangle, point(n)).squared;
      if (found[n].yields_to(squared, id)) found[n] = {squared, id, place};
    }
  }

  const TreeView& tree_;
  const double cutoff_;
  TileMemory& memory_;
  unsigned* const stack_;
  Ball tile_, brick_;
  double x_, y_, z_[kPointsOfLane];
  double least_ = INFINITY;  ///< of the triangles so far, from the brick's middle, squared
};

}  // namespace fathom::mesh::cuda
