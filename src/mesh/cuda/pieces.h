// Calls in pieces: as large as the scratch limit allows, and small where somebody watches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fathom/core/execution.h"
#include "mesh/resident_mesh.h"

namespace fathom::mesh::cuda {

/// @throws ScratchTooSmall the limit is below what is needed
inline void check_scratch(const Execution& execution, std::size_t needed, const char* how = "") {
  if (execution.scratch_limit && *execution.scratch_limit < needed)
    throw ScratchTooSmall("the limit of " + std::to_string(*execution.scratch_limit) +
                              " bytes of scratch is too small; " + how + std::to_string(needed) + " are needed",
                          needed);
}

/// How many of `all` equal parts a call takes at a time.
/// @param fixed  bytes that it takes besides
/// @param usual  most bytes unless the caller says how many
inline std::int64_t parts_at_a_time(std::int64_t all, std::size_t fixed, std::size_t of_part, std::size_t usual,
                                    const Execution& execution) {
  check_scratch(execution, fixed + of_part);
  const std::size_t limit = std::max(execution.scratch_limit.value_or(usual), fixed + of_part);
  const std::size_t most = of_part == 0 ? INT64_MAX : (limit - fixed) / of_part;
  return std::min(all, static_cast<std::int64_t>(std::min<std::size_t>(most, INT64_MAX)));
}

/// Whether pieces are to be waited for.
inline bool is_watched(const Execution& execution) { return execution.progress || execution.stop.stop_possible(); }

inline void stop_if_asked(const Execution& execution) {
  if (execution.stop.stop_requested()) throw Cancelled();
}

/// So many of all parts are done.
inline void tell(const Execution& execution, std::int64_t done, std::int64_t all) {
  if (execution.progress) execution.progress(static_cast<double>(done) / static_cast<double>(all));
}

}  // namespace fathom::mesh::cuda
