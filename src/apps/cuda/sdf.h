// Textures of signed distance on a device. No CUDA header is needed to call it.
#pragma once

#include "apps/sdf.hd.h"
#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/view.h"

namespace fathom::apps::cuda {

/// Fills the texture, [height, width] and not empty, on the current device, in the stream's order.
/// @param texels  whose memory is the host's
/// @param sites   [kSitesOfSegment · segments, 2]
/// @throws InvalidArgument the texture is not there
void fill_texture(const Texels& texels, const Array& sites, const Placing& placing, const AnyDeviceView& texture,
                  Stream stream);

}  // namespace fathom::apps::cuda
