// The header of an NRRD.
#pragma once

#include "io/text_volume.h"

namespace fathom::io::nrrd {

/// The source then stands behind the header.
/// @throws IoError
TextVolume read_header(ByteSource& source);

}  // namespace fathom::io::nrrd
