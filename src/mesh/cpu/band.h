// The narrow band of the CPU.
#pragma once

#include "fathom/mesh/band.h"
#include "mesh/cpu/field.h"

namespace fathom::mesh::cpu {

/// Rows wait in pieces of memory until they are joined. From 32 MiB on malloc takes each from the system by itself, and
/// gives it back as soon as it is freed.
inline constexpr std::size_t kPieceBytes = std::size_t{33} << 20;

Band make_band(const PreparedMesh& prepared, const Lattice& lattice, const BandOptions& options, const Run& run);

}  // namespace fathom::mesh::cpu
