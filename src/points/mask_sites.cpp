#include "points/mask_sites.h"

#include <limits>
#include <string>

#include "fathom/core/error.h"

namespace fathom::points {

void check_mask(const Shape& shape, std::int64_t every) {
  if (shape.rank() != 2 && shape.rank() != 3)
    throw InvalidArgument("a mask of sites has 2 or 3 axes, not " + std::to_string(shape.rank()));
  if (every < 1) throw InvalidArgument("sites are kept at every " + std::to_string(every) + "-th; give 1 or more");
  for (std::int64_t n : shape)
    if (n > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument("the mask's shape " + to_string(shape) + " passes what int32 coordinates hold");
}

MaskSites sites_of_mask(const AnyConstView& mask, std::int64_t every, const Execution& execution) {
  check_mask(mask.shape(), every);
  MaskSites result;
  std::int64_t count = 0, number = 0;
  Execution watched;  // the share that is done is told of later on
  watched.stop = execution.stop;
  if (execution.progress) watched.progress = [&](double) { execution.progress(0); };
  Monitor monitor(watched, 2 * element_count(mask.shape()));
  for_each_nonzero(mask, monitor, [&](auto, auto, auto) { ++count; });
  result.coordinates = Array(DType::int32, {(count + every - 1) / every, mask.rank()});
  auto* out = reinterpret_cast<std::int32_t*>(result.coordinates.data());
  for_each_nonzero(mask, monitor, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    if (number++ % every != 0) return;
    if (mask.rank() == 3) *out++ = static_cast<std::int32_t>(z);
    *out++ = static_cast<std::int32_t>(y);
    *out++ = static_cast<std::int32_t>(x);
  });
  return result;
}

std::vector<std::uint32_t> linear_indices(const MaskSites& sites, const Shape& shape) {
  const std::int64_t count = sites.coordinates.shape()[0];
  const auto* at = reinterpret_cast<const std::int32_t*>(sites.coordinates.data());
  std::vector<std::uint32_t> indices(static_cast<std::size_t>(count));
  for (std::uint32_t& index : indices) {
    std::int64_t linear = 0;
    for (int k = 0; k < shape.rank(); ++k) linear = linear * shape[k] + *at++;
    index = static_cast<std::uint32_t>(linear);
  }
  return indices;
}

}  // namespace fathom::points
