// Values fetched from nearest sites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fathom::python {

/// One image's values of any type, and where they go.
struct Fetch {
  const std::byte* values;
  std::byte* out;
  std::size_t element_size;
};

/// out[i] = values[nearest[i]], or values[i] where nearest[i] is −1, for i from `first` on.
/// @param nearest  linear indices into the image, nearest[first] at first
void gather(const Fetch& fetch, std::size_t first, std::span<const std::int32_t> nearest);
void gather(const Fetch& fetch, std::size_t first, std::span<const std::int64_t> nearest);

}  // namespace fathom::python
