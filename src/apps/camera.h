// From a camera to the frame it sees.
#pragma once

#include <array>

#include "apps/frame.hd.h"
#include "apps/solid.h"
#include "fathom/apps/ray_march.h"

namespace fathom::apps {

/// @throws InvalidArgument a vector, angle or zoom without a meaning
void check_camera(const Camera& camera);

Frame frame_of(const Camera& camera, const Solid& solid, const std::array<double, 3>& spacing, const Shape& picture);

}  // namespace fathom::apps
