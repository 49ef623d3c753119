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
inline constexpr int kBlockRows = 16;  ///< rows that are looked at together: as many as the widest vectors hold

/// Half-widths of an open ball's rows.
struct BallRows {
  std::vector<std::int32_t>
      half;  ///< slice after slice, rows from −reach to reach; before and behind each kBlockRows of −1
  std::vector<std::size_t> middle;  ///< per slice 0, 1, …: place of the row through the middle
  std::vector<std::int32_t> reach;  ///< per slice
};

/// A bit per element that no ball has covered. Blocks of rows in which there is none are passed over.
struct Uncovered {
  explicit Uncovered(const Lattice3& lattice);

  std::uint32_t* words_of(std::int64_t z, std::int64_t column) { return words.data() + (z * columns + column) * pitch; }
  std::uint64_t* live_of(std::int64_t z, std::int64_t column) {
    return live.data() + (z * columns + column) * live_words;
  }

  std::array<std::int64_t, 3> extent;
  std::int64_t columns;              ///< words along x
  std::int64_t blocks;               ///< along y
  std::int64_t pitch;                ///< words along y, with room for a block behind the last
  std::int64_t live_words;           ///< along y
  std::vector<std::uint32_t> words;  ///< [z][column][y]
  std::vector<std::uint64_t> live;   ///< [z][column]: a bit per block
};

/// A part of the volume: slices and columns of words.
struct BallPart {
  std::int64_t begin_z, end_z, begin_column, end_column;
};

/// Takes from `uncovered` what the ball covers in the part, and appends it to `covered`.
void cover(Uncovered& uncovered, const BallPart& part, const BallRows& rows, const std::array<std::int64_t, 3>& center,
           std::vector<Covered>& covered, InstructionSet instruction_set);

}  // namespace fathom::apps::cpu
