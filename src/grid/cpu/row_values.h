// Values along the contiguous axis, from the words of a row.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"
#include "grid/cpu/indices.h"
#include "grid/cpu/row_words.h"
#include "grid/value.hd.h"

namespace fathom::grid::cpu {

/// The strip of a row that is asked for, and what its bits mean.
struct Row {
  std::int64_t x0 = 0;       ///< coordinate of the strip's first element
  std::int64_t extent = 0;   ///< of the row
  bool changes = false;      ///< bits mark changes of class, not sites
  bool euclidean = true;     ///< values are squares
  std::uint32_t pinned = 0;  ///< elements with value 0 whatever the bits say
  /// Values are written in groups of as many elements as vectors have lanes, `pitch` values apart; 0: without gaps.
  std::int64_t pitch = 0;
};

/// Values of the 32 elements of a strip, in groups: weight times the steps to the nearest site in the row, or their
/// square.
/// @param index  [32], coordinate of that site in [0, extent), the lower of two, anything without one; null: not wanted
void row_values(const RowWord& word, const Row& row, std::int32_t weight, std::int32_t* values, std::int32_t* index,
                InstructionSet instruction_set);
void row_values(const RowWord& word, const Row& row, std::int64_t weight, std::int64_t* values, std::int64_t* index,
                InstructionSet instruction_set);
void row_values(const RowWord& word, const Row& row, double weight, double* values, std::int64_t* index,
                InstructionSet instruction_set);

/// What values in 16 bits say where the site is farther than they can.
inline constexpr std::uint16_t kNotNear = 0xFFFF;
inline constexpr int kMostInRow = 247;  ///< steps along a row at most

struct NearRow {
  Row row;  ///< but for `pinned`
  std::uint16_t weight = 1;
  int reach = 0;  ///< steps whose value is below kNotNear, ≤ kMostInRow
};

/// Values of `count` strips, 16 bits each; 0 behind the end of the row.
/// @param pinned  elements with value 0 whatever the words say; null: none
void near_row_values(const RowWord* words, const std::uint32_t* pinned, int count, const NearRow& row,
                     std::uint16_t* values, InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
