#include "apps/host_call.h"

#include <string>

#include "fathom/core/error.h"

namespace fathom::apps {

int host_threads(const Execution& execution, const char* operation) {
  if (execution.backend == Backend::cuda)
    throw InvalidArgument(std::string(operation) + " has no backend cuda yet; use auto or cpu");
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
  return execution.threads > 0 ? execution.threads : available_threads();
}

void check_scratch(const Execution& execution, std::size_t needed) {
  if (execution.scratch_limit && needed > *execution.scratch_limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*execution.scratch_limit) +
                          " bytes is too small; what works here is " + std::to_string(needed) + " bytes");
}

}  // namespace fathom::apps
