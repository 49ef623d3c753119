// Nearest sites as most callers want them, written by the kernels that find them: linear indices and float distances of
// all elements, as they are. Anything else goes through the emitter.
#pragma once

#include <algorithm>
#include <cmath>

#include "grid/cuda/layout.cuh"
#include "grid/cuda/roots.cuh"

namespace fathom::grid::cuda {

inline constexpr std::uint32_t kNoSquare = UINT32_MAX;  ///< squared distance: no site

/// An output of up to three axes, the last ones of (z, y, x).
template <class T>
struct PlacedItems {
  T* data = nullptr;  ///< null: not wanted
  std::int64_t stride[3] = {};
  ItemStrides items;

  static PlacedItems of(const AnyView& view, int rank, const Shape& batch, const Strides& strides) {
    PlacedItems placed;
    if (!view.present()) return placed;
    placed.data = reinterpret_cast<T*>(view.data());
    for (int k = 0; k < rank; ++k) placed.stride[3 - rank + k] = view.strides()[k];
    placed.items = ItemStrides::of(batch, strides);
    return placed;
  }
  __device__ std::int64_t offset(std::int64_t item, std::int32_t z, std::int32_t y, std::int32_t x) const {
    return items.offset(item) + z * stride[0] + y * stride[1] + x * stride[2];
  }
};

struct PlainSites {
  bool serves = false;
  bool is_long = false;  ///< indices are of 64 bits
  PlacedItems<float> distance;
  PlacedItems<std::byte> nearest;

  static PlainSites of(const Problem& p, const Batch& batch) {
    const DistanceOutputs& out = p.outputs;
    PlainSites sites;
    const auto end = p.border.begin() + p.rank;
    sites.serves = p.rank <= 3 && out.nearest.present() && !out.squared.present() && !out.coordinates.present() &&
                   (!out.distance.present() || out.distance.dtype() == DType::float32) && p.unit == 1 && p.isotropic &&
                   !p.signed_distance && std::isinf(p.max_distance) &&
                   std::find(p.border.begin(), end, Border::sites) == end;
    for (int k = 0; k < p.rank; ++k) sites.serves &= p.region_extent(k) == p.extent(k);
    if (!sites.serves) return sites;
    sites.is_long = out.nearest.dtype() == DType::int64;
    sites.distance = PlacedItems<float>::of(out.distance, p.rank, batch.shape, batch.distance);
    sites.nearest = PlacedItems<std::byte>::of(out.nearest, p.rank, batch.shape, batch.nearest);
    return sites;
  }

  /// @param item  of the batch
  __device__ void write(std::int64_t item, std::int32_t z, std::int32_t y, std::int32_t x, std::uint32_t square,
                        std::int64_t site) const {
    if (distance.data)
      distance.data[distance.offset(item, z, y, x)] =
          square == kNoSquare ? __int_as_float(0x7F800000) : root_of(square);
    const std::int64_t at = nearest.offset(item, z, y, x);
    if (is_long) reinterpret_cast<std::int64_t*>(nearest.data)[at] = site;
    else reinterpret_cast<std::int32_t*>(nearest.data)[at] = static_cast<std::int32_t>(site);
  }
};

}  // namespace fathom::grid::cuda
