// The sites of a mask: the elements that are not 0.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "fathom/core/array.h"

namespace fathom::points {

/// Calls visit(z, y, x) for each nonzero element in row-major order; in 2D z is 0.
/// @param monitor  told of the elements seen
template <class Visit>
void for_each_nonzero(const AnyConstView& mask, Monitor& monitor, const Visit& visit) {
  const bool flat = mask.rank() == 2;
  const std::int64_t planes = flat ? 1 : mask.shape()[0], rows = mask.shape()[flat ? 0 : 1];
  const std::int64_t plane_step = flat ? 0 : mask.strides()[0], row_step = mask.strides()[flat ? 0 : 1];
  constexpr std::int64_t kBetween = 1 << 14;
  std::int64_t seen = 0;
  // A bool is read as the byte it is: memory of other origin may hold more than 0 and 1.
  visit_dtype(mask.dtype() == DType::boolean ? DType::uint8 : mask.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t z = 0; z < planes; ++z)
      for (std::int64_t y = 0; y < rows; ++y) {
        const T* row = reinterpret_cast<const T*>(mask.data()) + z * plane_step + y * row_step;
        for (std::int64_t x = 0; x < mask.shape().back(); ++x)
          if (row[x] != T{}) visit(z, y, x);
        if ((seen += mask.shape().back()) < kBetween) continue;
        monitor.advance(std::exchange(seen, 0));
      }
  });
}

/// @throws InvalidArgument not 2 or 3 axes; an extent beyond int32; a step without a meaning
void check_mask(const Shape& shape, std::int64_t every);

struct MaskSites {
  Array coordinates;  ///< int32, [n, rank], in row-major order of the elements
};

/// Every `every`-th of the nonzero elements.
/// @param execution  who may stop it
/// @throws InvalidArgument as check_mask()
MaskSites sites_of_mask(const AnyConstView& mask, std::int64_t every, const Execution& execution);

/// Row-major indices of the sites, which uint32 must hold.
std::vector<std::uint32_t> linear_indices(const MaskSites& sites, const Shape& shape);

}  // namespace fathom::points
