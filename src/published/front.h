// What the fronts of the published algorithms share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "core/parallel.h"
#include "core/require_device.h"
#include "fathom/core/device.h"
#include "fathom/core/error.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::published {

inline void check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    throw InvalidArgument(std::string(name) + " is " + std::to_string(value) + "; it must be from " +
                          std::to_string(least) + " to " + std::to_string(most));
}

inline void check_output(const AnyView& view, const char* name, std::initializer_list<DType> types,
                         const Shape& shape) {
  if (!view.present()) return;
  if (std::find(types.begin(), types.end(), view.dtype()) == types.end())
    throw InvalidArgument(std::string("'") + name + "' is " + std::string(name_of(view.dtype())) + "; it must be " +
                          std::string(name_of(*types.begin())) + " or " + std::string(name_of(*(types.end() - 1))));
  if (!(view.shape() == shape))
    throw InvalidArgument(std::string("'") + name + "' has the shape " + to_string(view.shape()) + "; it must have " +
                          to_string(shape));
}

/// A device if there is one.
/// @throws DeviceError it was asked for, and is not to be had
inline bool runs_on_device(const Execution& execution) {
  if (execution.backend == Backend::cpu) return false;
  if (execution.backend == Backend::automatic && device_count() == 0) return false;
  require_device();
  return true;
}

/// @throws InvalidArgument fewer than 0
inline int threads_of(const Execution& execution) {
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
  return execution.threads > 0 ? execution.threads : available_threads();
}

}  // namespace fathom::published
