// Queries that a search of sorted sites gives up, or is not asked for, because too many leaves are about as near as the
// nearest site.
#pragma once

#include <cuda_runtime_api.h>

#include "points/cuda/device_request.h"
#include "points/cuda/float_frame.h"

namespace fathom::points::cuda {

/// Whether sites are spread so that there are such queries: about a place nearly as far from all of them, as in the
/// middle of a sphere; and are so many that it matters. Of a tree of sorted sites; waits for it.
bool is_hollow(const DeviceTree& tree, cudaStream_t stream);

/// How much a search may take for a query before that is given up.
struct Patience {
  int steps;          ///< of each warp: in each it waits for boxes or leaves. 0: a search is not worth it
  int steps_of_node;  ///< that a parent of leaves is expected to take: it is given up where that is too much

  static Patience of(const DeviceTree& tree);
};

/// How queries are answered, and a call's scratch.
struct LeftOver {
  Frame frame;             ///< of the offsets that are measured
  int tiles, groups;       ///< of 128 sites in a group; of these among all sites
  Patience patience;       ///< of a search before that
  std::uint8_t* given_up;  ///< [query]: whether it is left; null: all are, without a search
  int* least;              ///< [group][query that is left]: bits of the least squared distance
  std::size_t bytes;

  LeftOver(const DeviceTree& tree, std::int64_t queries, std::byte* base);
};

inline constexpr int kMostLeftOver = 2048;  ///< queries

/// Answers those queries past every site, in the stream's order, behind the kernel that tells which they are.
/// @param request  of one neighbour, without periods and cones
void answer_left_over(const DeviceTree& tree, const DeviceRequest& request, const LeftOver& left, cudaStream_t stream);

}  // namespace fathom::points::cuda
