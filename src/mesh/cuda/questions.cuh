// Questions by eights: a team looks for the nearest triangles of eight points one after the other; then each of its
// lanes goes on with one of them.
#pragma once

#include "mesh/cuda/team.cuh"
#include "mesh/sides.hd.h"

namespace fathom::mesh::cuda {

struct Question {
  bool valid = false;  ///< otherwise there is none
  Vec3 point;
};

/// The answer to a lane's own question.
/// @param near  the block to begin with, or −1; set to that of the last answer
__device__ inline Found answer_own(Team& team, const Question& own, std::int64_t& near) {
  Found found;
  for (int i = 0; i < kFan; ++i) {
    if (!team.from(static_cast<int>(own.valid), i)) continue;
    const Found of_this = team.nearest(team.from(own.point, i), near);
    if (near >= 0) near = of_this.place / kFan;
    if (team.lane() == i) found = of_this;
  }
  return found;
}

/// Whether a point is inside, of which the nearest triangle is known, and where it is nearest.
template <Sign kSign>
__device__ bool is_inside(const TreeView& tree, Vec3 point, std::int64_t place, const Nearest& nearest) {
  if constexpr (kSign == Sign::pseudonormal) return is_behind(tree.mesh, place, nearest);
  else return is_inside(SignTag<kSign>(), tree, point, place);
}
template <Sign kSign>
__device__ bool is_inside(const TreeView& tree, Vec3 point, const Found& found) {
  if constexpr (kSign == Sign::pseudonormal) return is_behind(tree.mesh, found.place, point);
  else return is_inside(SignTag<kSign>(), tree, point, found.place);
}

constexpr int kAnswerBlock = 128;  ///< threads

/// Bytes of shared memory for the stacks of a block's teams.
inline std::size_t stacks_bytes(const TreeView& tree, int threads) {
  return static_cast<std::size_t>(threads / kFan * stack_size(tree)) * sizeof(Node);
}

inline unsigned blocks_for(std::int64_t threads, int of_block) {
  return static_cast<unsigned>((threads + of_block - 1) / of_block);
}

}  // namespace fathom::mesh::cuda
