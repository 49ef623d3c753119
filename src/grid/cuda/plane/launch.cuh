// How the kernels of the engine for planes are launched.
#pragma once

#include <type_traits>

#include "grid/cuda/launch.cuh"
#include "grid/cuda/plane/plane.cuh"

namespace fathom::grid::cuda::plane {

/// Launches a kernel that takes its turn (Plane::take_turn()).
///
/// @param memory  of a block, shared, in bytes
template <class... Parameters>
void launch_in_turn(void (*kernel)(Plane, Parameters...), dim3 blocks, int threads, std::size_t memory,
                    cudaStream_t stream, const Plane& plane, const std::type_identity_t<Parameters>&... others) {
  fathom::cuda::launch(kernel, blocks, static_cast<unsigned>(threads), memory, stream, plane.begins_early, plane,
                       others...);
}

}  // namespace fathom::grid::cuda::plane
