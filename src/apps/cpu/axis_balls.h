// The balls that a medial axis and its nearest sites tell of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/images.h"
#include "apps/lattice3.h"
#include "fathom/core/execution.h"

namespace fathom::apps::cpu {

/// One image.
struct AxisBalls {
  Lattice3 lattice;
  const std::uint8_t* chosen;          ///< dense; not 0: a ball's middle
  ImageRows<const std::byte> nearest;  ///< int32 or int64, by its size
  ImageRows<std::byte> out;            ///< bytes
  InstructionSet instruction_set;
  int threads;
};

void draw_axis_balls(const AxisBalls& balls, const Execution& execution);

/// Most bytes that draw_axis_balls() takes, with the choice.
std::size_t axis_balls_bytes(const Lattice3& lattice);

}  // namespace fathom::apps::cpu
