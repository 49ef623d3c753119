// The results of near elements (plane/near.cuh): floats, nearest sites, or values of any other type.
//
// Work mapping: a warp has searched two rows of 64 words, four neighbours to a lane. Where rows are not aligned, or
// results take many registers, they go through 512 bytes of shared memory, so that neighbouring lanes write neighbours.
#pragma once

#include "grid/cuda/plane/near_words.cuh"
#include "grid/cuda/plane/runs.cuh"

namespace fathom::grid::cuda::plane {

/// Float distances of four words, from lanes to rows.
template <Writing kWriting, Spacing kSpaced>
struct NearFloats {
  const Plane& plane;
  float* stage;  ///< of the warp: 128 floats, where rows are not aligned

  __device__ float distance_of(float square) const {
    if constexpr (kWriting == Writing::one_side) return plane.out.side.near(square);
    return kSpaced == Spacing::equal ? small_root(square) : small_root(square) * plane.out.side.scale;
  }
  /// Four neighbours, of which `count` are in the row.
  ///
  /// @param own    0 where an element belongs to the other side of a signed field
  /// @param there  whether the row is; by all lanes of a warp
  /// @param whole  whether all of the tile is
  __device__ void write(float* to, int count, const float (&own)[4], const float (&distances)[4], bool there,
                        bool whole) const {
    if constexpr (kWriting == Writing::one_side) {
      if (there) put_side(to, own, distances, count);
    } else if (spreads()) {
      spread(to, distances, count, there);
    } else if (whole) {
      put(to, distances, 4);
    } else if (there && count > 0) {
      put(to, distances, count);
    }
  }

 private:
  /// Whether rows are not aligned: asked at run time where there is no kernel for either.
  __device__ bool spreads() const {
    if constexpr (kSpaced != Spacing::equal || kWriting == Writing::labels) return !plane.out.is_aligned;
    else return kWriting == Writing::unaligned;
  }
  /// One by one where some belong to the other side.
  __device__ void put_side(float* to, const float (&own)[4], const float (&distances)[4], int count) const {
    const bool takes_all = plane.out.side.is_first || fminf(fminf(own[0], own[1]), fminf(own[2], own[3])) > 0;
    if (plane.out.is_aligned && takes_all && count >= 4) return put(to, distances, 4);
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
  /// Through shared memory, so that neighbouring lanes write neighbouring floats. Half a warp holds 64 of one row.
  __device__ void spread(float* to, const float (&distances)[4], int count, bool there) const {
    const int lane = lane_id(), place = lane % 16;
    float* half = stage + (lane / 16) * 64;
    __syncwarp();
    reinterpret_cast<float4*>(half)[place] = make_float4(distances[0], distances[1], distances[2], distances[3]);
    __syncwarp();
    if (!there) return;
    float* first = to - 4 * place;
    const int end = count + 4 * place;  // columns from the half warp's first on
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (16 * q + place < end) first[16 * q + place] = half[16 * q + place];
  }
};

/// Keys of 64 elements of two rows each, from lanes to results.
template <bool kSpaced, bool kLabels>
struct NearSites {
  const Plane& plane;
  const Emitter<std::int64_t>& emitter;
  const std::int64_t band;
  const std::int32_t y0;         ///< the band's first row, …
  const SiteResults::Row& rows;  ///< … and its results
  unsigned* stage;               ///< of the warp: 128 keys, so that neighbouring lanes write neighbours

  /// @param r, x       row of the band and column of the first word
  /// @param unsettled  squared distances from which the far search writes
  __device__ void write(int r, int x, const unsigned* best, unsigned unsettled) const {
    if (emitter.sites.serves && emitter.sites.is_aligned)
      return write_four(r + lane_id() / 16, x + lane_id() % 16 * 4, best, unsettled);
    __syncwarp();
    reinterpret_cast<uint4*>(stage)[lane_id()] = make_uint4(best[0], best[1], best[2], best[3]);
    __syncwarp();
    if (emitter.sites.serves) write_staged<true>(*this, r, x, unsettled);
    else write_staged<false>(*this, r, x, unsettled);
  }

 private:
  __device__ std::int32_t site_of(const NearKey& key, std::int32_t y, std::int32_t x) const {
    return (y + key.rows) * plane.width + x + key.columns;
  }
  __device__ float distance_of(const NearKey& key) const {
    const float root = small_root(small_float(key.square));
    return kSpaced ? root * plane.out.side.scale : root;
  }

  /// Not inlined: it takes registers from the search. Nor by reference: what has an address is in memory, and would be
  /// written there for each task. Plain results by themselves: with others they take more registers than there are.
  ///
  /// kPlain: emitter.sites serves
  template <bool kPlain>
  static __device__ __noinline__ void write_staged(NearSites near, int r, int x, unsigned unsettled) {
    for (int half = 0; half < 2; ++half) {
      const std::int32_t y = near.y0 + r + half;
      if (y >= near.plane.height) break;
      near.template write_row<kPlain>(r + half, y, x, near.stage + half * 64, unsettled);
    }
  }
  template <bool kPlain>
  __device__ void write_row(int r, std::int32_t y, int x, const unsigned* keys, unsigned unsettled) const {
    SiteResults::Row row{};
    if constexpr (kPlain) row = emitter.sites.down(rows, r);
    for (int k = lane_id(); k < 64; k += 32) {
      const NearKey key(keys[k]);
      if (x + k >= plane.width || key.square >= unsettled) continue;
      const std::int32_t site = site_of(key, y, x + k);
      if constexpr (kPlain) emitter.sites.write(row, x + k, distance_of(key), site);
      else
        emit_in_image(emitter, plane.item_of(band), y, x + k, value_of(key.square), site,
                      kLabels && is_inside(plane, band, r, x + k));
    }
  }

  /// The lane's own, one by one where some are not settled.
  __device__ void write_four(int r, int x, const unsigned* best, unsigned unsettled) const {
    const std::int32_t y = y0 + r;
    if (y >= plane.height) return;
    const SiteResults::Row row = emitter.sites.down(rows, r);
    float roots[4];
    std::int32_t sites[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const NearKey key(best[q]);
      roots[q] = distance_of(key);
      sites[q] = site_of(key, y, x + q);
    }
    if (NearKey(max(max(best[0], best[1]), max(best[2], best[3]))).square < unsettled && x + 4 <= plane.width)
      return emitter.sites.write_four(row, x, roots, sites);
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (NearKey(best[q]).square < unsettled && x + q < plane.width)
        emitter.sites.write(row, x + q, roots[q], sites[q]);
  }
};

/// Squares of 64 elements of two rows each, from lanes to results that are no floats, through shared memory: so
/// neighbouring lanes write neighbours.
template <bool kLabels>
struct NearValues {
  const Plane& plane;
  const Emitter<std::int64_t>& emitter;
  const std::int64_t band;
  unsigned* stage;  ///< of the warp: 128 squares

  /// The lane's own, at once.
  ///
  /// @param rows  results of the band's first row
  /// @param r, x  row of the band and column of the lane's first word
  template <class Word>
  __device__ void write_fours(std::byte* rows, int r, int x, const unsigned* best) const {
#pragma unroll
    for (int k = 0; k < Word::kColumns; ++k, x += kHalf) {
      const unsigned squares[4] = {Word::square(best[0], k), Word::square(best[1], k), Word::square(best[2], k),
                                   Word::square(best[3], k)};
      unsigned inside = 0;
      if (kLabels && !plane.runs.pins)
        inside = ~(plane.runs.background[(band * kBand + r) * plane.runs.row_words + x / 32] >> x % 32);
      emitter.values.write_four(rows + r * emitter.values.row_bytes() + std::int64_t{4} * x, squares, inside);
    }
  }
  /// @param r, x  row of the band and column of the first word
  template <class Word>
  __device__ void write(int r, int x, const unsigned* best) const {
#pragma unroll
    for (int k = 0; k < Word::kColumns; ++k) {
      __syncwarp();
      reinterpret_cast<uint4*>(stage)[lane_id()] = make_uint4(Word::square(best[0], k), Word::square(best[1], k),
                                                              Word::square(best[2], k), Word::square(best[3], k));
      __syncwarp();
      if (x + k * kHalf < plane.width) write_staged(r, x + k * kHalf);
    }
  }

 private:
  /// As LaneResults::inside.
  __device__ unsigned inside_of(int r, int x) const {
    const std::uint32_t* row = plane.runs.background + (band * kBand + r) * plane.runs.row_words + x / 32;
    unsigned words[4], inside = 0;  // all are read before any is looked at, so that the waits are one
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = row[i / 2 * plane.runs.row_words + i % 2];
#pragma unroll
    for (int i = 0; i < 4; ++i) inside |= (~words[i] >> lane_id() & 1) << i;
    return inside;
  }

  __device__ void write_staged(int r, int x) const {
    const std::int32_t y = plane.first_row(band) + r;
    LaneResults<2, 2> results{
        .item = plane.item_of(band), .z = 0, .y = y, .x = x + lane_id(), .rows = plane.height - y};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      results.squares[i / 2][i % 2] = stage[32 * i + lane_id()];
    }
    if (kLabels && !plane.runs.pins) results.inside = inside_of(r, x);
    write_results(emitter, results);
  }
};

}  // namespace fathom::grid::cuda::plane
