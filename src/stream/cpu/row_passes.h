// The loops over columns of a sweep, compiled for each instruction set.
#pragma once

#include <cstdint>

#include "fathom/core/execution.h"

namespace fathom::stream::cpu {

inline constexpr std::uint8_t kFar = 0xff;         ///< rows to the nearest site of a column: none within the strip
inline constexpr std::uint16_t kNotNear = 0xffff;  ///< a square that does not matter
inline constexpr std::int64_t kReach = 64;         ///< columns to each side that look_around() looks at
inline constexpr std::int64_t kRowPadding = kReach + 512;  ///< elements before and behind a row that it may read

/// Bit k of the words: whether sites[k] is not 0. @param words  (count + 63) / 64, padding bits 0
void pack_bits(const std::uint8_t* sites, std::int64_t count, std::uint64_t* words, InstructionSet set);

/// Goes on by a row: `run` counts the rows since the last site, kFar before the first; `near` becomes it, or with
/// `merge` the smaller of both.
void step_runs(const std::uint64_t* words, std::int64_t count, bool merge, std::uint8_t* run, std::uint8_t* near,
               InstructionSet set);

/// Squares of the distances along the columns at row y.
/// @param near  within the strip; before, behind: rows of the nearest sites around it, −1: none
void square_columns(const std::uint8_t* near, const std::int32_t* before, const std::int32_t* behind, std::int32_t y,
                    std::int64_t count, std::uint16_t* squared, InstructionSet set);

/// Squared distances within a row, from squares along its columns, as long as the nearest site is at most kReach
/// columns away.
/// @param squared  kNotNear in the padding around it
/// @returns false: some are farther; `out` is then unspecified
bool look_around(const std::uint16_t* squared, std::int64_t count, std::uint16_t* out, InstructionSet set);

/// Roots, rounded once. @param roots  of 0 … kReach², or null: the machine's
void put_roots(const std::uint16_t* squared, std::int64_t count, const float* roots, float* out, InstructionSet set);

}  // namespace fathom::stream::cpu
