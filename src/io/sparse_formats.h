// What each format of sparse fields offers to the front in sparse.cpp, which has checked the field.
#pragma once

#include "fathom/io/sparse.h"
#include "io/byte_sink.h"
#include "io/sparse_tiles.h"

namespace fathom::io {

namespace vtu {
void write(ByteSink& sink, const SparseField& field);
}
namespace vdb {
/// @throws InvalidArgument this build has no OpenVDB, or it cannot be loaded
void check_build();
void write(const AtomicFile& file, const SparseField& field);
}  // namespace vdb
namespace nvdb {
/// @throws InvalidArgument this build has no NanoVDB
void check_build();
void write(ByteSink& sink, const SparseField& field);
}  // namespace nvdb

}  // namespace fathom::io
