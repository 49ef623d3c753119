// Which elements of an array are sites, and how many: row by row, through the mask that transforms read.
#include "fathom/grid/mark_sites.h"

#include <algorithm>
#include <array>
#include <string>

#include "fathom/core/error.h"
#include "grid/cpu/site_mask.h"

#ifdef FATHOM_HAS_CUDA
#include "grid/cuda/transform.h"
#endif

namespace fathom::grid {

namespace {

/// For labels, the elements with the distance 0.
const Sites& rule_of(const Sites& sites) {
  static const Sites zero;
  return sites.rule == Sites::Rule::labels ? zero : sites;
}

/// Calls visit(first element, count) for each row, of the axes from `axis` on.
template <class Visit>
void each_row(const AnyConstView& input, int axis, const std::byte* base, const Visit& visit) {
  const std::int64_t extent = input.shape()[axis];
  if (axis == input.rank() - 1) return visit(base, extent);
  const std::int64_t step = input.strides()[axis] * static_cast<std::int64_t>(size_of(input.dtype()));
  for (std::int64_t i = 0; i < extent; ++i) each_row(input, axis + 1, base + i * step, visit);
}

template <class Visit>
void each_row(const AnyConstView& input, const Visit& visit) {
  const std::int64_t elements = element_count(input.shape());
  if (elements == 0) return;
  if (input.strides() == dense_strides(input.shape())) visit(input.data(), elements);
  else each_row(input, 0, input.data(), visit);
}

}  // namespace

std::int64_t count_sites(const AnyConstView& input, const Sites& sites) {
  constexpr std::int64_t kRun = 4096;
  std::array<std::uint8_t, kRun> mask;
  std::int64_t found = 0;
  each_row(input, [&](const std::byte* row, std::int64_t count) {
    for (std::int64_t begin = 0; begin < count; begin += kRun) {
      const std::int64_t some = std::min(kRun, count - begin);
      cpu::site_mask(row + begin * static_cast<std::int64_t>(size_of(input.dtype())), input.dtype(), some,
                     rule_of(sites), mask.data());
      found += std::count(mask.begin(), mask.begin() + some, 1);
    }
  });
  return found;
}

Array mark_sites(const AnyConstView& input, const Sites& sites) {
  Array marks(DType::uint8, input.shape());
  auto* to = reinterpret_cast<std::uint8_t*>(marks.data());
  each_row(input, [&](const std::byte* row, std::int64_t count) {
    cpu::site_mask(row, input.dtype(), count, rule_of(sites), to);
    to += count;
  });
  return marks;
}

#ifdef FATHOM_HAS_CUDA

void mark_sites(const AnyConstDeviceView& input, const Sites& sites, const AnyDeviceView& marks, Stream stream) {
  if (!(marks.shape() == input.shape()) || (marks.dtype() != DType::boolean && marks.dtype() != DType::uint8))
    throw InvalidArgument("the marks are " + std::string(name_of(marks.dtype())) + " of the shape " +
                          to_string(marks.shape()) + "; they must be bool or uint8 of " + to_string(input.shape()));
  if (element_count(input.shape()) > 0) cuda::mark_sites(input, rule_of(sites), marks, stream);
}

#else

void mark_sites(const AnyConstDeviceView&, const Sites&, const AnyDeviceView&, Stream) {
  throw DeviceError("this build of Fathom has no CUDA backend");
}

#endif

}  // namespace fathom::grid
