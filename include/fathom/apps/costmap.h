// Costmaps of robots: obstacles inflated by what it costs to come near them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

inline constexpr std::uint8_t kLethalCost = 254, kInscribedCost = 253, kUnknownCost = 255;

struct CostmapOptions {
  grid::Sites occupied = {grid::Sites::Rule::nonzero};  ///< all rules but `labels`
  std::optional<grid::Sites> unknown;                   ///< cells that it is true for are not occupied
  double resolution = 1;                                ///< size of a cell in metres, finite, > 0
  double inscribed = 0;  ///< radius in metres within which the robot touches an obstacle; ≥ 0
  double inflation = 1;  ///< radius in metres beyond which there is no cost; ≥ 0
  double scaling = 10;   ///< how fast costs fall, per metre; ≥ 0
  int batch_axes = 0;    ///< as grid's
  Execution execution;   ///< backend `automatic` is the CPU for arrays of the host
};

/// Of the map's shape; a default view is not computed.
template <MemorySpace Space>
struct BasicCostmapOutputs {
  BasicAnyView<std::byte, Space> cost;  ///< uint8
  /// int32 or int64: linear index in its map of the nearest occupied cell, the lowest among equals; −1 without.
  BasicAnyView<std::byte, Space> nearest;
};
using CostmapOutputs = BasicCostmapOutputs<MemorySpace::host>;
using DeviceCostmapOutputs = BasicCostmapOutputs<MemorySpace::device>;

struct CostmapReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
  std::string device = {};
};

/// Cost of each cell by its distance d in metres, of the centres, to the nearest occupied cell: 255 where unknown, 254
/// where occupied, 253 up to the inscribed radius, also beyond the inflation radius, else 252 · exp(−scaling (d −
/// inscribed)), cut to a whole number, and 0 beyond the inflation radius. With a resolution that is not whole, a
/// relative 2⁻⁵⁰ beyond a radius does not count.
/// @param map      [batch…, n₀, …], any element type
/// @param outputs  at least one view
/// @throws InvalidArgument what was wrong and what would work, before any output is touched; costs that reach over more
///   than 8192 cells
/// @throws Cancelled the stop token asked for it; outputs are unspecified
/// Cost O(N). Same bytes for every thread count: costs are tabulated by squared distance in cells.
/// Source: the inflation layer of Nav2 (computeCost). Departs in that distances are exact, where its wave front may
/// take another than the nearest obstacle; in that the inflation radius is not rounded up to whole cells; and in that
/// unknown cells stay so near obstacles, too.
CostmapReport costmap(const AnyConstView& map, const CostmapOptions& options, const CostmapOutputs& outputs);

/// The same between arrays in a device's memory, in the stream's order; while the stream is captured into a graph
/// `nearest` alone, since the host writes the table of costs. The backend `cpu`, instruction set, threads, workspace,
/// progress and stop have no meaning here.
/// @throws InvalidArgument as above | a view's memory is not on one device | the scratch limit is too small
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
CostmapReport costmap(const AnyConstDeviceView& map, const CostmapOptions& options, const DeviceCostmapOutputs& outputs,
                      Stream stream = {});

/// Bytes of scratch that costmap() takes for such arrays; the memory behind them is not read. On a device
/// with the copies of arrays of the host.
std::size_t costmap_scratch_bytes(const AnyConstView& map, const CostmapOptions& options,
                                  const CostmapOutputs& outputs);
std::size_t costmap_scratch_bytes(const AnyConstDeviceView& map, const CostmapOptions& options,
                                  const DeviceCostmapOutputs& outputs);

}  // namespace fathom::apps
