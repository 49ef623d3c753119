// From double to float lanes, with infinity where the type ends.
#if defined(FATHOM_GRID_CPU_TO_FLOAT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_TO_FLOAT_INL_H
#undef FATHOM_GRID_CPU_TO_FLOAT_INL_H
#else
#define FATHOM_GRID_CPU_TO_FLOAT_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Each lane rounded to float, as the language does it. Where Highway emulates vectors, its own conversion ends at the
/// largest float instead.
template <class D, class DNarrow = hn::Rebind<float, D>>
HWY_INLINE hn::Vec<DNarrow> to_float(D d, hn::Vec<D> wide) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  alignas(64) double from[hn::MaxLanes(D())];
  alignas(64) float to[hn::MaxLanes(D())];
  hn::Store(wide, d, from);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] = static_cast<float>(from[i]);
  return hn::Load(DNarrow(), to);
#else
  (void)d;
  return hn::DemoteTo(DNarrow(), wide);
#endif
}

}  // namespace fathom::grid::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
