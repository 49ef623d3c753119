#include "apps/marcher.h"

#include <algorithm>
#include <string>

#include "fathom/core/error.h"

namespace fathom::apps {

void check_memory(const RayMarcherOptions& options, std::size_t needed) {
  if (options.memory_limit && needed > *options.memory_limit)
    throw InvalidArgument("the marcher's memory limit of " + std::to_string(*options.memory_limit) +
                          " bytes is too small; what works here is " + std::to_string(needed) + " bytes");
}

std::int64_t fit_scratch(const Execution& execution, std::int64_t wanted, std::size_t each) {
  if (!execution.scratch_limit) return wanted;
  const std::size_t limit = *execution.scratch_limit;
  if (each > limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(limit) +
                          " bytes is too small; the smallest that works here is " + std::to_string(each) + " bytes");
  return std::min(wanted, static_cast<std::int64_t>(limit / each));
}

}  // namespace fathom::apps
