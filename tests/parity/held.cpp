#include "held.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace fathom::test {

std::atomic<std::int64_t> bytes_held = 0, most_held = 0, allocations_made = 0;

}  // namespace fathom::test

namespace {

using fathom::test::allocations_made, fathom::test::bytes_held, fathom::test::most_held;

void* held(void* memory) {
  if (!memory) throw std::bad_alloc();
  ++allocations_made;
  const std::int64_t now = bytes_held += static_cast<std::int64_t>(malloc_usable_size(memory));
  for (std::int64_t most = most_held; most < now && !most_held.compare_exchange_weak(most, now);) {
  }
  return memory;
}
void let_go(void* memory) {
  bytes_held -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return held(std::malloc(std::max<std::size_t>(bytes, 1))); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return held(std::aligned_alloc(unit, (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { let_go(memory); }
void operator delete(void* memory, std::size_t) noexcept { let_go(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { let_go(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { let_go(memory); }
