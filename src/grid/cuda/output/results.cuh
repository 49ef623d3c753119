// From the value and the nearest site of an element to the caller's outputs, whatever these are: the last step of the
// general engine, and of others where results are neither float distances nor sites of all elements. Applies what is
// known element by element: borders of sites, the maximum distance, the sign. The same arithmetic as on the CPU.
#pragma once

#include "grid/cuda/input/classes.cuh"
#include "grid/cuda/input/layout.cuh"
#include "grid/cuda/output/site_results.cuh"
#include "grid/cuda/output/value_results.cuh"
#include "grid/metric.h"
#include "grid/offset.hd.h"
#include "grid/value.hd.h"

namespace fathom::grid::cuda {

/// An output of the region's shape.
struct Output {
  std::byte* data = nullptr;  ///< null: not wanted
  DType dtype = DType::uint8;
  std::int64_t stride[kMaxSpaceRank] = {};
  std::int64_t component = 0;  ///< stride between the components of coordinates
  ItemStrides items;

  static Output of(const AnyView& view, int rank, const Shape& batch, const Strides& strides) {
    Output output;
    if (!view.present()) return output;
    output.data = view.data();
    output.dtype = view.dtype();
    const int leading = view.rank() - rank;
    for (int k = 0; k < rank; ++k) output.stride[k] = view.strides()[leading + k];
    if (leading > 0) output.component = view.strides()[0];
    output.items = ItemStrides::of(batch, strides);
    return output;
  }
};

template <class V>
struct Emitter : PerOutput<Output> {
  Classes classes;
  Input input;
  SiteResults sites;
  ValueResults values;
  std::int64_t first_item = 0;
  struct Axis {
    Range region;
    Border border;
    double spacing;
    AxisCost<V> cost;
    int of_caller;
  };
  Axis axis[kMaxSpaceRank] = {};
  int caller_rank = 0;
  V kept = 0;  ///< largest value that is kept
  bool has_border = false, euclidean = true, is_signed = false;

  static Emitter of(const Problem& p, const Batch& batch, std::int64_t first_item) {
    Emitter e;
    e.classes = Classes::of(p);
    e.input = Input::of(p, batch);
    for_each_output([&](const OutputKind&, Output& output, const AnyView& view,
                        const Strides& strides) { output = Output::of(view, p.rank, batch.shape, strides); },
                    e, p.outputs, batch);
    e.sites = SiteResults::of(p, batch);
    e.values = ValueResults::of(p, batch);
    e.first_item = first_item;
    for (int k = 0; k < p.rank; ++k) {
      const auto i = static_cast<std::size_t>(k);
      e.axis[k] = {p.range(k), p.border[i], p.spacing[i], axis_cost<V>(p, k), p.caller_axis[i]};
      e.has_border |= p.border[i] == Border::sites;
    }
    e.caller_rank = p.caller_rank;
    e.kept = largest_kept<V>(p);
    e.euclidean = p.metric == Metric::euclidean;
    e.is_signed = p.signed_distance;
    return e;
  }

  __device__ bool in_region(const std::int64_t* at) const {
    bool inside = true;
    for (int k = 0; k < input.rank; ++k) inside &= at[k] >= axis[k].region.begin && at[k] < axis[k].region.end;
    return inside;
  }

  /// Of signed fields: whether an element is inside.
  __device__ bool is_inside(std::int64_t item, const std::int64_t* at) const {
    if (!is_signed) return false;
    std::int64_t elements = input.items.offset(first_item + item);
    for (int k = 0; k < input.rank; ++k) elements += at[k] * input.stride[k];
    return fulfils(classes.inside, input.data, elements);
  }

  /// @param at      coordinates of an element of the region
  /// @param site    linear index in the item of the nearest site, where one is
  /// @param inside  of signed fields: whether the element is
  __device__ void emit(std::int64_t item, const std::int64_t* at, V value, std::int64_t site, bool inside) const {
    if (has_border) {
      const V border = is_signed && inside == classes.border_is_inside ? no_value<V>() : to_border(at);
      if (border < value) {
        value = border;
        site = -1;
      }
    }
    if (value > kept || value >= no_value<V>()) {
      value = no_value<V>();
      site = -1;
    }
    item += first_item;
    if (distance.data) write_distance(place(distance, item, at), inside, value);
    if (squared.data) write_squared(place(squared, item, at), value);
    if (nearest.data) write_integer(nearest, place(nearest, item, at), site);
    if (coordinates.data) write_coordinates(place(coordinates, item, at), site);
    if (offset.data) write_offset(place(offset, item, at), at, site);
  }

 private:
  __device__ std::int64_t place(const Output& output, std::int64_t item, const std::int64_t* at) const {
    std::int64_t elements = output.items.offset(item);
    for (int k = 0; k < input.rank; ++k) elements += (at[k] - axis[k].region.begin) * output.stride[k];
    return elements;
  }

  /// Value of the way to the nearest border of sites.
  __device__ V to_border(const std::int64_t* at) const {
    V least = no_value<V>();
    for (int k = 0; k < input.rank; ++k)
      if (axis[k].border == Border::sites) least = min(least, axis[k].cost(min(at[k] + 1, input.extent[k] - at[k])));
    return least;
  }

  template <class Out>
  __device__ Out signed_distance(bool inside, V value) const {
    if constexpr (!std::is_floating_point_v<V>)
      if (values.scaled && values.half == 0) {
        const Out magnitude = scaled_distance_of<Out>(value, values.unit);
        return inside ? -magnitude : magnitude;
      }
    const double magnitude = distance_of(value, euclidean, values.unit) - values.half;
    return static_cast<Out>(inside ? -magnitude : magnitude);
  }

  template <class Value>
  static __device__ void put(const Output& output, std::int64_t at, Value value) {
    reinterpret_cast<Value*>(output.data)[at] = value;
  }

  __device__ void write_distance(std::int64_t at, bool inside, V value) const {
    if (distance.dtype == DType::float32) put(distance, at, signed_distance<float>(inside, value));
    else put(distance, at, signed_distance<double>(inside, value));
  }

  __device__ void write_squared(std::int64_t at, V value) const {
    const bool none = value >= no_value<V>();
    if (squared.dtype == DType::float64)
      put(squared, at, none ? no_value<double>() : static_cast<double>(value) * (values.unit * values.unit));
    else if (squared.dtype == DType::uint32) put(squared, at, none ? UINT32_MAX : static_cast<std::uint32_t>(value));
    else put(squared, at, none ? UINT64_MAX : static_cast<std::uint64_t>(value));
  }

  static __device__ void write_integer(const Output& output, std::int64_t at, std::int64_t value) {
    if (output.dtype == DType::int32) put(output, at, static_cast<std::int32_t>(value));
    else put(output, at, value);
  }

  __device__ void write_coordinates(std::int64_t at, std::int64_t site) const {
    const std::int64_t none = site < 0 ? -1 : 0;
    for (int k = 0; k < caller_rank; ++k) write_integer(coordinates, at + k * coordinates.component, none);
    if (site < 0) return;
    for (int k = input.rank - 1; k >= 0; --k) {
      write_integer(coordinates, at + axis[k].of_caller * coordinates.component, site % input.extent[k]);
      site /= input.extent[k];
    }
  }

  static __device__ void write_real(const Output& output, std::int64_t at, float as_float, double value) {
    if (output.dtype == DType::float32) put(output, at, as_float);
    else put(output, at, value);
  }

  /// @param place  of the first component, @param at  as emit() takes it
  __device__ void write_offset(std::int64_t place, const std::int64_t* at, std::int64_t site) const {
    for (int k = 0; k < caller_rank; ++k) {
      const std::int64_t to = place + k * offset.component;
      if (site < 0) write_real(offset, to, no_offset<float>(), no_offset<double>());
      else write_real(offset, to, 0, 0);
    }
    if (site < 0) return;
    for (int k = input.rank - 1; k >= 0; --k) {
      const std::int64_t steps =
          steps_to(site % input.extent[k], at[k], input.extent[k], axis[k].border == Border::periodic);
      const std::int64_t to = place + axis[k].of_caller * offset.component;
      write_real(offset, to, offset_of<float>(steps, axis[k].spacing), offset_of<double>(steps, axis[k].spacing));
      site /= input.extent[k];
    }
  }
};

/// Writes what is asked for of an element of an image, or of a line as its one row. Not inlined: it is large.
/// @param inside  of signed fields: whether the distance is negative
template <class V>
__device__ __noinline__ void emit_in_image(const Emitter<V>& emitter, std::int64_t item, int y, int x, V square,
                                           std::int64_t site, bool inside) {
  const std::int64_t at[kMaxSpaceRank] = {emitter.input.rank == 1 ? x : y, x};
  if (emitter.in_region(at)) emitter.emit(item, at, square, site, inside);
}

/// Writes what a lane has found element by element. Not inlined: it is large.
template <int kRows, int kColumns>
__device__ __noinline__ void emit_results(const Emitter<std::int64_t>& emitter,
                                          const LaneResults<kRows, kColumns>& results) {
#pragma unroll 1
  for (int r = 0; r < min(kRows, results.rows); ++r)
#pragma unroll 1
    for (int c = 0; c < kColumns; ++c) {
      const std::int64_t in_volume[] = {results.z, results.y + r, results.x + 32 * c};
      const std::int64_t* at = in_volume + 3 - emitter.input.rank;
      if (emitter.in_region(at))
        emitter.emit(results.item, at, value_of(results.squares[r][c]), -1, results.is_inside(r, c));
    }
}

/// Writes what a lane has found in whatever form is asked for, where no sites are. Plain values inlined: their
/// parameters are a kernel's own then, and are not loaded again for each lane.
template <int kRows, int kColumns>
__device__ __forceinline__ void write_results(const Emitter<std::int64_t>& emitter,
                                              const LaneResults<kRows, kColumns>& results) {
  if (emitter.values.serves) return emitter.values.write(emitter.first_item + results.item, results);
  const LaneResults<kRows, kColumns> in_memory = results;
  emit_results(emitter, in_memory);
}

}  // namespace fathom::grid::cuda
