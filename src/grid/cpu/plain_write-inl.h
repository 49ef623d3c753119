// From squared distances in registers to rows of the outputs: limit, root, unit, type.
#if defined(FATHOM_GRID_CPU_PLAIN_WRITE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_WRITE_INL_H
#undef FATHOM_GRID_CPU_PLAIN_WRITE_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_WRITE_INL_H
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "grid/cpu/plain_stream-inl.h"
#include "grid/cpu/plain_tuning.h"
#include "grid/cpu/prefetch.h"
#include "grid/cpu/to_float-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

/// Whether streaming gains more than the ends of rows cost, where stores reach into streamed lines. Rows of volumes go
/// on in each other's lines if all begin at the same place in one. Images ask for the lines at the ends beforehand,
/// which suffices if vectors are whole lines.
inline bool pays_for_ends(const Frame& frame, const Target& out) {
  constexpr std::uintptr_t kLine = 64;
  const bool image = frame.middle.end - frame.middle.begin == 1;
  const auto places = static_cast<std::uintptr_t>(out.slow_stride | out.middle_stride) |
                      (image ? reinterpret_cast<std::uintptr_t>(out.data) : 0);
  if (places % kLine == 0) return true;
  return image && (kLanes32 * sizeof(float) == kLine || frame.fast.end - frame.fast.begin >= kStreamRow);
}

/// Writes squared distances to the outputs. Distances as float have a path of their own, unless a unit of isotropic
/// spacing has to be multiplied before they are rounded.
class Writer {
 public:
  /// Where a row of the region goes; null: not asked for.
  struct Row {
    std::byte* distance = nullptr;
    std::byte* squared = nullptr;
  };
  using Seams = Seam;

  explicit Writer(const Frame& frame)
      : frame_(frame),
        clips_narrow_(frame.limited || frame.reach <= frame.narrow.reach),
        fast_(frame.distance.data && frame.distance.dtype == DType::float32 && !frame.squared.data &&
              (frame.unit == 1 || frame.scaled)),
        squares_(frame.squared.data && frame.squared.dtype == DType::uint32 && !frame.distance.data),
        exact_(fast_ && !frame.limited && frame.limit < kExactInFloat),
        stream_(fast_ && frame.stream && reinterpret_cast<std::uintptr_t>(frame.distance.data) % sizeof(float) == 0 &&
                pays_for_ends(frame, frame.distance)) {}

  Row row(std::int64_t slow, std::int64_t middle) const {
    return {frame_.distance.data ? frame_.distance.row(slow, middle) : nullptr,
            frame_.squared.data ? frame_.squared.row(slow, middle) : nullptr};
  }

  /// The first `count` of a group of squared distances. Saturated ones of 8 or 16 bits were computed because a site is
  /// near: none is past the limit, unless the caller set one, or all of the box is near.
  template <class D, class V, int n>
  HWY_INLINE void write(D d, const Row& row, std::int64_t x, const V (&squared)[n], std::int64_t count,
                        Seam& seam) const {
    if constexpr (sizeof(hn::TFromD<D>) == 4) {
      for (int i = 0; i < n && i * kLanes32 < count; ++i)
        write(row, x + i * kLanes32, squared[i], count - i * kLanes32, seam);
    } else {
      write_narrow_group(d, row, x, squared, count, seam);
    }
  }
  template <class D, class V, int n>
  HWY_INLINE void write_narrow_group(D d, const Row& row, std::int64_t x, const V (&squared)[n], std::int64_t count,
                                     Seam& seam) const {
    alignas(64) hn::TFromD<D> spill[kGroup * kLanes16];
    if (n * kLanes<D> < kGroup * kLanes16) std::fill_n(spill, kGroup * kLanes16, hn::TFromD<D>{0});
    for (int i = 0; i < n; ++i) hn::Store(squared[i], d, spill + i * kLanes<D>);
    const bool small = !any_above(d, largest_of_group(squared), hn::Set(d, kLanes32 - 1));
    if (small && fast_ && HWY_LIKELY(count >= kGroup * kLanes16)) write_small(row, x, spill, seam);
    else write(row, x, spill, count, seam);
  }

  /// The same from memory, aligned to a vector.
  template <class T>
  HWY_INLINE void write(const Row& row, std::int64_t x, const T* squared, std::int64_t count, Seam& seam) const {
    if (HWY_UNLIKELY(!fast_)) return write_narrow(row, x, squared, count);
    float* out = reinterpret_cast<float*>(row.distance) + x;
    const auto root = [&](int i) { return narrow_root(squared + i * kLanes32); };
    if (HWY_LIKELY(count >= kGroup * kLanes16)) return store_all<kGroup * kLanes16 / kLanes32>(root, out, seam);
    int i = 0;
    for (; (i + 1) * kLanes32 <= count; ++i) store(root(i), out + i * kLanes32, seam);
    if (i * kLanes32 < count) store_some(root(i), out + i * kLanes32, count - i * kLanes32);
  }

  HWY_INLINE void write(const Row& row, std::int64_t x, const std::uint32_t* squared, std::int64_t count,
                        Seam& seam) const {
    write(row, x, hn::Load(D32(), squared), count, seam);
  }

  /// The first `count` of one vector of 32-bit squared distances.
  HWY_INLINE void write(const Row& row, std::int64_t x, V32 squared, std::int64_t count, Seam& seam) const {
    if (HWY_UNLIKELY(!fast_)) return write_any(row, x, squared, count);
    float* out = reinterpret_cast<float*>(row.distance) + x;
    if (HWY_LIKELY(count >= kLanes32)) store(wide_root(squared), out, seam);
    else store_some(wide_root(squared), out, count);
  }

  /// The same of squares that are distances to sites.
  HWY_INLINE void write_found(const Row& row, std::int64_t x, V32 squared, std::int64_t count, Seam& seam) const {
    if (HWY_UNLIKELY(!exact_ || count < kLanes32)) return write(row, x, squared, count, seam);
    store(exact_root(squared), reinterpret_cast<float*>(row.distance) + x, seam);
  }

  /// Asks for the lines that groups after x go to: where results take little work, stores would wait for them.
  HWY_INLINE void ask_ahead(const Row& row, std::int64_t x) const {
    constexpr std::int64_t kResults = kGroup * kLanes16;
    if (!fast_ || stream_) return;
    prefetch(reinterpret_cast<const float*>(row.distance) + x + kGroupsAhead * kResults, kResults * sizeof(float));
  }

  /// Asks for the lines of the cache in which streamed results [begin, end) of a row will begin and end.
  HWY_INLINE void ask_for_ends(const Row& row, std::int64_t begin, std::int64_t end) const {
    if (!stream_) return;
    prefetch(row.distance + begin * static_cast<std::int64_t>(sizeof(float)), 1);
    prefetch(row.distance + end * static_cast<std::int64_t>(sizeof(float)) - 1, 1);
  }

  /// Makes streamed stores visible to other threads.
  void finish() const {
    if (stream_) hwy::FlushStream();
  }

 private:
  static constexpr std::uint32_t kExactInFloat = 1u << 24;

  /// A whole group of squares so small that one vector holds all their roots, which saves reckoning them.
  template <class T>
  HWY_INLINE void write_small(const Row& row, std::int64_t x, const T* squared, Seam& seam) const {
    const DFloat d;
    const VFloat roots = in_units(hn::Sqrt(hn::Iota(d, 0)));
    const auto root_at = [&](int i) {
      const V32 wide = hn::PromoteTo(D32(), hn::Load(hn::Rebind<T, D32>(), squared + i * kLanes32));
      const auto place = hn::IndicesFromVec(d, hn::BitCast(hn::RebindToSigned<D32>(), wide));
      const VFloat root = hn::TableLookupLanes(roots, place);
      return HWY_LIKELY(!clips_narrow_) ? root : clip(wide, root);
    };
    store_all<kGroup * kLanes16 / kLanes32>(root_at, reinterpret_cast<float*>(row.distance) + x, seam);
  }

  /// vector_at(0) … vector_at(n − 1).
  template <int n, class VectorAt>
  HWY_INLINE void store_all(const VectorAt& vector_at, float* out, Seam& seam) const {
    if (stream_) return seam.stream<n>(out, vector_at);
    for (int i = 0; i < n; ++i) hn::StoreU(vector_at(i), DFloat(), out + i * kLanes32);
  }
  HWY_INLINE void store(VFloat vector, float* out, Seam& seam) const {
    store_all<1>([&](int) { return vector; }, out, seam);
  }
  static HWY_INLINE void store_some(VFloat v, float* out, std::int64_t count) {
    alignas(64) float spill[kLanes32];
    hn::Store(v, DFloat(), spill);
    std::memcpy(out, spill, static_cast<std::size_t>(count) * sizeof(float));
  }

  /// The root where the square is within the limit, else infinity.
  HWY_INLINE VFloat clip(V32 squared, VFloat root) const {
    const DFloat d;
    const auto kept = hn::RebindMask(d, less_equal(squared, hn::Set(D32(), frame_.limit)));
    return hn::IfThenElse(kept, root, hn::Set(d, std::numeric_limits<float>::infinity()));
  }
  HWY_INLINE VFloat in_units(VFloat root) const { return hn::Mul(root, hn::Set(DFloat(), scale_)); }
  HWY_INLINE VFloat exact_root(V32 squared) const {
    return in_units(hn::Sqrt(hn::ConvertTo(DFloat(), hn::BitCast(hn::RebindToSigned<D32>(), squared))));
  }

  template <class T>
  HWY_INLINE VFloat narrow_root(const T* squared) const {
    const V32 wide = hn::PromoteTo(D32(), hn::Load(hn::Rebind<T, D32>(), squared));
    const VFloat root = exact_root(wide);
    return HWY_LIKELY(!clips_narrow_) ? root : clip(wide, root);
  }

  /// Float is exact, and so is its root rounded, below 2²⁴; beyond, the root goes through double.
  HWY_INLINE VFloat wide_root(V32 squared) const {
    const auto direct = less_equal(squared, hn::Set(D32(), std::min(frame_.limit, kExactInFloat - 1)));
    if (HWY_LIKELY(hn::AllTrue(D32(), direct))) return exact_root(squared);
    if (hn::AllFalse(D32(), less_equal(squared, hn::Set(D32(), frame_.limit))))
      return hn::Set(DFloat(), std::numeric_limits<float>::infinity());
    return clip(squared, in_units(root_in_double(squared, 1)));
  }

  /// kLanes64 roots in units of the spacing, of squares below 2³¹.
  static HWY_INLINE VDouble roots(const std::uint32_t* squared, double unit) {
    const DDouble d;
    const hn::Rebind<std::int32_t, DDouble> narrow;
    const VDouble value = hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const std::int32_t*>(squared)));
    return hn::Mul(hn::Sqrt(value), hn::Set(d, unit));
  }
  HWY_INLINE VFloat root_in_double(V32 squared, double unit) const {
    const hn::Rebind<float, DDouble> narrow;
    alignas(64) std::uint32_t square[kLanes32];
    alignas(64) float root[kLanes32];
    hn::Store(hn::Min(squared, hn::Set(D32(), frame_.limit)), D32(), square);
    for (int i = 0; i < kLanes32; i += kLanes64)
      hn::StoreU(cpu::HWY_NAMESPACE::to_float(DDouble(), roots(square + i, unit)), narrow, root + i);
    return hn::Load(DFloat(), root);
  }

  template <class T>
  HWY_NOINLINE void write_narrow(const Row& row, std::int64_t x, const T* squared, std::int64_t count) const {
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, kGroup * kLanes16); i += kLanes32)
      write_any(row, x + i, hn::PromoteTo(D32(), hn::Load(hn::Rebind<T, D32>(), squared + i)), count - i);
  }

  /// Any combination of outputs.
  HWY_NOINLINE void write_any(const Row& row, std::int64_t x, V32 squared, std::int64_t count) const {
    if (squares_ && count >= kLanes32) {
      const V32 kept = hn::IfThenElse(less_equal(squared, hn::Set(D32(), frame_.limit)), squared, hn::Set(D32(), ~0u));
      return hn::StoreU(kept, D32(), reinterpret_cast<std::uint32_t*>(row.squared) + x);
    }
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(count, kLanes32));
    if (row.distance && frame_.distance.dtype == DType::float32) {
      alignas(64) float out[kLanes32];
      const VFloat root = frame_.scaled ? in_units(root_in_double(squared, 1)) : root_in_double(squared, frame_.unit);
      hn::Store(clip(squared, root), DFloat(), out);
      copy(row.distance, x, out, n);
    } else if (row.distance) {
      write_double(row.distance, x, squared, n);
    }
    if (row.squared) write_squared(row.squared, x, squared, n);
  }

  void write_double(std::byte* row, std::int64_t x, V32 squared, std::size_t count) const {
    alignas(64) std::uint32_t square[kLanes32];
    alignas(64) double out[kLanes32];
    hn::Store(hn::Min(squared, hn::Set(D32(), frame_.limit)), D32(), square);
    for (int i = 0; i < kLanes32; i += kLanes64) hn::Store(roots(square + i, frame_.unit), DDouble(), out + i);
    hn::Store(squared, D32(), square);
    for (int i = 0; i < kLanes32; ++i)
      if (square[i] > frame_.limit) out[i] = std::numeric_limits<double>::infinity();
    copy(row, x, out, count);
  }

  void write_squared(std::byte* row, std::int64_t x, V32 squared, std::size_t count) const {
    const double unit = frame_.unit * frame_.unit;
    const auto as_is = [](std::uint32_t v) { return v; };
    switch (frame_.squared.dtype) {
      case DType::uint32: return write_squared_as<std::uint32_t>(row, x, squared, count, as_is);
      case DType::uint64: return write_squared_as<std::uint64_t>(row, x, squared, count, as_is);
      default: return write_squared_as<double>(row, x, squared, count, [=](std::uint32_t v) { return v * unit; });
    }
  }
  template <class T, class Convert>
  void write_squared_as(std::byte* row, std::int64_t x, V32 squared, std::size_t count, Convert convert) const {
    using Limits = std::numeric_limits<T>;
    constexpr T kFar = Limits::has_infinity ? Limits::infinity() : Limits::max();
    alignas(64) std::uint32_t square[kLanes32];
    alignas(64) T out[kLanes32];
    hn::Store(squared, D32(), square);
    for (int i = 0; i < kLanes32; ++i) out[i] = square[i] <= frame_.limit ? static_cast<T>(convert(square[i])) : kFar;
    copy(row, x, out, count);
  }

  template <class T>
  static void copy(std::byte* row, std::int64_t x, const T* values, std::size_t count) {
    std::memcpy(row + x * static_cast<std::int64_t>(sizeof(T)), values, count * sizeof(T));
  }

  const Frame& frame_;
  const bool clips_narrow_;  ///< whether 16-bit squares may be past the limit
  const bool fast_;
  const bool squares_;  ///< squares are all that is asked for, as uint32
  const bool exact_, stream_;
  const float scale_ = frame_.scaled ? static_cast<float>(frame_.unit) : 1;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
