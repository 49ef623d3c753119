// Unions of balls on a lattice, each element taken by the largest ball that covers it.
//
// An open ball of squared radius R around an element covers those whose squared distance is below R. Balls are drawn
// from the largest to the smallest, and a bit per element says what none has covered, so that each element is met once.
// Bits lie in words of 32 along x, and the words of neighbouring rows side by side: a vector tests up to 16 rows of a
// ball at a time, and of blocks of 16 rows in which nothing is left a bit tells so. With equal spacings a ball is left
// out where a neighbour's covers all of it (Rémy & Thiel 2002, with the neighbours of distance up to √3 alone): that
// needs one table, for the largest coordinates of points on a sphere tell how far they are from the neighbour.
//
// Cost: a few nanoseconds for each 16 rows of each ball that is drawn, and one write per element that is covered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/ball.hd.h"
#include "apps/lattice3.h"
#include "fathom/core/execution.h"

namespace fathom::apps::cpu {

/// Elements of a row that a ball is the first to cover.
struct Covered {
  std::int64_t first;  ///< linear index of the first
  std::uint32_t bits;  ///< which of it and the 31 behind it
};

/// @param squared  the balls' radius, as drawn
template <class T>
using Painter = std::function<void(T squared, const std::vector<Covered>& covered)>;

/// Where balls reach.
enum class Extent {
  middles,     ///< to elements that are the middle of one
  everywhere,  ///< nobody knows
};

/// @param squared  dense, an element's squared radius in units of the lattice's weights; 0: no ball. Less than 2⁶²
/// @param paint    called by several threads at once, for elements that have nothing in common
template <class T>
void draw_balls(const T* squared, const Lattice3& lattice, Extent covers, InstructionSet instruction_set, int threads,
                const Execution& execution, const Painter<T>& paint);

/// Most bytes that draw_balls() takes.
std::size_t balls_bytes(const Lattice3& lattice, int threads, std::size_t value_bytes);

extern template void draw_balls(const std::uint32_t*, const Lattice3&, Extent, InstructionSet, int, const Execution&,
                                const Painter<std::uint32_t>&);
extern template void draw_balls(const std::uint64_t*, const Lattice3&, Extent, InstructionSet, int, const Execution&,
                                const Painter<std::uint64_t>&);
extern template void draw_balls(const double*, const Lattice3&, Extent, InstructionSet, int, const Execution&,
                                const Painter<double>&);

}  // namespace fathom::apps::cpu
