// Carves arrays out of one block of memory; without a block it only counts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::grid::cpu::plain {

class Arena {
 public:
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

inline constexpr std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// A row length of at least n 16-bit elements, a multiple of 64 bytes but not of 4096, which would put all rows into
/// the same few lines of the cache.
inline constexpr std::int64_t row_pitch(std::int64_t n) {
  const std::int64_t pitch = round_up(n, 32);
  return pitch % 2048 == 0 ? pitch + 32 : pitch;
}

}  // namespace fathom::grid::cpu::plain
