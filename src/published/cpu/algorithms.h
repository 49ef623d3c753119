// The algorithms on the CPU: plain twins of those on a device. Each fills the problem's `nearest`.
#pragma once

#include "published/problem.h"

namespace fathom::published::cpu {

Phases pba(const Problem& problem);
Phases proximate(const Problem& problem);
Phases jump_flooding(const Problem& problem);
Phases sweeping(const Problem& problem);
Phases brute_force(const Problem& problem);

/// Bytes that the algorithm takes besides the problem's arrays.
std::size_t scratch_bytes(const Problem& problem);
std::size_t pba_bytes(const Problem& problem);

/// Each element its own place where it is a site, else none.
void place_sites(const Problem& problem, std::uint32_t* places);

}  // namespace fathom::published::cpu
