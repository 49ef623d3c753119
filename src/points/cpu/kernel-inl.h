// Distances from one query to 32 sites, and bounds to 8 boxes: in lanes of double for all that double decides, and in
// 128-bit integers for integer coordinates too far apart for that.
#if defined(FATHOM_POINTS_CPU_KERNEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_POINTS_CPU_KERNEL_INL_H
#undef FATHOM_POINTS_CPU_KERNEL_INL_H
#else
#define FATHOM_POINTS_CPU_KERNEL_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "points/measure.hd.h"
#include "points/tree.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::points::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int kBlock = kSortedLeaf;  ///< sites that a kernel measures at once

template <class D, class T>
HWY_INLINE hn::Vec<D> load_as_double(D d, const T* from) {
  if constexpr (std::is_same_v<T, double>) return hn::LoadU(d, from);
  else return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
}

/// One bit for each lane, of which there are at most 8.
template <class D>
HWY_INLINE unsigned bits_of(D d, hn::Mask<D> mask) {
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(d, mask, bits);
  return bits[0];
}

/// Steps as in measure.hd.h, lane by lane.
template <class T, int kAxes, bool kPeriodic, Metric kMetric_>
class RealKernel {
 public:
  static constexpr Metric kMetric = kMetric_;
  using Value = double;
  using Coordinate = T;
  static constexpr int kAxisCount = kAxes;

  explicit RealKernel(const std::array<double, 3>& period) {
    for (std::size_t k = 0; k < 3; ++k)
      period_[k] = period[k] > 0 ? period[k] : std::numeric_limits<double>::infinity();
  }

  void set_query(const std::array<double, 3>& query) { query_ = query; }

  /// @param group  boxes of kFan siblings
  /// @return a bit for each bound that is at most `limit`
  HWY_INLINE unsigned bounds(const T* group, double limit, double* out) const {
    const hn::CappedTag<double, kFan> d;
    const auto most = hn::Set(d, limit);
    unsigned near = 0;
    for (std::size_t i = 0; i < kFan; i += hn::Lanes(d)) {
      auto sum = hn::Zero(d);
      for (int k = 0; k < kAxes; ++k) {
        const auto q = hn::Set(d, query_[static_cast<std::size_t>(k)]);
        const auto low = load_as_double(d, group + 2 * k * kFan + i);
        const auto high = load_as_double(d, group + (2 * k + 1) * kFan + i);
        auto gap = hn::Max(hn::Sub(low, q), hn::Sub(q, high));
        if constexpr (kPeriodic) {
          const auto period = hn::Set(d, period_[static_cast<std::size_t>(k)]);
          gap = hn::Min(gap, hn::Sub(period, hn::Max(hn::Sub(high, q), hn::Sub(q, low))));
        }
        sum = with_way(d, k, sum, hn::Max(gap, hn::Zero(d)));
      }
      hn::StoreU(sum, d, out + i);
      near |= bits_of(d, hn::Le(sum, most)) << i;
    }
    return near;
  }

  /// Squared distances to kBlock sites, the coordinates of an axis `stride` after those of the axis before.
  /// @return a bit for each that is at most `limit`
  template <class S>
  HWY_INLINE std::uint32_t distances(const S* sites, std::int64_t stride, double limit, double* out) const {
    const hn::CappedTag<double, kFan> d;
    const auto most = hn::Set(d, limit);
    std::uint32_t near = 0;
    for (std::size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
      auto sum = hn::Zero(d);
      for (int k = 0; k < kAxes; ++k) {
        const auto q = hn::Set(d, query_[static_cast<std::size_t>(k)]);
        auto way = hn::Sub(load_as_double(d, sites + k * stride + static_cast<std::int64_t>(i)), q);
        if constexpr (kPeriodic || kMetric != Metric::euclidean) way = hn::Abs(way);
        if constexpr (kPeriodic) way = hn::Min(way, hn::Sub(hn::Set(d, period_[static_cast<std::size_t>(k)]), way));
        sum = with_way(d, k, sum, way);
      }
      near |= bits_of(d, hn::Le(sum, most)) << i;
      hn::StoreU(sum, d, out + i);
    }
    return near;
  }

 private:
  /// @param sum  of the axes before k
  template <class D>
  static HWY_INLINE hn::Vec<D> with_way(D, int k, hn::Vec<D> sum, hn::Vec<D> way) {
    if constexpr (kMetric == Metric::chessboard) return hn::Max(sum, way);
    if constexpr (kMetric == Metric::euclidean) way = hn::Mul(way, way);
    return k == 0 ? way : hn::Add(sum, way);
  }

  std::array<double, 3> query_{};
  std::array<double, 3> period_{};
};

/// For int32 coordinates: differences in 64 bits, squares in 128.
template <int kAxes>
class WideKernel {
 public:
  static constexpr Metric kMetric = Metric::euclidean;
  using Value = Wide;
  using Coordinate = std::int32_t;
  static constexpr int kAxisCount = kAxes;

  explicit WideKernel(const std::array<double, 3>& period) {
    for (std::size_t k = 0; k < 3; ++k) period_[k] = static_cast<std::int64_t>(period[k]);
  }

  void set_query(const std::array<double, 3>& query) {
    for (std::size_t k = 0; k < 3; ++k) query_[k] = static_cast<std::int64_t>(query[k]);
  }

  unsigned bounds(const std::int32_t* group, Wide limit, Wide* out) const {
    unsigned near = 0;
    for (std::size_t i = 0; i < kFan; ++i) {
      out[i] = 0;
      for (std::size_t k = 0; k < kAxes; ++k)
        out[i] += square<Wide>(way_to_interval<std::int64_t>(query_[k], group[2 * k * kFan + i],
                                                             group[(2 * k + 1) * kFan + i], period_[k]));
      near |= static_cast<unsigned>(out[i] <= limit) << i;
    }
    return near;
  }

  template <class S>
  std::uint32_t distances(const S* sites, std::int64_t stride, Wide limit, Wide* out) const {
    std::uint32_t near = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      out[i] = 0;
      for (std::size_t k = 0; k < kAxes; ++k) {
        const auto s =
            static_cast<std::int64_t>(sites[static_cast<std::int64_t>(k) * stride + static_cast<std::int64_t>(i)]);
        out[i] += square<Wide>(way<std::int64_t>(query_[k], s, period_[k]));
      }
      near |= static_cast<std::uint32_t>(out[i] <= limit) << i;
    }
    return near;
  }

 private:
  std::array<std::int64_t, 3> query_{};
  std::array<std::int64_t, 3> period_{};
};

/// Bits of the first `size` sites of a block.
HWY_INLINE std::uint32_t first_bits(std::int64_t size) { return size >= kBlock ? ~0u : (1u << size) - 1; }

/// The coordinates of up to kBlock sites from the caller's array, the last repeated.
template <int kAxes>
HWY_INLINE void gather_block(const Cloud& sites, std::int64_t first, std::int64_t size, double* to,
                             std::int64_t stride) {
  visit_coordinates(sites.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int k = 0; k < kAxes; ++k)
      for (std::int64_t j = 0; j < kBlock; ++j)
        to[k * stride + j] = static_cast<double>(sites.get<T>(k, first + (j < size ? j : size - 1)));
  });
}

}  // namespace fathom::points::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
