#include "gather.h"

#include <cstring>

namespace fathom::python {

namespace {

/// @tparam Size  the element size, so that the copy becomes one load and one store; 0: known at run time only
template <std::size_t Size, class Index>
void gather_elements(const Fetch& fetch, std::size_t first, std::span<const Index> nearest) {
  const std::size_t size = Size > 0 ? Size : fetch.element_size;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    const std::size_t from = nearest[i] < 0 ? first + i : static_cast<std::size_t>(nearest[i]);
    std::memcpy(fetch.out + (first + i) * size, fetch.values + from * size, size);
  }
}

template <class Index>
void gather_any(const Fetch& fetch, std::size_t first, std::span<const Index> nearest) {
  switch (fetch.element_size) {
    case 1: return gather_elements<1>(fetch, first, nearest);
    case 2: return gather_elements<2>(fetch, first, nearest);
    case 4: return gather_elements<4>(fetch, first, nearest);
    case 8: return gather_elements<8>(fetch, first, nearest);
    default: return gather_elements<0>(fetch, first, nearest);
  }
}

}  // namespace

void gather(const Fetch& fetch, std::size_t first, std::span<const std::int32_t> nearest) {
  gather_any(fetch, first, nearest);
}
void gather(const Fetch& fetch, std::size_t first, std::span<const std::int64_t> nearest) {
  gather_any(fetch, first, nearest);
}

}  // namespace fathom::python
