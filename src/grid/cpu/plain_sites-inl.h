// From keys to rows of the outputs: which site is nearest, and how far it is.
//
// A key's offsets along the slow and the middle axis stand in it; the one along the fast axis is the root of what they
// leave of the squared distance, which is a square: in float it comes out close enough to be rounded to it.
#if defined(FATHOM_GRID_CPU_PLAIN_SITES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_SITES_INL_H
#undef FATHOM_GRID_CPU_PLAIN_SITES_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_SITES_INL_H
#endif

#include "grid/cpu/plain_write-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

class SiteWriter {
  using DInt = hn::RebindToSigned<D32>;
  using VInt = hn::Vec<DInt>;

 public:
  struct Row {
    Writer::Row distances;
    std::int64_t slow = 0, middle = 0;  ///< of the region
  };
  /// Results that wait for more, by output.
  struct Seams {
    Seam distances, nearest, coordinates[3];
    void close() {
      distances.close();
      nearest.close();
      for (Seam& seam : coordinates) seam.close();
    }
  };

  explicit SiteWriter(const Frame& frame)
      : frame_(frame),
        distances_(frame),
        measures_(frame.distance.data || frame.squared.data),
        stream_(frame.stream && pays_for_ends(frame, frame.streamed()) && are_aligned(frame.site)) {}

  Row row(std::int64_t slow, std::int64_t middle) const { return {distances_.row(slow, middle), slow, middle}; }

  /// The first `count` of a group of keys that are distances to sites, of the layout of their type.
  template <class D, class V, int n>
  HWY_INLINE void write(D d, const Row& row, std::int64_t x, const V (&keys)[n], std::int64_t count,
                        Seams& seams) const {
    using T = hn::TFromD<D>;
    constexpr int kStep = kLanes<D>;
    alignas(64) T spill[kStep];
    for (int i = 0; i < n && i * kStep < count; ++i) {
      hn::Store(keys[i], d, spill);
      for (int j = 0; j < kStep && i * kStep + j < count; j += kLanes32)
        write(row, x + i * kStep + j, spill + j, count - i * kStep - j, seams);
    }
  }

  /// kLanes32 keys, aligned to a vector.
  HWY_INLINE void write(const Row& row, std::int64_t x, const std::uint16_t* keys, std::int64_t count,
                        Seams& seams) const {
    put(row, x, hn::PromoteTo(D32(), hn::Load(D16Half(), keys)), frame_.tiny, count, seams);
  }
  HWY_INLINE void write(const Row& row, std::int64_t x, const std::uint32_t* keys, std::int64_t count,
                        Seams& seams) const {
    put(row, x, hn::Load(D32(), keys), frame_.narrow, count, seams);
  }
  HWY_INLINE void write(const Row& row, std::int64_t x, const double* keys, std::int64_t count, Seams& seams) const {
    const DDouble d;
    const hn::Rebind<std::int32_t, DDouble> half;
    const Layout& layout = frame_.wide;
    const double most = static_cast<double>(layout.of_square(std::int64_t{frame_.limit} + 1));
    const double unit = static_cast<double>(layout.of_square(1));
    alignas(64) std::int32_t squared[kLanes32], rest[kLanes32];
    for (int i = 0; i < kLanes32; i += kLanes64) {
      const VDouble key = hn::Min(hn::Load(d, keys + i), hn::Set(d, most));
      const VDouble square = hn::Floor(hn::Mul(key, hn::Set(d, 1 / unit)));
      hn::Store(hn::DemoteTo(half, square), half, squared + i);
      hn::Store(hn::DemoteTo(half, hn::Sub(key, hn::Mul(square, hn::Set(d, unit)))), half, rest + i);
    }
    const DInt di;
    put(row, x, hn::BitCast(D32(), hn::Load(di, squared)), hn::BitCast(D32(), hn::Load(di, rest)), layout, count,
        seams);
  }

  void ask_ahead(const Row&, std::int64_t) const {}
  HWY_INLINE void ask_for_ends(const Row& row, std::int64_t begin, std::int64_t end) const {
    if (!stream_) return;
    const Target& out = frame_.streamed();
    const std::byte* to = out.row(row.slow, row.middle);
    prefetch(to + begin * static_cast<std::int64_t>(sizeof(std::int32_t)), 1);
    prefetch(to + end * static_cast<std::int64_t>(sizeof(std::int32_t)) - 1, 1);
  }

  void finish() const {
    if (stream_) hwy::FlushStream();
  }

 private:
  static bool are_aligned(const SiteTargets& to) {
    auto places = reinterpret_cast<std::uintptr_t>(to.nearest.data);
    for (const Target& component : to.coordinates) places |= reinterpret_cast<std::uintptr_t>(component.data);
    return places % sizeof(float) == 0;
  }

  /// Offsets from elements to their sites.
  struct Offsets {
    VInt slow, middle, fast;
  };

  HWY_INLINE void put(const Row& row, std::int64_t x, V32 keys, const Layout& layout, std::int64_t count,
                      Seams& seams) const {
    const D32 d;
    const V32 rest = hn::And(keys, hn::Set(d, (1u << layout.square) - 1));
    const V32 squared = hn::ShiftRightSame(keys, layout.square);
    const V32 most = hn::Set(d, static_cast<std::uint32_t>(layout.reach * layout.reach));
    put(row, x, hn::IfThenElse(less_equal(squared, most), squared, hn::Set(d, kNoSite32)), rest, layout, count, seams);
  }

  /// @param rest  the keys without their squares
  HWY_INLINE void put(const Row& row, std::int64_t x, V32 squared, V32 rest, const Layout& layout, std::int64_t count,
                      Seams& seams) const {
    if (measures_) distances_.write(row.distances, x, squared, count, seams.distances);
    const Offsets offsets = offsets_in(squared, rest, layout);
    const auto found = hn::RebindMask(DInt(), less_equal(squared, hn::Set(D32(), frame_.limit)));
    const SiteTargets& to = frame_.site;
    if (HWY_LIKELY(to.nearest.data != nullptr)) {
      if (HWY_LIKELY(to.fits))
        store(to.nearest, row, x, kept(found, index(row, x, offsets)), count, seams.nearest);
      else put_wide_index(row, x, found, offsets, count);
    }
    if (to.coordinates[2].data == nullptr) return;
    const DInt d;
    const auto from = [&](std::int64_t first) { return hn::Set(d, static_cast<std::int32_t>(first)); };
    const VInt slow = hn::Add(offsets.slow, from(to.first[0] + row.slow));
    const VInt middle = hn::Add(offsets.middle, from(to.first[1] + row.middle));
    const VInt fast = hn::Add(hn::Add(offsets.fast, hn::Iota(d, 0)), from(to.first[2] + x));
    store(to.coordinates[0], row, x, kept(found, slow), count, seams.coordinates[0]);
    if (to.coordinates[1].data) store(to.coordinates[1], row, x, kept(found, middle), count, seams.coordinates[1]);
    store(to.coordinates[2], row, x, kept(found, fast), count, seams.coordinates[2]);
    Seam none;
    for (int i = 0; i < to.zero_count; ++i) {
      store(to.zeros[i], row, x, kept(found, hn::Zero(d)), count, none);
      none.close();
    }
  }

  HWY_INLINE Offsets offsets_in(V32 squared, V32 rest, const Layout& layout) const {
    const DInt d;
    const hn::ScalableTag<float> df;
    const auto offset = [&](int from, int to, int multiple, VInt& left) {
      const V32 mask = hn::Set(D32(), (1u << (to - from)) - 1);
      const VInt bits = hn::BitCast(d, hn::And(hn::ShiftRightSame(rest, from), mask));
      const VInt result = hn::Sub(bits, hn::Set(d, 1 << (to - from - 1)));
      left = hn::Sub(left, hn::Mul(hn::Mul(result, result), hn::Set(d, multiple * multiple)));
      return result;
    };
    VInt left = hn::BitCast(d, squared);
    Offsets offsets;
    offsets.slow = offset(layout.slow, layout.square, frame_.slow_multiple, left);
    offsets.middle = hn::Zero(d);
    if (layout.middle < layout.slow)
      offsets.middle = offset(layout.middle, layout.slow, frame_.middle_multiple, left);
    const auto root = hn::Mul(hn::Sqrt(hn::ConvertTo(df, left)), hn::Set(df, 1.0f / static_cast<float>(frame_.fast_multiple)));
    const VInt length = hn::NearestInt(root);
    const VInt before = hn::Sub(hn::And(hn::BitCast(d, rest), hn::Set(d, 1)), hn::Set(d, 1));  // all bits, or none
    offsets.fast = hn::Sub(hn::Xor(length, before), before);
    return offsets;
  }

  template <class M>
  static HWY_INLINE VInt kept(M found, VInt value) {
    return hn::IfThenElse(found, value, hn::Set(DInt(), -1));
  }

  std::int64_t index_of(const Row& row, std::int64_t x) const {
    const SiteTargets& to = frame_.site;
    return (to.first[0] + row.slow) * to.step[0] + (to.first[1] + row.middle) * to.step[1] +
           (to.first[2] + x) * to.step[2];
  }
  HWY_INLINE VInt index(const Row& row, std::int64_t x, const Offsets& offsets) const {
    const DInt d;
    const auto times = [&](VInt offset, std::int64_t step) {
      return hn::Mul(offset, hn::Set(d, static_cast<std::int32_t>(step)));
    };
    const auto& step = frame_.site.step;
    VInt index = hn::Add(hn::Set(d, static_cast<std::int32_t>(index_of(row, x))), times(offsets.slow, step[0]));
    if (frame_.box.middle > 1) index = hn::Add(index, times(offsets.middle, step[1]));
    const VInt fast = hn::Add(offsets.fast, hn::Iota(d, 0));
    return hn::Add(index, HWY_LIKELY(step[2] == 1) ? fast : times(fast, step[2]));
  }

  /// Indices beyond 32 bits, one by one.
  template <class M>
  HWY_NOINLINE void put_wide_index(const Row& row, std::int64_t x, M found, const Offsets& offsets,
                                   std::int64_t count) const {
    const DInt d;
    alignas(64) std::int32_t slow[kLanes32], middle[kLanes32], fast[kLanes32], is_found[kLanes32];
    hn::Store(offsets.slow, d, slow);
    hn::Store(offsets.middle, d, middle);
    hn::Store(offsets.fast, d, fast);
    hn::Store(kept(found, hn::Zero(d)), d, is_found);
    const auto& step = frame_.site.step;
    auto* out = reinterpret_cast<std::int64_t*>(frame_.site.nearest.row(row.slow, row.middle)) + x;
    for (int i = 0; i < std::min<std::int64_t>(count, kLanes32); ++i)
      out[i] = is_found[i] < 0 ? -1
                               : index_of(row, x + i) + slow[i] * step[0] + middle[i] * step[1] + fast[i] * step[2];
  }

  /// The first `count` of a vector to a row of 32- or 64-bit integers.
  HWY_INLINE void store(const Target& to, const Row& row, std::int64_t x, VInt values, std::int64_t count,
                        Seam& seam) const {
    const DInt d;
    std::byte* const begin = to.row(row.slow, row.middle);
    if (HWY_UNLIKELY(to.dtype == DType::int64)) return store_wide(begin, x, values, count);
    auto* out = reinterpret_cast<std::int32_t*>(begin) + x;
    if (HWY_UNLIKELY(count < kLanes32)) {
      alignas(64) std::int32_t spill[kLanes32];
      hn::Store(values, d, spill);
      std::copy_n(spill, count, out);
    } else if (stream_) {
      seam.stream<1>(reinterpret_cast<float*>(out), [&](int) { return hn::BitCast(DFloat(), values); });
    } else {
      hn::StoreU(values, d, out);
    }
  }
  HWY_INLINE void store_wide(std::byte* begin, std::int64_t x, VInt values, std::int64_t count) const {
    alignas(64) std::int32_t spill[kLanes32];
    hn::Store(values, DInt(), spill);
    auto* out = reinterpret_cast<std::int64_t*>(begin) + x;
    if (HWY_UNLIKELY(count < kLanes32)) {
      std::copy_n(spill, count, out);
      return;
    }
    const hn::ScalableTag<std::int64_t> d;
    const hn::Rebind<std::int32_t, decltype(d)> half;
    for (int i = 0; i < kLanes32; i += kLanes64) hn::StoreU(hn::PromoteTo(d, hn::Load(half, spill + i)), d, out + i);
  }

  const Frame& frame_;
  const Writer distances_;
  const bool measures_, stream_;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
