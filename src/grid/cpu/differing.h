// Which elements of two rows differ.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fathom/core/dtype.h"
#include "fathom/core/execution.h"

namespace fathom::grid::cpu {

/// flags[i] = 1 where a[i] ≠ b[i], else 0. Floats compare as numbers: NaN differs from everything.
void flag_differing(DType dtype, const std::byte* a, const std::byte* b, std::int64_t count, std::uint8_t* flags,
                    InstructionSet instruction_set);

}  // namespace fathom::grid::cpu
