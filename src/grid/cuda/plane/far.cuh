// The tiles that have unsettled cells: 32 rows × 256 columns, from the lists of candidates.
//
// Work mapping: persistent blocks of 8 warps take tiles from the queue, the long ones first. Phase 1: the vertical
// distances of the candidates in the tile's range of winners go to shared memory, squared. Phase 2, lane = row: the
// candidates that win at every 32nd column; again they bound what can win between (see plane/list.cuh). Phase 3, warp =
// 32 columns, lane = column with 32 rows in registers: a scan of that range, where the square of the horizontal
// distance is computed once per candidate. Cost: some ten operations per element and candidate in range. Where many
// candidates are convex along all rows, a walk takes the place of phases 2 and 3 (plane/far_walk.cuh).
//
// With nearest sites, values are 2 d² + 1 where the column's nearest site is below and none as near above, else 2 d².
// A second scan looks for the candidates whose value is the least, and takes the right one of several by a code for
// each (ColumnCode). Cost: another five operations.
//
// Without a unit, values are doubles (plane/exact.cuh), and half as many candidates are in shared memory at a time.
// Cost: twice as many operations per element and candidate as in units, on two kinds of units that work side by side.
#pragma once

#include "grid/cuda/plane/candidates.cuh"
#include "grid/cuda/plane/exact.cuh"
#include "grid/cuda/plane/far_results.cuh"
#include "grid/cuda/plane/far_walk.cuh"

namespace fathom::grid::cuda::plane {

/// Where a column's nearest sites are, of all rows of a band.
enum class Nearest : std::uint8_t { above, below, both };

struct FarMemory {
  unsigned squares[kCapacity * 32];  ///< [candidate][row]
  int column[kCapacity];
  Nearest nearest[kCapacity];  ///< sites of candidates
  int first_winner[kFarWarps + 1], last_winner[kFarWarps + 1];
  unsigned part_best[kFarWarps][32];
  ushort2 part_winners[kFarWarps][32];
  int ticket;
};

/// V: the emitter's.
template <Writing kWriting, Spacing kSpacing, class V>
class FarTile : FarResults<kWriting, kSpacing, V> {
  using Results = FarResults<kWriting, kSpacing, V>;
  using Results::kSites, Results::kLabels, Results::kSpaced, Results::kAny;
  using Results::plane_, Results::band_, Results::tile_, Results::x0_, Results::warp_, Results::start_,
      Results::is_open_, Results::best_, Results::codes_, Results::column;
  using typename Results::Value;
  using RowWinners = std::conditional_t<kAny, LikelyWinners<UpperHalves>, Winners>;
  static constexpr int kHeld = kCapacity * sizeof(unsigned) / sizeof(Value);  ///< candidates whose squares fit

 public:
  __device__ FarTile(const Plane& plane, const Emitter<V>& emitter, FarMemory& memory, std::uint32_t tile)
      : Results(plane, emitter, memory.squares, tile), m_(memory) {
    if (plane.left.list_count[band_] == 0) return;
    const ushort2* edges = plane.left.anchors + band_ * (plane.tiles() + 1) + tile_;
    first_ = edges[0].x;
    last_ = edges[1].y;
  }

  /// kLong: there may be more candidates than fit, or many that are convex.
  template <bool kLong>
  __device__ void solve() {
    find<kLong>();
    if (is_general(kWriting) || kAny) __syncthreads();  // the squares give way to the results
    this->write(first_ <= last_);
  }

 private:
  /// [candidate][row]
  __device__ Value* squares() const { return reinterpret_cast<Value*>(m_.squares); }

  /// In chunks of what fits.
  template <bool kLong>
  __device__ void find() {
    int count = 0, chunks = 0, next = first_;
    do {
      count = load(next);
      if constexpr (kLong && !kAny)
        if (chunks == 0 && next > last_ && walk(count)) return;
      find_winners(count);
      scan(count);
      ++chunks;
    } while (kLong && next <= last_);
    if constexpr (kSites) {
      if (chunks == 1) return find_columns(count);
      for (next = first_; next <= last_;) {
        count = load(next);
        find_winners(count);
        find_columns(count);
      }
    }
  }

  __device__ void store_squares(int k, const Entry& entry) {
    const int2 both = entry.column.both(lane_id(), plane_.beyond);
    Value square = this->square_along(min(both.x, both.y));
    if constexpr (kSites) {
      bool is_below = both.y < both.x;
      if (kLabels && entry.column.bits >> lane_id() & 1)
        is_below = !(plane_.runs.upper[start_ + entry.x] >> lane_id() & 1);
      square = 2 * square + unsigned{is_below};
      const unsigned below = __ballot_sync(kAllLanes, is_below);
      if (lane_id() == 0)
        m_.nearest[k] = below == 0 ? Nearest::above : below == kAllLanes ? Nearest::below : Nearest::both;
    }
    squares()[k * 32 + lane_id()] = square;
  }
  /// Fills the memory with the candidates from `next` on, as far as they fit, and their squares. @returns how many
  __device__ int load(int& next) {
    const int first = next, count = min(last_ - next + 1, kHeld);
    const auto entry_of = [&](int k) { return k < count ? Entry::load(plane_, start_, first + k) : Entry{}; };
    Entry entry = entry_of(warp_ + kFarWarps * lane_id());
    __syncthreads();  // what was there before is done with
    for (int k0 = warp_; k0 < count; k0 += kFarBlock) {
      const int mine = k0 + kFarWarps * lane_id();
      if (k0 >= kFarWarps) entry = entry_of(mine);
      if (mine < count) m_.column[mine] = entry.x;
      for (int k = 0; k < 32 && k0 + kFarWarps * k < count; ++k) store_squares(k0 + kFarWarps * k, entry.from_lane(k));
    }
    __syncthreads();
    next += count;
    return count;
  }
  /// At columns x0 + 32 p, a warp each.
  __device__ void find_winners(int count) {
    if (count > kShortTile) return find_winners_in_steps(count);
    if (count <= kFewCandidates) return;
    RowWinners winners{0};
    look(x0_ + 32 * warp_, 0, count - 1, 1, winners);
    keep_winners(warp_, winners);
    __syncthreads();
  }

  /// Lane = column: the least values, where all rows of many candidates are convex. @returns whether they are
  __device__ bool walk(int count) {
    constexpr std::uint32_t kMost = 1u << 30;  // values are twice that with sites, and below 2³¹
    if (count < kWorthWalking || count > RowWalk::kMostCandidates) return false;
    if (kSites && plane_.square(plane_.image_bands * kBand, plane_.pitch) >= kMost) return false;
    RowWalk row(m_.squares, m_.column, count, (kSpaced ? plane_.spacing.column_weight : 1) * (kSites ? 2 : 1));
    if (warp_ == kFarWarps - 1) row.put_guard();
    if (!__syncthreads_and(row.is_convex(warp_, kFarWarps))) return false;
    if (is_open_) row.walk<kSites>(x0_ + 32 * warp_, best_, codes_);
    __syncthreads();  // the squares give way to what was found
    if (is_open_) {
      unsigned* memory = m_.squares + warp_ * kTurnedWords;
      turn(memory, best_);
      if constexpr (kSites) turn(memory, codes_);
    }
    return true;
  }

  /// The best of every `step`-th candidate from `first` to `last` at column x, for the lane's row.
  __device__ void look(int x, int first, int last, int step, RowWinners& winners) const {
#pragma unroll 4
    for (int k = first; k <= last; k += step)
      winners.offer(RowWinners::rounded(squares()[k * 32 + lane_id()] + across(x, k)), k);
  }
  /// What the columns from x to candidate k add to a value.
  __device__ Value across(int x, int k) const { return this->square_across(x - m_.column[k]) * (kSites ? 2 : 1); }
  __device__ void keep_winners(int p, const RowWinners& winners) {
    const unsigned first = warp_min(static_cast<unsigned>(winners.first)),
                   last = warp_max(static_cast<unsigned>(winners.last));
    if (lane_id() != 0) return;
    m_.first_winner[p] = static_cast<int>(first);
    m_.last_winner[p] = static_cast<int>(last);
  }

  /// Winners at columns x0 + 32 p by halving, where the warps share the candidates between two columns that are known.
  __device__ void find_winners_in_steps(int count) {
#pragma unroll 1
    for (int level = 0; level < 3; ++level) {
      const int step = 4 >> level, parts = 8 >> level, part = warp_ & (parts - 1);
      const int p = (2 * (warp_ >> (3 - level)) + 1) * step;
      const int first = p - step == 0 ? 0 : m_.first_winner[p - step];
      const int last = p + step == kFarWarps ? count - 1 : m_.last_winner[p + step];
      RowWinners winners{first};
      look(x0_ + 32 * p, first + part, last, parts, winners);
      m_.part_best[warp_][lane_id()] = winners.best;
      m_.part_winners[warp_][lane_id()] =
          make_ushort2(static_cast<unsigned short>(winners.first), static_cast<unsigned short>(winners.last));
      __syncthreads();
      if (part == 0) {
        for (int i = 1; i < parts; ++i) {
          const ushort2 others = m_.part_winners[warp_ + i][lane_id()];
          winners.join(m_.part_best[warp_ + i][lane_id()], others.x, others.y);
        }
        keep_winners(p, winners);
      }
      __syncthreads();
    }
  }

  /// The candidates between the winners at the ends of the warp's 32 columns.
  __device__ int first_in_range(int count) const {
    return count <= kFewCandidates || warp_ == 0 ? 0 : m_.first_winner[warp_];
  }
  __device__ int last_in_range(int count) const {
    return count <= kFewCandidates || warp_ == kFarWarps - 1 ? count - 1 : m_.last_winner[warp_ + 1];
  }

  /// Calls of_row(r, squares) with those of the candidates from k on, for each row.
  template <int kCount, class OfRow>
  __device__ void for_rows(int k, OfRow&& of_row) const {
    using Loaded = std::conditional_t<kAny, double2, uint4>;
    constexpr int kTogether = sizeof(Loaded) / sizeof(Value);
    const auto* rows = reinterpret_cast<const Loaded*>(squares() + k * 32);
#pragma unroll
    for (int q = 0; q < kBand / kTogether; ++q) {
      Loaded loaded[kCount];
#pragma unroll
      for (int c = 0; c < kCount; ++c) loaded[c] = rows[c * kBand / kTogether + q];
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        Value own[kCount];
#pragma unroll
        for (int c = 0; c < kCount; ++c) own[c] = reinterpret_cast<const Value*>(&loaded[c])[j];
        of_row(q * kTogether + j, own);
      }
    }
  }

  /// Lane = column: the least values.
  __device__ void scan(int count) {
    if (!is_open_) return;
    const int x = column(), last = last_in_range(count);
    int k = first_in_range(count);
    if constexpr (!kAny) {
#pragma unroll 1
      for (; k + 2 <= last; k += 3) {
        const unsigned a = across(x, k), b = across(x, k + 1), c = across(x, k + 2);
        for_rows<3>(k, [&](int r, const unsigned(&own)[3]) {
          best_[r] = __viaddmin_u32(own[0], a, __vimin3_u32(best_[r], own[1] + b, own[2] + c));
        });
      }
    }
#pragma unroll 1
    for (; k <= last; ++k) {
      const Value a = across(x, k);
      for_rows<1>(k, [&](int r, const Value(&own)[1]) { best_[r] = lesser(own[0], a, best_[r]); });
    }
  }
  static __device__ unsigned lesser(unsigned one, unsigned more, unsigned best) {
    return __viaddmin_u32(one, more, best);
  }
  /// Of numbers: fmin() asks whether they are.
  static __device__ double lesser(double one, double more, double best) {
    return one + more < best ? one + more : best;
  }

  /// Lane = column: the least codes of the columns that the least values belong to.
  __device__ void find_columns(int count) {
    if (!is_open_) return;
    const int x = column(), last = last_in_range(count);
#pragma unroll 1
    for (int k = first_in_range(count); k <= last; ++k) {
      const unsigned a = across(x, k), code = ColumnCode::of(m_.column[k] - x);
      const Nearest nearest = m_.nearest[k];
      if (nearest == Nearest::both) offer_column(k, a, [&](int r) { return code ^ ColumnCode::turned(best_[r]); });
      else offer_column(k, a, [own = code ^ ColumnCode::turned(nearest == Nearest::below)](int) { return own; });
    }
  }
  /// @param a        what the columns to candidate k add
  /// @param code_of  of a row
  template <class CodeOf>
  __device__ void offer_column(int k, unsigned a, CodeOf&& code_of) {
    for_rows<1>(k, [&](int r, const unsigned(&own)[1]) {
      if (own[0] + a == best_[r]) codes_[r] = min(codes_[r], code_of(r));
    });
  }

  FarMemory& m_;
  int first_ = 0, last_ = -1;  ///< candidates that can win in the tile, of the band's; none
};

/// Blocks per multiprocessor.
constexpr int far_blocks(Writing writing, Spacing spaced) {
  return finds_sites(writing) || spaced == Spacing::any ? kFarBlocksWithSites : kFarBlocks;
}

/// V: the emitter's.
template <Writing kWriting, Spacing kSpaced, class V = std::int64_t>
__global__ void __launch_bounds__(kFarBlock, far_blocks(kWriting, kSpaced))
    solve_far(const __grid_constant__ Plane plane, const __grid_constant__ Emitter<V> emitter) {
  using Tile = FarTile<kWriting, kSpaced, V>;
  __shared__ __align__(16) FarMemory memory;
  plane.take_turn();
  const unsigned short_tiles = plane.left.counters[0], long_tiles = plane.left.counters[1];
  const std::int64_t all = plane.all_bands * plane.tiles();
  while (long_tiles > 0) {
    if (threadIdx.x == 0) memory.ticket = static_cast<int>(atomicAdd(&plane.left.counters[2], 1u));
    __syncthreads();
    const auto ticket = static_cast<unsigned>(memory.ticket);
    if (ticket >= long_tiles) break;
    const std::uint32_t tile = plane.left.work[all - 1 - ticket];
    Tile(plane, emitter, memory, tile).template solve<true>();
    __syncthreads();
  }
  for (unsigned i = blockIdx.x; i < short_tiles; i += gridDim.x)
    Tile(plane, emitter, memory, plane.left.work[i]).template solve<false>();
}

}  // namespace fathom::grid::cuda::plane
