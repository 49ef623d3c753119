#include "apps/images.h"

#include <cmath>

#include "fathom/core/error.h"

namespace fathom::apps {

Images::Images(const Shape& input, int batch_axes, const std::vector<double>& spacing) : shape(input) {
  lattice.rank = input.rank() - batch_axes;
  if (batch_axes < 0 || lattice.rank < 1 || lattice.rank > 3)
    throw InvalidArgument("an image has 1 to 3 axes; of the shape " + to_string(input) + " with " +
                          std::to_string(batch_axes) + " batch axes " + std::to_string(lattice.rank) + " are left");
  const auto axes = static_cast<std::size_t>(lattice.rank);
  if (spacing.size() > 1 && spacing.size() != axes)
    throw InvalidArgument(std::to_string(spacing.size()) + " spacings given for " + std::to_string(axes) +
                          " axes; give one for all axes or one per axis");
  for (int k = 0; k < batch_axes; ++k) batch.push_back(input[k]);
  for (std::size_t k = 0; k < axes; ++k) {
    const std::size_t axis = 3 - axes + k;
    lattice.extent[axis] = input[batch_axes + static_cast<int>(k)];
    if (!spacing.empty()) lattice.spacing[axis] = spacing[spacing.size() == 1 ? 0 : k];
    if (!(lattice.spacing[axis] > 0) || !std::isfinite(lattice.spacing[axis]))
      throw InvalidArgument("a spacing is not finite or not above 0");
    if (lattice.extent[axis] >= std::int64_t{1} << 30)
      throw InvalidArgument("an axis of the shape " + to_string(input) + " has 2^30 elements or more");
  }
}

void check_output(const AnyConstView& view, const char* name, std::initializer_list<DType> dtypes, const Shape& input) {
  if (!view.present()) return;
  std::string names;
  bool fits = false;
  for (DType dtype : dtypes) {
    fits = fits || view.dtype() == dtype;
    names += (names.empty() ? "" : " or ") + std::string(name_of(dtype));
  }
  const std::string title = std::string("'") + name + "'";
  if (!fits) throw InvalidArgument(title + " is " + std::string(name_of(view.dtype())) + "; it must be " + names);
  if (!(view.shape() == input))
    throw InvalidArgument(title + " has the shape " + to_string(view.shape()) + "; it must have " + to_string(input) +
                          ", as the input");
}

Execution step_of(const Execution& execution, double begin, double end) {
  Execution step = execution;
  step.backend = Backend::cpu;
  step.scratch_limit.reset();
  if (execution.progress)
    step.progress = [told = execution.progress, begin, end](double share) { told(begin + (end - begin) * share); };
  return step;
}

}  // namespace fathom::apps
