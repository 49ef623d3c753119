// What every operation refuses alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/require_device.h"
#include "fathom/core/error.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// How many threads of the host a call may use.
/// @throws InvalidArgument a negative number
inline int thread_count(const Execution& execution) {
  if (execution.threads < 0)
    throw InvalidArgument("the number of threads is " + std::to_string(execution.threads) +
                          "; give 1 or more, or 0 for all processors");
  return execution.threads > 0 ? execution.threads : available_threads();
}

/// Whether a call between arrays of the host is to go to a device. `automatic` is the CPU.
/// @throws DeviceError it is asked for, and there is none
inline bool wants_device(const Execution& execution) {
  if (execution.backend == Backend::cuda) require_device();
  return execution.backend == Backend::cuda;
}

/// @throws InvalidArgument the scratch limit is less than what works
inline void check_scratch(const Execution& execution, std::size_t needed) {
  if (execution.scratch_limit && needed > *execution.scratch_limit)
    throw InvalidArgument("the scratch limit of " + std::to_string(*execution.scratch_limit) +
                          " bytes is too small; what works here is " + std::to_string(needed) + " bytes");
}

/// @throws InvalidArgument no axis of space is left
inline void check_batch(const Shape& input, int batch_axes) {
  if (batch_axes < 0 || batch_axes >= input.rank())
    throw InvalidArgument(std::to_string(batch_axes) + " batch axes of an array with " + std::to_string(input.rank()) +
                          " axes; give 0 or more, and fewer than it has");
}

/// Whether two views have memory in common, taking each for all bytes between its first and its last; not where it is
/// missing.
inline bool overlap(const AnyConstView& a, const AnyConstView& b) {
  const auto bytes = [](const AnyConstView& view) {
    std::int64_t low = 0, high = 1;
    for (int axis = 0; axis < view.rank(); ++axis) {
      const std::int64_t span = (view.shape()[axis] - 1) * view.strides()[axis];
      (span < 0 ? low : high) += span;
    }
    const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
    return std::pair(view.data() + low * size, view.data() + high * size);
  };
  if (!a.data() || !b.data() || element_count(a.shape()) == 0 || element_count(b.shape()) == 0) return false;
  const auto [first, last] = bytes(a);
  const auto [begin, end] = bytes(b);
  return first < end && begin < last;
}

/// @throws InvalidArgument an array that is there has none of the types, or another shape than the input, or memory in
///         common with it
inline void check_output(const AnyConstView& input, const AnyConstView& output, const char* name,
                         std::initializer_list<DType> dtypes) {
  if (!output.present()) return;
  const std::string title = std::string("'") + name + "'";
  std::string names;
  for (DType dtype : dtypes) names += (names.empty() ? "" : " or ") + std::string(name_of(dtype));
  if (std::find(dtypes.begin(), dtypes.end(), output.dtype()) == dtypes.end())
    throw InvalidArgument(title + " is " + std::string(name_of(output.dtype())) + "; it must be " + names);
  if (!(output.shape() == input.shape()))
    throw InvalidArgument(title + " has the shape " + to_string(output.shape()) + "; it must have " +
                          to_string(input.shape()) + ", as the input");
  if (overlap(input, output)) throw InvalidArgument(title + " shares memory with the input; give an array of its own");
}

/// The share `step` of `steps` of a call's work, as the progress of one of its parts.
inline Execution part_of(const Execution& execution, double step, double steps) {
  Execution part = execution;
  if (execution.progress)
    part.progress = [tell = execution.progress, step, steps](double share) { tell((step + share) / steps); };
  return part;
}

/// The same of a part that the CPU does, in scratch that the call has counted.
inline Execution host_part_of(const Execution& execution, double step, double steps) {
  Execution part = part_of(execution, step, steps);
  part.backend = Backend::cpu;
  part.scratch_limit.reset();
  return part;
}

}  // namespace fathom::apps
