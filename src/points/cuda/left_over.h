// Queries that a search of sorted sites has given up, because too many leaves are about as near as the nearest site.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_request.h"

namespace fathom::points::cuda {

/// Whether sites are spread so that there are such queries: about a place nearly as far from all of them, as in the
/// middle of a sphere, of as many as are worth it. Of a tree of sorted sites; waits for it.
bool is_hollow(const DeviceTree& tree, cudaStream_t stream);

/// A call's scratch.
struct LeftOver {
  int groups;              ///< of four leaves
  std::uint8_t* given_up;  ///< [query]: whether it is left
  int* least;              ///< [group][query that is left]: bits of the least squared distance
  std::size_t bytes;

  LeftOver(const DeviceTree& tree, std::int64_t queries, std::byte* base);
};

inline constexpr int kMostLeftOver = 2048;  ///< queries

/// Answers those queries past every site, in the stream's order, behind the kernel that tells which they are.
/// @param request  of one neighbour, without periods and cones, and of queries that float32 holds, as it does the sites
void answer_left_over(const DeviceTree& tree, const DeviceRequest& request, const LeftOver& left, cudaStream_t stream);

}  // namespace fathom::points::cuda
