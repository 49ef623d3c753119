// The part of a field that a chart shows, averaged down to the resolution of the picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fathom/core/view.h"

namespace fathom::cli {

/// Cells of a map, each the average of a box of elements.
struct Panel {
  int width = 0;
  int height = 0;
  std::vector<float> value;    ///< mean of the elements that have a distance; NaN: none has
  std::vector<float> reached;  ///< share of elements that have one
  std::vector<float> at_site;  ///< share of those that have distance 0

  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  }
};

/// The last `axes` axes of the field, at the middle of all others.
AnyConstView middle_slice(const AnyConstView& field, int axes);

/// @param plane  two axes, neither empty
/// @param width, height  at most the plane's extents
Panel sample(const AnyConstView& plane, int width, int height);

/// Between elements linear, for planes that have fewer than the picture has pixels.
/// @param plane  two axes, neither empty, float32
Panel interpolate(const AnyConstView& plane, int width, int height);

/// Lowest and highest value per column of a line that may have more elements than columns; NaN: none.
struct Envelope {
  std::vector<double> low;
  std::vector<double> high;
};

/// @param line  one axis, not empty
Envelope sample_line(const AnyConstView& line, int columns);

}  // namespace fathom::cli
