// A tile of 8 × 8 × 8 points: a block of threads finds the triangles near it, then the nearest one of each of its points.
//
// Triangles come out of the tree in any order. Each warp has a brick of 8 × 4 × 4 points; a triangle matters to it that is no
// farther from its middle than min(cutoff + ρ, least + 2ρ), where ρ is its radius and `least` the distance of the nearest one.
// Those that are left are measured in float from each point, four of a lane's; float64 decides between those that the margin
// does not tell apart. Where there are more triangles than shared memory holds, or float cannot tell them apart, teams search
// for each point by itself.
// Source: as mesh/cpu/tile.cpp, with larger cubes.
#pragma once

#include "mesh/cuda/flat.cuh"
#include "mesh/cuda/near_tiles.h"
#include "mesh/cuda/questions.cuh"

namespace fathom::mesh::cuda {

constexpr int kTileBlock = 128;  ///< threads
constexpr int kTileTeams = kTileBlock / kFan;
constexpr int kPointsOfLane = kTilePoints / kTileBlock;
constexpr int kPortion = 192;  ///< most triangles

/// Shared memory of a block, with a stack behind it.
struct TileMemory {
  Flat flats[kPortion];
  std::uint32_t places[kPortion];  ///< of the triangles that may matter, in the tree
  int triangles, nodes;            ///< there, and in the stack
  std::uint32_t halves[kTileSide][2];  ///< the mask, by bricks
  std::uint64_t inside[kTileSide];
  std::int64_t ticket, slot;
};

/// Most nodes that stand in a block's stack: all teams take one at a time, the last ones first.
inline int tile_stack_size(const TreeView& tree) { return kTileBlock * (tree.level_count + 1); }

/// Bytes of shared memory that a block asks for.
inline std::size_t tile_bytes(const TreeView& tree) {
  const std::size_t nodes = static_cast<std::size_t>(tile_stack_size(tree)) * sizeof(unsigned);
  return std::max(nodes, stacks_bytes(tree, kTileBlock));
}

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
  __device__ TileSearch(const TreeView& tree, const Grid& grid, const std::int64_t (&first)[3], TileMemory& memory, void* stack)
      : tree_(tree), memory_(memory), stack_(static_cast<unsigned*>(stack)) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = fathom::cuda::lane_id();
    tile_ = ball_about(grid, first, {kTileSide, kTileSide, kTileSide});
    const std::int64_t of_brick[3] = {first[0], first[1] + warp % 2 * 4, first[2] + warp / 2 * 4};
    brick_ = ball_about(grid, of_brick, {8, 4, 4});
    x_ = grid.at(0, of_brick[0] + lane % 8);
    y_ = grid.at(1, of_brick[1] + lane / 8);
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) z_[n] = grid.at(2, of_brick[2] + n);
  }

  /// A lane's points are those of its brick's lines along z.
  __device__ Vec3 point(int n) const { return {x_, y_, z_[n]}; }
  /// Number of such a point in the tile.
  static __device__ int index_of(int n) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = fathom::cuda::lane_id();
    return lane + 32 * (warp % 2) + 64 * (warp / 2 * 4 + n);
  }

  /// By all threads.
  /// @param cutoff  beyond which triangles do not matter
  /// @param least   of the nearest triangle from the tile's middle, or more
  /// @param found   of the lane's points; farther than the cutoff or nothing, where that is so
  __device__ void run(double cutoff, double least, Found (&found)[kPointsOfLane]) {
    const double limit = fmin(cutoff + tile_.radius, least + 2 * tile_.radius);
    const double unit = 1 / tile_.radius, extent = (limit + sqrt(tree_.longest_squared)) * unit + 3;  // R + 3
    if (extent < kMostFlat && gather(reach_of(limit * limit, tree_.longest_squared)) && flatten_all(unit)) {
      margin_ = kMargin * static_cast<float>(extent);
      inside_margin_ = kInsideMargin * static_cast<float>(extent);
      measure(cutoff, unit, found);
    } else {
      __syncthreads();
      search(found);
    }
  }

 private:
  /// The triangles within reach of the tile's middle. @return whether there is room for them all
  __device__ bool gather(double reach) {
    const int lane = static_cast<int>(threadIdx.x) % kFan, team = static_cast<int>(threadIdx.x) / kFan;
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
        if (place < tree_.count && nearest_of(triangle_at(tree_.mesh, place), tile_.middle).squared <= reach) {
          const int at = atomicAdd(&memory_.triangles, 1);
          if (at < kPortion) memory_.places[at] = static_cast<std::uint32_t>(place);
        }
      }
      __syncthreads();
      nodes = memory_.nodes;
      if (memory_.triangles > kPortion) return false;
    }
    return true;
  }

  /// @return whether all have a face
  __device__ bool flatten_all(double unit) {
    bool flat = true;
    for (int i = static_cast<int>(threadIdx.x); i < memory_.triangles; i += kTileBlock) {
      const Triangle triangle = triangle_at(tree_.mesh, memory_.places[i]);
      if (triangle.per_normal > 0) flatten(triangle, tile_.middle, unit, memory_.flats[i]);
      else flat = false;
    }
    return __syncthreads_and(flat);
  }

  /// Of the lane's points, each warp for its brick.
  __device__ void measure(double cutoff, double unit, Found (&found)[kPointsOfLane]) const {
    constexpr float kRounded = 1 + 0x1p-20f;
    constexpr int kParts = kPortion / 32;
    const int lane = fathom::cuda::lane_id(), count = memory_.triangles;
    const auto local = [&](double p, double middle) { return static_cast<float>((p - middle) * unit); };
    const float mx = local(brick_.middle.x, tile_.middle.x), my = local(brick_.middle.y, tile_.middle.y),
                mz = local(brick_.middle.z, tile_.middle.z);
    float from_middle[kParts], least = INFINITY;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int i = part * 32 + lane;
      from_middle[part] = i < count ? sqrtf(distance_to(memory_.flats[i], mx, my, mz, inside_margin_).squared) : INFINITY;
      least = fminf(least, from_middle[part]);
    }
    for (int step = 16; step > 0; step /= 2) least = fminf(least, __shfl_xor_sync(fathom::cuda::kAllLanes, least, step));
    const auto radius = static_cast<float>(brick_.radius * unit), far = static_cast<float>(cutoff * unit);
    const float limit = (fminf(far + radius, least + 2 * radius + margin_) + margin_) * kRounded;
    unsigned left[kParts];
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      left[part] = __ballot_sync(fathom::cuda::kAllLanes, from_middle[part] <= limit && part * 32 + lane < count);

    const float x = local(x_, tile_.middle.x), y = local(y_, tile_.middle.y);
    float z[kPointsOfLane], most[kPointsOfLane];
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) {
      z[n] = local(z_[n], tile_.middle.z);
      most[n] = INFINITY;
    }
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      for (unsigned bits = left[part]; bits != 0; bits &= bits - 1) {
        const Flat& flat = memory_.flats[part * 32 + lowest_bit(bits)];
#pragma unroll
        for (int n = 0; n < kPointsOfLane; ++n) most[n] = fminf(most[n], distance_to(flat, x, y, z[n], inside_margin_).squared);
      }
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) {
      const float bound = (fminf(sqrtf(most[n]) + margin_, far) + margin_) * kRounded;
      most[n] = bound * bound * kRounded;
    }
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      unsigned wanted[kPointsOfLane] = {}, in_prism[kPointsOfLane] = {};
      for (unsigned bits = left[part]; bits != 0; bits &= bits - 1) {
        const unsigned bit = bits & (0u - bits);
        const Flat& flat = memory_.flats[part * 32 + lowest_bit(bits)];
#pragma unroll
        for (int n = 0; n < kPointsOfLane; ++n) {
          const FlatDistance distance = distance_to(flat, x, y, z[n], inside_margin_);
          if (distance.squared <= most[n]) wanted[n] |= bit;
          if (distance.in_prism) in_prism[n] |= bit;
        }
      }
#pragma unroll
      for (int n = 0; n < kPointsOfLane; ++n)
        for (unsigned bits = wanted[n]; bits != 0; bits &= bits - 1)
          take(memory_.places[part * 32 + lowest_bit(bits)], point(n), in_prism[n] & bits & (0u - bits), found[n]);
    }
  }

  __device__ void take(std::int64_t place, Vec3 point, bool in_prism, Found& found) const {
    const Triangle triangle = triangle_at(tree_.mesh, place);
    const std::int32_t id = tree_.mesh.ids[place];
    const double squared = in_prism ? squared_in_prism(triangle, point) : nearest_of(triangle, point).squared;
    if (found.yields_to(squared, id)) found = {squared, id, place};
  }

  /// Each point by a team.
  __device__ void search(Found (&found)[kPointsOfLane]) {
    Team team(tree_, reinterpret_cast<Node*>(stack_), stack_size(tree_));
    std::int64_t near = 0;
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) found[n] = answer_own(team, {true, point(n)}, near);
  }

  const TreeView& tree_;
  TileMemory& memory_;
  unsigned* const stack_;
  Ball tile_, brick_;
  double x_, y_, z_[kPointsOfLane];
  float margin_ = 0, inside_margin_ = 0;
};

}  // namespace fathom::mesh::cuda
