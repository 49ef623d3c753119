// A dense host array that owns its memory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "fathom/core/view.h"

namespace fathom {

/// Dense, row-major, aligned to 64 bytes, uninitialised when made. Movable, not copyable.
class Array {
 public:
  Array() = default;
  /// @throws InvalidArgument a negative or uncountable shape
  /// @throws std::bad_alloc the machine has not enough memory
  Array(DType dtype, const Shape& shape);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return element_count(shape_); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(dtype_); }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }

  AnyView view() { return {data_.get(), dtype_, shape_}; }
  AnyConstView view() const { return {data_.get(), dtype_, shape_}; }

  template <class T>
  HostView<T> as() {
    return view().as<T>();
  }
  template <class T>
  HostView<const T> as() const {
    return view().as<T>();
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  DType dtype_ = DType::uint8;
  Shape shape_{0};
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace fathom
