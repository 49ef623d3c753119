// Site bits and carries of the whole input: the fast engine's first pass, see plain_sweep-inl.h.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"
#include "grid/cpu/plain_frame.h"

namespace fathom::grid::cpu::plain {

/// words[block][column] and the carries beside them. Rows are `pitch` long; columns past the plane have no site.
struct Bits {
  std::uint16_t* words = nullptr;  ///< [blocks][pitch]
  std::uint16_t* above = nullptr;  ///< [blocks][pitch], distance to the last site above, at the row before the block
  std::uint16_t* below = nullptr;  ///< [jobs][pitch], distance to the first site below, at the row after the job's
  std::int64_t pitch = 0;
};

/// Steps that searches may look up past the longest way, when the last vector of a segment ends a line.
inline constexpr std::int64_t kStepsSlack = 256;

/// Blocks [begin, end) of one job.
struct Job {
  std::int64_t begin = 0, end = 0;
};

/// Columns that packing may write past a plane.
inline constexpr std::int64_t kPackSlack = 64;

/// Fills words of one block.
void pack_block(const Frame& frame, InstructionSet set, const Bits& bits, std::int64_t block);

/// Fills `above` for columns [begin, end), multiples of 64 or the pitch.
void scan_down(const Frame& frame, InstructionSet set, const Bits& bits, std::int64_t begin, std::int64_t end);

/// Fills `below` for columns [begin, end); jobs in rising order.
void scan_up(const Frame& frame, InstructionSet set, const Bits& bits, const Job* jobs, std::int64_t job_count,
             std::int64_t begin, std::int64_t end);

}  // namespace fathom::grid::cpu::plain
