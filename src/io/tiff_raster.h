// TIFF as a raster of which tiles and strips are read where they are needed.
#pragma once

#include <memory>

#include "fathom/io/raster.h"
#include "io/shared_file.h"

namespace fathom::io {

/// As open_raster().
RasterFile open_tiff_raster(std::unique_ptr<SharedFile> file, const ReadOptions& options);

}  // namespace fathom::io
