// The narrow band of the CPU.
#pragma once

#include "fathom/mesh/band.h"
#include "mesh/cpu/field.h"

namespace fathom::mesh::cpu {

Band make_band(const PreparedMesh& prepared, const Lattice& lattice, const BandOptions& options, const Run& run);

}  // namespace fathom::mesh::cpu
