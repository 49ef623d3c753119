// From real values to distances as float: by root, of near ones by look-up.
#if defined(FATHOM_GRID_CPU_PLAIN_REALS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_REALS_INL_H
#undef FATHOM_GRID_CPU_PLAIN_REALS_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_REALS_INL_H
#endif

#include "grid/cpu/plain_write-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {

class RealWriter {
 public:
  struct Row {
    float* distance = nullptr;
  };
  using Seams = Seam;

  explicit RealWriter(const Frame& frame)
      : frame_(frame), stream_(frame.stream && pays_for_ends(frame, frame.distance)) {}

  Row row(std::int64_t slow, std::int64_t middle) const {
    return {reinterpret_cast<float*>(frame_.distance.row(slow, middle))};
  }

  /// The first `count` of a group of ranks, all of them given.
  template <int n>
  HWY_INLINE void write(D8 d, const Row& row, std::int64_t x, const hn::Vec<D8> (&ranks)[n], std::int64_t count,
                        Seam& seam) const {
    alignas(64) std::uint8_t spill[n * kLanes<D8>];
    for (int i = 0; i < n; ++i) hn::Store(ranks[i], d, spill + i * kLanes<D8>);
    float* const out = row.distance + x;
    const float* const table = frame_.ranks->distance;
    if (HWY_UNLIKELY(count < n * kLanes<D8>)) {
      for (std::int64_t i = 0; i < count; ++i) out[i] = table[spill[i]];
      return;
    }
    const DFloat df;
    const hn::RebindToSigned<DFloat> di;
    const auto at = [&](int i) FATHOM_INLINED {
      return hn::BitCast(di, hn::PromoteTo(D32(), hn::LoadU(hn::Rebind<std::uint8_t, D32>(), spill + i * kLanes32)));
    };
    constexpr int kVectors = n * kLanes<D8> / kLanes32;
    const int most = largest_lane(d, largest_of_group(ranks));
    if (most < kLanes32) {
      const VFloat first = hn::LoadU(df, table);
      store_all<kVectors>(
          [&](int i) FATHOM_INLINED { return hn::TableLookupLanes(first, hn::IndicesFromVec(df, at(i))); }, out, seam);
    } else if (most < 2 * kLanes32) {
      const VFloat first = hn::LoadU(df, table), second = hn::LoadU(df, table + kLanes32);
      store_all<kVectors>(
          [&](int i) FATHOM_INLINED {
            const auto rank = at(i), low = hn::And(rank, hn::Set(di, kLanes32 - 1));
            const auto place = hn::IndicesFromVec(df, low);
            return hn::IfThenElse(hn::RebindMask(df, hn::Eq(rank, low)), hn::TableLookupLanes(first, place),
                                  hn::TableLookupLanes(second, place));
          },
          out, seam);
    } else {
      store_all<kVectors>([&](int i) FATHOM_INLINED { return hn::GatherIndex(df, table, at(i)); }, out, seam);
    }
  }

  /// The same of squared distances.
  template <int n>
  HWY_INLINE void write(DDouble d, const Row& row, std::int64_t x, const VDouble (&squared)[n], std::int64_t count,
                        Seam& seam) const {
    alignas(64) double spill[n * kLanes64];
    for (int i = 0; i < n; ++i) hn::Store(squared[i], d, spill + i * kLanes64);
    for (int i = 0; i < n * kLanes64 && i < count; i += kLanes32) write(row, x + i, spill + i, count - i, seam);
  }

  /// A vector of results, aligned.
  HWY_INLINE void write(const Row& row, std::int64_t x, const double* squared, std::int64_t count, Seam& seam) const {
    const DFloat d;
    float* const out = row.distance + x;
#if HWY_TARGET == HWY_SCALAR
    const VFloat roots = root(squared);
#else
    const VFloat roots = hn::Combine(d, root(squared + kLanes64), root(squared));
#endif
    if (HWY_LIKELY(count >= kLanes32)) return store_all<1>([&](int) FATHOM_INLINED { return roots; }, out, seam);
    alignas(64) float spill[kLanes32];
    hn::Store(roots, d, spill);
    std::copy_n(spill, count, out);
  }

  void ask_ahead(const Row&, std::int64_t) const {}
  HWY_INLINE void ask_for_ends(const Row& row, std::int64_t begin, std::int64_t end) const {
    if (!stream_) return;
    prefetch(row.distance + begin, 1);
    prefetch(row.distance + end - 1, 1);
  }
  void finish() const {
    if (stream_) hwy::FlushStream();
  }

 private:
  static HWY_INLINE hn::Vec<hn::Rebind<float, DDouble>> root(const double* squared) {
    const DDouble d;
    const VDouble value = hn::Load(d, squared);
    const VDouble infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    return cpu::HWY_NAMESPACE::to_float(
        d, hn::Sqrt(hn::IfThenElse(hn::Lt(value, hn::Set(d, kNone<double>)), value, infinity)));
  }

  template <int n, class VectorAt>
  HWY_INLINE void store_all(const VectorAt& vector_at, float* out, Seam& seam) const {
    if (stream_) return seam.stream<n>(out, vector_at);
    for (int i = 0; i < n; ++i) hn::StoreU(vector_at(i), DFloat(), out + i * kLanes32);
  }

  const Frame& frame_;
  const bool stream_;
};

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
