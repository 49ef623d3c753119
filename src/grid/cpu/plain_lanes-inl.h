// Vector vocabulary of the fast engine: tags, comparisons that every target has, rows ↔ lanes.
#if defined(FATHOM_GRID_CPU_PLAIN_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FATHOM_GRID_CPU_PLAIN_LANES_INL_H
#undef FATHOM_GRID_CPU_PLAIN_LANES_INL_H
#else
#define FATHOM_GRID_CPU_PLAIN_LANES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "grid/cpu/plain_frame.h"

HWY_BEFORE_NAMESPACE();
namespace fathom::grid::cpu::plain::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::ScalableTag<std::uint32_t>;
using DDouble = hn::ScalableTag<double>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using VDouble = hn::Vec<DDouble>;
/// As many 16-bit lanes as there are 32-bit ones.
using D16Half = hn::Rebind<std::uint16_t, D32>;
/// As many 8-bit lanes as there are 16-bit ones.
using D8Half = hn::Rebind<std::uint8_t, D16>;
/// Rows of a block in 16-bit lanes.
using D16Block = hn::CappedTag<std::uint16_t, kBlock>;

template <class D>
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
inline constexpr int kLanes16 = static_cast<int>(hn::MaxLanes(D16()));
inline constexpr int kLanes32 = static_cast<int>(hn::MaxLanes(D32()));
inline constexpr int kLanes64 = static_cast<int>(hn::MaxLanes(DDouble()));

/// After the parameters of a lambda that loops call: what it captures then stays in registers.
#ifndef FATHOM_INLINED
#define FATHOM_INLINED __attribute__((always_inline))
#endif

/// 16-bit vectors in flight at once where one alone would wait for its own result.
inline constexpr int kGroup = 4;
/// Vectors of T that hold as many elements.
template <class T>
inline constexpr int kGroupOf = kGroup* kLanes16 / kLanes<hn::ScalableTag<T>>;
/// Columns that share a bound on the distance: one group of vectors, or more where vectors are short.
inline constexpr int kSegment = kLanes16 * kGroup < 64 ? 64 : kLanes16 * kGroup;

/// At the head of a loop over candidates: keeps GCC from carrying squares in registers from one to the next, at twice
/// the instructions that loading them takes.
HWY_INLINE void load_again() { HWY_FENCE; }

template <class V>
HWY_INLINE auto less_equal(V a, V b) {
  return hn::Eq(hn::Min(a, b), a);
}

/// Whether a > b in any lane.
template <class D, class V>
HWY_INLINE bool any_above(D d, V a, V b) {
  return !hn::AllTrue(d, less_equal(a, b));
}

template <class V, int n>
HWY_INLINE V largest_of_group(const V (&group)[n]) {
  V most = group[0];
  for (int i = 1; i < n; ++i) most = hn::Max(most, group[i]);
  return most;
}

/// The same of the first `count` lanes, others being those past a row's end.
template <class D, class V, int n>
HWY_INLINE V largest_of_first(D d, const V (&group)[n], std::int64_t count) {
  if (HWY_LIKELY(count >= n * kLanes<D>)) return largest_of_group(group);
  V most = hn::Zero(d);
  for (int i = 0; i < n; ++i) {
    const auto left = static_cast<std::size_t>(std::clamp<std::int64_t>(count - i * kLanes<D>, 0, kLanes<D>));
    most = hn::Max(most, hn::IfThenElseZero(hn::FirstN(d, left), group[i]));
  }
  return most;
}

template <class D>
HWY_INLINE hn::TFromD<D> largest_lane(D d, hn::Vec<D> v) {
  if constexpr (sizeof(hn::TFromD<D>) == 1 && hn::MaxLanes(D()) > 1) {
    const hn::Repartition<std::uint16_t, D> pair;
    const auto both = hn::BitCast(pair, v);
    const auto larger = hn::Max(hn::And(both, hn::Set(pair, 0xFF)), hn::ShiftRight<8>(both));
    return static_cast<hn::TFromD<D>>(hn::GetLane(hn::MaxOfLanes(pair, larger)));
  } else {
    return hn::GetLane(hn::MaxOfLanes(d, v));
  }
}
template <class D>
HWY_INLINE hn::TFromD<D> smallest_lane(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::MinOfLanes(d, v));
}

/// Sum of values and steps: infinite stays infinite. 32-bit sums have room: 2³¹ + any steps < 2³².
template <class V>
HWY_INLINE V add_far(V a, V b) {
  if constexpr (sizeof(hn::TFromV<V>) >= 4) return hn::Add(a, b);
  else return hn::SaturatedAdd(a, b);
}

/// The squared distance in a value; kNoSite32 if there is none.
template <class T>
HWY_INLINE std::uint32_t squared_in(T value, int square) {
  return value >= kNone<T> ? kNoSite32 : static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> square);
}

/// Elements in the blocks within which Highway interleaves, and so the columns that rows_to_lanes() takes at a time.
template <class D>
inline constexpr std::size_t kBlockLanes = HWY_MIN(hn::MaxLanes(D()), 16 / sizeof(hn::TFromD<D>));

#if HWY_TARGET == HWY_SCALAR  // one lane: nothing to combine

template <class D, class Piece>
HWY_INLINE hn::Vec<D> from_blocks(D d, const Piece& piece) {
  return hn::LoadU(d, piece(0));
}
template <class D, class Piece>
HWY_INLINE void to_blocks(D d, hn::Vec<D> v, const Piece& piece) {
  hn::StoreU(v, d, piece(0));
}
template <class D>
HWY_INLINE void transpose_blocks(D, hn::Vec<D>*) {}

#else

/// One vector whose block b is at piece(b).
template <class D, class Piece>
HWY_INLINE hn::Vec<D> from_blocks(D d, const Piece& piece, std::size_t first = 0) {
  if constexpr (hn::MaxLanes(D()) == kBlockLanes<D>) {
    return hn::LoadU(d, piece(first));
  } else {
    const hn::Half<D> half;
    constexpr std::size_t kBlocks = hn::MaxLanes(hn::Half<D>()) / kBlockLanes<D>;
    return hn::Combine(d, from_blocks(half, piece, first + kBlocks), from_blocks(half, piece, first));
  }
}
template <class D, class Piece>
HWY_INLINE void to_blocks(D d, hn::Vec<D> v, const Piece& piece, std::size_t first = 0) {
  if constexpr (hn::MaxLanes(D()) == kBlockLanes<D>) {
    hn::StoreU(v, d, piece(first));
  } else {
    const hn::Half<D> half;
    constexpr std::size_t kBlocks = hn::MaxLanes(hn::Half<D>()) / kBlockLanes<D>;
    to_blocks(half, hn::LowerHalf(half, v), piece, first);
    to_blocks(half, hn::UpperHalf(half, v), piece, first + kBlocks);
  }
}

/// Transposes n × n elements within each block: log2(n) rounds that interleave v[i] and v[i + n/2].
template <class D>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D>* v) {
  constexpr std::size_t n = kBlockLanes<D>;
  for (std::size_t round = 1; round < n; round *= 2) {
    hn::Vec<D> t[n];
    for (std::size_t i = 0; i < n / 2; ++i) {
      t[2 * i] = hn::InterleaveLower(d, v[i], v[i + n / 2]);
      t[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + n / 2]);
    }
    for (std::size_t i = 0; i < n; ++i) v[i] = t[i];
  }
}

#endif

/// columns[c] = element x + c of every row, row i in lane i, for kBlockLanes columns.
/// Returns whether any is at most `limit`; if none is, columns are unspecified.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE bool rows_to_lanes(D d, const T* const* rows, std::int64_t x, T limit, hn::Vec<D>* columns) {
  constexpr std::size_t n = kBlockLanes<D>;
  for (std::size_t j = 0; j < n; ++j)
    columns[j] = from_blocks(d, [&](std::size_t block) { return rows[block * n + j] + x; });
  hn::Vec<D> least = columns[0];
  for (std::size_t j = 1; j < n; ++j) least = hn::Min(least, columns[j]);
  if (hn::AllFalse(d, less_equal(least, hn::Set(d, limit)))) return false;
  transpose_blocks(d, columns);
  return true;
}

/// The way back: kBlockLanes vectors, one per column, to the beginning of dense rows of the given pitch.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void lanes_to_rows(D d, const T* lanes, T* rows, std::size_t pitch) {
  constexpr std::size_t n = kBlockLanes<D>;
  hn::Vec<D> v[n];
  for (std::size_t c = 0; c < n; ++c) v[c] = hn::Load(d, lanes + c * hn::MaxLanes(D()));
  transpose_blocks(d, v);
  for (std::size_t j = 0; j < n; ++j)
    to_blocks(d, v[j], [&](std::size_t block) { return rows + (block * n + j) * pitch; });
}

}  // namespace fathom::grid::cpu::plain::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
