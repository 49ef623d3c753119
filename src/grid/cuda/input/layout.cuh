// How arrays lie in device memory, as kernels see it.
#pragma once

#include <cstdint>

#include "core/cuda/scratch.h"
#include "core/join_axes.h"
#include "fathom/core/dtype.h"
#include "grid/batch.h"
#include "grid/problem.h"

namespace fathom::grid::cuda {

using fathom::cuda::Scratch;

/// Quotient and remainder of natural numbers: in 32 bits where they fit, because divisions of 64 are slow.
struct Division {
  std::int64_t quotient, remainder;

  __host__ __device__ Division(std::int64_t a, std::int64_t b) {
    if ((static_cast<std::uint64_t>(a | b) >> 32) == 0) {
      quotient = static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
      remainder = static_cast<std::uint32_t>(a) % static_cast<std::uint32_t>(b);
    } else {
      quotient = a / b;
      remainder = a % b;
    }
  }
};

/// Offsets of a batch's items in one view.
struct ItemStrides {
  int rank = 0;
  std::int64_t extent[kMaxRank] = {};
  std::int64_t stride[kMaxRank] = {};

  static ItemStrides of(Shape shape, Strides strides) {
    ItemStrides result;
    if (strides.empty()) return result;
    join_axes(shape, strides);  // spares divisions
    result.rank = shape.rank();
    for (int k = 0; k < result.rank; ++k) {
      result.extent[k] = shape[k];
      result.stride[k] = strides[k];
    }
    return result;
  }

  /// Elements from the first item to another.
  __host__ __device__ std::int64_t offset(std::int64_t item) const {
    if (rank == 0) return 0;
    if (rank == 1) return item * stride[0];
    std::int64_t elements = 0;
    for (int k = rank - 1; k >= 0; --k) {
      const Division division(item, extent[k]);
      elements += division.remainder * stride[k];
      item = division.quotient;
    }
    return elements;
  }
};

/// An output of up to three axes, (z, y, x) or the last of them; rows have no gaps.
template <class T>
struct Placed {
  T* data = nullptr;
  std::int64_t z_stride = 0, y_stride = 0;
  ItemStrides items;

  /// In units of T, which may be smaller than the view's elements. Null: the view is not given.
  static Placed of(const AnyView& view, int rank, const Shape& batch, const Strides& strides) {
    if (!view.present()) return {};
    const auto units = static_cast<std::int64_t>(size_of(view.dtype()) / sizeof(T));
    Placed placed;
    placed.data = reinterpret_cast<T*>(view.data());
    if (rank > 2) placed.z_stride = view.strides()[rank - 3] * units;
    if (rank > 1) placed.y_stride = view.strides()[rank - 2] * units;
    placed.items = ItemStrides::of(batch, strides);
    for (int k = 0; k < placed.items.rank; ++k) placed.items.stride[k] *= units;
    return placed;
  }

  /// Whether all rows begin at multiples of so many bytes.
  bool is_aligned_to(std::size_t bytes) const {
    const auto units = static_cast<std::int64_t>(bytes / sizeof(T));
    bool aligned =
        reinterpret_cast<std::uintptr_t>(data) % bytes == 0 && z_stride % units == 0 && y_stride % units == 0;
    for (int k = 0; k < items.rank; ++k) aligned &= items.stride[k] % units == 0;
    return aligned;
  }

  __device__ T* row(std::int64_t item, std::int64_t z, std::int64_t y) const {
    return data + items.offset(item) + z * z_stride + y * y_stride;
  }
};

/// The input: a batch of arrays with axes 0 … rank − 1.
struct Input {
  const std::byte* data = nullptr;
  DType dtype = DType::uint8;
  int rank = 0;
  std::int64_t extent[kMaxSpaceRank] = {};
  std::int64_t stride[kMaxSpaceRank] = {};
  ItemStrides items = {};

  static Input of(const Problem& problem, const Batch& batch) {
    Input input{.data = problem.input.data(), .dtype = problem.input.dtype(), .rank = problem.rank};
    for (int k = 0; k < problem.rank; ++k) {
      input.extent[k] = problem.extent(k);
      input.stride[k] = problem.input.strides()[k];
    }
    input.items = ItemStrides::of(batch.shape, batch.input);
    return input;
  }

  /// Elements from the start of an item to where its axes [first, end) have the row-major linear index `linear`.
  __device__ std::int64_t offset(int first, int end, std::int64_t linear) const {
    std::int64_t elements = 0;
    for (int k = end - 1; k > first; --k) {
      const Division division(linear, extent[k]);
      elements += division.remainder * stride[k];
      linear = division.quotient;
    }
    return end > first ? elements + linear * stride[first] : 0;
  }
};

/// The memory between the lowest and the highest element of all items.
struct MemoryRange {
  const std::byte *begin = nullptr, *end = nullptr;

  static MemoryRange of(const Input& input) {
    std::int64_t lowest = 0, highest = 0;
    const auto reach = [&](std::int64_t extent, std::int64_t stride) {
      (stride < 0 ? lowest : highest) += (extent - 1) * stride;
    };
    for (int k = 0; k < input.rank; ++k) reach(input.extent[k], input.stride[k]);
    for (int k = 0; k < input.items.rank; ++k) reach(input.items.extent[k], input.items.stride[k]);
    const auto size = static_cast<std::int64_t>(size_of(input.dtype));
    return {input.data + lowest * size, input.data + (highest + 1) * size};
  }
  __device__ bool holds(const std::byte* from, const std::byte* to) const { return from >= begin && to <= end; }
};

/// Whether bytes of all items can be read so many at a time, also at the ends of rows.
inline bool has_aligned_rows(const Input& input, std::int64_t bytes) {
  bool aligned = reinterpret_cast<std::uintptr_t>(input.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
                 input.extent[input.rank - 1] % bytes == 0;
  for (int k = 0; k + 1 < input.rank; ++k) aligned &= input.stride[k] % bytes == 0;
  for (int k = 0; k < input.items.rank; ++k) aligned &= input.items.stride[k] % bytes == 0;
  return aligned;
}

inline constexpr int kSectorFloats = 8;  ///< of a sector of memory

/// Whether rows of float distances, of all items, begin at multiples of `floats` of them, if there are any.
inline bool has_aligned_rows(const Problem& p, const Batch& batch, std::int64_t floats) {
  return p.outputs.distance.present() && Placed<float>::of(p.outputs.distance, p.rank, batch.shape, batch.distance)
                                             .is_aligned_to(static_cast<std::size_t>(floats) * sizeof(float));
}

/// A range of the last axis that is worked on as if it were all of it.
struct Columns {
  std::int64_t first = 0, count = 1;
  std::int64_t all = 1;  ///< the input's

  static Columns of(const Problem& problem) {
    const int last = problem.rank - 1;
    return {problem.range(last).begin, problem.region_extent(last), problem.extent(last)};
  }
  /// Linear index in all columns of an element with linear index `i` in these.
  __device__ std::int64_t linear(std::int64_t i) const {
    const Division division(i, count);
    return division.quotient * all + first + division.remainder;
  }
};

/// Lines along an axis of all items of a batch: `outer` of them before the axis (items included), `inner` behind it.
struct Lines {
  int axis = 0;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  std::int32_t extent = 1;

  /// Through all columns along the last axis, through those of the region along any other.
  static Lines of(const Problem& problem, int axis, std::int64_t items) {
    Lines lines{.axis = axis, .outer = items, .extent = static_cast<std::int32_t>(problem.extent(axis))};
    for (int k = 0; k < axis; ++k) lines.outer *= problem.extent(k);
    for (int k = axis + 1; k < problem.rank; ++k)
      lines.inner *= k == problem.rank - 1 ? problem.region_extent(k) : problem.extent(k);
    return lines;
  }
  __host__ __device__ std::int64_t count() const { return outer * inner; }
};

/// A launch of at least `threads` threads in blocks of `block`.
inline unsigned blocks_for(std::int64_t threads, int block) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

}  // namespace fathom::grid::cuda
