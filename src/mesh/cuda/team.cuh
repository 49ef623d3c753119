// Searches by teams of kFan lanes: a lane takes a child of a node, or a triangle of a block. Nodes that are still to be
// looked into stand in a stack of the team's in shared memory.
#pragma once

#include <cstdint>

#include "core/cuda/warp.cuh"
#include "mesh/tree_view.hd.h"

namespace fathom::mesh::cuda {

/// A node that is still to be looked into.
struct Node {
  float bound;    ///< no triangle below it is nearer, squared
  unsigned name;  ///< level · 2²⁸ + number; level 0: a block
};

constexpr int kLevelShift = 28;
static_assert(kMostLevels < 1 << (32 - kLevelShift));

__device__ inline unsigned root_of(const TreeView& tree) {
  return static_cast<unsigned>(tree.level_count) << kLevelShift;
}
__device__ inline int level_of(unsigned name) { return static_cast<int>(name >> kLevelShift); }
__device__ inline std::int64_t number_of(unsigned name) { return name & ((1u << kLevelShift) - 1); }
/// Of a node that is not a block.
__device__ inline unsigned child_of(unsigned name, int i) {
  return static_cast<unsigned>(level_of(name) - 1) << kLevelShift | static_cast<unsigned>(number_of(name) * kFan + i);
}
__device__ inline const Boxes& boxes_of(const TreeView& tree, unsigned name) {
  return tree.levels[level_of(name) - 1][number_of(name)];
}

/// Most nodes that stand in a team's stack: of each level all children but one.
FATHOM_HD inline int stack_size(const TreeView& tree) { return (kFan - 1) * tree.level_count + 1; }

/// The way from a point to a box.
__device__ inline Vec3 way_to(const Boxes& boxes, int i, Vec3 point) {
  const auto along = [&](int axis, double place) {
    const double up = boxes.low[axis][i] - place, down = boxes.high[axis][i] - place;
    return up > 0 ? up : down < 0 ? down : 0;
  };
  return {along(0, point.x), along(1, point.y), along(2, point.z)};
}

/// Of boxes and triangles at a way from a point, which may matter.
struct All {
  __device__ bool operator()(double, Vec3) const { return true; }
};

/// The nearest of some triangles, the lowest of equally near ones.
struct Found {
  double squared = std::numeric_limits<double>::infinity();
  std::int32_t id = std::numeric_limits<std::int32_t>::max();
  std::int64_t place = -1;

  __device__ bool yields_to(double other, std::int32_t other_id) const {
    return other < squared || (other == squared && other_id < id);
  }
};

/// @param part  of the triangle at the place that is nearest, or unknown
__device__ inline Nearest nearest_at(const MeshView& mesh, std::int64_t place, Part part, Vec3 point) {
  const Triangle triangle = triangle_at(mesh, place);
  return part == Part::unknown ? nearest_of(triangle, point) : nearest_of(triangle, mesh.normals[place], part, point);
}

class Team {
 public:
  /// @param stacks  of all teams of the block
  __device__ Team(const TreeView& tree, Node* stacks, int size)
      : tree_(tree),
        stack_(stacks + static_cast<int>(threadIdx.x) / kFan * size),
        lane_(static_cast<int>(threadIdx.x) % kFan),
        mask_(((1u << kFan) - 1) << (fathom::cuda::lane_id() - lane_)) {}

  __device__ int lane() const { return lane_; }
  template <class T>
  __device__ T from(T value, int lane) const {
    return __shfl_sync(mask_, value, lane, kFan);
  }
  __device__ Vec3 from(Vec3 value, int lane) const {
    return {from(value.x, lane), from(value.y, lane), from(value.z, lane)};
  }
  /// A bit for each lane.
  __device__ unsigned votes(bool vote) const {
    return __ballot_sync(mask_, vote) >> (fathom::cuda::lane_id() - lane_) & ((1u << kFan) - 1);
  }

  /// Depth first, the nearest child first, leaving out what is farther than the best.
  /// @param near  a block to begin with, or −1
  __device__ Found nearest(Vec3 point, std::int64_t near) {
    Found best;
    reach_ = best.squared;
    if (near >= 0) visit_block(near, point, best);
    depth_ = 0;
    push(root_of(tree_), point);
    while (depth_ > 0) {
      const Node node = stack_[--depth_];
      __syncwarp(mask_);
      if (static_cast<double>(node.bound) > reach_) continue;
      if (level_of(node.name) > 0) push(node.name, point);
      else if (number_of(node.name) != near) visit_block(number_of(node.name), point, best);
    }
    return best;
  }

  /// The places of all triangles within a distance of which `reach` is reach_of() the square.
  /// @param places   room for `most`
  /// @param matters  whether what is at a way, of which it gets the square and the way itself, does
  /// @return how many there are; more than `most`, if that is so
  template <class Matters = All>
  __device__ int gather(Vec3 point, double reach, std::uint32_t* places, int most, const Matters& matters = {}) {
    reach_ = reach;
    depth_ = 0;
    push(root_of(tree_), point, matters);
    int count = 0;
    while (depth_ > 0 && count <= most) {
      const unsigned name = stack_[--depth_].name;
      __syncwarp(mask_);
      if (level_of(name) > 0) {
        push(name, point, matters);
        continue;
      }
      append(number_of(name) * kFan + lane_, point, places, most, count, matters);
    }
    return count;
  }
  /// The same of some triangles.
  __device__ int gather(const std::uint32_t* from, int of, Vec3 point, double reach, std::uint32_t* places, int most) {
    reach_ = reach;
    int count = 0;
    for (int i = 0; i < of && count <= most; i += kFan)
      append(i + lane_ < of ? from[i + lane_] : tree_.count, point, places, most, count);
    return count;
  }

  /// Whether a triangle is within a distance of which `reach` is reach_of() the square.
  __device__ bool any_within(Vec3 point, double reach) {
    reach_ = reach;
    depth_ = 0;
    push(root_of(tree_), point);
    while (depth_ > 0) {
      const unsigned name = stack_[--depth_].name;
      __syncwarp(mask_);
      if (level_of(name) > 0) push(name, point);
      else if (votes(nearest_of(triangle_at(tree_.mesh.blocks[number_of(name)], lane_), point).squared <= reach))
        return true;
    }
    return false;
  }
  /// The same of some triangles.
  __device__ bool any_within(const std::uint32_t* from, int of, Vec3 point, double reach) const {
    for (int i = 0; i < of; i += kFan)
      if (votes(i + lane_ < of && nearest_of(triangle_at(tree_.mesh, from[i + lane_]), point).squared <= reach))
        return true;
    return false;
  }

 private:
  /// The lane's triangle, if there is one at that place, and near.
  template <class Matters = All>
  __device__ void append(std::int64_t place, Vec3 point, std::uint32_t* places, int most, int& count,
                         const Matters& matters = {}) const {
    bool near = place < tree_.count;
    if (near) {
      const Nearest nearest = nearest_of(triangle_at(tree_.mesh, place), point);
      near = nearest.squared <= reach_ && matters(nearest.squared, nearest.way);
    }
    const unsigned all = votes(near);
    const int at = count + __popc(all & ((1u << lane_) - 1));
    if (near && at < most) places[at] = static_cast<std::uint32_t>(place);
    count += __popc(all);
  }

  /// A node's children that may hold something nearer, the nearest on top.
  template <class Matters = All>
  __device__ void push(unsigned name, Vec3 point, const Matters& matters = {}) {
    const Vec3 way = way_to(boxes_of(tree_, name), lane_, point);
    const double gap = dot(way, way);
    const bool wanted = gap <= reach_ && gap < INFINITY && matters(gap, way);
    const float bound = wanted ? __double2float_rd(gap) : -1.0f;
    int farther = 0;
    for (int i = 0; i < kFan; ++i) {
      const float other = from(bound, i);
      farther += other > bound || (other == bound && i < lane_);
    }
    if (wanted) stack_[depth_ + farther] = {bound, child_of(name, lane_)};
    depth_ += __popc(votes(wanted));
    __syncwarp(mask_);
  }

  __device__ void visit_block(std::int64_t number, Vec3 point, Found& best) {
    std::int64_t place = number * kFan + lane_;
    double squared = nearest_of(triangle_at(tree_.mesh.blocks[number], lane_), point).squared;
    std::int32_t id = tree_.mesh.ids[place];
    if (!votes(best.yields_to(squared, id))) return;
    for (int step = kFan / 2; step > 0; step /= 2) {
      const double other = __shfl_xor_sync(mask_, squared, step, kFan);
      const std::int32_t other_id = __shfl_xor_sync(mask_, id, step, kFan);
      const std::int64_t other_place = __shfl_xor_sync(mask_, place, step, kFan);
      if (!(other < squared || (other == squared && other_id < id))) continue;
      squared = other;
      id = other_id;
      place = other_place;
    }
    best = {squared, id, place};
    reach_ = reach_of(squared, tree_.longest_squared);
  }

  const TreeView& tree_;
  Node* const stack_;
  const int lane_;
  const unsigned mask_;
  int depth_ = 0;
  double reach_ = 0;
};

}  // namespace fathom::mesh::cuda
