// Sides of points whose nearest triangles are not known.
#pragma once

#include "core/cuda/runtime.h"
#include "mesh/cuda/questions.cuh"
#include "mesh/sides.hd.h"

namespace fathom::mesh::cuda {

/// A thread for each question.
/// @param questions  questions.questions() of them: questions.question(i) is one, questions.take(i, inside) its
///         answer's place
template <Sign kSign, class Questions>
__global__ void __launch_bounds__(kAnswerBlock)
    answer_sides(const __grid_constant__ TreeView tree, const __grid_constant__ Questions questions, int stack_nodes) {
  extern __shared__ Node stacks[];
  Team team(tree, stacks, stack_nodes);
  const std::int64_t i = std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x;
  Question own;
  if (i < questions.questions()) own = questions.question(i);
  std::int64_t near = -1, place = 0;
  if constexpr (kSign == Sign::pseudonormal) place = answer_own(team, own, near).place;
  if (own.valid) questions.take(i, is_inside(SignTag<kSign>(), tree, own.point, place));
}

template <class Questions>
void ask_sides(const TreeView& tree, const Questions& questions, cudaStream_t stream) {
  const std::int64_t count = questions.questions();
  if (count == 0) return;
  visit_sign(tree.sign, [&]<Sign kSign>(SignTag<kSign>) {
    answer_sides<kSign><<<blocks_for(count, kAnswerBlock), kAnswerBlock, stacks_bytes(tree, kAnswerBlock), stream>>>(
        tree, questions, stack_size(tree));
  });
  fathom::cuda::check_launch("telling sides");
}

}  // namespace fathom::mesh::cuda
