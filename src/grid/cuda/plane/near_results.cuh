// The results of near elements (plane/near.cuh): floats, nearest sites, or values of any other type.
//
// Work mapping: a warp has searched two rows of 64 words, four neighbours to a lane. Where rows are not aligned, or
// results take many registers, they go through 512 bytes of shared memory, so that neighbouring lanes write neighbours.
#pragma once

#include <type_traits>

#include "grid/cuda/plane/near_words.cuh"
#include "grid/cuda/plane/runs.cuh"

namespace fathom::grid::cuda::plane {

template <Writing kWriting, Spacing kSpaced>
using NearWord = std::conditional_t<
    kSpaced == Spacing::any, NearKeys<RoughKeys, true, false, false>,
    std::conditional_t<finds_sites(kWriting) || kSpaced == Spacing::unit,
                       NearKeys<SiteKeys<kSpaced != Spacing::equal>, kSpaced != Spacing::equal, is_of_labels(kWriting),
                                finds_sites(kWriting) && is_of_labels(kWriting)>,
                       NearPairs<is_of_labels(kWriting), kSpaced == Spacing::unit_along_columns>>>;

/// Columns that a block solves.
template <Writing kWriting, Spacing kSpaced>
inline constexpr int kNearWidth = NearWord<kWriting, kSpaced>::kColumns* kHalf;

template <Writing kWriting>
struct NearMemory {
  static constexpr bool kStaged = kWriting != Writing::aligned && kWriting != Writing::one_side;
  std::uint32_t squares[kBand][kNearWords];
  unsigned stages[kStaged ? kNearWords / 32 : 1][kStaged ? 128 : 4];  ///< of the warps: two rows of 64
  // Where the band's results begin: here, because registers are short.
  float* floats;
  SiteResults::Row sites;
  std::byte* values;  ///< null: results are not written four at a time
};

/// Of what a block solves. V: the emitter's.
template <Writing kWriting, Spacing kSpaced, class V>
class NearResults {
 protected:
  using Word = NearWord<kWriting, kSpaced>;
  static constexpr int kWidth = kNearWidth<kWriting, kSpaced>;
  static constexpr bool kLabels = is_of_labels(kWriting), kSites = finds_sites(kWriting);
  static constexpr bool kAny = kSpaced == Spacing::any, kValues = is_general(kWriting) && !kSites;

  __device__ NearResults(const Plane& plane, const Emitter<V>& emitter, NearMemory<kWriting>& memory)
      : plane_(plane),
        emitter_(emitter),
        m_(memory),
        band_(blockIdx.y),
        x0_(static_cast<int>(blockIdx.x) * kWidth),
        rows_(plane.height - plane.first_row(band_)),
        whole_(x0_ + kWidth <= plane.width && rows_ >= kBand) {}

  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }

  /// By one thread.
  __device__ void find_rows() const {
    const int y = plane_.first_row(band_);
    const std::int64_t item = plane_.first_item + plane_.item_of(band_);
    if constexpr (kSites) {
      m_.sites = emitter_.sites.row(item, 0, y);
    } else if constexpr (kValues) {
      const auto& values = emitter_.values;
      const bool in_fours =
          kSpaced == Spacing::equal && values.serves && values.in_fours && values.holds(0, y, kBand, x0_, kWidth);
      m_.values = in_fours ? values.row(item, 0, y) : nullptr;
    } else {
      m_.floats = plane_.row(band_, y);
    }
  }

  /// What a warp has found: 64 words of rows r0 and r0 + 1, four to a lane.
  /// @param row        of keys, at the lane's first of four
  /// @param unsettled  squared distances from which the far search writes
  __device__ void write(const uint4* row, const unsigned (&best)[4], int r0, int word0, unsigned unsettled) const {
    const int r = r0 + lane_id() / 16, x = x0_ + word0 + lane_id() % 16 * 4;
    if constexpr (kSites) {
      if (emitter_.sites.serves && emitter_.sites.is_aligned) return write_four_sites(r, x, best, unsettled);
      stage(best[0], best[1], best[2], best[3]);
      if (emitter_.sites.serves) write_staged_sites<true>(plane_, emitter_, m_, band_, r0, x0_ + word0, unsettled);
      else write_staged_sites<false>(plane_, emitter_, m_, band_, r0, x0_ + word0, unsettled);
    } else if constexpr (kAny) {
      write_measured(row, best, r, x);
    } else if constexpr (kValues) {
      write_values(best, r0, word0);
    } else {
      float squares[Word::kColumns][4];
      Word::unpack(best, squares);
#pragma unroll
      for (int h = 0; h < Word::kColumns; ++h) {
        float distances[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) distances[q] = distance_of(plane_, squares[h][q]);
        write_floats(r, x + h * kHalf, squares[h], distances);
      }
    }
  }

  const Plane& plane_;
  const Emitter<V>& emitter_;
  NearMemory<kWriting>& m_;
  const std::int64_t band_;
  const int x0_, rows_;
  const bool whole_;  ///< all of it is inside the image

 private:
  __device__ void stage(unsigned a, unsigned b, unsigned c, unsigned d) const {
    __syncwarp();
    reinterpret_cast<uint4*>(m_.stages[warp()])[lane_id()] = make_uint4(a, b, c, d);
    __syncwarp();
  }
  static __device__ float distance_of(const Plane& plane, float square) {
    if constexpr (kWriting == Writing::one_side) return plane.out.side.near(square);
    return kSpaced == Spacing::equal ? small_root(square) : small_root(square) * plane.out.side.scale;
  }

  /// Without a unit.
  __device__ void write_measured(const uint4* row, const unsigned (&best)[4], int r, int x) const {
    // All belong to the other side.
    if (kWriting == Writing::one_side && !plane_.out.side.is_first && !__any_sync(kAllLanes, Word::largest(best, 0)))
      return;
    Measured<kWriting> exact[4];
    measure_four(plane_, reinterpret_cast<const unsigned*>(row), best, exact);
    if constexpr (kValues) {
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (r < rows_ && x + q < plane_.width)
          emit_in_image(emitter_, plane_.item_of(band_), plane_.height - rows_ + r, x + q, exact_value<V>(exact[q]), -1,
                        false);
    } else {
      float distances[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) distances[q] = exact[q] * plane_.out.side.scale;
      write_floats(r, x, exact, distances);
    }
  }

  /// Four neighbours. @param own  0 where an element belongs to the other side of a signed field
  __device__ void write_floats(int r, int x, const float (&own)[4], const float (&distances)[4]) const {
    float* to = m_.floats + r * plane_.out.distance.y_stride + x;
    const int count = plane_.width - x;  // in the row
    const bool there = r < rows_;
    if constexpr (kWriting == Writing::one_side) {
      if (there) put_side(to, own, distances, count);
    } else if (spreads()) {
      spread(to, distances, count, there);
    } else if (whole_) {
      put(to, distances, 4);
    } else if (there && count > 0) {
      put(to, distances, count);
    }
  }
  /// Whether rows are not aligned: asked at run time where there is no kernel for either.
  __device__ bool spreads() const {
    if constexpr (kSpaced != Spacing::equal || kWriting == Writing::labels) return !plane_.out.is_aligned;
    else return kWriting == Writing::unaligned;
  }
  /// One by one where some belong to the other side.
  __device__ void put_side(float* to, const float (&own)[4], const float (&distances)[4], int count) const {
    const bool takes_all = plane_.out.side.is_first || fminf(fminf(own[0], own[1]), fminf(own[2], own[3])) > 0;
    if (plane_.out.is_aligned && takes_all && count >= 4) return put(to, distances, 4);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (q < count && (takes_all || own[q] > 0)) to[q] = distances[q];
  }
  static __device__ void put(float* to, const float (&distances)[4], int count) {
    if (count >= 4) {
      *reinterpret_cast<float4*>(to) = make_float4(distances[0], distances[1], distances[2], distances[3]);
    } else {
      for (int q = 0; q < 3; ++q)
        if (q < count) to[q] = distances[q];
    }
  }
  /// Half a warp holds 64 of one row.
  __device__ void spread(float* to, const float (&distances)[4], int count, bool there) const {
    stage(__float_as_uint(distances[0]), __float_as_uint(distances[1]), __float_as_uint(distances[2]),
          __float_as_uint(distances[3]));
    if (!there) return;
    const int place = lane_id() % 16, end = count + 4 * place;  // columns from the half warp's first on
    const unsigned* half = m_.stages[warp()] + lane_id() / 16 * 64;
    float* first = to - 4 * place;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (16 * q + place < end) first[16 * q + place] = __uint_as_float(half[16 * q + place]);
  }

  static __device__ std::int32_t site_of(const Plane& plane, const NearKey& key, std::int32_t y, std::int32_t x) {
    return (y + key.rows) * plane.width + x + key.columns;
  }
  /// The lane's own, one by one where some are not settled.
  __device__ void write_four_sites(int r, int x, const unsigned* best, unsigned unsettled) const {
    const std::int32_t y = plane_.height - rows_ + r;
    if (y >= plane_.height) return;
    const SiteResults::Row row = emitter_.sites.down(m_.sites, r);
    float roots[4];
    std::int32_t sites[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const NearKey key(best[q]);
      roots[q] = distance_of(plane_, small_float(key.square));
      sites[q] = site_of(plane_, key, y, x + q);
    }
    if (NearKey(max(max(best[0], best[1]), max(best[2], best[3]))).square < unsettled && x + 4 <= plane_.width)
      return emitter_.sites.write_four(row, x, roots, sites);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (NearKey(best[q]).square < unsettled && x + q < plane_.width)
        emitter_.sites.write(row, x + q, roots[q], sites[q]);
  }
  /// Not inlined: it takes registers from the search. Nor of an object: what has an address is in memory, and would be
  /// written there for each task. Plain results by themselves: with others they take more registers than there are.
  /// kPlain: emitter.sites serves
  template <bool kPlain>
  static __device__ __noinline__ void write_staged_sites(const Plane& plane, const Emitter<V>& emitter,
                                                         const NearMemory<kWriting>& m, std::int64_t band, int r, int x,
                                                         unsigned unsettled) {
    std::int32_t y = plane.first_row(band) + r;
    const unsigned* keys = m.stages[warp()];
    for (const int end = min(r + 2, r + plane.height - y); r < end; ++r, ++y, keys += 64) {
      SiteResults::Row row{};
      if constexpr (kPlain) row = emitter.sites.down(m.sites, r);
      for (int k = lane_id(); k < 64; k += 32) {
        const NearKey key(keys[k]);
        if (x + k >= plane.width || key.square >= unsettled) continue;
        const std::int32_t site = site_of(plane, key, y, x + k);
        if constexpr (kPlain) emitter.sites.write(row, x + k, distance_of(plane, small_float(key.square)), site);
        else
          emit_in_image(emitter, plane.item_of(band), y, x + k, value_of(key.square), site,
                        kLabels && is_inside(plane, band, r, x + k));
      }
    }
  }

  /// Results that are no floats: the lane's own, at once, or those of the warp through shared memory.
  __device__ void write_values(const unsigned* best, int r0, int word0) const {
    const int r = r0 + lane_id() / 16, place = lane_id() % 16 * 4;
#pragma unroll
    for (int k = 0; k < Word::kColumns; ++k) {
      const int x = x0_ + word0 + k * kHalf;
      const unsigned squares[4] = {Word::square(best[0], k), Word::square(best[1], k), Word::square(best[2], k),
                                   Word::square(best[3], k)};
      if (m_.values) {
        const unsigned inside =
            kLabels && !plane_.runs.pins ? ~(background_row(r)[(x + place) / 32] >> (x + place) % 32) : 0;
        emitter_.values.write_four(m_.values + r * emitter_.values.row_bytes() + std::int64_t{4} * (x + place), squares,
                                   inside);
      } else {
        stage(squares[0], squares[1], squares[2], squares[3]);
        if (x < plane_.width) write_staged_values(r0, x);
      }
    }
  }
  __device__ const std::uint32_t* background_row(int r) const {
    return plane_.runs.background + (band_ * kBand + r) * plane_.runs.row_words;
  }
  __device__ void write_staged_values(int r, int x) const {
    const std::int32_t y = plane_.height - rows_ + r;
    LaneResults<2, 2> results{.item = plane_.item_of(band_), .z = 0, .y = y, .x = x + lane_id(), .rows = rows_ - r};
    unsigned background[4];  // all are read before any is looked at, so that the waits are one
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      results.squares[i / 2][i % 2] = m_.stages[warp()][32 * i + lane_id()];
      background[i] = kLabels && !plane_.runs.pins ? background_row(r + i / 2)[x / 32 + i % 2] : 0xFFFFFFFFu;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) results.inside |= (~background[i] >> lane_id() & 1) << i;
    write_results(emitter_, results);
  }
};

}  // namespace fathom::grid::cuda::plane
