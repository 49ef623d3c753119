// Arrays as Python describes them, and the library's views of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "fathom/core/view.h"

namespace fathom::python {

inline constexpr int kMostAxes = 64;  // NumPy's own limit

/// Any number of axes; the library's views have fewer.
struct RawArray {
  std::byte* data = nullptr;
  DType dtype = DType::uint8;
  bool given = false;
  int rank = 0;
  std::array<std::int64_t, kMostAxes> shape;    ///< [rank]
  std::array<std::int64_t, kMostAxes> strides;  ///< [rank], in elements

  void push_axis(std::int64_t extent, std::int64_t stride);

  /// Strides that no element needs – of axes with one element, of empty arrays – are left to chance, but views insist
  /// on contiguous rows: makes them those of a dense array.
  void settle_strides();

  /// The same with the axes from `leading` on, but the last `trailing` ones, as one. Where they are more than one, they
  /// lie dense in memory; without any, it has one element.
  RawArray joined(int leading, int trailing) const;
};

/// Of an array of any kind; None is absent.
template <class A>
RawArray raw(const A* array) {
  return array ? RawArray(array->raw()) : RawArray();
}

/// Which axes are what: the leading ones count images, the trailing ones are an image's. Between them, coordinates have
/// one axis of components.
struct Layout {
  int leading = 0;
  int space = 0;
};

/// Joins leading axes that lie in memory, in all arrays, as one would; the library's views have few axes.
/// @param arrays  those that are given have the same leading extents
Layout merge_leading(std::span<RawArray* const> arrays, Layout layout);

/// A view of the whole stack of images; an image without axes becomes one element along one axis. Components come
/// first.
/// @throws InvalidArgument more axes than the library has
template <class Byte, MemorySpace Space>
BasicAnyView<Byte, Space> view_of(const RawArray& array, const Layout& layout) {
  if (!array.given) return {};
  Shape shape;
  Strides strides;
  const auto take = [&](int begin, int end) {
    for (int k = begin; k < end; ++k) {
      shape.push_back(array.shape[static_cast<std::size_t>(k)]);
      strides.push_back(array.strides[static_cast<std::size_t>(k)]);
    }
  };
  const int space = array.rank - layout.space;
  take(layout.leading, space);
  take(0, layout.leading);
  take(space, array.rank);
  if (layout.space == 0) {
    shape.push_back(1);
    strides.push_back(1);
  }
  return {array.data, array.dtype, shape, strides};
}

/// All axes as they are.
template <class Byte, MemorySpace Space>
BasicAnyView<Byte, Space> view_of(const RawArray& array) {
  return view_of<Byte, Space>(array, {0, array.rank});
}

}  // namespace fathom::python
