// The box of a cloud, and whether all of its coordinates are numbers to count with.
#pragma once

#include "core/parallel.h"
#include "points/cloud.h"

namespace fathom::points::cpu {

/// @param noun  what the points are called in an error: "site" or "query"
/// @throws InvalidArgument a coordinate is not sound
Box extent_of(const Cloud& cloud, const char* noun, int threads, Monitor* monitor = nullptr);

}  // namespace fathom::points::cpu
