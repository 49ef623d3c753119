// Nearest sites as numbers: linear indices put together axis by axis, and taken apart again into coordinates.
#pragma once

#include <cstdint>
#include <type_traits>

#include "fathom/core/execution.h"
#include "grid/cpu/row_words.h"

namespace fathom::grid::cpu {

/// Linear indices: 32 bits where they suffice, which is one of the conditions for 32-bit values, see value_kind().
template <class V>
using IndexOf = std::conditional_t<std::is_same_v<V, std::int32_t>, std::int32_t, std::int64_t>;

/// The nearest sites of 32 neighbours after a pass: each came from the source row `from`, which knows its own nearest
/// site relative to the axes behind the pass's.
template <class V>
struct IndexRow {
  const V* from = nullptr;
  const IndexOf<V>* source = nullptr;  ///< [extent][32]
  IndexOf<V> step = 1;                 ///< elements between neighbours along the axis
  /// Where `from` equals this, the source is the end of a run, which is a site itself, of index own + i; null: nowhere.
  const V* run_end = nullptr;
  IndexOf<V> own = 0;
};

/// found[i] = from[i] · step + index of the source, for 32 elements.
void join_indices(const IndexRow<std::int32_t>& row, std::int32_t* found, InstructionSet instruction_set);
void join_indices(const IndexRow<std::int64_t>& row, std::int64_t* found, InstructionSet instruction_set);
void join_indices(const IndexRow<double>& row, std::int64_t* found, InstructionSet instruction_set);

/// Splits indices ≥ 0 into coordinates along the last axis, of `extent` elements, and indices of what remains; leaves
/// −1. Both arrays have room for kRun elements.
void split_indices(std::int64_t extent, int count, std::int32_t* index, std::int32_t* coordinate,
                   InstructionSet instruction_set);
void split_indices(std::int64_t extent, int count, std::int64_t* index, std::int64_t* coordinate,
                   InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
