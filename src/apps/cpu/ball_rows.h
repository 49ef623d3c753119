// A ball as rows of bits, and what no ball has covered yet.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/cpu/balls.h"
#include "apps/lattice3.h"
#include "fathom/core/execution.h"

namespace fathom::apps::cpu {

inline constexpr int kWordBits = 32;
inline constexpr int kMostLanes = 16;  ///< words that a vector may touch beyond the last row

/// Half-widths of an open ball's rows.
struct BallRows {
  std::vector<std::int32_t> half;   ///< slice after slice, rows from −reach to reach; kMostLanes of −1 behind each
  std::vector<std::size_t> middle;  ///< per slice 0, 1, …: place of the row through the middle
  std::vector<std::int32_t> reach;  ///< per slice
};

/// A bit per element that no ball has covered.
struct Uncovered {
  explicit Uncovered(const Lattice3& lattice);

  std::array<std::int64_t, 3> extent;
  std::int64_t columns;              ///< words along x
  std::int64_t pitch;                ///< words along y, with room for a vector behind the last
  std::vector<std::uint32_t> words;  ///< [z][column][y]
};

/// A part of the volume: slices and columns of words.
struct BallPart {
  std::int64_t begin_z, end_z, begin_column, end_column;
};

/// Takes from `uncovered` what the ball covers in the part, and appends it to `covered`.
void cover(Uncovered& uncovered, const BallPart& part, const BallRows& rows, const std::array<std::int64_t, 3>& center,
           std::vector<Covered>& covered, InstructionSet instruction_set);

}  // namespace fathom::apps::cpu
