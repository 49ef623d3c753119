// Values along a line where the nearest site is known to be near:
//   out[x] = min over k of min(s[x−k] + before(k), s[x+k] + after(k)),
// for k = 0, 1, … until no larger k can lower any element of a group of vectors. Where squared distances alone are
// compared, both steps are k² and one addition serves both. 8 and 16 bits saturate: exact below the layout's reach.
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
inline constexpr int kWindowPad = (kWidestWindow + 2 + 31) / 32 * 32;

/// What steps along an axis add, a few at a time. Those of keys differ by side: the least one is `before`.
template <class Form>
struct WindowSteps {
  std::int64_t square = 1;  ///< of one step
  std::int64_t offset = 0;  ///< along the middle axis, by which sites lie behind
  std::int64_t side = 0;    ///< along the fast axis

  std::int64_t before(std::int64_t k) const { return k * k * square - k * offset; }
  std::int64_t after(std::int64_t k) const { return k * k * square + k * offset + side; }
  /// As T; large ones may add up.
  template <class T>
  static T saturated(std::int64_t step) {
    return static_cast<T>(std::min<std::int64_t>(step, sizeof(T) == 4 ? kNone<T> / 2 - 1 : kNone<T>));
  }

  /// What an element's own value says.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V own(D, V value) {
    return value;
  }
  /// Least that is told k elements away of values of which none is below `least`.
  std::int64_t bound(int k, std::int64_t least) const { return before(k) + least; }
  /// What the elements k away say together.
  template <class D>
  HWY_INLINE auto at(D d, int k) const {
    using T = hn::TFromD<D>;
    const auto one_step = hn::Set(d, saturated<T>(before(k))), other_step = hn::Set(d, saturated<T>(after(k)));
    return [=](hn::Vec<D> one, hn::Vec<D> other) FATHOM_INLINED {
      if constexpr (!Form::kKeys) return add_far(hn::Min(one, other), one_step);
      else return hn::Min(add_far(one, one_step), add_far(other, other_step));
    };
  }
};

/// The same where values are real: along the fast axis.
struct RealSteps {
  const double* steps;

  static HWY_INLINE VDouble own(DDouble, VDouble value) { return value; }
  double bound(int k, double least) const { return steps[k] + least; }
  HWY_INLINE auto at(DDouble d, int k) const {
    const VDouble step = hn::Set(d, steps[k]);
    return [=](VDouble one, VDouble other) FATHOM_INLINED { return hn::Add(hn::Min(one, other), step); };
  }
};

/// From distances along the slow axis, at most Ranks::kRows − 1, to ranks.
struct RankSteps {
  const Ranks* ranks;

  int bound(int k, double least) const { return ranks->at[k][static_cast<int>(least)]; }
  HWY_INLINE auto at(D8 d, int k) const {
#if HWY_TARGET == HWY_SCALAR
    const std::uint8_t* const table = ranks->at[k];
    return [=](hn::Vec<D8> one, hn::Vec<D8> other) { return hn::Set(d, table[hn::GetLane(hn::Min(one, other))]); };
#else
    const auto table = hn::LoadDup128(d, ranks->at[k]);
    return [=](hn::Vec<D8> one, hn::Vec<D8> other)
               FATHOM_INLINED { return hn::TableLookupBytes(table, hn::Min(one, other)); };
#endif
  }
  HWY_INLINE hn::Vec<D8> own(D8 d, hn::Vec<D8> rows) const { return at(d, 0)(rows, rows); }
};

/// A group is done when its largest element cannot be lowered by an element k away.
template <class D, class V, int n, class Steps, class Least>
HWY_INLINE bool window_done(D d, const V (&group)[n], const Steps& steps, int k, Least least) {
  using T = hn::TFromD<D>;
  const auto bound = steps.bound(k, least);
  if (bound >= static_cast<decltype(bound)>(kNone<T>)) return true;
  return !any_above(d, largest_of_group(group), hn::Set(d, static_cast<T>(bound)));
}

/// Widens vector i of a group, whose centre is at centre + i·pitch, by elements k·step away.
template <class D, class V, int n, class Steps, class T = hn::TFromD<D>>
HWY_INLINE void widen(D d, V (&group)[n], const T* centre, std::int64_t pitch, std::int64_t step, const Steps& steps,
                      int k) {
  const auto from_both = steps.at(d, k);
  for (int i = 0; i < n; ++i) {
    const T* p = centre + i * pitch;
    group[i] = hn::Min(group[i], from_both(hn::LoadU(d, p - k * step), hn::LoadU(d, p + k * step)));
  }
}

/// A group of vectors of results.
/// @param centre  values under the first; vector i lies i·pitch further
/// @param step    from an element to its neighbour: 1 along a row, the pitch between vectors along a strip
/// @param reach   no result depends on an element farther away, ≤ kWidestWindow
/// @param least   no element is smaller
/// @param asked   steps that the group before took, as far as is known, 0 before the first; becomes those of this one
template <class D, class V, int n, class Steps, class Least, class T = hn::TFromD<D>>
HWY_INLINE void window(D d, const T* centre, std::int64_t pitch, std::int64_t step, const Steps& steps, int reach,
                       Least least, int& asked, V (&group)[n]) {
  for (int i = 0; i < n; ++i) group[i] = steps.own(d, hn::LoadU(d, centre + i * pitch));
  int k = 1;
  for (; k < asked && k <= reach; ++k) widen(d, group, centre, pitch, step, steps, k);  // rarely done much earlier
  const int unasked = k;
  while (k <= reach && !window_done(d, group, steps, k, least)) {
    widen(d, group, centre, pitch, step, steps, k++);
    if (k > 4) widen(d, group, centre, pitch, step, steps, k++);  // asking is as dear as half a step
  }
  asked = k == unasked ? k / 2 : k - 1;  // done when asked first: perhaps long before
}

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
