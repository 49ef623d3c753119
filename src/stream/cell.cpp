#include "stream/cell.h"

#include <algorithm>
#include <cstring>

#include "stream/period.h"
#include "stream/pixels.h"

namespace fathom::stream {

std::int64_t stretched_width(const Period& period) {
  constexpr std::int64_t kLongCopy = 4096;
  return (std::max(period.width, kLongCopy) + period.width - 1) / period.width * period.width;
}

Size cell_tile(const Period& period) {
  constexpr std::int64_t kSide = 256;
  return {std::min(period.height, kSide), std::min(period.width, kSide)};
}

Cell::Cell(const Period& period, Array pixels) : period_(period), pixels_(std::move(pixels)) {
  const std::size_t size = fathom::size_of(pixels_.dtype()), cell = static_cast<std::size_t>(period.width) * size,
                    row = static_cast<std::size_t>(pixels_.shape()[1]) * size;
  for (std::int64_t y = 0; y < period.height; ++y) {
    std::byte* const first = pixels_.data() + static_cast<std::size_t>(y) * row;
    for (std::size_t at = cell; at < row; at += cell) std::memcpy(first + at, first, cell);
  }
}

void Cell::read(const Rectangle& part, const AnyView& out) const {
  const auto size = static_cast<std::int64_t>(fathom::size_of(out.dtype()));
  const std::int64_t width = pixels_.shape()[1];
  for (std::int64_t y = part.y0; y < part.y1; ++y) {
    const std::int64_t row = y - period_.region.y0, turn = row / period_.height;
    const auto moved = modulo_of_product(turn, period_.skew, period_.width);
    std::int64_t from = modulo(part.x0 - period_.region.x0 - moved, period_.width);
    const std::byte* const cell = pixels_.data() + row % period_.height * width * size;
    std::byte* to = out.data() + (y - part.y0) * out.strides()[0] * size;
    for (std::int64_t left = part.width(); left > 0;) {
      const std::int64_t count = std::min(left, width - from);
      std::memcpy(to, cell + from * size, static_cast<std::size_t>(count * size));
      to += count * size;
      left -= count;
      from = 0;
    }
  }
}

}  // namespace fathom::stream
