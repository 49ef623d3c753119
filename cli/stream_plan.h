// What `stream --plan` says: the graph, how it will be computed, and what that takes. Nothing is computed for it:
// rates are guesses from the types of nodes.
#pragma once

#include <string>

#include "fathom/stream/document.h"
#include "fathom/stream/evaluator.h"
#include "json.h"
#include "stream.h"
#include "stream_output.h"

namespace fathom::cli {

/// "10 × 20, uint8, 1 µm a pixel, 4 nodes"
std::string raster_text(const stream::Plan& plan);
/// @param ring  bands that are computed ahead of the sink
std::string stream_plan_text(const StreamArguments& arguments, const stream::Plan& plan, const stream::NodeIds& ids,
                             const StreamOutput& output, int ring);
Json stream_plan_json(const StreamArguments& arguments, const stream::Plan& plan, const stream::NodeIds& ids,
                      const StreamOutput& output, int ring);

/// Whether an exact distance is computed from all rows of its mask, the first to the last.
bool sweeps(const stream::Plan& plan);

}  // namespace fathom::cli
