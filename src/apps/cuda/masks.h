// What morphology does with distances in a device's memory, in the stream's order: the same passes as on the CPU
// (cpu/morphology.h). A distance is near up to `most`.
#pragma once

#include <cuda_runtime_api.h>

#include "fathom/core/view.h"
#include "fathom/grid/distance.h"

namespace fathom::apps::cuda {

/// Distances, float32 or float64, and the last one that is near.
struct Field {
  AnyConstDeviceView distances;
  double most = 0;
};

/// 1 where a distance is near, else 0; or the other way round. @param mask  bool or uint8
void threshold(const Field& field, bool near, const AnyDeviceView& mask, cudaStream_t stream);

/// Elements where a distance is near, or where it is not, and 0 elsewhere. @param from, to  of one size, or one
void keep(const Field& field, bool near, const AnyConstDeviceView& from, const AnyDeviceView& to, cudaStream_t stream);

/// Makes 0 what is where the input is not 0. @param out  a mask, or of the input's type
void clear_object(const AnyConstDeviceView& input, const AnyDeviceView& out, cudaStream_t stream);

/// The input where `out` is 0, else 0: 1 for what is not 0 in a mask, its values in an array of its type.
void keep_what_lacks(const AnyConstDeviceView& input, bool is_mask, const AnyDeviceView& out, cudaStream_t stream);

/// @param from, to  of one size
void copy_elements(const AnyConstDeviceView& from, const AnyDeviceView& to, cudaStream_t stream);

/// 0 everywhere, or the type's maximum or infinity.
void fill_elements(bool most, const AnyDeviceView& array, cudaStream_t stream);

/// Gives elements that a label covers to it.
/// @param mask           of those that it covers; absent: all
/// @param squared, best  of one type: only those whose squared distance is less than the best so far; absent: all
void claim(const grid::Sites::Value& label, const AnyConstDeviceView& mask, const AnyConstDeviceView& squared,
           const AnyDeviceView& best, const AnyDeviceView& out, cudaStream_t stream);

}  // namespace fathom::apps::cuda
