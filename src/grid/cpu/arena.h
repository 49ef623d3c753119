// Carves arrays out of one block of memory; without a block it counts the bytes that are needed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::grid::cpu {

class Arena {
 public:
  /// @param base  aligned to 64, or null to count only
  explicit Arena(std::byte* base) : base_(base) {}

  /// `count` elements, aligned to 64 bytes, uninitialised.
  template <class T>
  T* take(std::int64_t count) {
    std::byte* place = base_ ? base_ + used_ : nullptr;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return reinterpret_cast<T*>(place);
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

}  // namespace fathom::grid::cpu
