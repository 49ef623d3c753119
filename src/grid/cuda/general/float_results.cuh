// Float distances of all elements and nothing else, written by the general engine's last pass: without a pass of their
// own they save a value to write and one to read.
#pragma once

#include "grid/cuda/engine.h"
#include "grid/cuda/output/site_results.cuh"
#include "grid/value.hd.h"

namespace fathom::grid::cuda::general {

template <class V>
struct FloatResults {
  Placed<float> to;  ///< without data: they are not all that is wanted
  std::int64_t first_item = 0, width = 1;
  std::int64_t step = 0;  ///< from element to element along axis 0
  double unit = 1;
  bool euclidean = true;
  bool scaled = false;  ///< see Emitter

  static FloatResults of(const Problem& p, const Batch& batch, std::int64_t first_item) {
    FloatResults results;
    if (!has_whole_outputs(p) || wants_site(p)) return results;
    results.to = Placed<float>::of(p.outputs.distance, p.rank, batch.shape, batch.distance);
    results.first_item = first_item;
    results.width = p.extent(p.rank - 1);
    results.step = p.outputs.distance.strides()[0];
    results.unit = p.unit;
    results.euclidean = p.metric == Metric::euclidean;
    results.scaled = is_scaled(p);
    return results;
  }

  /// Neighbours along axis 0, from element `at` of the line `inner` of an item on.
  template <int kCount>
  __device__ void write(std::int64_t item, std::int64_t inner, std::int64_t at, int count,
                        const V (&values)[kCount]) const {
    const Division by_row(inner, width);
    float* element = to.row(first_item + item, 0, by_row.quotient) + by_row.remainder + at * step;
#pragma unroll
    for (int k = 0; k < kCount; ++k, element += step)
      if (k < count) *element = distance(values[k]);
  }

 private:
  /// Not inlined: it is large.
  __device__ __noinline__ float distance(V v) const {
    if constexpr (!std::is_floating_point_v<V>)
      if (scaled) return scaled_distance_of<float>(v, unit);
    return static_cast<float>(distance_of(v, euclidean, unit));
  }
};

}  // namespace fathom::grid::cuda::general
