// A position drawn at random by weight. Shared by host and device.
#pragma once

#include <cstdint>

#include "core/noise.hd.h"

namespace fathom::apps {

/// What positions are drawn from: weights in rows, whose sum is not 0.
struct Draws {
  int axes = 1;
  std::int64_t extent[3] = {};           ///< of the weights; as many as there are axes
  const std::uint16_t* values = nullptr;  ///< dense; null: 1 everywhere
  const std::int64_t* before = nullptr;   ///< [rows + 1] weight of all rows before
  std::int64_t rows = 0;
  std::uint64_t seed = 0;

  /// Position k of a stream: within an element that is chosen in proportion to its weight, each place in it as likely
  /// as others. Random shares of the whole are looked up: by bisection among sums of rows, then along the row.
  /// @param position  [axes], the middle of the first element being 0
  FATHOM_HD void draw(std::uint64_t stream, std::int64_t k, double* position) const {
    const std::uint64_t source = noise_row(mixed(seed) + stream, k);
    // The upper half of a product of 128 bits: a share of the whole in [0, total).
    const auto share = static_cast<std::int64_t>(
        static_cast<Wide>(noise_bits(source, 0)) * static_cast<std::uint64_t>(before[rows]) >> 64);
    std::int64_t row = 0;
    for (std::int64_t end = rows; end - row > 1;) {  // before[row] ≤ share < before[end]
      const std::int64_t middle = row + (end - row) / 2;
      if (before[middle] <= share) row = middle;
      else end = middle;
    }
    std::int64_t left = share - before[row], x = 0;
    if (values == nullptr) {
      x = left;
    } else {
      const std::uint16_t* const of_row = values + row * extent[axes - 1];
      while (left >= of_row[x]) left -= of_row[x++];
    }
    for (int axis = axes - 1; axis >= 0; --axis) {
      const double within = static_cast<double>(noise_bits(source, axis + 1) >> 11) * 0x1p-53;  // [0, 1)
      position[axis] = static_cast<double>(x) + within - 0.5;
      if (axis == 0) break;
      x = row % extent[axis - 1];
      row /= extent[axis - 1];
    }
  }
};

}  // namespace fathom::apps
