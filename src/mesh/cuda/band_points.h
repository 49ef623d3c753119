// Bands on a device spread out: over the whole lattice, or as a list of their points. In the order of a stream.
#pragma once

#include "fathom/core/device.h"
#include "fathom/mesh/band.h"

namespace fathom::mesh::cuda {

/// @param out  [z, y, x], of the type of the distances, in the band's device's memory
void fill_dense(const DeviceBand& band, const AnyDeviceView& out, Stream stream);

/// Where lists go; null: not wanted.
struct BandList {
  std::int32_t* places;
  std::byte* distances;
  std::int32_t* triangles;
  float* closest;
};

void fill_list(const DeviceBand& band, const BandList& to, Stream stream);

}  // namespace fathom::mesh::cuda
