// What `render` writes besides plain shades.
#pragma once

#include <cstdint>
#include <cstdio>

#include "fathom/core/array.h"

namespace fathom::cli {

/// As the paper draws them: white for the fewest samples, black for the most.
Array samples_picture(const Array& samples, std::int32_t most);

/// A PNG of grey levels with opacity.
/// @param shade     uint8, multiplied by the opacity
/// @param coverage  uint8 opacity, of the same shape
/// @throws IoError the stream cannot be written
void write_transparent(const Array& shade, const Array& coverage, std::FILE* stream);

}  // namespace fathom::cli
