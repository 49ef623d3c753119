// A pyramid of bits as kernels see it: that of points/pyramid.h, in a device's memory.
#pragma once

#include "points/cuda/device_tree.h"
#include "points/voxel_cell.hd.h"

namespace fathom::points::cuda {

struct DevicePyramid {
  static constexpr int kMostLevels = 16;  ///< above 2³¹ elements along each of 3 axes

  struct Level {
    Cell extents;  ///< in words
    unsigned long long* words = nullptr;

    template <class Index>
    FATHOM_HD unsigned long long* word_at(const CellOf<Index>& word, int rank) const {
      return words + linear_index(word, extents, rank);
    }
  };

  int axes = 3;
  int levels = 0;
  Cell extents;  ///< of the grid
  Level level[kMostLevels];

  FATHOM_HD bool empty() const { return count_of(extents) == 0; }

  /// What queries need to know of any set: sites between whole numbers, and where they may be.
  DeviceTree outline() const {
    DeviceTree tree;
    tree.dtype = DType::int32;
    tree.axes = axes;
    tree.levels = 1;
    for (int k = 0; k < axes; ++k) tree.high[k] = static_cast<double>(extents[k]);
    return tree;
  }
};

}  // namespace fathom::points::cuda
