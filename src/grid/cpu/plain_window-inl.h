// Squared distances along a row where the nearest site is known to be near:
//   out[x] = min over k of min(s[x−k], s[x+k]) + k²,
// for k = 0, 1, … until no larger k can lower any element of a group of vectors. 16 bits with saturation: exact, since
// every result is at most kWindowReach²; 8 bits likewise up to kTinyReach².
//
// Source: the definition; the early stop is Fathom's. Cost per element: the largest distance in its group.
#if defined(FATHOM_GRID_CPU_PLAIN_WINDOW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_WINDOW_INL_H
#undef FATHOM_GRID_CPU_PLAIN_WINDOW_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_WINDOW_INL_H
#endif

#include <algorithm>

#include "grid/cpu/plain_lanes-inl.h"
#include "grid/cpu/plain_tuning.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

/// Elements that a window may read past either end of what it computes.
inline constexpr int kWindowPad = (kWindowReach + 2 + 31) / 32 * 32;

/// The widest steps needed: a group is done when its largest element cannot be lowered by an element k away.
template <class D, class V, int n>
HWY_INLINE bool window_done(D d, const V (&group)[n], int k, int least) {
  using T = hn::TFromD<D>;
  const int bound = k * k + least;
  if (bound >= kNone<T>) return true;
  return !any_above(d, largest_of_group(group), hn::Set(d, static_cast<T>(bound)));
}

/// Widens vector i of a group, whose centre is at centre + i·pitch, by elements k·step away.
template <class D, class V, int n, class T = hn::TFromD<D>>
HWY_INLINE void widen(D d, V (&group)[n], const T* centre, std::int64_t pitch, std::int64_t step, int k) {
  const V square = hn::Set(d, static_cast<T>(std::min<int>(k * k, kNone<T>)));
  for (int i = 0; i < n; ++i) {
    const T* p = centre + i * pitch;
    const V nearer = hn::Min(hn::LoadU(d, p - k * step), hn::LoadU(d, p + k * step));
    group[i] = hn::Min(group[i], add_far(nearer, square));
  }
}

/// A group of vectors of results.
/// @param centre  squares under the first; vector i lies i·pitch further
/// @param step    from an element to its neighbour: 1 along a row, the pitch between vectors along a strip
/// @param reach   no result depends on an element farther away, ≤ kWindowReach, in 8 bits ≤ kTinyReach
/// @param least   no element is smaller
/// @param steps   that the group before took, as far as is known, 0 before the first; becomes those of this one
template <class D, class V, int n, class T = hn::TFromD<D>>
HWY_INLINE void window(D d, const T* centre, std::int64_t pitch, std::int64_t step, int reach, int least, int& steps,
                       V (&group)[n]) {
  for (int i = 0; i < n; ++i) group[i] = hn::LoadU(d, centre + i * pitch);
  int k = 1;
  for (; k < steps && k <= reach; ++k) widen(d, group, centre, pitch, step, k);  // rarely done much earlier
  const int unasked = k;
  while (k <= reach && !window_done(d, group, k, least)) {
    widen(d, group, centre, pitch, step, k++);
    if (k > 4) widen(d, group, centre, pitch, step, k++);  // asking is as dear as half a step
  }
  steps = k == unasked ? k / 2 : k - 1;  // done when asked first: perhaps long before
}

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
