// What lies at the nearest site, and which way it is: allocation, gaps filled, labels grown, direction.
#pragma once

#include <cstddef>
#include <string>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

/// Any number of views, all of the input's shape; a default view is not computed. They must not overlap the input or
/// one another.
template <MemorySpace Space>
struct BasicNearestValueOutputs {
  using Out = BasicAnyView<std::byte, Space>;
  /// The input's type: the nearest site's element; the element's own where there is no site.
  Out value;
  /// float32 or float64, as grid::distance_transform() has it.
  Out distance;
  /// float32, for 2 axes of space: degrees from north, clockwise, to the nearest site, north being up: towards row 0.
  /// In (0, 360], so that north is 360, east 90, south 180 and west 270; 0 of sites themselves, NaN without a site.
  Out direction = {};
};
using NearestValueOutputs = BasicNearestValueOutputs<MemorySpace::host>;
using DeviceNearestValueOutputs = BasicNearestValueOutputs<MemorySpace::device>;

/// What a call did.
struct NearestValueReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
  std::string device = {};  ///< empty: the CPU did the work
};

/// Values, distances and directions from each element's nearest site.
/// @param input    1 to 8 axes behind those of the batch, any element type
/// @param options  of grid::distance_transform(), but `labels`, a sign and a region: which elements are sites, the
///                 metric, spacing, borders, and how far a site may be. The backend `automatic` is the CPU for arrays
///                 of the host. Directions are measured in units of the spacing; across a periodic border the shorter
///                 way, of equally short ones to south and east
/// @param outputs  at least one
/// @throws InvalidArgument what was wrong and what would work, before any output is touched
/// @throws Cancelled the stop token asked for it; outputs are unspecified
/// @throws std::bad_alloc the machine has not enough memory for the scratch
/// Cost: one transform with nearest sites, and a gather. Same bytes for every thread count and instruction set; of
/// equally near sites that with the lowest linear index counts. Straight ways alone: no barriers, no cost of passage.
/// Source: directions as Esri's Euclidean Direction and xarray-spatial's direction() have them.
NearestValueReport nearest_values(const AnyConstView& input, const grid::DistanceOptions& options,
                                  const NearestValueOutputs& outputs);

/// The same between arrays in a device's memory, in the stream's order, without waiting for it. The backend `cpu`,
/// instruction set, threads, workspace, progress and stop have no meaning here.
/// @throws InvalidArgument as above | a view's memory is not on one device | the scratch limit is too small
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
NearestValueReport nearest_values(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
                                  const DeviceNearestValueOutputs& outputs, Stream stream = {});

/// Bytes of scratch that nearest_values() uses: an index per element, and what grid::distance_transform() needs. The
/// memory behind the views is not looked at.
/// @param least  with one thread: the least scratch limit that works
/// @throws InvalidArgument as nearest_values()
/// On a device with the copies of arrays of the host.
std::size_t nearest_value_scratch_bytes(const AnyConstView& input, const grid::DistanceOptions& options,
                                        const NearestValueOutputs& outputs, bool least = false);
std::size_t nearest_value_scratch_bytes(const AnyConstDeviceView& input, const grid::DistanceOptions& options,
                                        const DeviceNearestValueOutputs& outputs);

}  // namespace fathom::apps
