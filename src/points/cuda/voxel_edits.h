// Bits of a pyramid on the device: made from a mask, and edited.
#pragma once

#include <cuda_runtime_api.h>

#include "fathom/core/view.h"
#include "points/cuda/device_pyramid.h"

namespace fathom::points::cuda {

/// What edits did since it was made, in the device's memory.
struct EditReport {
  /// Place in the lists of the first element that the grid does not have; all ones: they are of the grid. While it says
  /// something else, nothing is changed.
  unsigned long long first_wrong = ~0ull;
  unsigned long long added = 0, removed = 0, moved = 0;
};

/// All in the device's memory.
struct ElementEdit {
  const std::int64_t *first, *second;  ///< lists of elements; the second to move to
  std::int64_t count;                  ///< of each
  bool* flags;                         ///< [count], scratch for a move
  EditReport* report;
};

/// Looks for elements that the grid does not have. @param lists  1 or 2
void check_elements(const DevicePyramid& pyramid, const ElementEdit& edit, int lists, cudaStream_t stream);

void add_elements(const DevicePyramid& pyramid, const ElementEdit& edit, cudaStream_t stream);
void remove_elements(const DevicePyramid& pyramid, const ElementEdit& edit, cudaStream_t stream);
void move_elements(const DevicePyramid& pyramid, const ElementEdit& edit, cudaStream_t stream);

/// Makes all bits from the nonzero elements of an array of the grid's extents; counts them as added.
void fill_from_mask(const DevicePyramid& pyramid, const AnyConstDeviceView& mask, EditReport* report,
                    cudaStream_t stream);

}  // namespace fathom::points::cuda
