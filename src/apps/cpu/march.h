// The loop over rays.
#pragma once

#include "apps/cpu/steps.h"
#include "apps/frame.hd.h"
#include "core/parallel.h"

namespace fathom::apps::cpu {

/// What a call marches through, and where its results go.
struct March {
  const Solid* solid = nullptr;
  const Steps* steps = nullptr;
  const RayMarchOptions* options = nullptr;
  const RayMarchOutputs* outputs = nullptr;
  Frame frame;
};

/// Squares of pixels whose rays a thread takes at once.
std::int64_t tile_count(const Frame& frame);

/// Bytes of scratch for each thread.
std::size_t march_scratch_bytes(const Steps& steps);

/// Writes the outputs, and counts rays, hits and samples in the report.
void march(const March& march, int threads, Monitor& monitor, RayMarchReport& report);

}  // namespace fathom::apps::cpu
