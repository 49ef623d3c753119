// Volumes whose elements do not lie one behind the other, for tests.
#pragma once

#include <cstdint>
#include <cstring>

#include "device_block.h"
#include "run.h"

namespace fathom::test {

/// How the elements of a padded view lie in memory: rows are padded by some elements, planes by some rows; planes may
/// run backwards.
struct Padded {
  Padded(const Shape& s, Random& random) : shape(s) {
    const std::int64_t row = shape[2] + below(random, 5), plane = (shape[1] + below(random, 3)) * row;
    const bool backwards = chance(random, 0.5);
    strides = {backwards ? -plane : plane, row, 1};
    first = backwards ? (shape[0] - 1) * plane : 0;
    size = shape[0] * plane;
  }

  /// Rows run backwards in their planes.
  void turn_rows() {
    first += (shape[1] - 1) * strides[1];
    strides[1] = -strides[1];
  }
  /// The first of them lies so many elements behind the memory's start.
  void begin_behind(std::int64_t elements) {
    first += elements;
    size += elements;
  }
  /// Rows without gaps between them.
  void close_rows() { strides[1] = shape[2]; }

  /// All of the memory: an array's elements where they belong, poison between.
  Array spread(const Array& array) const {
    Array memory(array.dtype(), Shape{size});
    poison(memory);
    const std::size_t bytes = size_of(array.dtype());
    for (std::int64_t e = 0; e < element_count(shape); ++e) {
      const std::int64_t x = e % shape[2], y = e / shape[2] % shape[1], z = e / shape[2] / shape[1];
      const auto at = static_cast<std::size_t>(first + z * strides[0] + y * strides[1] + x);
      std::memcpy(memory.data() + at * bytes, array.data() + static_cast<std::size_t>(e) * bytes, bytes);
    }
    return memory;
  }
  template <class View>
  View view(const Block& block, DType dtype) const {
    return View(block.data() + first * static_cast<std::int64_t>(size_of(dtype)), dtype, shape, strides);
  }

  Shape shape;
  Strides strides;
  std::int64_t first = 0, size = 0;
};

}  // namespace fathom::test
