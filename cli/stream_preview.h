// A picture of what a tile graph makes: all of it from few pixels, and its middle as it is.
#pragma once

#include <cstdio>
#include <optional>

#include "fathom/stream/evaluator.h"
#include "fathom/stream/node.h"

namespace fathom::cli {

struct PreviewOptions {
  stream::EvaluatorOptions evaluator;  ///< with the region that is drawn
  std::optional<std::int64_t> scale;   ///< pixels of the raster for one of the picture, each way; none: what fits
};

/// Takes one pixel of scale × scale, in their middle, and computes no others where that costs less.
/// @throws InvalidArgument an exact distance would have to compute too many @throws IoError the stream cannot be
///   written
void draw_preview(const stream::NodeRef& root, const PreviewOptions& options, std::FILE* stream);

}  // namespace fathom::cli
