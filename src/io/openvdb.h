// What the module fathom-openvdb offers to vdb.cpp, which loads it when the first .vdb is written: OpenVDB brings a
// dozen libraries, whose loading takes longer than most commands.
#pragma once

#include <cstdio>
#include <string>

#include "fathom/io/sparse.h"

namespace fathom::io {

/// Writes a field that sparse.cpp has checked. `fault`: what OpenVDB or the stream refused; else left as it is.
using WriteVdb = void(const SparseField& field, std::FILE* file, std::string& fault);

}  // namespace fathom::io

extern "C" fathom::io::WriteVdb fathom_write_vdb;
