// Puts sites on a device. No CUDA header is needed to call it.
#pragma once

#include <memory>

#include "points/resident_set.h"

namespace fathom::points::cuda {

/// A set on the device that has the sites; those of the host: on the one that it names. Waits until it is built.
/// @param stream  in whose order sites on a device are there
/// @throws InvalidArgument a coordinate is no number to count with; the scratch limit is too small
std::unique_ptr<ResidentSet> make_resident(const ResidentSource& source, Stream stream);

/// A set on a device that will follow a tree of the host, which has no sites yet.
std::unique_ptr<FollowingSet> make_follower(const Tree& tree, int device);

}  // namespace fathom::points::cuda
