// Pictures of dots: as SVG, as PNG, as a table.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chart/colour_map.h"
#include "fathom/core/array.h"
#include "fathom/io/atomic_file.h"

namespace fathom::cli {

/// Positions count from the picture's upper left corner, in pixels of the photo: x to the right, y down.
struct Dots {
  Array x, y, radius;  ///< float64 [n]
  Shape photo;         ///< height and width
  Colour ink;
  std::optional<Colour> paper;  ///< none: transparent
};

/// "#1c2b33". @throws InvalidArgument
Colour parse_colour(std::string_view option, std::string_view text);

/// A circle for each dot, as large as the photo in pixels. @throws IoError it cannot be written
void write_dots_svg(const Dots& dots, std::FILE* stream);

/// @param zoom  pixels for each of the photo's @throws IoError it cannot be written
void write_dots_png(const Dots& dots, double zoom, std::FILE* stream);

}  // namespace fathom::cli
