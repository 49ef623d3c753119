// Diameters of the largest balls that cover elements, and how large a ball gets where.
#pragma once

#include <cstddef>

#include "apps/images.h"
#include "apps/lattice3.h"
#include "fathom/core/array.h"
#include "fathom/core/execution.h"

namespace fathom::apps::cpu {

/// One image.
struct Thickness {
  Lattice3 lattice;
  ImageRows<std::byte> out;
  InstructionSet instruction_set;
  int threads;
  Execution execution;
};

/// @param squares  squared distances: uint32, uint64 or, where spacings differ, float64
/// @param dtype    of the output: float32 or float64
void draw_thickness(const Array& squares, DType dtype, const Thickness& thickness);

/// Lowers squared distances to those of the largest ball that gets there from an inlet: Dijkstra's search for the path
/// whose least distance is largest. One thread. Cost O(N log N) at worst; elements on the way wait in a heap only where
/// the way gets narrower.
/// @param inlets  uint8, nonzero where balls enter
void invade(Array& squares, const Array& inlets, const Thickness& thickness);

/// Most bytes that invade() takes.
std::size_t invasion_bytes(const Lattice3& lattice, std::size_t value_bytes);

}  // namespace fathom::apps::cpu
