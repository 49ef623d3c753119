// What the calls that run on the CPU alone check of how they shall run.
#pragma once

#include <cstddef>

#include "fathom/core/execution.h"

namespace fathom::apps {

/// Threads that the call takes. @throws InvalidArgument a negative number | the backend is CUDA, which `operation` lacks
int host_threads(const Execution& execution, const char* operation);

/// @throws InvalidArgument the scratch limit is less
void check_scratch(const Execution& execution, std::size_t needed);

}  // namespace fathom::apps
