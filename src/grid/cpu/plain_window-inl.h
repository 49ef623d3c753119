// Squared distances along a row where the nearest site is known to be near:
//   out[x] = min over k of min(s[x−k], s[x+k]) + k²,
// for k = 0, 1, … until no larger k can lower any element of a group of vectors. 16 bits with saturation: exact, since
// every result is at most kWindowReach².
//
// Source: the definition; the early stop is Fathom's. Cost per element: the largest distance in its group.
#if defined(FATHOM_GRID_CPU_PLAIN_WINDOW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_WINDOW_INL_H
#undef FATHOM_GRID_CPU_PLAIN_WINDOW_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_WINDOW_INL_H
#endif

#include "grid/cpu/plain_lanes-inl.h"
#include "grid/cpu/plain_tuning.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

/// Elements that a window may read past either end of what it computes.
inline constexpr int kWindowPad = (kWindowReach + 2 + 31) / 32 * 32;

HWY_INLINE V16 largest_of_group(const V16* v) { return hn::Max(hn::Max(v[0], v[1]), hn::Max(v[2], v[3])); }

/// The widest steps needed: a group is done when its largest element cannot be lowered by an element k away.
HWY_INLINE bool window_done(const V16* group, int k, int least) {
  const int bound = k * k + least;
  if (bound >= 0xFFFF) return true;
  return !any_above(D16(), largest_of_group(group), hn::Set(D16(), static_cast<std::uint16_t>(bound)));
}

/// Widens group i, whose centre is at centre + i·pitch, by elements k·step away.
HWY_INLINE void widen(V16* group, const std::uint16_t* centre, std::int64_t pitch, std::int64_t step, int k) {
  const D16 d;
  const V16 square = hn::Set(d, static_cast<std::uint16_t>(k * k));
  for (int i = 0; i < kGroup; ++i) {
    const std::uint16_t* p = centre + i * pitch;
    const V16 nearer = hn::Min(hn::LoadU(d, p - k * step), hn::LoadU(d, p + k * step));
    group[i] = hn::Min(group[i], add_far(nearer, square));
  }
}

/// kGroup vectors of results.
/// @param centre  squares under the first; vector i lies i·pitch further
/// @param step    from an element to its neighbour: 1 along a row, the pitch between vectors along a strip
/// @param reach   no result depends on an element farther away, ≤ kWindowReach
/// @param least   no element is smaller
HWY_INLINE void window(const std::uint16_t* centre, std::int64_t pitch, std::int64_t step, int reach, int least,
                       V16* group) {
  for (int i = 0; i < kGroup; ++i) group[i] = hn::LoadU(D16(), centre + i * pitch);
  int k = 1;
  for (; k <= 3; ++k) {
    if (k > reach || window_done(group, k, least)) return;
    widen(group, centre, pitch, step, k);
  }
  for (; k <= reach && !window_done(group, k, least); k += 2) {  // asking is as dear as half a step
    widen(group, centre, pitch, step, k);
    widen(group, centre, pitch, step, k + 1);
  }
}

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
