// The passes of the fast engine after site bits and carries: one for two axes, one for three.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/parallel.h"
#include "grid/cpu/plain_bits.h"

namespace fathom::grid::cpu::plain {

/// What the workers share.
struct Shared {
  Bits bits;
  AxisSteps middle, fast;  ///< along those axes
};

/// Bytes that one worker needs for itself.
std::size_t worker_bytes_2d(const Frame& frame, InstructionSet set);
std::size_t worker_bytes_3d(const Frame& frame, InstructionSet set);

/// Computes the rows of job number `index`; advances the monitor by one unit per block.
/// @param scratch  worker_bytes_2d() bytes, aligned to 64
void solve_2d(const Frame& frame, InstructionSet set, const Shared& shared, const Job& job, std::int64_t index,
              std::byte* scratch, Monitor& monitor);
void solve_3d(const Frame& frame, InstructionSet set, const Shared& shared, const Job& job, std::int64_t index,
              std::byte* scratch, Monitor& monitor);

}  // namespace fathom::grid::cpu::plain
