// Nearest sites as numbers: linear indices in the caller's input, put together axis by axis, and taken apart again into
// coordinates.
#pragma once

#include <cstdint>
#include <type_traits>

#include "fathom/core/execution.h"
#include "grid/cpu/row_words.h"

namespace fathom::grid::cpu {

/// Linear indices: 32 bits where they suffice, which is one of the conditions for 32-bit values, see value_kind().
template <class V>
using IndexOf = std::conditional_t<std::is_same_v<V, std::int32_t>, std::int32_t, std::int64_t>;

/// offset + steps · step. Without a site `steps` is anything, and so is the result: it wraps round.
template <class V>
V index_at(std::int64_t offset, IndexOf<V> steps, std::int64_t step) {
  using Unsigned = std::make_unsigned_t<IndexOf<V>>;
  return static_cast<V>(static_cast<IndexOf<V>>(static_cast<Unsigned>(offset) +
                                                static_cast<Unsigned>(steps) * static_cast<Unsigned>(step)));
}

/// Splits indices ≥ 0 into coordinates along the last axis, of `extent` elements, and indices of what remains; leaves
/// −1. Both arrays have room for kRun elements.
void split_indices(std::int64_t extent, int count, std::int32_t* index, std::int32_t* coordinate,
                   InstructionSet instruction_set);
void split_indices(std::int64_t extent, int count, std::int64_t* index, std::int64_t* coordinate,
                   InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
