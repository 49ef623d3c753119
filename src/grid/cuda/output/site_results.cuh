// Nearest sites as most callers want them, written by the kernels that find them: linear indices and float distances of
// all elements, as they are. Anything else goes through the emitter.
#pragma once

#include <cmath>

#include "grid/cuda/input/layout.cuh"

namespace fathom::grid::cuda {

inline constexpr std::uint32_t kNoSquare = UINT32_MAX;  ///< squared distance: no site

/// Whether a root is rounded once, to the output's type; else double has the last word.
inline bool is_scaled(const Problem& p) { return p.metric == Metric::euclidean && (p.unit == 1 || !p.isotropic); }

struct SiteResults {
  bool serves = false;
  bool is_long = false;       ///< indices are of 64 bits
  bool is_aligned = false;    ///< all rows, to 16 bytes
  Placed<float> distance;     ///< null: not wanted
  Placed<std::byte> nearest;  ///< strides in bytes

  /// A row of results.
  struct Row {
    float* distance;
    std::byte* nearest;
  };

  /// Whether all that is wanted are linear indices and float distances of all elements, without limits, of up to three
  /// axes.
  static bool serves_outputs(const Problem& p) {
    const AnyView& distance = p.outputs.distance;
    bool serves = p.rank <= 3 && wants_only(p, {&DistanceOutputs::distance, &DistanceOutputs::nearest}) &&
                  !p.signed_distance && std::isinf(p.max_distance) && p.outputs.nearest.present() &&
                  (!distance.present() || (distance.dtype() == DType::float32 && is_scaled(p)));
    for (int k = 0; k < p.rank; ++k)
      serves &= p.region_extent(k) == p.extent(k) && p.border[static_cast<std::size_t>(k)] != Border::sites;
    return serves;
  }

  static SiteResults of(const Problem& p, const Batch& batch) {
    const DistanceOutputs& out = p.outputs;
    SiteResults sites;
    sites.serves = serves_outputs(p);
    if (!sites.serves) return sites;
    sites.is_long = out.nearest.dtype() == DType::int64;
    sites.distance = Placed<float>::of(out.distance, p.rank, batch.shape, batch.distance);
    sites.nearest = Placed<std::byte>::of(out.nearest, p.rank, batch.shape, batch.nearest);
    sites.is_aligned = sites.distance.is_aligned_to(sizeof(float4)) && sites.nearest.is_aligned_to(sizeof(int4));
    return sites;
  }

  /// @param item  of the batch
  __device__ Row row(std::int64_t item, std::int32_t z, std::int32_t y) const {
    return {distance.row(item, z, y), nearest.row(item, z, y)};
  }
  /// The row y rows on.
  __device__ Row down(const Row& row, std::int32_t y) const {
    return {row.distance + y * distance.y_stride, row.nearest + y * nearest.y_stride};
  }
  /// Four neighbours of an aligned row, x being a multiple of four.
  __device__ void write_four(const Row& row, std::int32_t x, const float* root, const std::int32_t* site) const {
    if (distance.data)
      __stcs(reinterpret_cast<float4*>(row.distance + x), make_float4(root[0], root[1], root[2], root[3]));
    if (is_long) {
      auto* to = reinterpret_cast<longlong2*>(row.nearest) + x / 2;
      __stcs(to, make_longlong2(site[0], site[1]));
      __stcs(to + 1, make_longlong2(site[2], site[3]));
    } else {
      __stcs(reinterpret_cast<int4*>(row.nearest) + x / 4, make_int4(site[0], site[1], site[2], site[3]));
    }
  }
  __device__ void write(const Row& row, std::int32_t x, float root, std::int64_t site) const {
    if (distance.data) __stcs(row.distance + x, root);
    if (is_long) __stcs(reinterpret_cast<long long*>(row.nearest) + x, static_cast<long long>(site));
    else __stcs(reinterpret_cast<std::int32_t*>(row.nearest) + x, static_cast<std::int32_t>(site));
  }
};

}  // namespace fathom::grid::cuda
