// Which elements of two rows differ.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fathom/core/dtype.h"
#include "fathom/core/execution.h"

namespace fathom::grid::cpu {

/// Bit i of the words, 32 elements each: a[i] ≠ b[i]; 0 behind the end. Floats compare as numbers: NaN differs from
/// everything.
/// @param b  null: zeros
void differing(DType dtype, const std::byte* a, const std::byte* b, std::int64_t count, std::uint32_t* words,
               InstructionSet instruction_set);

/// Bit i of the words: a[i] and b[i] are different labels, neither of them background.
/// @param background  bit i: a[i] is background
void touching(DType dtype, const std::byte* a, const std::byte* b, const std::uint32_t* background, std::int64_t count,
              std::uint32_t* words, InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
