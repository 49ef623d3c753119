// Values of the first pass: from the distance along the slow axis, 16 bits a column. Where sites are asked for, these
// are twice the distance, plus 1 if the site lies below, so that the lesser of two is that of the nearer site, or of
// the upper one.
#if defined(FATHOM_GRID_CPU_PLAIN_FIRST_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_FIRST_INL_H
#undef FATHOM_GRID_CPU_PLAIN_FIRST_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_FIRST_INL_H
#endif

#include <algorithm>

#include "grid/cpu/plain_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

/// before + after ≥ 2·here; "none" counts as far away and is convex only among its like.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE auto convex(D d, hn::Vec<D> before, hn::Vec<D> here, hn::Vec<D> after) {
  if constexpr (sizeof(T) == 2) {
    const auto rise = less_equal(hn::SaturatedSub(here, before), hn::SaturatedSub(after, here));
    const auto fall = less_equal(hn::SaturatedSub(here, after), hn::SaturatedSub(before, here));
    return hn::And(rise, fall);
  } else {
    const hn::Vec<D> far = hn::Set(d, kNone<T> / 2);  // leaves room for the sum
    const hn::Vec<D> middle = hn::Min(here, far);
    return less_equal(hn::Add(middle, middle), hn::Add(hn::Min(before, far), hn::Min(after, far)));
  }
}

template <class Form>
class FirstPass {
 public:
  static constexpr std::uint16_t kAbsent = Form::kKeys ? 0xFFFF : kNoSite16;  ///< this or more: no site

  FirstPass() = default;
  /// @param reach  larger distances count as none; what the layout holds at most
  FirstPass(const Layout& layout, int multiple, int reach)
      : layout_(layout), multiple_(multiple), limit_(within(reach)) {}

  /// From the distances to the last site above and the first one below.
  static HWY_INLINE V16 nearer(V16 above, V16 below) {
    if constexpr (!Form::kKeys) return hn::Min(above, below);
    const V16 twice = hn::SaturatedAdd(below, below);
    return hn::Min(hn::SaturatedAdd(above, above), hn::SaturatedAdd(twice, hn::Set(D16(), 1)));
  }
  template <class V>
  static HWY_INLINE V distance(V nearer) {
    if constexpr (Form::kKeys) return hn::ShiftRight<1>(nearer);
    else return nearer;
  }
  static std::uint16_t distance(std::uint16_t nearer) { return Form::kKeys ? nearer / 2 : nearer; }

  /// Largest 16 bits that are within `reach`.
  std::uint16_t within(int reach) const {
    const int steps = reach / multiple_;
    return static_cast<std::uint16_t>(std::min<int>(Form::kKeys ? 2 * steps + 1 : steps, kAbsent - 1));
  }
  std::uint16_t limit() const { return limit_; }

  /// The value of a column, not saturated; infinitely far without a site.
  std::int64_t value(std::uint16_t nearer) const {
    if (nearer >= kAbsent) return static_cast<std::int64_t>(kNone<double>);
    const std::int64_t units = static_cast<std::int64_t>(distance(nearer)) * multiple_;
    const std::int64_t offset = nearer % 2 == 1 ? distance(nearer) : -std::int64_t{distance(nearer)};
    return layout_.of_square(units * units) + (Form::kKeys ? offset * (1 << layout_.slow) + layout_.bias() : 0);
  }

  /// Squared distances of columns with sites, and what else stands in their keys, of 32 bits each in any layout.
  struct Parts {
    V32 squared, rest;
  };
  HWY_INLINE Parts parts(hn::Vec<D16Half> nearer) const {
    const D32 d;
    const V32 wide = hn::PromoteTo(d, nearer), steps = distance(wide);
    const V32 offset = hn::ShiftLeftSame(signed_by_side(d, steps, wide), layout_.slow);
    const V32 weight = hn::Set(d, static_cast<std::uint32_t>(multiple_ * multiple_));
    return {hn::Mul(hn::Mul(steps, steps), weight),
            hn::Add(offset, hn::Set(d, static_cast<std::uint32_t>(layout_.bias())))};
  }

  /// The values of columns.
  template <class D>
  HWY_INLINE hn::Vec<D> values(D d, hn::Vec<hn::Rebind<std::uint16_t, D>> nearer) const {
    using T = hn::TFromD<D>;
    if constexpr (sizeof(T) == 2) {
      return hn::IfThenElse(less_equal(nearer, hn::Set(d, limit_)), sum(d, nearer), hn::Set(d, kNone<T>));
    } else if constexpr (sizeof(T) == 4) {
      const auto wide = hn::PromoteTo(d, nearer);
      return hn::IfThenElse(less_equal(wide, hn::Set(d, limit_)), sum(d, wide), hn::Set(d, kNone<T>));
    } else {
      // Offsets fit 32 bits, squares do not.
      const hn::Rebind<std::int32_t, D> half;
      const auto wide = hn::PromoteTo(half, nearer);
      const auto steps = hn::PromoteTo(d, hn::ShiftRight<1>(wide));
      const auto offset = hn::PromoteTo(d, signed_by_side(half, hn::ShiftRight<1>(wide), wide));
      const auto square = hn::Mul(hn::Mul(steps, steps), hn::Set(d, static_cast<double>(squared_step())));
      const auto rest = hn::MulAdd(offset, hn::Set(d, static_cast<double>(1 << layout_.slow)),
                                   hn::Set(d, static_cast<double>(layout_.bias())));
      const auto none = hn::Gt(hn::PromoteTo(d, wide), hn::Set(d, limit_));
      return hn::IfThenElse(none, hn::Set(d, kNone<T>), hn::Add(square, rest));
    }
  }

 private:
  std::int64_t squared_step() const { return layout_.of_square(std::int64_t{multiple_} * multiple_); }

  template <class D, class V>
  static HWY_INLINE V signed_by_side(D d, V steps, V nearer) {
    const V above = hn::Sub(hn::And(nearer, hn::Set(d, 1)), hn::Set(d, 1));  // all bits, or none
    return hn::Sub(hn::Xor(steps, above), above);
  }
  template <class D, class V>
  HWY_INLINE V sum(D d, V nearer) const {
    using T = hn::TFromD<D>;
    const V steps = distance(nearer);
    const V square = hn::Mul(hn::Mul(steps, steps), hn::Set(d, static_cast<T>(squared_step())));
    if constexpr (!Form::kKeys) return square;
    const V offset = hn::ShiftLeftSame(signed_by_side(d, steps, nearer), layout_.slow);
    return hn::Add(square, hn::Add(offset, hn::Set(d, static_cast<T>(layout_.bias()))));
  }

  Layout layout_;
  int multiple_ = 1;
  std::uint16_t limit_ = 0;
};

/// The same where values are real.
template <>
class FirstPass<OfReals> {
 public:
  static constexpr std::uint16_t kAbsent = kNoSite16;

  FirstPass() = default;
  explicit FirstPass(const RealAxis& axis) : axis_(axis) {}

  static HWY_INLINE V16 nearer(V16 above, V16 below) { return hn::Min(above, below); }
  template <class V>
  static V distance(V nearer) {
    return nearer;
  }

  std::uint16_t within(int reach) const {
    return static_cast<std::uint16_t>(std::min<double>(axis_.steps(reach), kAbsent - 1));
  }
  std::uint16_t limit() const { return kAbsent - 1; }
  double value(std::uint16_t nearer) const {
    return nearer >= kAbsent ? kNone<double> : axis_.weight * (static_cast<double>(nearer) * nearer);
  }
  HWY_INLINE VDouble values(DDouble d, hn::Vec<hn::Rebind<std::uint16_t, DDouble>> nearer) const {
    const VDouble steps = hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, DDouble>(), nearer));
    const VDouble squared = hn::Mul(hn::Set(d, axis_.weight), hn::Mul(steps, steps));
    return hn::IfThenElse(hn::Ge(steps, hn::Set(d, kAbsent)), hn::Set(d, kNone<double>), squared);
  }

 private:
  RealAxis axis_;
};

/// 16 bits in 8, saturated.
HWY_INLINE hn::Vec<D8Half> at_most(std::uint16_t most, V16 values) {
  const V16 saturated = hn::Min(values, hn::Set(D16(), most));
  return hn::DemoteTo(D8Half(), hn::BitCast(hn::RebindToSigned<D16>(), saturated));
}
/// Squares of 16 bits in 8.
HWY_INLINE hn::Vec<D8Half> tiny_squares(V16 squares) { return at_most(0xFF, squares); }

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
