// Where a set goes that is to live on devices.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "points/check.h"
#include "points/device_call.h"
#include "points/resident_voxels.h"

namespace fathom::points {

/// Sites of the host on each of the devices that the options name: in its memory, or passing by.
/// @param ids  as in ResidentSource
/// @throws DeviceError there is no device
ResidentSets make_residents(const std::vector<Cloud>& clouds, const std::vector<std::uint32_t>& ids,
                            const SetFacts& facts, const SiteSetOptions& options);

/// Sites in a device's memory, there.
/// @param stream  in whose order they are there
ResidentSets make_residents_in_place(const std::vector<Cloud>& clouds, const SetFacts& facts,
                                     const SiteSetOptions& options, Stream stream);

/// The nonzero elements of a mask in a device's memory, there. Waits until it is built; nothing refers to the mask
/// then.
ResidentSets make_residents_of_mask(const AnyConstDeviceView& mask, const SetFacts& facts,
                                    const SiteSetOptions& options, Stream stream);

/// Sets that will follow a tree, one on each of the devices that the options name.
/// @param tree  without sites
std::vector<std::unique_ptr<FollowingSet>> make_followers(const Tree& tree, const SiteSetOptions& options);

/// Voxels in the memory of the current device.
/// @param pyramid  of the host, which has the bits, `count` of the elements'; null: there are none
/// @throws DeviceError there is no device
std::unique_ptr<ResidentVoxels> make_voxels(const Shape& shape, const Pyramid* pyramid, std::int64_t count);

/// The nonzero elements of a mask in a device's memory, there.
std::unique_ptr<ResidentVoxels> make_voxels(const AnyConstDeviceView& mask, Stream stream);

/// Points in a device's memory as rows of the host. Waits for the stream, in whose order they are there.
Array download(const Cloud& points, Stream stream);

/// Names of their devices.
std::string names_of(const ResidentSets& sets);

/// The one on the queries' device.
/// @throws InvalidArgument there is none
const ResidentSet& nearest_to(const CoordinateLayout& queries, const ResidentSets& sets);

}  // namespace fathom::points
