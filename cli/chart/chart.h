// A field as a picture: colours, isolines, a scale, axes, a title. Drawn with Cairo, written as PNG.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "fathom/core/view.h"

namespace fathom::cli {

struct Chart {
  AnyConstView field;                 ///< distances; inf, or the maximum of an integer type, means "no site"
  std::vector<double> spacing;        ///< per axis; empty: 1
  std::vector<std::int64_t> origin;   ///< index of the first element along each axis; empty: 0
  bool is_signed = false;
  bool is_squared = false;
  std::string title;                  ///< empty: what the field is
  std::string units;                  ///< of length; empty: elements, where the spacing is 1
  std::string source;                 ///< the input's name
  std::string notes;                  ///< how the field was computed
  std::string zero = "sites (distance 0)";    ///< what 0 means
  std::string none = "no site within reach";  ///< what inf means
};

/// One axis becomes a curve, two a map; of more axes the middle slice of all but the last two is drawn.
/// @throws IoError the stream cannot be written
void draw_chart(const Chart& chart, std::FILE* stream);

}  // namespace fathom::cli
