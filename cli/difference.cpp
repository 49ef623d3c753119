#include "difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace fathom::cli {

namespace {

constexpr std::int64_t kChunk = 4096;
using Chunk = std::array<Wide, kChunk>;

void widen(const AnyConstView& data, std::int64_t begin, std::int64_t count, Chunk& out) {
  visit_dtype(data.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* values = data.as<T>().data() + begin;
    std::transform(values, values + count, out.begin(), [](T value) { return static_cast<Wide>(value); });
  });
}

bool same_bytes(const AnyConstView& a, const AnyConstView& b, std::int64_t begin, std::int64_t count) {
  if (a.dtype() != b.dtype()) return false;
  const std::size_t size = size_of(a.dtype());
  const std::size_t offset = static_cast<std::size_t>(begin) * size;
  return std::memcmp(a.data() + offset, b.data() + offset, static_cast<std::size_t>(count) * size) == 0;
}

Wide distance_between(Wide a, Wide b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const Wide d = std::abs(a - b);
  return std::isnan(d) ? std::numeric_limits<Wide>::infinity() : d;
}

}  // namespace

Difference difference(const AnyConstView& a, const AnyConstView& b, double tolerance) {
  Difference found;
  Chunk wide_a;
  Chunk wide_b;
  const std::int64_t elements = element_count(a.shape());
  for (std::int64_t begin = 0; begin < elements; begin += kChunk) {
    const std::int64_t count = std::min(kChunk, elements - begin);
    if (same_bytes(a, b, begin, count)) continue;
    widen(a, begin, count, wide_a);
    widen(b, begin, count, wide_b);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const Wide d = distance_between(wide_a[i], wide_b[i]);
      if (!(d > static_cast<Wide>(tolerance))) continue;
      ++found.count;
      if (d > found.largest) found = {found.count, d, begin + k, wide_a[i], wide_b[i]};
    }
  }
  return found;
}

}  // namespace fathom::cli
