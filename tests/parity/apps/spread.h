// Arrays whose elements do not lie one behind the other, for tests.
#pragma once

#include <cstdint>
#include <cstring>

#include "cases.h"
#include "fathom/core/array.h"

namespace fathom::test {

/// A view of elements in more memory than they need: rows are padded, the first axis may run backwards.
struct Spread {
  Array memory;
  AnyView view;

  Spread() = default;
  Spread(DType dtype, const Shape& shape, Random& random) {
    Shape larger = shape;
    for (int k = 0; k < shape.rank(); ++k) larger[k] += below(random, 3);
    memory = Array(dtype, larger);
    if (memory.bytes() > 0) std::memset(memory.data(), 0x55, memory.bytes());
    Strides strides = dense_strides(larger);
    std::byte* first = memory.data();
    if (shape.rank() > 1 && chance(random, 0.5)) {
      first += (shape[0] - 1) * strides[0] * static_cast<std::int64_t>(size_of(dtype));
      strides[0] = -strides[0];
    }
    view = AnyView(first, dtype, shape, strides);
  }

  template <class Work>
  void each(const Work& work) const {
    const Shape& shape = view.shape();
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      std::int64_t rest = i, offset = 0;
      for (int k = shape.rank() - 1; k >= 0; rest /= shape[k--]) offset += rest % shape[k] * view.strides()[k];
      visit_dtype(view.dtype(),
                  [&](auto tag) { work(i, reinterpret_cast<typename decltype(tag)::type*>(view.data())[offset]); });
    }
  }
};

}  // namespace fathom::test
