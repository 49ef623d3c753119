// How many elements of an array are sites: row by row, through the mask that transforms read.
#include <algorithm>
#include <array>

#include "fathom/grid/distance.h"
#include "grid/cpu/site_mask.h"

namespace fathom::grid {

namespace {

std::int64_t count_row(const std::byte* row, DType dtype, std::int64_t count, const Sites& sites) {
  constexpr std::int64_t kRun = 4096;
  std::array<std::uint8_t, kRun> mask;
  std::int64_t found = 0;
  for (std::int64_t begin = 0; begin < count; begin += kRun) {
    const std::int64_t some = std::min(kRun, count - begin);
    cpu::site_mask(row + begin * static_cast<std::int64_t>(size_of(dtype)), dtype, some, sites, mask.data());
    found += std::count(mask.begin(), mask.begin() + some, 1);
  }
  return found;
}

/// Of the axes from `axis` on.
std::int64_t count_from(const AnyConstView& input, int axis, const std::byte* base, const Sites& sites) {
  const std::int64_t extent = input.shape()[axis];
  if (axis == input.rank() - 1) return count_row(base, input.dtype(), extent, sites);
  const std::int64_t step = input.strides()[axis] * static_cast<std::int64_t>(size_of(input.dtype()));
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < extent; ++i) found += count_from(input, axis + 1, base + i * step, sites);
  return found;
}

}  // namespace

std::int64_t count_sites(const AnyConstView& input, const Sites& sites) {
  const Sites& rule = sites.rule == Sites::Rule::labels ? Sites{} : sites;
  const std::int64_t elements = element_count(input.shape());
  if (elements == 0) return 0;
  if (input.strides() == dense_strides(input.shape())) return count_row(input.data(), input.dtype(), elements, rule);
  return count_from(input, 0, input.data(), rule);
}

}  // namespace fathom::grid
