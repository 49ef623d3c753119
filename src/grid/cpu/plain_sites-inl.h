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
    std::int64_t index = 0;             ///< of its first element
    std::byte* nearest = nullptr;
    std::byte* coordinates[3] = {};
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
        simple_(!frame.limited && is_int32(frame.site.nearest) && is_int32(frame.site.coordinates[2]) &&
                frame.site.zero_count == 0 && frame.site.fits && frame.site.step[2] == 1),
        index_alone_(simple_ && !measures_ && frame.site.coordinates[2].data == nullptr),
        stream_(frame.stream && pays_for_ends(frame, frame.streamed()) && are_aligned(frame.site)),
        tiny_(frame, frame.tiny),
        narrow_(frame, frame.narrow),
        wide_(frame, frame.wide) {}

  Row row(std::int64_t slow, std::int64_t middle) const {
    const SiteTargets& to = frame_.site;
    const auto place = [&](const Target& out) { return out.data != nullptr ? out.row(slow, middle) : nullptr; };
    Row row{distances_.row(slow, middle), slow, middle, 0, place(to.nearest), {}};
    row.index = (to.first[0] + slow) * to.step[0] + (to.first[1] + middle) * to.step[1] + to.first[2] * to.step[2];
    for (int k = 0; k < 3; ++k) row.coordinates[k] = place(to.coordinates[k]);
    return row;
  }

  /// The first `count` of a group of tiny or narrow keys. They were computed because a site is near, see Writer.
  template <class D, class V, int n>
  HWY_INLINE void write(D d, const Row& row, std::int64_t x, const V (&keys)[n], std::int64_t count,
                        Seams& seams) const {
    using T = hn::TFromD<D>;
    constexpr int kAll = n * kLanes<D>;
    alignas(64) T spill[kAll];
    for (int i = 0; i < n; ++i) hn::Store(keys[i], d, spill + i * kLanes<D>);
    const Parts parts = sizeof(T) == 2 ? tiny_ : sizeof(T) == 4 ? narrow_ : wide_;
    if constexpr (sizeof(T) < 8)
      if (HWY_LIKELY(simple_ && count >= kAll && frame_.reach > parts.reach)) {
        const auto small = static_cast<T>((std::int64_t{kLanes32} << parts.square) - 1);
        if (any_above(d, largest_of_group(keys), hn::Set(d, small))) put_near<kAll, false>(row, x, spill, parts, seams);
        else put_near<kAll, true>(row, x, spill, parts, seams);
        return;
      }
    for (int i = 0; i < kAll && i < count; i += kLanes32) put(row, x + i, spill + i, parts, count - i, seams);
  }

  /// kLanes32 keys, aligned to a vector.
  HWY_INLINE void write(const Row& row, std::int64_t x, const std::uint32_t* keys, std::int64_t count,
                        Seams& seams) const {
    put(row, x, keys, narrow_, count, seams);
  }
  HWY_INLINE void write(const Row& row, std::int64_t x, const double* keys, std::int64_t count, Seams& seams) const {
    put(row, x, keys, wide_, count, seams);
  }

  /// A vector of keys that are in parts, of the layout of T.
  template <class T>
  HWY_INLINE void write_parts(const Row& row, std::int64_t x, V32 squared, V32 rest, std::int64_t count,
                              Seams& seams) const {
    put(row, x, squared, rest, sizeof(T) == 8 ? wide_ : narrow_, count, seams);
  }

  void ask_ahead(const Row&, std::int64_t) const {}
  HWY_INLINE void ask_for_ends(const Row& row, std::int64_t begin, std::int64_t end) const {
    if (!stream_) return;
    const std::byte* to = row.nearest != nullptr ? row.nearest : row.coordinates[2];
    prefetch(to + begin * static_cast<std::int64_t>(sizeof(std::int32_t)), 1);
    prefetch(to + end * static_cast<std::int64_t>(sizeof(std::int32_t)) - 1, 1);
  }

  void finish() const {
    distances_.finish();
    if (stream_) hwy::FlushStream();
  }

 private:
  static bool is_int32(const Target& to) { return to.data == nullptr || to.dtype == DType::int32; }
  static bool are_aligned(const SiteTargets& to) {
    auto places = reinterpret_cast<std::uintptr_t>(to.nearest.data);
    for (const Target& component : to.coordinates) places |= reinterpret_cast<std::uintptr_t>(component.data);
    return places % sizeof(float) == 0;
  }

  /// Offsets from elements to their sites.
  struct Offsets {
    VInt slow, middle, fast;
  };

  /// How to take keys apart: a copy that stores to the outputs leave in registers.
  struct Parts {
    Parts(const Frame& frame, const Layout& layout)
        : square(layout.square),
          slow(layout.slow),
          middle(layout.middle),
          reach(layout.reach),
          slow_weight(frame.slow_multiple * frame.slow_multiple),
          middle_weight(frame.middle_multiple * frame.middle_multiple),
          fast_step(1.0f / static_cast<float>(frame.fast_multiple)) {}
    const int square, slow, middle, reach, slow_weight, middle_weight;
    const float fast_step;
  };

  static HWY_INLINE V32 load(const std::uint16_t* keys) { return hn::PromoteTo(D32(), hn::Load(D16Half(), keys)); }
  static HWY_INLINE V32 load(const std::uint32_t* keys) { return hn::Load(D32(), keys); }

  struct Split {
    V32 squared, rest;
  };
  /// Squared distances, at most limit + 1, and what else stands in wide keys. Added to 2⁵², these are bits of doubles.
  static HWY_INLINE Split split(const double* keys, int square, std::uint32_t limit) {
    const DDouble d;
    const hn::RebindToUnsigned<DDouble> bits;
    const VDouble most = hn::Set(d, static_cast<double>((std::int64_t{limit} + 1) << square));
    const auto bits_at = [&](int i) {
      const VDouble sum = hn::Add(hn::Min(hn::Load(d, keys + i), most), hn::Set(d, 0x1p52));
      return hn::Xor(hn::BitCast(bits, sum), hn::BitCast(bits, hn::Set(d, 0x1p52)));
    };
    const auto low = bits_at(0);
#if HWY_TARGET == HWY_SCALAR
    const auto key = hn::GetLane(low);
    const V32 squared = hn::Set(D32(), static_cast<std::uint32_t>(key >> square));
    const V32 rest = hn::Set(D32(), static_cast<std::uint32_t>(key));
#else
    const auto high = bits_at(kLanes64);
    const auto even = [](auto upper, auto lower) {
      return hn::ConcatEven(D32(), hn::BitCast(D32(), upper), hn::BitCast(D32(), lower));
    };
    const V32 squared = even(hn::ShiftRightSame(high, square), hn::ShiftRightSame(low, square));
    const V32 rest = even(high, low);
#endif
    return {squared, hn::And(rest, hn::Set(D32(), (1u << square) - 1))};
  }

  /// A group of n keys of which each has a site, to 32-bit integers: one output after the other.
  /// @tparam kSmall  no squared distance is above the lanes of a vector
  template <int n, bool kSmall, class T>
  HWY_INLINE void put_near(const Row& row, std::int64_t x, const T* keys, const Parts parts, Seams& seams) const {
    if (HWY_LIKELY(row.nearest != nullptr)) {
      const DInt d;
      const auto index = static_cast<std::int32_t>(row.index + x);
      const VInt slow_step = hn::Set(d, static_cast<std::int32_t>(frame_.site.step[0]));
      const VInt middle_step = hn::Set(d, static_cast<std::int32_t>(frame_.site.step[1]));
      const VInt roots = small_roots(parts);
      stream_all<n / kLanes32>(row.nearest, x, seams.nearest, [&](int i) FATHOM_INLINED {
        const Offsets offsets = near_offsets<kSmall>(load(keys + i * kLanes32), parts, roots);
        VInt sum = hn::Add(hn::Add(hn::Iota(d, 0), hn::Set(d, index + i * kLanes32)), hn::Mul(offsets.slow, slow_step));
        if (parts.middle < parts.slow) sum = hn::Add(sum, hn::Mul(offsets.middle, middle_step));
        return hn::Add(sum, offsets.fast);
      });
    }
    if (HWY_UNLIKELY(!index_alone_)) put_near_others<n, kSmall>(row, x, keys, parts, seams);
  }

  /// The outputs beside the index.
  template <int n, bool kSmall, class T>
  HWY_NOINLINE void put_near_others(const Row& row, std::int64_t x, const T* keys, const Parts parts,
                                    Seams& seams) const {
    const DInt d;
    constexpr int kVectors = n / kLanes32;
    const auto& first = frame_.site.first;
    const auto all = [&](std::int64_t value) { return hn::Set(d, static_cast<std::int32_t>(value)); };
    if (row.coordinates[2] != nullptr) {
      const VInt slow = all(first[0] + row.slow), middle = all(first[1] + row.middle), roots = small_roots(parts);
      const auto fast = static_cast<std::int32_t>(first[2] + x);
      stream_all<kVectors>(row.coordinates[0], x, seams.coordinates[0], [&](int i) FATHOM_INLINED {
        return hn::Add(slow, offset_in(load(keys + i * kLanes32), parts.slow, parts.square));
      });
      if (row.coordinates[1] != nullptr)
        stream_all<kVectors>(row.coordinates[1], x, seams.coordinates[1], [&](int i) FATHOM_INLINED {
          return hn::Add(middle, offset_in(load(keys + i * kLanes32), parts.middle, parts.slow));
        });
      stream_all<kVectors>(row.coordinates[2], x, seams.coordinates[2], [&](int i) FATHOM_INLINED {
        const Offsets offsets = near_offsets<kSmall>(load(keys + i * kLanes32), parts, roots);
        return hn::Add(hn::Add(hn::Iota(d, 0), hn::Set(d, fast + i * kLanes32)), offsets.fast);
      });
    }
    for (int i = 0; measures_ && i < n; i += kLanes32)
      distances_.write_found(row.distances, x + i, hn::ShiftRightSame(load(keys + i), parts.square), kLanes32,
                             seams.distances);
  }

  static HWY_INLINE VInt small_roots(const Parts& parts) { return rounded(hn::Sqrt(hn::Iota(DFloat(), 0)), parts); }
  template <bool kSmall>
  static HWY_INLINE Offsets near_offsets(V32 key, const Parts& parts, VInt roots) {
    return offsets_in(hn::ShiftRightSame(key, parts.square), key, parts, [&](VInt square) FATHOM_INLINED {
      if constexpr (kSmall) return hn::TableLookupLanes(roots, hn::IndicesFromVec(DInt(), square));
      else return root(square, parts);
    });
  }

  template <int n, class ValuesAt>
  HWY_INLINE void stream_all(std::byte* to, std::int64_t x, Seam& seam, const ValuesAt& values_at) const {
    float* const out = reinterpret_cast<float*>(to) + x;
    const auto floats_at = [&](int i) FATHOM_INLINED { return hn::BitCast(DFloat(), values_at(i)); };
    if (stream_) return seam.stream<n>(out, floats_at);
    for (int i = 0; i < n; ++i) hn::StoreU(floats_at(i), DFloat(), out + i * kLanes32);
  }

  HWY_INLINE void put(const Row& row, std::int64_t x, const double* keys, const Parts& parts, std::int64_t count,
                      Seams& seams) const {
    const auto [squared, rest] = split(keys, parts.square, frame_.limit);
    put(row, x, squared, rest, parts, count, seams);
  }
  template <class T>
  HWY_INLINE void put(const Row& row, std::int64_t x, const T* at, const Parts& parts, std::int64_t count,
                      Seams& seams) const {
    const D32 d;
    const V32 keys = load(at);
    const V32 squared = hn::ShiftRightSame(keys, parts.square);
    const V32 most = hn::Set(d, static_cast<std::uint32_t>(parts.reach * parts.reach));
    put(row, x, hn::IfThenElse(less_equal(squared, most), squared, hn::Set(d, kNoSite32)), keys, parts, count, seams);
  }

  /// @param rest  keys, with their squares or without
  HWY_INLINE void put(const Row& row, std::int64_t x, V32 squared, V32 rest, const Parts& parts, std::int64_t count,
                      Seams& seams) const {
    const DInt d;
    const auto found = hn::RebindMask(d, less_equal(squared, hn::Set(D32(), frame_.limit)));
    Offsets offsets{hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    if (!hn::AllFalse(d, found))
      offsets = offsets_in(squared, rest, parts, [&](VInt square) FATHOM_INLINED { return root(square, parts); });
    if (HWY_UNLIKELY(!index_alone_ || count < kLanes32)) return put_any(row, x, squared, found, offsets, count, seams);
    const VInt indices = kept(found, index(row, x, offsets));
    stream_all<1>(row.nearest, x, seams.nearest, [&](int) FATHOM_INLINED { return indices; });
  }

  template <class M>
  HWY_NOINLINE void put_any(const Row& row, std::int64_t x, V32 squared, M found, const Offsets& offsets,
                            std::int64_t count, Seams& seams) const {
    const DInt d;
    if (measures_) distances_.write(row.distances, x, squared, count, seams.distances);
    const SiteTargets& to = frame_.site;
    if (HWY_LIKELY(row.nearest != nullptr)) {
      if (HWY_UNLIKELY(!to.fits)) put_wide_index(row, x, found, offsets, count);
      else store(row.nearest, to.nearest.dtype, x, kept(found, index(row, x, offsets)), count, seams.nearest);
    }
    if (row.coordinates[2] == nullptr) return;
    const DType dtype = to.coordinates[2].dtype;
    const auto from = [&](std::int64_t first) { return hn::Set(d, static_cast<std::int32_t>(first)); };
    const VInt slow = hn::Add(offsets.slow, from(to.first[0] + row.slow));
    const VInt middle = hn::Add(offsets.middle, from(to.first[1] + row.middle));
    const VInt fast = hn::Add(hn::Add(offsets.fast, hn::Iota(d, 0)), from(to.first[2] + x));
    store(row.coordinates[0], dtype, x, kept(found, slow), count, seams.coordinates[0]);
    if (row.coordinates[1]) store(row.coordinates[1], dtype, x, kept(found, middle), count, seams.coordinates[1]);
    store(row.coordinates[2], dtype, x, kept(found, fast), count, seams.coordinates[2]);
    for (int i = 0; i < to.zero_count; ++i) {
      Seam none;
      store(to.zeros[i].row(row.slow, row.middle), dtype, x, kept(found, hn::Zero(d)), count, none);
      none.close();
    }
  }

  static HWY_INLINE VInt root(VInt square, const Parts& parts) {
    return rounded(hn::Sqrt(hn::ConvertTo(DFloat(), square)), parts);
  }
  /// A length in units, close to a whole number of steps, in steps. Added to 2²³, these are the low bits of floats.
  static HWY_INLINE VInt rounded(VFloat units, const Parts& parts) {
    const DFloat d;
    const VFloat sum = hn::MulAdd(units, hn::Set(d, parts.fast_step), hn::Set(d, 0x1p23f));
    return hn::Sub(hn::BitCast(DInt(), sum), hn::BitCast(DInt(), hn::Set(d, 0x1p23f)));
  }

  /// The offset that stands in bits [from, to) of keys.
  static HWY_INLINE VInt offset_in(V32 keys, int from, int to) {
    const DInt d;
    const V32 bits = hn::And(hn::ShiftRightSame(keys, from), hn::Set(D32(), (1u << (to - from)) - 1));
    return hn::Sub(hn::BitCast(d, bits), hn::Set(d, 1 << (to - from - 1)));
  }

  template <class RootOf>
  static HWY_INLINE Offsets offsets_in(V32 squared, V32 keys, const Parts& parts, const RootOf& root_of) {
    const DInt d;
    const auto offset = [&](int from, int to, int weight, VInt& left) FATHOM_INLINED {
      const VInt result = offset_in(keys, from, to);
      const VInt square = hn::Mul(result, result);
      left = hn::Sub(left, weight == 1 ? square : hn::Mul(square, hn::Set(d, weight)));
      return result;
    };
    VInt left = hn::BitCast(d, squared);
    Offsets offsets;
    offsets.slow = offset(parts.slow, parts.square, parts.slow_weight, left);
    offsets.middle = hn::Zero(d);
    if (parts.middle < parts.slow) offsets.middle = offset(parts.middle, parts.slow, parts.middle_weight, left);
    const VInt length = root_of(left);
    const VInt before = hn::Sub(hn::And(hn::BitCast(d, keys), hn::Set(d, 1)), hn::Set(d, 1));  // all bits, or none
    offsets.fast = hn::Sub(hn::Xor(length, before), before);
    return offsets;
  }

  template <class M>
  static HWY_INLINE VInt kept(M found, VInt value) {
    return hn::IfThenElse(found, value, hn::Set(DInt(), -1));
  }

  HWY_INLINE VInt index(const Row& row, std::int64_t x, const Offsets& offsets) const {
    const DInt d;
    const auto times = [&](VInt offset, std::int64_t step) {
      return hn::Mul(offset, hn::Set(d, static_cast<std::int32_t>(step)));
    };
    const auto& step = frame_.site.step;
    VInt index = hn::Add(hn::Set(d, static_cast<std::int32_t>(row.index + x * step[2])), times(offsets.slow, step[0]));
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
    auto* out = reinterpret_cast<std::int64_t*>(row.nearest) + x;
    for (int i = 0; i < std::min<std::int64_t>(count, kLanes32); ++i) {
      const std::int64_t offset = slow[i] * step[0] + middle[i] * step[1] + (x + i + fast[i]) * step[2];
      out[i] = is_found[i] < 0 ? -1 : row.index + offset;
    }
  }

  /// The first `count` of a vector to a row of 32- or 64-bit integers.
  HWY_INLINE void store(std::byte* begin, DType dtype, std::int64_t x, VInt values, std::int64_t count,
                        Seam& seam) const {
    const DInt d;
    if (HWY_UNLIKELY(dtype == DType::int64)) return store_wide(begin, x, values, count);
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
  const bool measures_;
  const bool simple_;       ///< near keys go to 32-bit integers as they are
  const bool index_alone_;  ///< to an index and nothing else
  const bool stream_;
  const Parts tiny_, narrow_, wide_;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
