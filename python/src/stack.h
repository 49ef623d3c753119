// An array seen as a stack of images: its trailing axes are those of one image, the leading ones count images.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fathom/core/view.h"

namespace fathom::python {

/// @tparam ViewType  AnyView or AnyConstView
template <class ViewType>
class Stack {
 public:
  Stack() = default;  // not given: every image is a default view
  /// @param axes     extents and strides in elements, slowest axis first; any number of them
  /// @param leading  how many of them count images
  Stack(decltype(ViewType().data()) data, DType dtype, std::span<const std::int64_t> shape,
        std::span<const std::int64_t> strides, std::size_t leading)
      : counts_(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(leading)),
        steps_(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(leading)),
        first_(data, dtype, Shape(shape.subspan(leading)), Strides(strides.subspan(leading))) {}

  /// The image at a row-major position among the leading axes.
  ViewType operator[](std::int64_t position) const {
    if (!first_.present() || counts_.empty()) return first_;
    std::int64_t offset = 0;
    for (std::size_t k = counts_.size(); k-- > 0; position /= counts_[k]) offset += position % counts_[k] * steps_[k];
    return {first_.data() + offset * static_cast<std::int64_t>(size_of(first_.dtype())), first_.dtype(), first_.shape(),
            first_.strides()};
  }

  /// The first image; looks at shapes alone, so that a stack without images has one, too.
  const ViewType& first() const { return first_; }

  std::int64_t size() const {
    std::int64_t product = 1;
    for (const std::int64_t n : counts_) product *= n;
    return product;
  }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::int64_t> steps_;
  ViewType first_;
};

}  // namespace fathom::python
