// Narrow bands on the CPU.
#pragma once

#include <vector>

#include "fathom/published/band.h"
#include "published/band_found.h"

namespace fathom::published::cpu {

BandFound octree(const BandProblem& problem, const BandOptions& options, int threads);
BandFound mauch(const BandProblem& problem, const BandOptions& options, int threads);
BandFound naive(const BandProblem& problem, const BandOptions& options, int threads);

/// A square for each place of a lattice, infinite at first. @throws InvalidArgument the scratch limit has no room for
/// it
std::vector<double> squares_of(const BandProblem& problem, const BandOptions& options, BandFound& found);
/// Takes what is within the cutoff.
void take_squares(const BandProblem& problem, const std::vector<double>& squares, BandFound& found);

}  // namespace fathom::published::cpu
