// The field of a volume on one sheet: the solid that it bounds, and its middle slices with isolines.
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include "fathom/core/view.h"

namespace fathom::cli {

struct VolumeChart {
  AnyConstView field;                      ///< [z, y, x], float32 or float64
  std::array<double, 3> origin{};          ///< x, y, z of the first point
  std::array<double, 3> spacing{1, 1, 1};  ///< x, y, z
  double reach = 0;                        ///< farther points have this value; 0: all have their distance
  bool is_signed = false;
  bool is_solid = false;  ///< the surface is closed, so that a picture of it is true
  std::string title;
  std::string units;   ///< of length; empty: unknown
  std::string source;  ///< the mesh's name
  std::string notes;
  int threads = 1;
};

/// @throws IoError the stream cannot be written
void draw_volume_chart(const VolumeChart& chart, std::FILE* stream);

}  // namespace fathom::cli
