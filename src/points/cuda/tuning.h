// The numbers that are found by measuring, apart from the algorithms. They were found on an H200 (docs/performance.md).
#pragma once

#include <cstdint>

namespace fathom::points::cuda {

inline constexpr int kSearchBlock = 128;
inline constexpr int kDirectBlock = 128;               ///< threads of a team
inline constexpr int kDirectTeams = 2;                 ///< of a block
inline constexpr int kDirectQueries = 4;               ///< of a thread
inline constexpr int kDirectBlocks = 2;                ///< per multiprocessor
inline constexpr unsigned kCandidates = 128;           ///< groups of sites that are kept for a query
inline constexpr int kTableGroups = 2048;              ///< of sites: more go without a table
inline constexpr unsigned kTooMany = 32;               ///< groups to look into, before they are measured again
inline constexpr int kFewOpen = 4;                     ///< groups to look into are less work than all in float32 …
inline constexpr int kOpenShare = 32;                  ///< … as is one of so many, but kTooMany at most
inline constexpr std::int64_t kTableSize = 1 << 21;    ///< elements
inline constexpr std::int64_t kDirectChunk = 1 << 14;  ///< queries at a time
inline constexpr int kFewQueries = 32;                 ///< fewer leave most threads of a block without any
inline constexpr int kManyQueries = 1 << 17;           ///< are worth sorting before they are searched
inline constexpr int kQueriesInARow = 32;              ///< of a warp, then: one for each lane, at most
inline constexpr int kRunBlocks = 8;                   ///< per multiprocessor, then, of sorted sites, …
inline constexpr int kFloatRunBlocks = 10;             ///< … of those that float32 holds …
inline constexpr int kRunBlocksInOrder = 8;            ///< … and of those in the caller's order
inline constexpr int kQueriesOfList = 8;               ///< for which near leaves are listed together …
inline constexpr int kNearLeaves = 96;                 ///< … at most
inline constexpr float kReachOfList = 2;               ///< squared, in distances of the queries before, …
inline constexpr int kQueriesBeforeLists = 2;          ///< … which are so many before the first
inline constexpr int kListedTogether = 2;              ///< leaves of it on their way at a time, where float32 serves
inline constexpr int kMostUnclear = 8;                 ///< one query of so many; if more, it does not for the others
inline constexpr int kLeavesTogether = 4;              ///< that are looked at, where queries are fewer
inline constexpr int kTeam = 4;          ///< warps for each query, where there are no more queries than …
inline constexpr int kTeamBlocks = 8;    ///< … so many per multiprocessor
inline constexpr int kLeavesOfTeam = 8;  ///< looked at together by each of them
inline constexpr int kMostLeft = 256;    ///< nodes that a list of theirs holds
inline constexpr int kFirstNodes = 512;  ///< at most, at which they begin
inline constexpr int kMostNear = 2;      ///< of a warp's share: if more are left, their leaves are sifted …
inline constexpr int kSiftedLeaves = 6;  ///< … so many at a time
inline constexpr std::int64_t kFewHollow = 1 << 14;    ///< sites: sets of fewer are not tried whether they are hollow
inline constexpr std::int64_t kFewSearched = 1 << 16;  ///< hollow ones of no more are not searched; beyond …
inline constexpr int kPatience = 16;                   ///< … so many steps of a warp, …
inline constexpr int kSitesOfStep = 17'500;            ///< … or one for so many sites, if that is more, …
inline constexpr int kStepsOfNode = 2;                 ///< … of which a parent of leaves is expected to take so many
inline constexpr int kBuildBlock = 256;
inline constexpr std::int64_t kManyPoints = 1 << 22;  ///< are worth asking a sample by how many bits to sort them …
inline constexpr int kSampledPoints = 1 << 16;        ///< … of so many
inline constexpr int kExtentBlocks = 8;               ///< per multiprocessor
inline constexpr int kScanWarps = 32;                 ///< per multiprocessor: fewer queries share out the sites

}  // namespace fathom::points::cuda
