// A tile of 8 × 8 × 8 points: a team lists the triangles that may matter to it, a block of threads finds the nearest
// one of each of its points.
//
// Each warp has a brick of 8 × 4 × 4 points; a triangle matters to it that may be no farther from some point of it than
// the cutoff, and than the nearest one is from all of them. Each lane measures these from its row of four points, in
// float. Where one part of the surface – a face, edge or corner – is nearest beyond the margin, as it is nearly
// everywhere, float64 computes the distance to it alone; points where several may be nearest stand in a queue, which
// all threads of the block work off: float64 decides. Where there are more triangles than a list holds, or float cannot
// tell them apart, teams search for each point by itself.
// Source: as mesh/cpu/tile.cpp, with larger cubes.
#pragma once

#include <cstddef>
#include <type_traits>

#include "core/cuda/early_launch.cuh"
#include "mesh/cuda/flat.cuh"
#include "mesh/cuda/near_tiles.h"
#include "mesh/cuda/questions.cuh"

namespace fathom::mesh::cuda {

constexpr int kTileBlock = 128;  ///< threads
constexpr int kTileBlocks = 4;   ///< of a multiprocessor
constexpr int kTileWarps = kTileBlock / 32;
constexpr int kPointsOfLane = kTilePoints / kTileBlock;
constexpr int kMostListed = 256, kListedStep = 256;

/// The triangles that may be nearest to a tile's points.
struct TileList {
  double limit;                       ///< none farther from its middle matters
  int count;                          ///< more than kMostListed: they are not all in the list
  std::uint32_t places[kMostListed];  ///< in the tree
};

/// Shared memory of a block that searches a tile; the stacks of its teams lie behind it.
struct TileMemory {
  Flat flats[kMostListed];
  std::uint16_t listed[kTileWarps][kMostListed];  ///< of each brick: triangle + kListedStep · its sides that may matter
  int counts[kTileWarps];                         ///< of them
  std::uint16_t queue[kTilePoints];               ///< points that float64 has to decide
  int queued;
  std::uint32_t decided[kTileBlock];                         ///< names of what is nearest to some of them
  std::uint32_t mask[2 * kTileSide], inside[2 * kTileSide];  ///< of a band's tile: bits of its points

  __device__ Node* stacks() { return reinterpret_cast<Node*>(this + 1); }
};

__device__ inline TileMemory& tile_memory() {
  extern __shared__ __align__(16) std::byte shared[];
  return *reinterpret_cast<TileMemory*>(shared);
}

/// Launches a kernel of a block for each tile, which has tile_memory().
template <class... Parameters>
void launch_tiles(void (*kernel)(Parameters...), std::int64_t tiles, const TreeView& tree, cudaStream_t stream,
                  const std::type_identity_t<Parameters>&... arguments) {
  fathom::cuda::allow_memory(kernel);
  fathom::cuda::launch(kernel, static_cast<unsigned>(tiles), kTileBlock,
                       sizeof(TileMemory) + stacks_bytes(tree, kTileBlock), stream, false, arguments...);
}

/// A box about points of a lattice, as seen from its middle.
struct Ball {
  Vec3 middle;
  double radius;
  double half[3];
};

/// Points [first, first + size) along each axis.
__device__ inline Ball ball_about(const Grid& grid, const std::int64_t (&first)[3], const int (&size)[3]) {
  double middle[3], half[3], squared = 0;
  for (int k = 0; k < 3; ++k) {
    const double low = grid.at(k, first[k]), high = grid.at(k, first[k] + size[k] - 1);
    middle[k] = low + 0.5 * (high - low);
    half[k] = fmax(middle[k] - low, high - middle[k]);
    squared += half[k] * half[k];
  }
  return {{middle[0], middle[1], middle[2]}, sqrt(squared), {half[0], half[1], half[2]}};
}

/// Which triangles may be nearest to some point of a box, by the nearest one of its middle, S. With g the gradient of a
/// triangle's distance d at the middle, the distance from there + δ is at least d + g·δ, since triangles are convex, as
/// boxes of them are; that to the point of S which is nearest to the middle is at most d_S + g_S·δ + δ²/(2·d_S).
class Rivals {
 public:
  /// @param way  from the ball's middle to S
  __device__ Rivals(const Ball& ball, double distance, Vec3 way, double longest_squared)
      : distance_(distance),
        toward_(direction(distance, way)),
        ball_(ball),
        bend_(ball.radius * ball.radius / (2 * distance)),
        longest_squared_(longest_squared) {}

  __device__ bool operator()(double squared, Vec3 way) const {
    const Vec3 turn = direction(sqrt(squared), way) - toward_;
    const double change = fabs(turn.x) * ball_.half[0] + fabs(turn.y) * ball_.half[1] + fabs(turn.z) * ball_.half[2],
                 limit = distance_ + fmin(2 * ball_.radius, change + bend_);
    return squared <= reach_of(limit * limit, longest_squared_);
  }

 private:
  __device__ static Vec3 direction(double length, Vec3 way) { return length > 0 ? (1 / length) * way : Vec3(); }

  double distance_;
  Vec3 toward_;
  const Ball& ball_;
  double bend_, longest_squared_;
};

/// A team for each tile.
/// @param tiles   tiles.count of them; tiles.first_of() is the first point of one, tiles.list_of() what may be near it
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
  std::uint32_t* const places = lists[tile].places;
  double limit = cutoff + ball.radius;
  int count;
  if (limit == INFINITY) {
    const Found found = team.nearest(ball.middle, -1);
    const double distance = sqrt(found.squared);
    limit = distance + 2 * ball.radius;
    const Nearest nearest = nearest_of(triangle_at(tree.mesh, found.place), ball.middle);
    const Rivals rivals(ball, distance, nearest.way, tree.longest_squared);
    count = team.gather(ball.middle, reach_of(limit * limit, tree.longest_squared), places, kMostListed, rivals);
  } else {
    const double reach = reach_of(limit * limit, tree.longest_squared);
    const CubeList* const of_cube = tiles.list_of(tile);
    count = of_cube ? team.gather(of_cube->places, of_cube->count, ball.middle, reach, places, kMostListed)
                    : team.gather(ball.middle, reach, places, kMostListed);
  }
  if (team.lane() != 0) return;
  lists[tile].limit = limit;
  lists[tile].count = count;
}

/// Where a point is nearest.
struct NearestPart {
  std::uint32_t place = kNoName;  ///< of a triangle in the tree; kNoName: none
  Part part = Part::unknown;
};

class TileSearch {
 public:
  /// @param first  point of the tile
  __device__ TileSearch(const TreeView& tree, const Grid& grid, const std::int64_t (&first)[3], TileMemory& memory)
      : tree_(tree), grid_(grid), first_(first), memory_(memory) {
    tile_ = ball_about(grid, first, {kTileSide, kTileSide, kTileSide});
  }

  /// A lane's points are a row of four.
  __device__ Vec3 point(int n) const { return point_at(index_of(n)); }
  __device__ bool exists(int n) const {
    const int i = index_of(n);
    return first_[0] + i % 8 < grid_.shape[0] && first_[1] + i / 8 % 8 < grid_.shape[1] &&
           first_[2] + i / 64 < grid_.shape[2];
  }
  __device__ std::int64_t first(int axis) const { return first_[axis]; }
  /// Number of such a point in the tile.
  static __device__ int index_of(int n) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = fathom::cuda::lane_id();
    const int x = lane % 2 * 4 + n, y = warp % 2 * 4 + lane / 2 % 4, z = warp / 2 * 4 + lane / 8;
    return x + kTileSide * (y + kTileSide * z);
  }

  /// By all threads: calls take(n, place, nearest) for the lane's points, with the place of the nearest
  /// triangle; but for those of which it is plain that they are farther than the cutoff.
  /// @param cutoff  beyond which triangles do not matter
  template <class Take>
  __device__ void run(double cutoff, const TileList& list, const Take& take) {
    NearestPart nearest[kPointsOfLane];
    const double unit = 1 / tile_.radius, extent = (list.limit + sqrt(tree_.longest_squared)) * unit + 3;  // R + 3
    if (tree_.mesh.features && list.count <= kMostListed && extent < kMostFlat && flatten_all(list, unit)) {
      unit_ = unit;
      far_ = static_cast<float>(cutoff * unit);
      margin_ = kMargin * static_cast<float>(extent);
      part_margin_ = kPartMargin * static_cast<float>(extent);
      list_brick(list.count);
      measure(nearest);
    } else {
      search(nearest);
    }
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n)
      if (nearest[n].place != kNoName)
        take(n, std::int64_t{nearest[n].place}, nearest_at(tree_.mesh, nearest[n].place, nearest[n].part, point(n)));
  }

 private:
  __device__ Vec3 point_at(int i) const {
    return grid_.point(first_[0] + i % 8, first_[1] + i / 8 % 8, first_[2] + i / 64);
  }

  /// @return whether all have a face
  __device__ bool flatten_all(const TileList& list, double unit) {
    bool flat = true;
    if (threadIdx.x == 0) memory_.queued = 0;
    for (int i = static_cast<int>(threadIdx.x); i < kFlatParts * list.count; i += kTileBlock) {
      const std::uint32_t place = list.places[i / kFlatParts];
      const Triangle triangle = triangle_at(tree_.mesh, place);
      Flat& to = memory_.flats[i / kFlatParts];
      if (i % kFlatParts == 0) to.place = place;
      if (triangle.per_normal > 0)
        flatten(triangle, tree_.mesh.features + 6 * std::int64_t{place}, tile_.middle, unit, i % kFlatParts, to);
      else flat = false;
    }
    return __syncthreads_and(flat);
  }

  /// By a warp: lists the triangles that matter to its brick.
  __device__ void list_brick(int count) {
    constexpr int kParts = kMostListed / 32;
    constexpr float kRounded = 1 + 0x1p-20f;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = fathom::cuda::lane_id();
    const Ball brick = ball_about(grid_, {first_[0], first_[1] + warp % 2 * 4, first_[2] + warp / 2 * 4}, {8, 4, 4});
    const Local middle = local(brick.middle);
    const auto wide = [&](double length) { return static_cast<float>(length * unit_) * kRounded; };
    const float radius = wide(brick.radius), half[3] = {wide(brick.half[0]), wide(brick.half[1]), wide(brick.half[2])};
    float lows[kParts], least = INFINITY;
    unsigned sides = 0;  // three bits a part
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part * 32 >= count) break;
      lows[part] = INFINITY;
      const int i = part * 32 + lane;
      if (i >= count) continue;
      const Flat& flat = memory_.flats[i];
      const float distance = sqrtf(squared_to(flat, middle.x, middle.y, middle.z, part_margin_));
      least = fminf(least, distance);
      float low = fmaxf(distance - radius, fabsf(flat.height.at(middle.x, middle.y, middle.z)) -
                                               flat.height.extent(half[0], half[1], half[2]));
      unsigned outside = flat.always;
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        const float outward = flat.outward[k].at(middle.x, middle.y, middle.z),
                    change = flat.outward[k].extent(half[0], half[1], half[2]) * kRounded;
        low = fmaxf(low, outward - change);
        outside |= unsigned{outward + change > -2 * part_margin_} << k;
      }
      lows[part] = low;
      sides |= outside << 3 * part;
    }
    for (int step = 16; step > 0; step /= 2)
      least = fminf(least, __shfl_xor_sync(fathom::cuda::kAllLanes, least, step));
    const float reach = (fminf(far_, least + radius + margin_) + 2 * margin_) * kRounded;
    int listed = 0;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part * 32 >= count) break;
      const bool wanted = lows[part] <= reach;  // of no triangle it is inf, and so is the reach if there is none
      const unsigned all = __ballot_sync(fathom::cuda::kAllLanes, wanted && part * 32 + lane < count);
      if (wanted && part * 32 + lane < count)
        memory_.listed[warp][listed + __popc(all & ((1u << lane) - 1))] =
            static_cast<std::uint16_t>(part * 32 + lane + kListedStep * (sides >> 3 * part & kAllSides));
      listed += __popc(all);
    }
    if (lane == 0) memory_.counts[warp] = listed;
    __syncwarp();
  }

  /// The lane's points.
  __device__ void measure(NearestPart (&nearest)[kPointsOfLane]) {
    const int warp = static_cast<int>(threadIdx.x) / 32, count = memory_.counts[warp];
    float x[kPointsOfLane];
    const Local row = local(point(0));
    FlatPart parts[kPointsOfLane];
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) {
      x[n] = local(point(n)).x;
      parts[n] = {INFINITY, kNoName, INFINITY};
    }
    for (int i = 0; i < count; ++i) {
      const unsigned listed = memory_.listed[warp][i];
      meet(memory_.flats[listed % kListedStep], listed / kListedStep, x, row.y, row.z, part_margin_, parts);
    }
    int waiting[kPointsOfLane];
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) {
      waiting[n] = -1;
      if (!(parts[n].squared <= squared_reach(INFINITY))) {
        parts[n].name = kNoName;  // it is beyond the cutoff
      } else if (parts[n].name == kNoName || !(parts[n].other > squared_reach(parts[n].squared))) {
        waiting[n] = atomicAdd(&memory_.queued, 1);
        memory_.queue[waiting[n]] = static_cast<std::uint16_t>(index_of(n));
      }
    }
    __syncthreads();
    for (int first = 0; first < memory_.queued; first += kTileBlock) {
      const int own = first + static_cast<int>(threadIdx.x);
      if (own < memory_.queued) memory_.decided[threadIdx.x] = decide(memory_.queue[own]);
      __syncthreads();
#pragma unroll
      for (int n = 0; n < kPointsOfLane; ++n)
        if (waiting[n] >= first && waiting[n] < first + kTileBlock) parts[n].name = memory_.decided[waiting[n] - first];
      __syncthreads();
    }
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n)
      if (parts[n].name != kNoName) nearest[n] = {parts[n].name / 8, static_cast<Part>(parts[n].name % 8)};
  }

  /// The name of what is nearest to a point of the tile.
  __device__ std::uint32_t decide(int i) const {
    const int warp = i / 32 % 2 + i / 256 * 2, count = memory_.counts[warp];
    const Vec3 at = point_at(i);
    const Local there = local(at);
    const auto squared_of = [&](int k) {
      const Flat& flat = memory_.flats[memory_.listed[warp][k] % kListedStep];
      return squared_to(flat, there.x, there.y, there.z, part_margin_);
    };
    float least = INFINITY;
    for (int k = 0; k < count; ++k) least = fminf(least, squared_of(k));
    const float reach = squared_reach(least);
    Found found;
    auto part = Part::unknown;
    for (int k = 0; k < count; ++k) {
      if (!(squared_of(k) <= reach)) continue;
      const std::int64_t place = memory_.flats[memory_.listed[warp][k] % kListedStep].place;
      const Nearest nearest = nearest_of(triangle_at(tree_.mesh, place), at);
      const std::int32_t id = tree_.mesh.ids[place];
      if (!found.yields_to(nearest.squared, id)) continue;
      found = {nearest.squared, id, place};
      part = nearest.part;
    }
    return 8 * static_cast<std::uint32_t>(found.place) + static_cast<std::uint32_t>(part);
  }

  /// A point about the tile's middle, in units of its radius.
  struct Local {
    float x, y, z;
  };
  __device__ Local local(Vec3 p) const {
    const Vec3 way = unit_ * (p - tile_.middle);
    return {static_cast<float>(way.x), static_cast<float>(way.y), static_cast<float>(way.z)};
  }

  /// What is farther than its root is not the nearest.
  /// @param least  square of the least distance, as all in float
  __device__ float squared_reach(float least) const {
    constexpr float kRounded = 1 + 0x1p-20f;
    const float reach = (fminf(far_, sqrtf(least) + margin_) + margin_) * kRounded;
    return reach * reach * kRounded;
  }

  /// Each point by a team.
  __device__ void search(NearestPart (&nearest)[kPointsOfLane]) {
    Team team(tree_, memory_.stacks(), stack_size(tree_));
    std::int64_t near = 0;
#pragma unroll 1
    for (int n = 0; n < kPointsOfLane; ++n) {
      const Found found = answer_own(team, {true, point(n)}, near);
#pragma unroll
      for (int k = 0; k < kPointsOfLane; ++k)  // so that the array stays in registers
        if (k == n) nearest[k].place = static_cast<std::uint32_t>(found.place);
    }
  }

  const TreeView& tree_;
  const Grid& grid_;
  const std::int64_t (&first_)[3];
  TileMemory& memory_;
  Ball tile_;
  double unit_ = 0;
  float far_ = 0, margin_ = 0, part_margin_ = 0;
};

}  // namespace fathom::mesh::cuda
