// What both backends ask grid for where nearest sites' values are wanted.
#pragma once

#include <limits>

#include "fathom/apps/nearest_value.h"

namespace fathom::apps {

/// What the transform is asked for. @param nearest  indices, dense
template <MemorySpace Space>
grid::BasicDistanceOutputs<Space> asked(const BasicNearestValueOutputs<Space>& outputs,
                                        const BasicAnyView<std::byte, Space>& nearest) {
  const bool any = outputs.value.present() || outputs.direction.present();
  return {outputs.distance, {}, any ? nearest : BasicAnyView<std::byte, Space>(), {}};
}

/// Of the indices in one image.
template <class View>
DType index_type(const View& input, int batch_axes) {
  std::int64_t elements = 1;
  for (int axis = batch_axes; axis < input.rank(); ++axis) elements *= input.shape()[axis];
  return elements <= std::numeric_limits<std::int32_t>::max() ? DType::int32 : DType::int64;
}

}  // namespace fathom::apps
