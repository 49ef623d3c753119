// The fast engine's numbers that only speed depends on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grid/cpu/plain_values.h"

namespace fathom::grid::cpu::plain {

/// Largest bound on the distance for which a window around each element beats a search over candidates.
template <class Form>
inline constexpr int kWindowReach = Form::kSquares ? 48 : 38;

/// The largest of them; those of ranks reach farther.
inline constexpr int kWidestWindow = 60;

/// Bounds above which a column search in the y pass considers dropping candidates first, though a window would do.
inline constexpr int kSparseReach = 6;

/// Largest squared distance in a segment up to which the least bits save less than they cost.
template <class Form>
inline constexpr std::int64_t kTinyPays = Form::kSquares ? 25 : -1;

/// Candidates so few that trying all of them beats turning rows into lanes and back.
inline constexpr int kFewCandidates = 6;

/// Groups of results ahead of those written whose place in the output is asked for.
inline constexpr int kGroupsAhead = 3;

/// Outputs larger than this bypass the caches where the processor gains by that.
inline constexpr std::size_t kStreamBytes = std::size_t{8} << 20;

/// Floats of an image's row from which on that pays even if vectors are parts of lines and rows begin inside these.
inline constexpr std::int64_t kStreamRow = 1024;

/// Jobs per thread: enough to even out unequal work, few enough that starting without a bound stays cheap.
inline constexpr int kJobsPerThread = 4;

/// Most columns that one job scans for carries.
inline constexpr int kScanColumns = 8192;

}  // namespace fathom::grid::cpu::plain
