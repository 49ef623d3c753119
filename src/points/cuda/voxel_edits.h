// Bits of a pyramid on the device: made from a mask, and edited.
#pragma once

#include <cuda_runtime_api.h>

#include "fathom/core/view.h"
#include "points/cuda/device_pyramid.h"

namespace fathom::points::cuda {

/// What edits did, in the device's memory.
struct EditReport {
  /// Place in the lists of the first element that the grid does not have; all ones: they are of the grid.
  unsigned long long first_wrong = ~0ull;
  unsigned long long added = 0, removed = 0, moved = 0;
};

/// Looks for elements that the grid does not have: edits with the same report change nothing then.
/// @param first  place of the list's first element
void check_elements(const DevicePyramid& pyramid, const std::int64_t* elements, std::int64_t count, std::int64_t first,
                    EditReport* report, cudaStream_t stream);

void add_elements(const DevicePyramid& pyramid, const std::int64_t* elements, std::int64_t count, EditReport* report,
                  cudaStream_t stream);
void remove_elements(const DevicePyramid& pyramid, const std::int64_t* elements, std::int64_t count, EditReport* report,
                     cudaStream_t stream);

/// @param were_sites  [count], scratch
void move_elements(const DevicePyramid& pyramid, const std::int64_t* from, const std::int64_t* to, std::int64_t count,
                   bool* were_sites, EditReport* report, cudaStream_t stream);

/// Makes all bits from the nonzero elements of an array of the grid's extents; counts them as added.
void fill_from_mask(const DevicePyramid& pyramid, const AnyConstDeviceView& mask, EditReport* report,
                    cudaStream_t stream);

}  // namespace fathom::points::cuda
