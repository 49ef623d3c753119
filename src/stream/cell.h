// One cell of a raster that repeats itself, and copies of it.
#pragma once

#include "fathom/core/array.h"
#include "fathom/stream/node.h"

namespace fathom::stream {

/// Columns that are kept of a cell: as often as it takes for copies to be long.
std::int64_t stretched_width(const Period& period);

/// Parts in which a cell is computed.
Size cell_tile(const Period& period);
/// The cell at the region's corner.
inline Rectangle cell_of(const Period& period) {
  return Rectangle{0, 0, period.height, period.width}.moved(period.region.y0, period.region.x0);
}

class Cell {
 public:
  /// @param pixels  the cell from the region's corner on, [period.height, period.width]; those behind are filled in
  ///   here
  Cell(const Period& period, Array pixels);
  const Rectangle& region() const { return period_.region; }
  /// @param part  inside the region
  void read(const Rectangle& part, const AnyView& out) const;

 private:
  Period period_;
  Array pixels_;
};

}  // namespace fathom::stream
