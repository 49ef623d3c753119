// One loop, compiled once per instruction set with Highway, chosen per call by the caller's InstructionSet – not by
// Highway's own table, which is global to the process and so cannot serve two callers or a test that forces a set.
//
// A file of vector loops looks like this:
//
//   #include "core/dispatch.h"                         // before any Highway header: it says which targets to compile
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "grid/cpu/example.cpp"  // the file itself, which is read once per target
//   #include <hwy/foreach_target.h>
//   #include <hwy/highway.h>
//
//   HWY_BEFORE_NAMESPACE();
//   namespace fathom::grid::cpu::HWY_NAMESPACE {
//   namespace hn = hwy::HWY_NAMESPACE;
//   void example(const Problem& problem) { ... }          // free function, not overloaded, not a template
//   }
//   HWY_AFTER_NAMESPACE();
//
//   #if HWY_ONCE
//   namespace fathom::grid::cpu {
//   void example(const Problem& problem, InstructionSet set) { FATHOM_COMPILED_FOR(set, example)(problem); }
//   }
//   #endif
//
// Lanes() is 1 in the baseline of x86-64 with an old Highway or compiler (HWY_SCALAR, which lacks the operations
// between lanes), else at least 16 bytes' worth. Headers with such loops use the guard that Highway documents for
// -inl.h files: #if defined(FATHOM_..._INL_H) == defined(HWY_TARGET_TOGGLE).
#pragma once

// Named in the public enum are the platform's baseline, AVX2 and AVX-512; more would only cost compile time.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#include <hwy/detect_targets.h>

#include "fathom/core/execution.h"

// Newer targets, for the sake of an older Highway.
#ifndef HWY_AVX3_ZEN4
#define HWY_AVX3_ZEN4 0
#endif
#ifndef HWY_AVX3_SPR
#define HWY_AVX3_SPR 0
#endif

// A compiler told to assume a better machine compiles no copy below that: its own baseline stands in.
#if HWY_TARGETS & HWY_AVX2
#define FATHOM_COMPILED_FOR_AVX2(function) N_AVX2::function
#else
#define FATHOM_COMPILED_FOR_AVX2(function) HWY_STATIC_DISPATCH(function)
#endif
#if HWY_TARGETS & HWY_AVX3
#define FATHOM_COMPILED_FOR_AVX512(function) N_AVX3::function
#else
#define FATHOM_COMPILED_FOR_AVX512(function) HWY_STATIC_DISPATCH(function)
#endif

/// Pointer to the copy of `function` for a resolved InstructionSet. Use where HWY_ONCE holds, in the namespace that
/// encloses HWY_NAMESPACE.
#define FATHOM_COMPILED_FOR(instruction_set, function)                                                               \
  ::fathom::detail::copy_for((instruction_set), &HWY_STATIC_DISPATCH(function), &FATHOM_COMPILED_FOR_AVX2(function), \
                             &FATHOM_COMPILED_FOR_AVX512(function))

namespace fathom::detail {

template <class Function>
constexpr Function* copy_for(InstructionSet set, Function* baseline, Function* avx2, Function* avx512) {
  switch (set) {
    case InstructionSet::avx512: return avx512;
    case InstructionSet::avx2: return avx2;
    default: return baseline;
  }
}

}  // namespace fathom::detail
