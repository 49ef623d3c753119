// The numbers that are found by measuring, apart from the algorithms: sizes of blocks, how many of them a
// multiprocessor is to hold, and when to change the method. They were found on an H200 (docs/performance.md) and work
// from compute capability 7.5 to 10.0: where a device holds fewer blocks, fewer run at once. What depends on the device
// is asked of it at run time: its multiprocessors, the blocks that it holds of a persistent kernel, the shared memory
// of a block and of a multiprocessor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "core/cuda/resident.h"

namespace fathom::grid::cuda {

using fathom::cuda::resident_blocks;

// Batches: elements of the items that are worked on together. Enough to fill a device; scratch grows with them.
inline constexpr std::int64_t kPlaneGroup = std::int64_t{1} << 28;
inline constexpr std::int64_t kVolumeGroup = std::int64_t{1} << 27;
inline constexpr std::int64_t kGeneralGroup = std::int64_t{1} << 25;

// Planes
/// Carries and entries of lists have 16 bits, and a list's masks must fit shared memory.
inline constexpr std::int64_t kLongestAxisOfPlanes = 46000;
/// Elements of images up to which kernels begin before the ones ahead of them end.
inline constexpr std::int64_t kEarlyElements = std::int64_t{1} << 22;

inline constexpr int kPackBlock = 128;
inline constexpr int kMostSegments = 16;     ///< warps that share a column's carries …
inline constexpr int kSegmentWords = 8;      ///< … with at least as many words each
inline constexpr int kCarryBlocks = 2;       ///< per multiprocessor
inline constexpr int kNearBlocks = 5;        ///< per multiprocessor: 32 registers, no spills
inline constexpr int kNearBlocksSlow = 4;    ///< the same where rows are not aligned, or results are no floats
inline constexpr int kGiveUp = 20;           ///< lanes without a site near from which a search for near sites stops
inline constexpr int kPruneWarps = 4;        ///< of a block
inline constexpr int kPruneBlocks = 8;       ///< per multiprocessor
inline constexpr int kListBlock = 544;       ///< 17 warps: tiles of 2ⁿ columns have 2ᵏ + 1 edges
inline constexpr int kManyListsBlock = 384;  ///< where a multiprocessor has several bands …
inline constexpr int kManyListsBlocks = 4;   ///< … as many at once
inline constexpr int kShortTile = 64;        ///< tiles with this many candidates are long
inline constexpr int kWorthWalking = 112;    ///< candidates of a tile from which on it is asked whether rows are convex
inline constexpr int kFewCandidates = 8;     ///< up to here all are tried everywhere
inline constexpr int kCapacity = 320;        ///< candidates in shared memory, which leaves it below 48 KiB
inline constexpr int kFarBlock = 256;
inline constexpr int kFarBlocks = 4;  ///< per multiprocessor
inline constexpr int kFarBlocksWithSites = 2;

// Volumes
inline constexpr int kVolumePackBlock = 256, kVolumePackBlocks = 8;
inline constexpr int kVolumeBytesBlocks = 4;  ///< the same where bytes are read: 64 registers
/// Bytes of scratch for each voxel that a large volume may take before it is worked on in ranges of columns …
inline constexpr double kVolumeScratch = 2.3;
inline constexpr std::int64_t kVoxelsWorthCutting = std::int64_t{1} << 23;  ///< … as which it is slower if small …
/// … and voxels from which on those are not counted that fill up the rows' last word: one range more is little there.
inline constexpr std::int64_t kVoxelsCountedAlone = std::int64_t{1} << 26;
inline constexpr int kResidentThreads = 1280;      ///< of the search, per multiprocessor: 48 registers
inline constexpr int kResidentThreadsAt64 = 1024;  ///< with labels, no floats, or sites along y: 64 registers
inline constexpr int kUsualSides = 16;             ///< that a tile may need on average: eight steps to one each
inline constexpr int kFewRows = 4;                 ///< with sites in a tile: all are tried everywhere
inline constexpr int kEnvelopeThreads = 1024;      ///< per multiprocessor: 64 registers
/// With any spacings: a block that has a thread for each row of a line, or for each two.
struct LineBlock {
  int threads, rows;
};
/// Those that are better first: up to 320 rows with a thread for each, of longer lines with one for each two where
/// these keep a multiprocessor busy, since of smaller blocks it holds more, which do not wait for each other.
inline constexpr LineBlock kLineBlocks[] = {{64, 64},   {128, 128}, {192, 192}, {256, 256},  {320, 320},
                                            {256, 512}, {512, 512}, {320, 640}, {512, 1024}, {1024, 1024}};
/// How busy, in sixteenths of the threads that it can hold; and in a pass that writes rows of results that begin inside
/// sectors of memory: what neighbours write of a sector is to be written at about the same time.
inline constexpr int kBusyShare = 12, kBusyShareOfPieces = 15;
/// Which of the blocks is for lines of n rows.
/// @param memory  that a block takes, and that a multiprocessor has
/// @param share   as above
constexpr int line_block_for(int n, std::size_t memory, std::size_t of_multiprocessor, int share) {
  const int with_rows = (n + 63) / 64 * 64;  // threads, of blocks that differ by as many
  const auto held = [&](const LineBlock& block) {
    const auto blocks = std::min<std::size_t>(kResidentThreadsAt64 / block.threads, of_multiprocessor / memory);
    return block.rows < n ? 0 : std::min(block.threads, with_rows) * std::max(static_cast<int>(blocks), 1);
  };
  int most = 0, k = 0;
  for (const LineBlock& block : kLineBlocks) most = std::max(most, held(block));
  while (held(kLineBlocks[k]) * 16 < most * share) ++k;
  return k;
}
// The longest that there are blocks for, and others.
static_assert([] {
  for (const LineBlock& block : kLineBlocks)
    for (const int n : {1, block.rows - 1, block.rows})
      for (const std::size_t memory : {1, 100, 200, 400, 800, 2000})
        for (const int share : {kBusyShare, kBusyShareOfPieces})
          if (kLineBlocks[line_block_for(n, memory, 1000, share)].rows < n) return false;
  return true;
}());
/// With any spacings: steps of the least spacing in the plane within which each stretch of rows along y is
/// to have a site, or brackets are better than windows.
inline constexpr int kUnbracketedSteps = 24;
/// Longest line that is searched by blocks of 128 threads: there is no work for more.
inline constexpr int kTinyBlocks = 64;
/// The same for squares of masks along y and nearest sites along z, where more of these blocks fit …
inline constexpr int kTinyBlocksOfMasks = 256;
/// … and for nearest sites along y, and distances of masks along z.
inline constexpr int kTinyBlocksOfSitesAlongY = 384, kTinyBlocksAlongZ = 384;
/// Longest line that is searched by blocks of 256 threads: five of them still find the shared memory they take.
inline constexpr int kSmallBlocks = 640;
/// Longest line of a search with equal spacings by blocks of so many threads: their arrays and bit masks are made for
/// it.
constexpr int longest_line(int threads) { return threads <= 256 ? kSmallBlocks : 2 * threads; }
/// Threads of a block that searches a line of n elements, of which half a warp takes eight at a time.
constexpr int search_block(int n, int tiny_lines) {
  return n <= tiny_lines ? 128 : n <= kSmallBlocks ? 256 : n <= 1024 ? 512 : 1024;
}
/// The same along y where float distances of masks are written: few half warps are to be idle in a block's last round.
/// Where rows begin inside sectors of memory, blocks are larger: what neighbours write of a sector is then written at
/// about the same time.
constexpr int float_search_block(int n, bool writes_sectors) {
  if (n <= 256 || n > 576) return search_block(n, 256);
  if (writes_sectors) return n <= 288 ? 192 : n <= 320 ? 160 : n <= 384 ? 192 : 256;
  return n <= 288 ? 288 : n <= 320 ? 320 : n <= 512 ? 256 : 288;
}
/// Of transposed volumes: the longest lines along x.
inline constexpr int kLongestAlongX = 800;
/// Threads that search along x half tiles: eight, four, three and two blocks, as far as their shared memory goes.
constexpr int sites_along_x_block(int n) { return n <= 192 ? 128 : n <= 384 ? 256 : n <= 544 ? 320 : 512; }
static_assert([] {
  for (int n = 1; n <= 1024; ++n)
    for (const int threads : {search_block(n, kTinyBlocks), search_block(n, kTinyBlocksOfMasks),
                              search_block(n, kTinyBlocksOfSitesAlongY), search_block(n, kTinyBlocksAlongZ),
                              float_search_block(n, true), float_search_block(n, false), sites_along_x_block(n)})
      if (n > longest_line(threads)) return false;
  return true;
}());
/// Packing of these: threads of the largest blocks, 17 warps, which share the words of 513 rows, 17 in each of four
/// planes, evenly; and such blocks per multiprocessor.
inline constexpr int kColumnsPackBlock = 544, kColumnsPackBlocks = 2;
/// From so many voxels on they are solved so: of smaller ones, only some inputs gain.
inline constexpr std::int64_t kVoxelsWorthTransposing = std::int64_t{1} << 22;

// Small images
inline constexpr int kSmallPackBlock = 128, kSmallBlock = 256;

// General
inline constexpr int kGeneralBlock = 256, kSearchBlock = 128;
inline constexpr int kLongRow = 1024;  ///< words; longer rows are worth a large block
inline constexpr int kClampBlock = 64;

}  // namespace fathom::grid::cuda
