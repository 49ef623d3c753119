#include "points/mask_sites.h"

#include <limits>
#include <string>

#include "fathom/core/error.h"

namespace fathom::points {

namespace {

void check(const AnyConstView& mask, std::int64_t every) {
  if (mask.rank() != 2 && mask.rank() != 3)
    throw InvalidArgument("a mask of sites has 2 or 3 axes, not " + std::to_string(mask.rank()));
  if (every < 1) throw InvalidArgument("sites are kept at every " + std::to_string(every) + "-th; give 1 or more");
  for (std::int64_t n : mask.shape())
    if (n > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument("the mask's shape " + to_string(mask.shape()) + " passes what int32 coordinates hold");
}

/// Calls visit(row's indices, column) for each nonzero element in row-major order.
template <class T, class Visit>
void for_each_site(const View<const T, MemorySpace::host>& mask, const Visit& visit) {
  const bool flat = mask.shape().rank() == 2;
  const std::int64_t planes = flat ? 1 : mask.shape()[0], rows = mask.shape()[flat ? 0 : 1];
  for (std::int64_t z = 0; z < planes; ++z)
    for (std::int64_t y = 0; y < rows; ++y) {
      const T* row = mask.data() + (flat ? y * mask.strides()[0] : z * mask.strides()[0] + y * mask.strides()[1]);
      for (std::int64_t x = 0; x < mask.shape().back(); ++x)
        if (row[x] != T{}) visit(z, y, x);
    }
}

}  // namespace

MaskSites sites_of_mask(const AnyConstView& mask, std::int64_t every) {
  check(mask, every);
  MaskSites result;
  // A bool is read as the byte it is: memory of other origin may hold more than 0 and 1.
  const AnyConstView bytes(mask.data(), mask.dtype() == DType::boolean ? DType::uint8 : mask.dtype(), mask.shape(),
                           mask.strides());
  visit_dtype(bytes.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) {
      const auto view = bytes.as<T>();
      std::int64_t count = 0, number = 0;
      for_each_site(view, [&](auto, auto, auto) { ++count; });
      result.coordinates = Array(DType::int32, {(count + every - 1) / every, mask.rank()});
      auto* out = reinterpret_cast<std::int32_t*>(result.coordinates.data());
      for_each_site(view, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
        if (number++ % every != 0) return;
        if (mask.rank() == 3) *out++ = static_cast<std::int32_t>(z);
        *out++ = static_cast<std::int32_t>(y);
        *out++ = static_cast<std::int32_t>(x);
      });
    }
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
