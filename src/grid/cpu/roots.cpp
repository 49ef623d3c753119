#include "grid/cpu/roots.h"

#include "grid/cpu/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grid/cpu/roots.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "grid/cpu/column_pass.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {

// Plain loops: the compiler turns them into the vectors of each instruction set.
void roots_of_i32(const std::int32_t* squared, int count, float* out) {
  constexpr std::int32_t kExactInFloat = 1 << 24;
  std::int32_t largest = 0;
  for (int i = 0; i < count; ++i) largest = squared[i] > largest ? squared[i] : largest;
  if (largest < kExactInFloat) {
    for (int i = 0; i < count; ++i) out[i] = std::sqrt(static_cast<float>(squared[i]));
  } else {
    for (int i = 0; i < count; ++i) {
      const auto root = static_cast<float>(std::sqrt(static_cast<double>(squared[i])));
      out[i] = squared[i] >= no_value<std::int32_t>() ? __builtin_inff() : root;
    }
  }
}

void roots_of_f64(const double* squared, int count, float* out) {
  for (int i = 0; i < count; ++i) out[i] = static_cast<float>(std::sqrt(squared[i]));
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fathom::grid::cpu {

void roots(const std::int32_t* squared, int count, float* out, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, roots_of_i32)(squared, count, out);
}
void roots(const double* squared, int count, float* out, InstructionSet set) {
  FATHOM_COMPILED_FOR(set, roots_of_f64)(squared, count, out);
}

}  // namespace fathom::grid::cpu
#endif
