// A set's sites as kernels see them: leaves under a tree of boxes as in points/tree.h, but with 32 children to a node,
// one for each lane of a warp.
#pragma once

#include "points/tree.h"

namespace fathom::points::cuda {

inline constexpr int kLanes = 32;  ///< children of a node
inline constexpr double kWholeInFloat = 1 << 24;
inline constexpr int kMostLevels = 8;  ///< 32⁸ leaves are more than any memory holds

struct DeviceLevel {
  std::int64_t count = 0;
  void* boxes = nullptr;            ///< [group][axis][low, high][kLanes], of the coordinates' type
  std::uint32_t* lowest = nullptr;  ///< lowest id below each node; null in the caller's order, where it is the first
};

struct DeviceTree {
  DType dtype = DType::float32;
  int axes = 3;
  std::int64_t count = 0;
  std::int64_t first = 0;          ///< of the set's sites, where these are a piece of it
  int leaf = 1;                    ///< sites of a leaf: a multiple of kLanes
  int levels = 0;                  ///< 0: no boxes
  DeviceLevel level[kMostLevels];  ///< leaves first; the last has at most kLanes nodes
  double low[3] = {}, high[3] = {};
  bool whole = false;     ///< coordinates are whole numbers up to 2²⁴, which float32 holds
  bool products = false;  ///< products.cuh serves on a lattice about the sites, is exact on the device, and suits them
  bool copies = false;  ///< sites are so often at places of others that it is worth looking for these; no products then
  bool hollow = false;  ///< sorted: some queries are better given up (left_over.h)

  void* blocks = nullptr;        ///< sorted: [leaf][axis][kSortedLeaf]; else null
  std::uint32_t* ids = nullptr;  ///< sorted: id of each site, the last leaf filled up with its last site's
  Cloud sites;                   ///< otherwise: the sites, in the device's memory

  std::uint8_t* sizes = nullptr;  ///< of leaves whose sites come and go, as in points/tree.h; else null
  std::int64_t vacant = 0;

  std::int64_t leaves() const { return (count + leaf - 1) / leaf; }
};

/// Calls visitor(TypeTag<T>{}, std::integral_constant<int, axes>{}) with the tree's type and number of coordinates.
template <class Visitor>
void visit_kind(DType dtype, int axes, Visitor&& visitor) {
  visit_coordinates(dtype, [&](auto tag) {
    axes == 2 ? visitor(tag, std::integral_constant<int, 2>{}) : visitor(tag, std::integral_constant<int, 3>{});
  });
}

}  // namespace fathom::points::cuda
