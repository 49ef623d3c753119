// --algorithm of `mesh`: narrow bands as they were published, beside the library's own.
#pragma once

#include <span>
#include <string>

#include "algorithm.h"
#include "fathom/published/band.h"
#include "mesh.h"
#include "mesh_plan.h"

namespace fathom::cli {

std::span<const AlgorithmRow> mesh_algorithms();

/// NAME, or NAME:KEY=VALUE,…, with what else of the plan it has. One that is not exact measures its error.
/// @throws InvalidArgument there is none of that name, or it has no such parameter or option
published::BandOptions plan_mesh_algorithm(const MeshArguments& arguments, const MeshPlan& plan);

/// Phases, what the octree takes, and how far the band is from the exact one.
Json mesh_algorithm_json(const published::BandOptions& options, const published::BandReport& report);

/// One line: "octree on cpu: 12.3 ms, approximate: 3 points of the band (0.1 %) are missed, …".
std::string mesh_algorithm_text(const published::BandOptions& options, const published::BandReport& report);

}  // namespace fathom::cli
