// Up to eight results of a column where nearest sites are asked for: from plane to plane, or from row to row.
#pragma once

#include "grid/cuda/output/results.cuh"

namespace fathom::grid::cuda::volume {

/// Eight values of a column, or as many as there are. @param value  value(j) @tparam kOnce  nothing reads them soon
template <bool kOnce, class Value, class Of>
__device__ void store_eight(int count, Value* to, std::int64_t stride, Of&& value) {
  const auto store = [&](int j) {
    if constexpr (kOnce) __stcs(to, value(j));
    else *to = value(j);
  };
  if (count >= 8) {  // not asked of each
#pragma unroll
    for (int j = 0; j < 8; ++j, to += stride) store(j);
  } else {
#pragma unroll
    for (int j = 0; j < 7; ++j, to += stride)
      if (j < count) store(j);
  }
}

enum class Along { z, y };

/// Plain results. Distances are written before sites are looked up, for the registers; of these all are looked up before
/// any is stored, so that the waits are one.
///
/// @param row        of the outputs, in which the first result is at x
/// @param distances  fills eight: distances(float*)
/// @param site       of the first, the second and so on
template <Along kAxis, class Distances, class Site>
__device__ void write_column(const SiteResults& plain, const SiteResults::Row& row, int x, int count,
                             Distances&& distances, Site&& site) {
  const auto stride_of = [](const auto& output) { return kAxis == Along::z ? output.z_stride : output.y_stride; };
  if (plain.distance.data) {
    float eight[8];
    distances(eight);
    store_eight<true>(count, row.distance + x, stride_of(plain.distance), [&](int j) { return eight[j]; });
  }
  const auto store_sites = [&](auto* of_row) {
    std::int32_t sites[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) sites[j] = site(j);
    const std::int64_t stride = stride_of(plain.nearest) / static_cast<std::int64_t>(sizeof(*of_row));
    store_eight<true>(count, of_row + x, stride,
                      [&](int j) { return std::remove_pointer_t<decltype(of_row)>{sites[j]}; });
  };
  if (plain.is_long) store_sites(reinterpret_cast<long long*>(row.nearest));
  else store_sites(reinterpret_cast<std::int32_t*>(row.nearest));
}

/// What is no plain result.
template <class Square>
struct FoundSites {
  Square square[8];
  std::int32_t site[8];  ///< −1: there is none
  unsigned inside = 0;   ///< bits, of signed labels: whose distances are negative
};

/// Writes it, as far as it lies in the region. Not inlined: it is large. @param at  of the first
template <Along kAxis, class V, class Square>
__device__ __noinline__ void emit_column(const Emitter<V>& emitter, std::int64_t item, const int3& at, int count,
                                         const FoundSites<Square>& found) {
#pragma unroll 1
  for (int j = 0; j < min(count, 8); ++j) {
    const bool is_along_z = kAxis == Along::z;
    const std::int64_t in_volume[] = {at.z + (is_along_z ? j : 0), at.y + (is_along_z ? 0 : j), at.x};
    const std::int64_t* place = in_volume + 3 - emitter.input.rank;
    const V value = found.site[j] < 0 ? no_value<V>() : static_cast<V>(found.square[j]);
    if (emitter.in_region(place)) emitter.emit(item, place, value, found.site[j], found.inside >> j & 1);
  }
}

}  // namespace fathom::grid::cuda::volume
