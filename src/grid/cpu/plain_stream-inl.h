// Floats past the caches, whatever address they go to.
//
// Streamed stores take aligned vectors and pay for whole lines of the cache. Where results begin inside a vector's
// place, vectors are turned by that much, and each is completed by the next. Parts of vectors at the ends of what is
// written go by ordinary stores. Those are dear, since all later stores wait until their lines are read: so the last
// results are kept as long as the next ones may follow them.
//
// Source: Fathom's. Cost per vector: a permutation and a selection; nothing where results begin at vectors.
#if defined(FATHOM_GRID_CPU_PLAIN_STREAM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_STREAM_INL_H
#undef FATHOM_GRID_CPU_PLAIN_STREAM_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_STREAM_INL_H
#endif

#include <algorithm>
#include <cstdint>

#include "grid/cpu/plain_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

using DFloat = hn::ScalableTag<float>;
using VFloat = hn::Vec<DFloat>;

/// Where results go on from those that were streamed last.
class Seam {
 public:
  /// Streams n vectors of results, vector_at(0) … vector_at(n − 1), to `out`.
  template <int n, class VectorAt>
  HWY_INLINE void stream(float* out, const VectorAt& vector_at) {
    const DFloat d;
    const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(float) % kLanes32);
    if (skew == 0) {
      for (int i = 0; i < n; ++i) hn::Stream(vector_at(i), d, out + i * kLanes32);
      return;
    }
    const hn::RebindToSigned<DFloat> di;
    const auto from = hn::And(hn::Sub(hn::Iota(di, 0), hn::Set(di, skew)), hn::Set(di, kLanes32 - 1));
    const auto turn = hn::IndicesFromVec(d, from);
    const auto begun = hn::FirstN(d, static_cast<std::size_t>(skew));
    const bool goes_on = next_ == out;
    out -= skew;
    VFloat turned = hn::TableLookupLanes(vector_at(0), turn);
    if (HWY_LIKELY(goes_on)) hn::Stream(hn::IfThenElse(begun, hn::Load(d, rest_), turned), d, out);
    else open(turned, out, skew);
    for (int i = 1; i < n; ++i) {
      const VFloat next = hn::TableLookupLanes(vector_at(i), turn);
      hn::Stream(hn::IfThenElse(begun, turned, next), d, out + i * kLanes32);
      turned = next;
    }
    hn::Store(turned, d, rest_);
    next_ = out + n * kLanes32 + skew;
    count_ = skew;
  }

  /// Writes what waits for more.
  HWY_INLINE void close() {
    if (next_) std::copy_n(rest_, count_, next_ - count_);
    next_ = nullptr;
  }

 private:
  /// Writes a vector but for its first `skew` results, which belong to others.
  void open(VFloat vector, float* out, int skew) {
    close();
    hn::Store(vector, DFloat(), rest_);
    std::copy(rest_ + skew, rest_ + kLanes32, out + skew);
  }

  float* next_ = nullptr;             ///< where the next result would go; null: nothing is kept
  int count_ = 0;                     ///< results kept, those before it
  alignas(64) float rest_[kLanes32];  ///< they come first
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
