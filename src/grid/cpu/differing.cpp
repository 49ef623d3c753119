#include "grid/cpu/differing.h"

#include "core/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/differing.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {

// A plain loop: the compiler makes it vectors of each instruction set.
template <class T>
HWY_NOINLINE void compare(const std::byte* first, const std::byte* second, std::int64_t count,
                          std::uint8_t* __restrict flags) {
  const T* __restrict a = reinterpret_cast<const T*>(first);
  const T* __restrict b = reinterpret_cast<const T*>(second);
  for (std::int64_t i = 0; i < count; ++i) flags[i] = a[i] != b[i] ? 1 : 0;
}

void differing(DType dtype, const std::byte* a, const std::byte* b, std::int64_t count, std::uint8_t* flags) {
  if (dtype == DType::float32) return compare<float>(a, b, count, flags);
  if (dtype == DType::float64) return compare<double>(a, b, count, flags);
  switch (size_of(dtype)) {
    case 1: return compare<std::uint8_t>(a, b, count, flags);
    case 2: return compare<std::uint16_t>(a, b, count, flags);
    case 4: return compare<std::uint32_t>(a, b, count, flags);
    default: return compare<std::uint64_t>(a, b, count, flags);
  }
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void flag_differing(DType dtype, const std::byte* a, const std::byte* b, std::int64_t count, std::uint8_t* flags,
                    InstructionSet set) {
  FATHOM_COMPILED_FOR(set, differing)(dtype, a, b, count, flags);
}

}  // namespace fathom::grid::cpu
#endif
