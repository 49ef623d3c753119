// The candidates of one far tile, listed by the block that solves it. Where all tiles are solved at once, as of small
// images, this takes less time than columns that are pruned and lists of bands by kernels that wait for one another.
//
// Work mapping: block = tile. Phase 1, thread = column of the tile: how far what is open can be from sites. Phase 2,
// thread = columns of the band, up to four: those whose sites may be as near go to shared memory, in their order. Phase
// 3, in rounds, thread = candidates, up to four: those above chords of others around them are dropped. Phase 4, half of
// the warps = edge of the open cells, lane = row: the first and the last winner there, which bound those inside
// (plane/list.cuh).
//
// Cost: O(columns of the band) per tile, and some 15 operations for each edge, row and candidate.
#pragma once

#include "grid/cuda/plane/chords.cuh"
#include "grid/cuda/plane/far_cell.cuh"

namespace fathom::grid::cuda {

inline constexpr int kMostOwnColumns = 4 * kFarBlock;  ///< of a band whose tiles have lists of their own

/// Bytes of dynamic shared memory.
inline std::size_t tile_list_memory(int pitch) { return static_cast<std::size_t>(pitch) * sizeof(uint4); }

/// What is needed while a list is made.
struct TileListMemory {
  unsigned rows[kFarWarps];        ///< at most so many are between what is open in a warp's columns and their sites
  unsigned distance[kFarWarps];    ///< at most so far is what is open from one of the warp's sites, squared
  std::uint32_t kept[32];          ///< candidates, of 32
  unsigned best[kFarWarps][32];    ///< of the candidates that a warp has looked at, for each row …
  ushort2 winners[kFarWarps][32];  ///< … and the first and the last that have it
  ushort2 edges[2];
  LinePoint points[kMostOwnColumns];  ///< candidates as seen from the band's lines
};

class TileList {
 public:
  __device__ TileList(const Plane& plane, std::uint32_t tile, uint4* memory, TileListMemory& more)
      : plane_(plane),
        place_(plane.place_of(tile)),
        start_(place_.band * plane.pitch),
        x0_(place_.tile * kTile),
        warp_(static_cast<int>(threadIdx.x) / 32),
        entries_(memory),
        m_(more) {}

  /// By all threads. @returns whether there is anything to solve
  __device__ bool make() {
    const std::uint8_t* cells = plane_.open_cells + place_.band * plane_.cells() + x0_ / 32;
    const uint2 open = *reinterpret_cast<const uint2*>(cells);
    if (!(open.x | open.y)) return false;
    find_open(open);
    find_bounds(cells[warp_] != 0);
    collect();
    drop_above_chords();
    if (count_ > 1) find_edges();
    return true;
  }

  __device__ Entry operator[](int k) const {
    const uint4 e = entries_[k];
    return {static_cast<int>(e.x), {e.y, e.z, e.w}};
  }
  /// The first and the last candidate that can win; (0, −1): there are none.
  __device__ int2 range() const {
    return count_ > 1 ? make_int2(m_.edges[0].x, m_.edges[1].y) : make_int2(0, count_ - 1);
  }

 private:
  static constexpr int kTogether = kMostOwnColumns / kFarBlock;  ///< columns or candidates of a thread
  static_assert(kTogether * kFarWarps == 32);                    ///< a lane has one word of what is kept of them

  static __device__ int place(int j) { return j * kFarBlock + static_cast<int>(threadIdx.x); }
  __device__ Column column(int x) const {
    return {plane_.bits[start_ + x], plane_.above[start_ + x], plane_.below[start_ + x]};
  }
  __device__ bool is_solid(int x) const { return x < 0 || x >= plane_.pitch || plane_.bits[start_ + x] == 0xFFFFFFFFu; }

  /// @param open  bytes, of which one at least is not 0
  __device__ void find_open(uint2 open) {
    const auto all = static_cast<long long>(std::uint64_t{open.y} << 32 | open.x);
    first_ = x0_ + (__ffsll(all) - 1) / 8 * 32;
    last_ = x0_ + (63 - __clzll(all)) / 8 * 32 + 31;
  }

  /// @param is_open  the cell of the warp's columns
  __device__ void find_bounds(bool is_open) {
    const int x = x0_ + static_cast<int>(threadIdx.x);
    const Column c = column(x);
    // The row farthest from sites above and below is the first or the last one, or in the middle between these.
    const unsigned rows = c.bits ? kBand - 1 : min(min(c.below, c.above + kBand - 1), (c.above + c.below) / 2);
    const unsigned to_open =
        rows < kNoRow ? Winners::square(plane_, static_cast<int>(rows), max(x - first_, last_ - x)) : Winners::kNothing;
    const unsigned most_rows = warp_max(is_open && x < plane_.width ? rows : 0), distance = warp_min(to_open);
    if (lane_id() != 0) return;
    m_.rows[warp_] = most_rows;
    m_.distance[warp_] = distance;
  }
  /// The most that a value may be in the open cells.
  __device__ unsigned limit() const {
    unsigned rows = 0, distance = Winners::kNothing - 1;
#pragma unroll
    for (int w = 0; w < kFarWarps; ++w) {
      rows = max(rows, m_.rows[w]);
      distance = min(distance, m_.distance[w]);
    }
    if (rows < kNoRow) distance = min(distance, Winners::square(plane_, static_cast<int>(rows), 0));
    return Winners::most(distance);
  }

  __device__ void collect() {
    Entry mine[kTogether];
    bool keep[kTogether];
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const int x = min(place(j), plane_.pitch - 1);
      mine[j] = {x, column(x)};
      const bool is_inner = is_solid(x - 1) & is_solid(x) & is_solid(x + 1);  // nearest to nobody but itself
      keep[j] = place(j) < plane_.pitch && !is_inner;
    }
    __syncthreads();
    const unsigned most = limit();
#pragma unroll
    for (int j = 0; j < kTogether; ++j) keep[j] &= is_near(mine[j], most);
    put(mine, keep);
  }
  __device__ bool is_near(const Entry& entry, unsigned most) const {
    const unsigned rows = entry.column.bits ? 0 : min(entry.column.above, entry.column.below - 31);
    const int columns = max(0, max(first_ - entry.x, entry.x - last_));
    return rows < kNoRow && Winners::square(plane_, static_cast<int>(rows), columns) <= most;
  }

  /// As long as that leaves many, and fewer and fewer.
  __device__ void drop_above_chords() {
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds && count_ > kShortOwnTile; ++round) {
      for (int k = static_cast<int>(threadIdx.x); k < count_; k += kFarBlock)
        m_.points[k] = FromLines((*this)[k], plane_);
      __syncthreads();
      Entry mine[kTogether];
      bool keep[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        keep[j] = place(j) < count_;
        if (!keep[j]) continue;
        mine[j] = (*this)[place(j)];
        keep[j] = may_win(place(j), mine[j]);
      }
      const int before = count_;
      put(mine, keep);
      if ((before - count_) * 16 <= before) break;
    }
  }
  __device__ bool may_win(int k, const Entry& entry) const {
    constexpr int kWidest = 16;
    if (entry.column.bits) return true;
    const FromLines me(entry, plane_);
    bool from_above = me.may_be_above(), from_below = me.may_be_below();
#pragma unroll
    for (int step = 1; step <= kWidest; step *= 2) {
      if (k < step || k + step >= count_) break;
      const LinePoint one = m_.points[k - step], other = m_.points[k + step];
      from_above &= !is_above(one, me, other, &LinePoint::upper);
      from_below &= !is_above(one, me, other, &LinePoint::lower);
    }
    return from_above || from_below;
  }

  /// Lists what is to be kept of the threads' entries, in the order of their places.
  __device__ void put(const Entry (&mine)[kTogether], const bool (&keep)[kTogether]) {
    unsigned kept[kTogether];
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      kept[j] = __ballot_sync(kAllLanes, keep[j]);
      if (lane_id() == 0) m_.kept[j * kFarWarps + warp_] = kept[j];
    }
    __syncthreads();
    const int own = __popc(m_.kept[lane_id()]);
    int to_end = own;  // candidates up to the end of the lane's word
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kAllLanes, to_end, step);
      if (lane_id() >= step) to_end += other;
    }
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const int before = __shfl_sync(kAllLanes, to_end - own, j * kFarWarps + warp_);
      if (!keep[j]) continue;
      const Column& c = mine[j].column;
      entries_[before + __popc(kept[j] & lanes_before(lane_id()))] =
          make_uint4(static_cast<unsigned>(mine[j].x), c.bits, c.above, c.below);
    }
    count_ = __shfl_sync(kAllLanes, to_end, 31);
    __syncthreads();
  }

  __device__ void find_edges() {
    constexpr int kShares = kFarWarps / 2;
    const int edge = warp_ / kShares, share = warp_ % kShares, x = edge == 0 ? first_ : last_ + 1;
    Winners winners(share);
#pragma unroll 4
    for (int k = share; k < count_; k += kShares) {
      const Entry entry = (*this)[k];
      winners.offer(Winners::square(plane_, entry.column.at(lane_id(), 0), x - entry.x), k);
    }
    m_.best[warp_][lane_id()] = winners.best;
    m_.winners[warp_][lane_id()] = as_shorts(winners.first, winners.last);
    __syncthreads();
    if (share == 0) {
      for (int i = 1; i < kShares; ++i) {
        const ushort2 others = m_.winners[warp_ + i][lane_id()];
        winners.join(m_.best[warp_ + i][lane_id()], others.x, others.y);
      }
      const unsigned first = warp_min(static_cast<unsigned>(winners.first)),
                     last = warp_max(static_cast<unsigned>(winners.last));
      if (lane_id() == 0) m_.edges[edge] = as_shorts(static_cast<int>(first), static_cast<int>(last));
    }
    __syncthreads();
  }
  static __device__ ushort2 as_shorts(int first, int last) {
    return make_ushort2(static_cast<unsigned short>(first), static_cast<unsigned short>(last));
  }

  const Plane& plane_;
  const Plane::TilePlace place_;
  const std::int64_t start_;  ///< of the band's columns
  const int x0_, warp_;
  uint4* entries_;
  TileListMemory& m_;
  int first_ = 0, last_ = 0;  ///< columns of the open cells
  int count_ = 0;
};

}  // namespace fathom::grid::cuda
