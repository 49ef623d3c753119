// A tile of 8 × 8 × 8 points: a team lists the triangles that may matter to it, a block of threads finds the nearest
// one of each of its points.
//
// Each warp has a brick of 8 × 4 × 4 points; a triangle matters to it that is no farther from its middle than
// min(cutoff + ρ, least + 2ρ), where ρ is its radius and `least` the distance of the nearest one. In the same way each
// lane finds the few of them that matter to its cell of 2 × 2 points, and measures these from each point. All that is
// done in float; float64 decides between triangles that the margin does not tell apart. Where there are more triangles
// than a list holds, or float cannot tell them apart, teams search for each point by itself.
// Source: as mesh/cpu/tile.cpp, with larger cubes.
#pragma once

#include "mesh/cuda/flat.cuh"
#include "mesh/cuda/near_tiles.h"
#include "mesh/cuda/questions.cuh"

namespace fathom::mesh::cuda {

constexpr int kTileBlock = 128;  ///< threads
constexpr int kTileBlocks = 5;   ///< of a multiprocessor
constexpr int kPointsOfLane = kTilePoints / kTileBlock;
constexpr int kMostListed = 256;

/// The triangles that may be nearest to a tile's points.
struct TileList {
  double limit;                       ///< none farther from its middle matters
  int count;                          ///< more than kMostListed: they are not all in the list
  std::uint32_t places[kMostListed];  ///< in the tree
};

/// Shared memory of a block, with the stacks of its teams behind it.
struct TileMemory {
  Flat flats[kMostListed];
  std::uint64_t mask[kTileSide], inside[kTileSide];  ///< of a band's tile
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

/// A team for each tile.
/// @param tiles   tiles.count of them; tiles.first_of() is the first point of one
/// @param cutoff  beyond which triangles do not matter
template <class Tiles>
__global__ void __launch_bounds__(kAnswerBlock)
    list_triangles(const __grid_constant__ TreeView tree, const __grid_constant__ Grid grid,
                   const __grid_constant__ Tiles tiles, double cutoff, TileList* lists, int stack_nodes) {
  extern __shared__ Node stacks[];
  Team team(tree, stacks, stack_nodes);
  const std::int64_t tile = (std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x) / kFan;
  if (tile >= tiles.count) return;
  std::int64_t first[3];
  tiles.first_of(tile, first);
  const Ball ball = ball_about(grid, first, {kTileSide, kTileSide, kTileSide});
  double limit = cutoff + ball.radius;
  if (limit == INFINITY) limit = sqrt(team.nearest(ball.middle, -1).squared) + 2 * ball.radius;
  const int count =
      team.gather(ball.middle, reach_of(limit * limit, tree.longest_squared), lists[tile].places, kMostListed);
  if (team.lane() != 0) return;
  lists[tile].limit = limit;
  lists[tile].count = count;
}

class TileSearch {
 public:
  /// @param first   point of the tile
  /// @param stacks  of the block's teams
  __device__ TileSearch(const TreeView& tree, const Grid& grid, const std::int64_t (&first)[3], TileMemory& memory,
                        Node* stacks)
      : tree_(tree), memory_(memory), stacks_(stacks) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = fathom::cuda::lane_id();
    tile_ = ball_about(grid, first, {kTileSide, kTileSide, kTileSide});
    const std::int64_t of_brick[3] = {first[0], first[1] + warp % 2 * 4, first[2] + warp / 2 * 4};
    brick_ = ball_about(grid, of_brick, {8, 4, 4});
    const std::int64_t of_cell[3] = {of_brick[0] + lane % 4 * 2, of_brick[1] + lane / 4 % 2 * 2,
                                     of_brick[2] + lane / 8};
    cell_ = ball_about(grid, of_cell, {2, 2, 1});
    for (int n = 0; n < 2; ++n) {
      x_[n] = grid.at(0, of_cell[0] + n);
      y_[n] = grid.at(1, of_cell[1] + n);
    }
    z_ = grid.at(2, of_cell[2]);
  }

  /// A lane's points are those of its cell.
  __device__ Vec3 point(int n) const { return {x_[n % 2], y_[n / 2], z_}; }
  /// Number of such a point in the tile.
  static __device__ int index_of(int n) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = fathom::cuda::lane_id();
    const int x = lane % 4 * 2 + n % 2, y = warp % 2 * 4 + lane / 4 % 2 * 2 + n / 2, z = warp / 2 * 4 + lane / 8;
    return x + kTileSide * (y + kTileSide * z);
  }

  /// By all threads.
  /// @param cutoff  beyond which triangles do not matter
  /// @param found   of the lane's points; farther than the cutoff or nothing, where that is so
  __device__ void run(double cutoff, const TileList& list, Found (&found)[kPointsOfLane]) {
    const double unit = 1 / tile_.radius, extent = (list.limit + sqrt(tree_.longest_squared)) * unit + 3;  // R + 3
    if (list.count <= kMostListed && extent < kMostFlat && flatten_all(list, unit)) {
      margin_ = kMargin * static_cast<float>(extent);
      inside_margin_ = kInsideMargin * static_cast<float>(extent);
      measure(list.count, cutoff, unit, found);
    } else {
      search(found);
    }
  }

 private:
  /// @return whether all have a face
  __device__ bool flatten_all(const TileList& list, double unit) {
    bool flat = true;
    for (int i = static_cast<int>(threadIdx.x); i < list.count; i += kTileBlock) {
      const Triangle triangle = triangle_at(tree_.mesh, list.places[i]);
      memory_.flats[i].place = list.places[i];
      if (triangle.per_normal > 0) flatten(triangle, tile_.middle, unit, memory_.flats[i]);
      else flat = false;
    }
    return __syncthreads_and(flat);
  }

  /// Of the lane's points, each warp for its brick.
  __device__ void measure(int count, double cutoff, double unit, Found (&found)[kPointsOfLane]) const {
    constexpr int kParts = kMostListed / 32;
    const int lane = fathom::cuda::lane_id();
    const auto far = static_cast<float>(cutoff * unit);
    const Local of_brick = local(brick_.middle, unit);
    float squares[kParts], least = INFINITY;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int i = part * 32 + lane;
      squares[part] = i < count
                          ? distance_to(memory_.flats[i], of_brick.x, of_brick.y, of_brick.z, inside_margin_).squared
                          : INFINITY;
      least = fminf(least, squares[part]);
    }
    for (int step = 16; step > 0; step /= 2)
      least = fminf(least, __shfl_xor_sync(fathom::cuda::kAllLanes, least, step));
    const float reach = squared_reach(least, far, brick_.radius, unit);
    unsigned left[kParts];
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      left[part] = __ballot_sync(fathom::cuda::kAllLanes, squares[part] <= reach && part * 32 + lane < count);

    const Local of_cell = local(cell_.middle, unit);
    const auto from_cell = [&](int i) {
      return distance_to(memory_.flats[i], of_cell.x, of_cell.y, of_cell.z, inside_margin_).squared;
    };
    least = INFINITY;
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      for (unsigned bits = left[part]; bits != 0; bits &= bits - 1)
        least = fminf(least, from_cell(part * 32 + lowest_bit(bits)));
    const float cell_reach = squared_reach(least, far, cell_.radius, unit);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const unsigned of_warp = left[part];
      left[part] = 0;
      for (unsigned bits = of_warp; bits != 0; bits &= bits - 1)
        if (from_cell(part * 32 + lowest_bit(bits)) <= cell_reach) left[part] |= bits & (0u - bits);
    }
    measure_points(left, far, unit, found);
  }

  /// @param left  the triangles that matter to the lane's cell
  template <int kParts>
  __device__ void measure_points(const unsigned (&left)[kParts], float far, double unit,
                                 Found (&found)[kPointsOfLane]) const {
    Local points[kPointsOfLane];
    float most[kPointsOfLane];
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) {
      points[n] = local(point(n), unit);
      most[n] = INFINITY;
    }
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      for (unsigned bits = left[part]; bits != 0; bits &= bits - 1) {
        const Flat& flat = memory_.flats[part * 32 + lowest_bit(bits)];
#pragma unroll
        for (int n = 0; n < kPointsOfLane; ++n)
          most[n] = fminf(most[n], distance_to(flat, points[n].x, points[n].y, points[n].z, inside_margin_).squared);
      }
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) most[n] = squared_reach(most[n], far, 0, unit);
#pragma unroll
    for (int part = 0; part < kParts; ++part)
      for (unsigned bits = left[part]; bits != 0; bits &= bits - 1) {
        const int i = part * 32 + lowest_bit(bits);
        const Flat& flat = memory_.flats[i];
        unsigned wanted = 0, in_prism = 0;
#pragma unroll
        for (int n = 0; n < kPointsOfLane; ++n) {
          const FlatDistance distance = distance_to(flat, points[n].x, points[n].y, points[n].z, inside_margin_);
          wanted |= unsigned{distance.squared <= most[n]} << n;
          in_prism |= unsigned{distance.in_prism} << n;
        }
        if (wanted) take(flat.place, wanted, (wanted & ~in_prism) == 0, found);
      }
  }

  /// A triangle that may be nearest to some of the lane's points.
  /// @param in_prism  whether these lie in the prism over its face
  __device__ void take(std::int64_t place, unsigned wanted, bool in_prism, Found (&found)[kPointsOfLane]) const {
    const Triangle triangle = triangle_at(tree_.mesh, place);
    const std::int32_t id = tree_.mesh.ids[place];
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) {
      if (!(wanted >> n & 1)) continue;
      const double squared = in_prism ? squared_in_prism(triangle, point(n)) : nearest_of(triangle, point(n)).squared;
      if (found[n].yields_to(squared, id)) found[n] = {squared, id, place};
    }
  }

  /// A point about the tile's middle, in units of its radius.
  struct Local {
    float x, y, z;
  };
  __device__ Local local(Vec3 p, double unit) const {
    const Vec3 way = unit * (p - tile_.middle);
    return {static_cast<float>(way.x), static_cast<float>(way.y), static_cast<float>(way.z)};
  }

  /// Triangles farther than its root from the middle of a ball do not matter to points in it.
  /// @param least  square of the least distance, as all in float
  __device__ float squared_reach(float least, float far, double radius, double unit) const {
    constexpr float kRounded = 1 + 0x1p-20f;
    const float r = static_cast<float>(radius * unit),
                reach = (fminf(far + r, sqrtf(least) + margin_ + 2 * r) + margin_) * kRounded;
    return reach * reach * kRounded;
  }

  /// Each point by a team.
  __device__ void search(Found (&found)[kPointsOfLane]) {
    Team team(tree_, stacks_, stack_size(tree_));
    std::int64_t near = 0;
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) found[n] = answer_own(team, {true, point(n)}, near);
  }

  const TreeView& tree_;
  TileMemory& memory_;
  Node* const stacks_;
  Ball tile_, brick_, cell_;
  double x_[2], y_[2], z_;
  float margin_ = 0, inside_margin_ = 0;
};

}  // namespace fathom::mesh::cuda
