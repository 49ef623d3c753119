// What a word of the search for near sites (plane/near.cuh) holds: of each row of the band, how far the sites of its
// columns are, and what a candidate beside them comes to.
#pragma once

#include <cuda_fp16.h>

#include <cstring>
#include <type_traits>

#include "grid/cuda/plane/exact.cuh"
#include "grid/cuda/plane/runs.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr unsigned kBias = 0x64006400u;           ///< 1024 in both halves
inline constexpr unsigned kUnsettled = kReach * kReach;  ///< from this d² on, farther candidates may be nearer

__device__ inline __half2 as_halves(unsigned bits) {
  __half2 halves;
  memcpy(&halves, &bits, 4);
  return halves;
}
__device__ inline unsigned as_bits(__half2 halves) {
  unsigned bits;
  memcpy(&bits, &halves, 4);
  return bits;
}

/// Rows up to the nearest sites of two columns outside the band; 1023 stands for all that is too far.
__device__ inline __half2 rows_outside(unsigned one, unsigned other) {
  constexpr unsigned kMost = 1023;
  return __hsub2(as_halves(kBias + min(one, kMost) + (min(other, kMost) << 16)), as_halves(kBias));
}

/// The columns of a word.
/// kCarried: with carries; else the words above and below say enough, and what they do not is too far.
template <int kCount, bool kCarried>
struct NearColumns {
  static constexpr int kColumns = kCount;
  unsigned bits[kCount], above[kCount], below[kCount];
  bool is_alive = false;  ///< whether a site lies in one of the columns, at most 32 rows from the band

  __device__ NearColumns(const Plane& plane, std::int64_t band, int x) {
    const bool is_first = plane.is_first(band), is_last = plane.is_last(band);
    for (int k = 0; k < kCount; ++k, x += kHalf) {
      bits[k] = 0;
      above[k] = below[k] = kFar;
      if (x < 0 || x >= plane.pitch) continue;
      const std::int64_t i = band * plane.pitch + x;
      bits[k] = plane.bits[i];
      if constexpr (kCarried) {
        above[k] = plane.above[i];
        below[k] = plane.below[i];
        is_alive |= bits[k] != 0 || above[k] <= 32 || below[k] < 64;
      } else {
        const std::uint32_t upper = is_first ? 0 : plane.bits[i - plane.pitch],
                            lower = is_last ? 0 : plane.bits[i + plane.pitch];
        above[k] = static_cast<unsigned>(1 + __clz(static_cast<int>(upper)) + plane.beyond);
        below[k] = static_cast<unsigned>(kBand + __clz(static_cast<int>(__brev(lower))) + plane.beyond);
        is_alive |= (bits[k] | upper | lower) != 0;
      }
    }
  }
};

/// A sum, on the units of products.
/// @param one  1, which the compiler must not know
__device__ inline unsigned sum_by_product(unsigned a, unsigned b, unsigned one) {
  unsigned sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(one), "r"(b));
  return sum;
}

/// What squares of steps sideways come to: as many; in a key with unequal spacings, where all from the limit on are as
/// far, since no candidate below it is kReach rows or columns away, and keys hold its double; or without a unit, in
/// fixed point, less what roundings may add.
template <Spacing kSpaced>
struct NearSteps {
  static constexpr bool kLimited = kSpaced != Spacing::equal;  ///< what a search settles may still be farther
  const unsigned limit, weight, one;

  __device__ explicit NearSteps(const Plane& plane)
      : limit(limit_of(plane)), weight(plane.spacing.column_weight), one(plane.one) {}
  __device__ unsigned operator()(unsigned square) const {
    if constexpr (kSpaced == Spacing::equal) return square;
    return kSpaced == Spacing::any ? square << AnyKey::kPlaces : min(square * weight, limit);
  }

 private:
  static __device__ unsigned limit_of(const Plane& plane) {
    if constexpr (kSpaced == Spacing::equal) return kUnsettled;
    if constexpr (kSpaced == Spacing::any) return (plane.spacing.near_keys[kNearRows - 1] >> AnyKey::kColumnBits) - 1;
    return min(min(kUnsettled * plane.spacing.column_weight, plane.along(kReach)), (1u << 18) - 1);
  }
};

/// Squared distances of two columns as halves 1024 + d² in half2: below 2048 they are exact, their bits ascend with
/// their values, additions run on the FMA units and minima on the integer units. "No site" is infinity.
/// kBeyond: see Plane::beyond. kWeighted: with the spacing along columns.
template <bool kBeyond, bool kWeighted>
struct NearPairs : NearColumns<2, kWeighted> {
  using Base = NearColumns<2, kWeighted>;
  using Base::bits, Base::above, Base::below;
  static constexpr unsigned kTies = 0;
  using Steps = NearSteps<Spacing::equal>;

  __device__ NearPairs(const Plane& plane, std::int64_t band, int x)
      : Base(plane, band, x), row_weight_(plane.spacing.row_weight) {}

  /// 1024 + squared vertical distance of each row. Where sites are, the sweep upwards learns from the one down.
  __device__ void put(unsigned (*column)[kNearWords]) const {
    const unsigned low = ~((bits[0] & 0xFFFFu) | (bits[1] << 16)), high = ~((bits[0] >> 16) | (bits[1] & 0xFFFF0000u));
    const __half2 one = as_halves(kOne * 0x10001u), at_sites = as_halves(kBeyond ? kOne * 0x10001u : 0);
    __half2 rows = rows_outside(above[0] - 1, above[1] - 1);
#pragma unroll
    for (int r = 0; r < kBand; ++r) {
      const __half2 no_site = ones(r < 16 ? low : high, r % 16);
      rows = __hfma2(rows, no_site, kBeyond ? one : no_site);
      column[r][0] = as_bits(rows);
    }
    asm volatile("" ::: "memory");  // lest the compiler keep all of them
    rows = rows_outside(below[0] - 32, below[1] - 32);
    const __half2 weight = __float2half2_rn(static_cast<float>(row_weight_));  // exact where a row is less than 1024
#pragma unroll
    for (int r = kBand - 1; r >= 0; --r) {
      const __half2 no_site = __hne2(as_halves(column[r][0]), at_sites);
      rows = __hfma2(rows, no_site, kBeyond ? one : no_site);
      const __half2 nearest = as_halves(__vminu2(column[r][0], as_bits(rows)));
      column[r][0] = as_bits(__hfma2(kWeighted ? __hmul2(nearest, weight) : nearest, nearest, as_halves(kBias)));
    }
  }

  /// Two candidates, `steps` to the left and to the right. kBalance: on the other kind of units.
  template <bool kBalance>
  static __device__ unsigned offer(unsigned best, unsigned left, unsigned right, int steps, Steps) {
    if constexpr (kBalance) {
      const unsigned square = static_cast<unsigned>(steps * steps) * 0x10001u;
      return __viaddmin_u16x2(left, square, __viaddmin_u16x2(right, square, best));
    }
    const __half2 square = __float2half2_rn(static_cast<float>(steps * steps));
    return __vimin3_u16x2(best, as_bits(__hadd2(as_halves(right), square)), as_bits(__hadd2(as_halves(left), square)));
  }

  /// The word with distance 0 in a column.
  static __device__ unsigned without(unsigned word, int column) {
    const unsigned half = column == 0 ? 0xFFFFu : 0xFFFF0000u;
    return (word & ~half) | (kBias & half);
  }
  /// The word with no more than what the ends of a run in a column's row are away.
  static __device__ unsigned bounded(unsigned word, int column, const RunSteps& run, const Plane&) {
    const unsigned steps = run.least(), end = steps < kReach ? (kBias & 0xFFFFu) + steps * steps : 0xFFFFu;
    return __vminu2(word, column == 0 ? end | 0xFFFF0000u : end << 16 | 0xFFFFu);
  }
  /// The squared distance of a column.
  static __device__ unsigned square(unsigned word, int column) {
    return (column == 0 ? word & 0xFFFFu : word >> 16) - (kBias & 0xFFFFu);
  }
  /// Greatest squared distance of four words' column.
  static __device__ unsigned largest(const unsigned* four, int column) {
    return square(__vimax3_u16x2(four[0], four[1], __vmaxu2(four[2], four[3])), column);
  }
  /// Whether some squared distance of four words is more than `square`.
  static __device__ bool exceed(const unsigned* four, unsigned square) {
    const unsigned both = kBias + square * 0x10001u;
    return __vimax3_u16x2(__vimax3_u16x2(four[0], four[1], four[2]), four[3], both) != both;
  }
  /// The squares of four words, by columns.
  static __device__ void unpack(const unsigned* four, float (&squares)[2][4]) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float2 two = __half22float2(__hsub2(as_halves(four[q]), as_halves(kBias)));  // exact below kUnsettled
      squares[0][q] = two.x;
      squares[1][q] = two.y;
    }
  }

 private:
  static constexpr unsigned kOne = 0x3C00u;  ///< the half 1

  /// The halves 1 or 0 for bit k of both halves of a word: a product moves the bit there where kOne leaves room.
  static __device__ __half2 ones(unsigned word, int k) {
    constexpr int kRoom = 10;
    const int left = k > kRoom ? kRoom / 2 : 0;
    return as_halves((word >> left & 0x10001u << (k - left)) * (kOne >> (k - left)));
  }

  const std::uint32_t row_weight_;
};

/// What a key says.
struct NearKey {
  static constexpr int kRowBit = 7, kSquareBit = 13;
  static constexpr unsigned kOrigin = kReach << kRowBit | kReach;  ///< of a site itself

  unsigned square;    ///< of the distance
  int rows, columns;  ///< steps to the site

  __device__ explicit NearKey(unsigned key)
      : square(key >> kSquareBit),
        rows(static_cast<int>(key >> kRowBit & 63) - kReach),
        columns(static_cast<int>(key & 127) - kReach) {}

  /// @param rows  fewer than kReach, or any number at which the square is kUnsettled or more
  static __device__ unsigned of_rows(int rows) { return of(static_cast<unsigned>(rows * rows), rows); }
  static __device__ unsigned of(unsigned square, int rows) {
    return (square << kSquareBit) + static_cast<unsigned>(rows << kRowBit) + kOrigin;
  }
};

/// Keys of the squared distance and the rows and columns to the site, from the highest bits to the lowest: the least is
/// that of the site with the lowest index among the nearest.
template <bool kSpaced>
struct SiteKeys {
  using Steps = NearSteps<kSpaced ? Spacing::unit : Spacing::equal>;
  static constexpr unsigned kTies = 1, kHere = NearKey::kOrigin;
  static constexpr int kSquareBit = NearKey::kSquareBit;
  static constexpr int kTooFar = 45;  ///< rows; their square is more than kUnsettled, and fits

  /// Of the nearer of two sites in a column. @param above, below  rows up and down
  static __device__ unsigned along(const Plane& plane, const Steps& steps, int above, int below) {
    const int rows = above <= below ? -above : below;
    if constexpr (!kSpaced) return NearKey::of_rows(rows);
    const unsigned square = plane.along(static_cast<unsigned>(rows));
    return square < steps.limit ? NearKey::of(square, rows) : NearKey::of(steps.limit, 0);
  }
  /// What steps to the left and to the right add.
  static __device__ uint2 across(const Steps& square_of, int steps) {
    const auto n = static_cast<unsigned>(steps);
    const unsigned square = square_of(n * n) << kSquareBit;
    return make_uint2(square - n, square + n);
  }
};
/// The same without a unit: the squared distance roughly, and the steps sideways (see AnyKey).
struct RoughKeys {
  using Steps = NearSteps<Spacing::any>;
  static constexpr unsigned kTies = 0, kHere = 0;
  static constexpr int kSquareBit = AnyKey::kColumnBits;
  static constexpr int kTooFar = kNearRows - 1;  ///< what is farther along a column counts as far as this

  static __device__ unsigned along(const Plane& plane, const Steps&, int above, int below) {
    return __ldg(plane.spacing.near_keys + min(above, below));
  }
  static __device__ uint2 across(const Steps&, int steps) {
    return make_uint2(AnyKey::of_columns(steps), AnyKey::of_columns(steps));
  }
};

/// One column: its key. A candidate's key is the sum of those for the steps sideways and for those along its column.
/// kBeyond: see Plane::beyond. kUpper: it is asked on which side of a bit the site lies.
template <class Keys, bool kCarried, bool kBeyond, bool kUpper>
struct NearKeys : NearColumns<1, kCarried> {
  using Base = NearColumns<1, kCarried>;
  using Base::bits, Base::above, Base::below;
  using Steps = typename Keys::Steps;
  static constexpr unsigned kTies = Keys::kTies;

  __device__ NearKeys(const Plane& plane, std::int64_t band, int x) : Base(plane, band, x), plane_(plane) {
    if (!kUpper || x < 0 || x >= plane.pitch) return;
    only_below_ = bits[0] & ~plane.runs.upper[band * plane.pitch + x];
  }

  __device__ void put(unsigned (*column)[kNearWords]) const {
    constexpr int kTooFar = Keys::kTooFar;
    const Steps steps(plane_);
    int rows = static_cast<int>(min(above[0] - 1, unsigned{kTooFar}));
#pragma unroll
    for (int r = 0; r < kBand; ++r) {
      rows = bits[0] >> r & 1 ? kBeyond : min(rows + 1, kTooFar);
      column[r][0] = static_cast<unsigned>(only_below_ >> r & 1 ? kTooFar : rows);
    }
    asm volatile("" ::: "memory");  // as for pairs
    rows = static_cast<int>(min(below[0] - 32, unsigned{kTooFar}));
#pragma unroll
    for (int r = kBand - 1; r >= 0; --r) {
      rows = bits[0] >> r & 1 ? kBeyond : min(rows + 1, kTooFar);
      column[r][0] = Keys::along(plane_, steps, static_cast<int>(column[r][0]), rows);
    }
  }

  /// The sums on the other kind of units where kBalance.
  template <bool kBalance>
  static __device__ unsigned offer(unsigned best, unsigned left, unsigned right, int steps, Steps square_of) {
    const uint2 add = Keys::across(square_of, steps);
    if constexpr (kBalance)
      return __vimin3_u32(best, sum_by_product(left, add.x, square_of.one),
                          sum_by_product(right, add.y, square_of.one));
    return __viaddmin_u32(left, add.x, __viaddmin_u32(right, add.y, best));
  }

  static __device__ unsigned without(unsigned, int) { return Keys::kHere; }
  static __device__ unsigned bounded(unsigned word, int, const RunSteps& run, const Plane& plane) {
    const unsigned steps = run.least();
    if (steps >= kReach) return word;
    return min(word, NearKey::of(Steps(plane)(steps * steps), 0) + static_cast<unsigned>(run.nearest()));
  }
  static __device__ unsigned square(unsigned word, int) { return word >> Keys::kSquareBit; }
  static __device__ unsigned largest(const unsigned* four, int) {
    return square(__vimax3_u32(four[0], four[1], max(four[2], four[3])), 0);
  }
  static __device__ void unpack(const unsigned* four, float (&squares)[1][4]) {
#pragma unroll
    for (int q = 0; q < 4; ++q) squares[0][q] = small_float(square(four[q], 0));
  }

 private:
  const Plane& plane_;
  unsigned only_below_ = 0;  ///< bits whose sites do not lie above
};

}  // namespace fathom::grid::cuda::plane
