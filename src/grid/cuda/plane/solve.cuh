// The kernels of the engine for planes that write results, as its host side launches them: near elements
// (plane/near.cuh) and far tiles (plane/far.cuh). There is one of each for every form of results and kind of spacing,
// and a compiler takes long over them: they are compiled by themselves (plane/solve.cu).
#pragma once

#include <type_traits>

#include "grid/cuda/launch.cuh"
#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

/// Launches a kernel that takes its turn (Plane::take_turn()).
/// @param memory  of a block, shared, in bytes
template <class... Parameters>
void launch_in_turn(void (*kernel)(Plane, Parameters...), dim3 blocks, int threads, std::size_t memory,
                    cudaStream_t stream, const Plane& plane, const std::type_identity_t<Parameters>&... others) {
  fathom::cuda::launch(kernel, blocks, static_cast<unsigned>(threads), memory, stream, plane.begins_early, plane,
                       others...);
}

/// V: the emitter's.
template <class V>
struct Kernels {
  Writing writing;
  Spacing spacing;
  int near_width;  ///< columns of a block
  int far_blocks;  ///< of a multiprocessor
  void (*near)(Plane, Emitter<V>);
  void (*far)(Plane, Emitter<V>);
};

const Kernels<std::int64_t>& kernels_of(Writing writing, Spacing spacing);
/// Of Writing::general with Spacing::any, where there is no unit.
const Kernels<double>& kernels_in_double();

}  // namespace fathom::grid::cuda::plane
