// Asking for memory before it is needed, where large strides hide it from the hardware.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::grid::cpu {

inline constexpr std::int64_t kRowsAhead = 6;  ///< far enough for memory, near enough to stay in the first cache

/// Always inline: a call that only prefetches has no effect in the compiler's eyes, and goes.
[[gnu::always_inline]] inline void prefetch(const void* row, std::int64_t bytes) {
  constexpr std::int64_t kLine = 64;
  for (std::int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(static_cast<const std::byte*>(row) + i);
}

}  // namespace fathom::grid::cpu
