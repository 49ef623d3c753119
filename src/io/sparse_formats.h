// What each format of sparse fields offers to the front in sparse.cpp, which has checked the field.
#pragma once

#include "fathom/io/sparse.h"
#include "io/byte_sink.h"

namespace fathom::io {

constexpr std::int64_t kTileSide = 8;
constexpr std::int64_t kTilePoints = kTileSide * kTileSide * kTileSide;

/// The elements of a view that is dense.
template <class T>
const T* elements(const AnyConstView& view) {
  return reinterpret_cast<const T*>(view.data());
}

namespace vtu {
void write(ByteSink& sink, const SparseField& field);
}
namespace vdb {
/// @param format  vdb or nvdb
/// @throws InvalidArgument this build has no OpenVDB
void check_build(SparseFormat format);
void write(const AtomicFile& file, const SparseField& field, SparseFormat format);
}  // namespace vdb

}  // namespace fathom::io
