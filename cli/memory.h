// The memory budget of `distance`: input, outputs and scratch, known from the header alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "plan.h"

namespace fathom::cli {

/// What a budget leaves for scratch beside arrays. Without a budget the machine's free memory is one, so that a call
/// too large is refused and not killed.
/// @param way_out  "--region computes a part, and ": what helps where the machine has too little
/// @throws InvalidArgument the budget is too small; the message names the smallest that works
/// @throws IoError the machine has too little memory
std::size_t scratch_beside(std::size_t arrays, std::size_t least_scratch, std::optional<std::size_t> budget,
                           const char* way_out);

/// Limits the scratch to what the budget leaves beside input and outputs: the library then takes as many threads, or as
/// large pieces on a device, as fit. Errors as scratch_beside().
void fit_into_memory(Plan& plan, std::optional<std::size_t> budget);

/// Bytes that the work takes: input and outputs, and scratch with as many threads as the budget lets work.
struct Needs {
  std::size_t arrays = 0;
  std::size_t scratch = 0;
  std::size_t least_scratch = 0;
};
Needs needs_of(const Plan& plan);

/// What the system says it could give without swapping; nothing if it does not say.
std::optional<std::size_t> free_memory();

/// A size that --memory understands, rounded up so that it is enough.
std::string memory_text(std::size_t bytes);

}  // namespace fathom::cli
