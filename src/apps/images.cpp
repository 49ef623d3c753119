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

}  // namespace fathom::apps
