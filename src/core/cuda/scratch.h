// Arrays cut from one block of device memory; run over no memory, it counts the bytes that are needed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::cuda {

class Scratch {
 public:
  /// @param base  aligned to 256, or null to count only
  explicit Scratch(std::byte* base) : base_(base) {}

  /// An array of `count` elements, aligned to 256.
  template <class T>
  T* take(std::int64_t count) {
    const std::size_t at = bytes_;
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return base_ ? reinterpret_cast<T*>(base_ + at) : nullptr;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  std::size_t bytes_ = 0;
};

}  // namespace fathom::cuda
