// Views of arrays that somebody else owns, mdspan-like: row-major, int64 extents, last axis contiguous, the memory
// space in the type, so that handing a device pointer to a host function does not compile.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "fathom/core/dtype.h"
#include "fathom/core/shape.h"

namespace fathom {

enum class MemorySpace { host, device };

namespace detail {
/// @throws InvalidArgument ranks differ | the last stride is not 1 | a negative extent
void check_layout(const Shape& shape, const Strides& strides);
}  // namespace detail

/// View of elements of type T. Strides are in elements; outer axes may be padded (or reversed), the last one is
/// contiguous.
template <class T, MemorySpace Space = MemorySpace::host>
class View {
 public:
  View() = default;
  View(T* data, Shape shape) : data_(data), shape_(shape), strides_(dense_strides(shape)) {}
  View(T* data, Shape shape, Strides strides) : data_(data), shape_(shape), strides_(strides) {
    detail::check_layout(shape, strides);
  }

  T* data() const { return data_; }
  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }

 private:
  T* data_ = nullptr;
  Shape shape_;
  Strides strides_;
};

template <class T>
using HostView = View<T, MemorySpace::host>;
template <class T>
using DeviceView = View<T, MemorySpace::device>;

/// View whose element type is known at run time only. `Byte` is `std::byte` or `const std::byte`.
template <class Byte, MemorySpace Space>
class BasicAnyView {
 public:
  BasicAnyView() = default;
  BasicAnyView(Byte* data, DType dtype, Shape shape, Strides strides)
      : data_(data), dtype_(dtype), shape_(shape), strides_(strides), present_(true) {
    detail::check_layout(shape, strides);
  }
  BasicAnyView(Byte* data, DType dtype, Shape shape)
      : BasicAnyView(data, dtype, shape, dense_strides(shape)) {}

  template <class T>
    requires(std::is_const_v<Byte> || !std::is_const_v<T>)
  BasicAnyView(const View<T, Space>& view)  // NOLINT: a typed view is a view
      : data_(reinterpret_cast<Byte*>(view.data())),
        dtype_(dtype_of<T>()),
        shape_(view.shape()),
        strides_(view.strides()),
        present_(true) {}

  template <class Other>
    requires(std::is_const_v<Byte> && !std::is_const_v<Other>)
  BasicAnyView(const BasicAnyView<Other, Space>& view)  // NOLINT: mutable to const
      : data_(view.data()),
        dtype_(view.dtype()),
        shape_(view.shape()),
        strides_(view.strides()),
        present_(view.present()) {}

  /// False for a default-constructed view: "not given".
  bool present() const { return present_; }
  Byte* data() const { return data_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  int rank() const { return shape_.rank(); }

  /// The same memory as T, which must be the type of the elements.
  template <class T>
  auto as() const {
    using U = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    if (dtype_ != dtype_of<T>()) throw InternalError("an array was read as another type than it has");
    return View<U, Space>(reinterpret_cast<U*>(data_), shape_, strides_);
  }

 private:
  Byte* data_ = nullptr;
  DType dtype_ = DType::uint8;
  Shape shape_;
  Strides strides_;
  bool present_ = false;
};

using AnyView = BasicAnyView<std::byte, MemorySpace::host>;
using AnyConstView = BasicAnyView<const std::byte, MemorySpace::host>;
using AnyDeviceView = BasicAnyView<std::byte, MemorySpace::device>;
using AnyConstDeviceView = BasicAnyView<const std::byte, MemorySpace::device>;

}  // namespace fathom
