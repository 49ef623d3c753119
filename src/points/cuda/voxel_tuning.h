// The numbers of searches among voxels that are found by measuring, as in tuning.h.
#pragma once

#include <cstdint>

namespace fathom::points::cuda {

inline constexpr std::int64_t kManyVoxelQueries = 1 << 14;     ///< take a lane each, …
inline constexpr std::int64_t kOrderedVoxelQueries = 1 << 19;  ///< … and are worth sorting before
inline constexpr int kWordsOfLane = 96;                        ///< are looked at by one lane; more by its warp
inline constexpr int kClimbBlocks = 8;                         ///< per multiprocessor

}  // namespace fathom::points::cuda
