// The images of a batch, as volumes of 3 axes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/check.h"
#include "apps/each_image.h"
#include "apps/lattice3.h"
#include "core/root.hd.h"
#include "fathom/core/dtype.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// Rows of one image in somebody's array.
template <class Byte>
struct ImageRows {
  Byte* data = nullptr;
  std::size_t size = 1;                ///< of an element
  std::int64_t slice = 0, row = 0;     ///< elements from one to the next
  std::int64_t height = 1, width = 1;  ///< of the image

  template <class T>
  FATHOM_HD auto at(std::int64_t z, std::int64_t y) const {
    using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return reinterpret_cast<Element*>(data) + z * slice + y * row;
  }
  /// The element with a linear index in the image.
  template <class T>
  FATHOM_HD auto element(std::int64_t linear) const {
    if (row == width && slice == height * width) return at<T>(0, 0) + linear;
    return at<T>(linear / width / height, linear / width % height) + linear % width;
  }
};

/// Images that one stride leads through.
template <class Byte>
struct ImageStack {
  ImageRows<Byte> rows;   ///< of the first
  std::int64_t next = 0;  ///< elements from one image to the next

  FATHOM_HD ImageRows<Byte> image(std::int64_t number) const {
    ImageRows<Byte> its = rows;
    its.data += number * next * static_cast<std::int64_t>(rows.size);
    return its;
  }
};

/// How the axes of an input are meant.
struct Images {
  /// @throws InvalidArgument not 1 to 3 axes beside those of the batch, an extent of 2³⁰ or more, no spacings
  Images(const Shape& input, int batch_axes, const std::vector<double>& spacing);

  std::int64_t count() const { return element_count(batch); }
  /// Image `item` of an array of the input's shape.
  template <class Byte, MemorySpace Space>
  BasicAnyView<Byte, Space> view(const BasicAnyView<Byte, Space>& array, std::int64_t item) const {
    return image_of(array, batch.rank(), item);
  }
  template <class Byte, MemorySpace Space>
  ImageRows<Byte> rows(const BasicAnyView<Byte, Space>& array, std::int64_t item) const {
    const auto one = view(array, item);
    const int axes = one.rank();
    return {one.data(),
            size_of(one.dtype()),
            axes > 2 ? one.strides()[axes - 3] : 0,
            axes > 1 ? one.strides()[axes - 2] : 0,
            lattice.extent[1],
            lattice.extent[2]};
  }

  /// Calls body(first, n) for images that one stride leads through in every array, at most some at a time.
  template <class Body>
  void each_stack(std::int64_t at_once, const Body& body) const {
    const std::int64_t row = batch.empty() ? 1 : batch.back(), all = element_count(shape) > 0 ? count() : 0;
    for (std::int64_t first = 0, n = 0; first < all; first += n) body(first, n = std::min(at_once, row - first % row));
  }
  /// `n` such images, with one axis in front of those of space; nothing where the array is absent.
  template <class Byte, MemorySpace Space>
  BasicAnyView<Byte, Space> stack(const BasicAnyView<Byte, Space>& array, std::int64_t first, std::int64_t n) const {
    if (!array.present()) return {};
    const auto image = view(array, first);
    Shape extents{n};
    Strides strides{batch_stride(array)};
    for (int k = 0; k < image.rank(); ++k) {
      extents.push_back(image.shape()[k]);
      strides.push_back(image.strides()[k]);
    }
    return {image.data(), image.dtype(), extents, strides};
  }
  /// Their rows.
  template <class Byte, MemorySpace Space>
  ImageStack<Byte> stack_rows(const BasicAnyView<Byte, Space>& array, std::int64_t first) const {
    if (!array.present()) return {};
    return {rows(array, first), batch_stride(array)};
  }

  Shape shape;  ///< of the input
  Shape batch;
  Lattice3 lattice;

 private:
  template <class View>
  std::int64_t batch_stride(const View& array) const {
    return batch.empty() ? 0 : array.strides()[batch.rank() - 1];
  }
};

/// The type of nearest sites that nobody else asks for.
inline DType index_of(const Images& images) {
  return images.lattice.size() <= std::numeric_limits<std::int32_t>::max() ? DType::int32 : DType::int64;
}

/// Calls body(item, execution) for every image, one after the other, which the CPU works on.
template <class Body>
void each_item(const Images& images, const Execution& execution, const Body& body) {
  const std::int64_t count = element_count(images.shape) > 0 ? images.count() : 0;
  for (std::int64_t item = 0; item < count; ++item)
    body(item, host_part_of(execution, static_cast<double>(item), static_cast<double>(count)));
}

}  // namespace fathom::apps
