// How large a ball gets where from inlets, in an image on a device.
#pragma once

#include <cstddef>

#include "apps/lattice3.h"
#include "fathom/core/device.h"
#include "fathom/core/view.h"

namespace fathom::apps::cuda {

/// Bytes of scratch that invade() takes. @param by_faces  there are no inlets
std::size_t invasion_bytes(const Lattice3& lattice, bool by_faces);

/// Lowers squared distances to those of the largest ball that gets there from an inlet, as the CPU's invade().
/// @param inlets   of the image's shape and any type; nonzero where balls enter. Absent: they enter through the faces
/// @param squares  of the image, dense, of the type squares_of()
/// @param scratch  invasion_bytes()
void invade(const Lattice3& lattice, const AnyConstDeviceView& inlets, std::byte* squares, std::byte* scratch,
            Stream stream);

}  // namespace fathom::apps::cuda
