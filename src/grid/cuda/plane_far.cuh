// The tiles that have unsettled cells: 32 rows × 256 columns, from the lists of candidates.
//
// Work mapping: persistent blocks of 8 warps take tiles from the queue, the long ones first. Phase 1: the vertical
// distances of the candidates in the tile's range of winners go to shared memory, squared; of a long tile, those
// candidates are left out that lie above the chords to the range's ends or their neighbours on both edges of the band.
// Phase 2, lane = row: the candidates that win at every 32nd column; again they bound what can win between (see
// plane_list.cuh). Phase 3, warp = 32 columns, lane = column with 32 rows in registers: a scan of that range, where the
// square of the horizontal distance is computed once per candidate. Cost: some ten operations per element and candidate
// in range. Where many candidates are convex along all rows, a walk takes the place of phases 2 and 3
// (plane_far_walk.cuh).
//
// With nearest sites, values are 2 d² + 1 where the column's nearest site is below and none as near above, else 2 d². A
// second scan looks for the candidates whose value is the least, and takes of several the one with the lowest row: the
// nearest column if they are above, the farthest if below. Cost: another five operations. Where all sites are less than
// 724 away, one scan does: the columns stand behind the values then, so that the least key is the right site's.
//
// Without a unit, values are doubles (plane_exact.cuh), and half as many candidates are in shared memory at a time.
// Cost: twice as many operations per element and candidate as in units, on two kinds of units that work side by side.
#pragma once

#include "grid/cuda/plane_chords.cuh"
#include "grid/cuda/plane_exact.cuh"
#include "grid/cuda/plane_far_exact_walk.cuh"
#include "grid/cuda/plane_far_walk.cuh"
#include "grid/cuda/plane_list.cuh"
#include "grid/cuda/plane_runs.cuh"
#include "grid/cuda/plane_tile_list.cuh"

namespace fathom::grid::cuda {

inline constexpr unsigned kUnsolved = 0x7FFFFFFFu;

/// Where a column's nearest sites are, of all rows of a band.
enum class Nearest : std::uint8_t { above, below, both };

struct FarMemory {
  union {
    unsigned squares[kCapacity * 32];  ///< [candidate][row]
    TileListMemory list;               ///< before there are any
  };
  int column[kCapacity];
  Column words[kCapacity];
  Nearest nearest[kCapacity];  ///< sites of candidates
  int first_winner[kFarWarps + 1], last_winner[kFarWarps + 1];
  unsigned part_best[kFarWarps][32];
  ushort2 part_winners[kFarWarps][32];
  int kept[kFarWarps];
  int ticket;
};

/// V: the emitter's. List: BandList or TileList.
template <Writing kWriting, Spaced kSpacing, class V, class List>
class FarTile {
 public:
  __device__ FarTile(const Plane& plane, const Emitter<V>& emitter, FarMemory& memory, std::uint32_t tile,
                     const List& list)
      : plane_(plane),
        emitter_(emitter),
        m_(memory),
        band_(static_cast<std::int64_t>(tile / static_cast<unsigned>(plane.tiles()))),
        tile_(static_cast<int>(tile % static_cast<unsigned>(plane.tiles()))),
        x0_(tile_ * kTile),
        warp_(static_cast<int>(threadIdx.x) / 32),
        start_(band_ * plane.pitch),
        list_(list) {
    const std::int64_t i = band_ * plane.cells() + tile_ * kFarWarps + warp_;
    is_mine_ = plane.open_cells[i] != 0;
#pragma unroll
    for (int r = 0; r < kBand; ++r) best_[r] = kNothing, column_[r] = kNoBound;
    const int2 range = list.range();
    first_ = range.x;
    last_ = range.y;
  }

  static constexpr bool kSites = finds_sites(kWriting), kLabels = is_of_labels(kWriting);
  static constexpr bool kSpaced = kSpacing != Spaced::none, kReal = kSpacing == Spaced::real;
  using Value = std::conditional_t<kReal, double, unsigned>;
  static constexpr int kHeld = kCapacity * sizeof(unsigned) / sizeof(Value);  ///< candidates whose squares fit

  /// Asks for what a tile reads first.
  static __device__ void expect(const Plane& plane, std::uint32_t tile) {
    const std::int64_t band = tile / static_cast<unsigned>(plane.tiles());
    const unsigned t = tile % static_cast<unsigned>(plane.tiles());
    const auto ask_for = [](const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); };
    if (lane_id() % 8 == 0) ask_for(plane.bits + band * plane.pitch + t * kTile + threadIdx.x);
    if (threadIdx.x != 0) return;
    ask_for(plane.open_cells + band * plane.cells() + t * kFarWarps);
    ask_for(plane.list_count + band);
    ask_for(plane.anchors + band * (plane.tiles() + 1) + t);
  }

  /// All candidates at once, unfiltered.
  __device__ void solve_short() {
    if constexpr (kWriting == Writing::unaligned)
      if (first_ >= last_ && is_blank()) return fill();
    if (!kSites && first_ == last_) {
      take_only();
    } else if (first_ <= last_) {
      const int count = last_ - first_ + 1;
      const int mine = warp_ + kFarWarps * lane_id();
      Entry entry;
      if (mine < count) entry = list_[first_ + mine];
      __syncthreads();  // the tile before is done with the memory
      if (mine < count) m_.column[mine] = entry.x;
      for (int k = 0; warp_ + kFarWarps * k < count; ++k) store_squares(warp_ + kFarWarps * k, entry.from_lane(k));
      __syncthreads();
      const bool is_near = count > kFewCandidates && find_winners(count);
      if constexpr (!kSites) {
        scan(count);
      } else if (is_near) {
        scan_keys(count);
        open_keys();
      } else {
        scan(count);
        find_columns(count);
      }
    }
    finish();
  }

  /// In chunks of what fits, filtered.
  __device__ void solve_long() {
    if constexpr (kReal) find_exactly_among_many();
    else find_among_many();
    finish();
  }

 private:
  /// Where there is no site.
  static constexpr Value kNothing = [] {
    if constexpr (kReal) return __builtin_inf();
    else return kSites ? kNoBound : kUnsolved;
  }();

  /// [candidate][row]
  __device__ Value* squares() const { return reinterpret_cast<Value*>(m_.squares); }

  __device__ void find_among_many() {
    int count = 0, chunks = 0;
    bool is_near = false, is_chunk_near = false;  // what the first chunk says holds for all
    for (int next = first_; next <= last_; ++chunks) {
      count = load_squares(next);
      if (chunks == 0 && next > last_ && walk(count)) return;
      is_chunk_near = find_winners_among(count);
      if (chunks == 0) is_near = is_chunk_near;
      if (kSites && is_near) scan_keys(count);
      else scan(count);
    }
    const auto look_again = [&](auto&& look) {
      if (chunks == 1) look(count);
      else
        for (int next = first_; next <= last_;) {
          count = load_squares(next);
          find_winners_among(count);
          look(count);
        }
    };
    if constexpr (kSites) {
      if (is_near) open_keys();
      else look_again([&](int of_chunk) { find_columns(of_chunk); });
    }
  }

  /// The same without a unit, where squares of half as many fit.
  __device__ void find_exactly_among_many() {
    const FromLines left = from_lines(first_), right = from_lines(last_);
    for (int next = first_; next <= last_;) {
      const bool are_first = next == first_;
      const int count = collect(next, left, right);
      if (are_first && next > last_ && walk_exactly(count)) return;
      for (int from = 0; from < count; from += kHeld) {
        const int held = min(kHeld, count - from);
        if (from > 0) move_to_front(from, held);
        for (int k = warp_; k < held; k += kFarWarps) store_squares(k, {m_.column[k], m_.words[k]});
        __syncthreads();
        find_winners_among(held);
        scan(held);
      }
    }
  }
  __device__ void move_to_front(int from, int count) {
    static_assert(kHeld <= kFarBlock && 2 * kHeld >= kCapacity);
    __syncthreads();
    const int t = static_cast<int>(threadIdx.x);
    if (t < count) m_.column[t] = m_.column[from + t], m_.words[t] = m_.words[from + t];
    __syncthreads();
  }
  __device__ bool walk_exactly(int count) {
    if (count < kWorthWalking) return false;
    for (int k = warp_; k < count; k += kFarWarps)
      m_.squares[k * 32 + lane_id()] = static_cast<unsigned>(m_.words[k].at(lane_id(), plane_.beyond));
    __syncthreads();
    const ExactRowWalk row(plane_, m_.squares, m_.column, count);
    if (!__syncthreads_and(row.is_convex(warp_, kFarWarps))) return false;
    if (is_mine_) row.walk(x0_ + 32 * warp_, best_);
    __syncthreads();  // the rows give way to what was found
    if (is_mine_) turn(m_.squares + warp_ * kTurnedWords, best_);
    return true;
  }

  /// Whether all of a whole tile is to be written, none of it is a site, and four floats fit their place everywhere.
  __device__ bool is_blank() const {
    if (!plane_.is_aligned || x0_ + kTile > plane_.width || plane_.first_row(band_) + kBand > plane_.height)
      return false;
    const uint2 cells = reinterpret_cast<const uint2*>(plane_.open_cells + band_ * plane_.cells())[tile_];
    if ((cells.x & cells.y) != 0x01010101u) return false;
    const auto* words = reinterpret_cast<const uint4*>(plane_.bits + start_ + x0_) + lane_id();
    const uint4 a = words[0], b = words[32];
    return !__any_sync(kAllLanes, (a.x | a.y | a.z | a.w | b.x | b.y | b.z | b.w) != 0);
  }

  /// A blank tile, from its only candidate or none, by rows: longer stores than by columns. Warp = 4 rows, lane = 4
  /// columns and those 128 behind.
  __device__ void fill() const {
    constexpr int kRows = kBand / kFarWarps;
    const int r0 = warp_ * kRows, x = x0_ + 4 * lane_id();
    float* to = plane_.row(band_, plane_.first_row(band_) + r0) + x;
    if (first_ > last_) {
      for (int r = 0; r < kRows; ++r, to += plane_.row_stride) fill_row(to, [&](int) { return plane_.side.none(); });
      return;
    }
    const Entry entry = list_[first_];
    Value along[kRows], across[8];
#pragma unroll
    for (int r = 0; r < kRows; ++r) along[r] = square_along(entry.column.at(r0 + r, plane_.beyond));
#pragma unroll
    for (int q = 0; q < 8; ++q) across[q] = square_across(x + q % 4 + q / 4 * (kTile / 2) - entry.x);
    fill(to, along, across);
  }
  /// @param along, across  squares of rows and of columns
  template <int kRows>
  __device__ void fill(float* to, const std::uint32_t (&along)[kRows], const std::uint32_t (&across)[8]) const {
    const auto fill_rows = [&](auto&& root_of) {
#pragma unroll
      for (int r = 0; r < kRows; ++r, to += plane_.row_stride)
        fill_row(to, [&](int q) { return in_units(root_of(along[r] + across[q])); });
    };
    const std::uint32_t least = min_of(along) + min_of(across), most = max_of(along) + max_of(across);
    if (most < 1u << 24) fill_rows([](std::uint32_t square) { return small_root(static_cast<float>(square)); });
    else if (LargeRoots::serve(least, most)) fill_rows(LargeRoots(least));
    else fill_rows([](std::uint32_t square) { return root_of(square); });
  }
  template <int kRows>
  __device__ void fill(float* to, const double (&along)[kRows], const double (&across)[8]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r, to += plane_.row_stride) {
      double squares[8];
      float roots[8];
#pragma unroll
      for (int q = 0; q < 8; ++q) squares[q] = along[r] + across[q];
      roots_of(squares, roots);
      fill_row(to, [&](int q) { return in_units(roots[q]); });
    }
  }
  /// @param distance  of the lane's column q
  template <class Distance>
  static __device__ void fill_row(float* to, Distance&& distance) {
    auto* fours = reinterpret_cast<float4*>(to);
    __stcs(fours, make_float4(distance(0), distance(1), distance(2), distance(3)));
    __stcs(fours + kTile / 8, make_float4(distance(4), distance(5), distance(6), distance(7)));
  }
  template <int kCount>
  static __device__ std::uint32_t min_of(const std::uint32_t (&values)[kCount]) {
    std::uint32_t least = values[0];
    for (int k = 1; k < kCount; ++k) least = min(least, values[k]);
    return least;
  }
  template <int kCount>
  static __device__ std::uint32_t max_of(const std::uint32_t (&values)[kCount]) {
    std::uint32_t most = values[0];
    for (int k = 1; k < kCount; ++k) most = max(most, values[k]);
    return most;
  }

  /// The only candidate: no memory is shared, and no warp waits for another.
  __device__ void take_only() {
    const Entry entry = list_[first_];
    const Value own = square_along(entry.column.at(lane_id(), plane_.beyond)),
                beside = square_across(column() - entry.x);
#pragma unroll
    for (int r = 0; r < kBand; ++r) best_[r] = beside + __shfl_sync(kAllLanes, own, r);
  }

  __device__ void store_squares(int k, const Entry& entry) {
    const int2 both = entry.column.both(lane_id(), plane_.beyond);
    Value square = square_along(min(both.x, both.y));
    if constexpr (kSites) {
      bool is_below = both.y < both.x;
      if (kLabels && entry.column.bits >> lane_id() & 1) is_below = !(plane_.upper[start_ + entry.x] >> lane_id() & 1);
      square = 2 * square + unsigned{is_below};
      const unsigned below = __ballot_sync(kAllLanes, is_below);
      if (lane_id() == 0)
        m_.nearest[k] = below == 0 ? Nearest::above : below == kAllLanes ? Nearest::below : Nearest::both;
    }
    squares()[k * 32 + lane_id()] = square;
  }
  __device__ Value square_along(int rows) const {
    if constexpr (kReal) return plane_.along_exactly(rows);
    const auto steps = static_cast<unsigned>(rows);
    return kSpaced ? plane_.along(steps) : steps * steps;
  }
  __device__ Value square_across(int columns) const {
    if constexpr (kReal) return plane_.across_exactly(columns);
    const auto steps = static_cast<unsigned>(columns);
    return kSpaced ? plane_.across(steps) : steps * steps;
  }

  /// Fills the memory with candidates from `next` on, and their squares. @returns how many
  __device__ int load_squares(int& next) {
    const FromLines left = from_lines(first_), right = from_lines(last_);
    const int count = collect(next, left, right);
    for (int k = warp_; k < count; k += kFarWarps) store_squares(k, {m_.column[k], m_.words[k]});
    __syncthreads();
    return count;
  }
  /// @returns whether all of the tile's nearest sites are known to be near enough for keys
  __device__ bool find_winners_among(int count) {
    return count > kFewCandidates && (count > kShortTile ? find_winners_in_steps(count) : find_winners(count));
  }

  /// Lane = column: the least values, where all rows of many candidates are convex. @returns whether they are
  __device__ bool walk(int count) {
    constexpr std::uint32_t kMost = 1u << 30;  // values are twice that with sites, and below 2³¹
    if (count < kWorthWalking || count > RowWalk::kMostCandidates) return false;
    if (kSites && plane_.square(plane_.image_bands * kBand, plane_.pitch) >= kMost) return false;
    RowWalk row(m_.squares, m_.column, count, (kSpaced ? plane_.column_weight : 1) * (kSites ? 2 : 1));
    if (warp_ == kFarWarps - 1) row.put_guard();
    if (!__syncthreads_and(row.is_convex(warp_, kFarWarps))) return false;
    if (is_mine_) {
      const int x = x0_ + 32 * warp_;
      if constexpr (kSites)
        row.walk(x, best_, column_, [](unsigned value, int steps) { return code_of(value, steps); });
      else row.walk(x, best_);
    }
    __syncthreads();  // the squares give way to what was found
    if (is_mine_) {
      unsigned* memory = m_.squares + warp_ * kTurnedWords;
      turn(memory, best_);
      if constexpr (kSites) turn(memory, column_);
    }
    return true;
  }

  /// Fills the memory with candidates from `next` on. @returns how many
  __device__ int collect(int& next, const FromLines& left, const FromLines& right) {
    int count = 0;
    do {
      const int k = next + static_cast<int>(threadIdx.x);
      const Entry entry = k <= last_ ? list_[k] : Entry{};
      const Entry before = neighbour(k, entry, -1), behind = neighbour(k, entry, 1);
      const bool keep = k <= last_ && may_win(k, entry, before, behind, left, right);
      const unsigned kept = __ballot_sync(kAllLanes, keep);
      __syncthreads();
      if (lane_id() == 0) m_.kept[warp_] = __popc(kept);
      __syncthreads();
      int place = count + __popc(kept & lanes_before(lane_id()));
#pragma unroll
      for (int w = 0; w < kFarWarps; ++w) {
        if (w < warp_) place += m_.kept[w];
        count += m_.kept[w];
      }
      if (keep) {
        m_.column[place] = entry.x;
        m_.words[place] = entry.column;
      }
      next += kFarBlock;
    } while (next <= last_ && count + min(kFarBlock, last_ - next + 1) <= kCapacity);
    __syncthreads();
    return count;
  }

  /// The candidate before or behind, which the lane beside has but at the warp's ends.
  __device__ Entry neighbour(int k, const Entry& entry, int step) const {
    const int lane = lane_id() + step;
    const bool is_outside = lane < 0 || lane > 31, is_there = k + step >= first_ && k + step <= last_;
    const Entry outside = is_outside && is_there ? list_[k + step] : Entry{};
    const Entry beside = entry.from_lane(lane & 31);
    return is_outside ? outside : beside;
  }

  __device__ bool may_win(int k, const Entry& entry, const Entry& one_before, const Entry& one_behind,
                          const FromLines& left, const FromLines& right) const {
    if (entry.column.bits || k == first_ || k == last_) return true;
    const FromLines me(entry, plane_), before(one_before, plane_), behind(one_behind, plane_);
    const auto is_out = [&](float LinePoint::*height) {
      return is_above(left, me, behind, height) || is_above(before, me, right, height) ||
             is_above(left, me, right, height);
    };
    return (me.may_be_above() && !is_out(&LinePoint::upper)) || (me.may_be_below() && !is_out(&LinePoint::lower));
  }

  __device__ FromLines from_lines(int k) const { return {list_[k], plane_}; }

  using RowWinners = std::conditional_t<kReal, LikelyWinners<UpperHalves>, Winners>;

  /// The best of every `step`-th candidate from `first` to `last` at column x, for the lane's row.
  __device__ void look(int x, int first, int last, int step, RowWinners& winners) const {
#pragma unroll 4
    for (int k = first; k <= last; k += step)
      winners.offer(RowWinners::rounded(squares()[k * 32 + lane_id()] + across(x, k)), k);
  }
  /// What the columns from x to candidate k add to a value.
  __device__ Value across(int x, int k) const { return square_across(x - m_.column[k]) * (kSites ? 2 : 1); }
  __device__ void keep_winners(int p, const RowWinners& winners) {
    const unsigned first = warp_min(static_cast<unsigned>(winners.first)),
                   last = warp_max(static_cast<unsigned>(winners.last));
    if (lane_id() != 0) return;
    m_.first_winner[p] = static_cast<int>(first);
    m_.last_winner[p] = static_cast<int>(last);
  }

  /// Whether a site is so near that none within 32 columns is kKeyedReach away.
  __device__ bool is_near(unsigned value) const {
    const float left = kKeyedReach - 32 * (kSpaced ? sqrtf(static_cast<float>(plane_.column_weight)) : 1.0f);
    return left > 0 && static_cast<float>(value) < 2 * left * left;
  }
  /// A barrier. @returns whether all threads say so, where that is asked
  static __device__ bool agree(bool says) {
    if constexpr (kSites) return __syncthreads_and(says);
    __syncthreads();
    return false;
  }

  /// Winners at columns x0 + 32 p, a warp each. @returns whether they are near
  __device__ bool find_winners(int count) {
    RowWinners winners(0);
    look(x0_ + 32 * warp_, 0, count - 1, 1, winners);
    keep_winners(warp_, winners);
    return agree(kSites && is_near(winners.best));
  }

  /// The same by halving, where the warps share the candidates between two columns that are known.
  __device__ bool find_winners_in_steps(int count) {
    bool are_near = true;
#pragma unroll 1
    for (int level = 0; level < 3; ++level) {
      const int step = 4 >> level, parts = 8 >> level, part = warp_ & (parts - 1);
      const int p = (2 * (warp_ >> (3 - level)) + 1) * step;
      const int first = p - step == 0 ? 0 : m_.first_winner[p - step];
      const int last = p + step == kFarWarps ? count - 1 : m_.last_winner[p + step];
      RowWinners winners(first);
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
        if constexpr (kSites) are_near &= is_near(winners.best);
      }
      __syncthreads();
    }
    return agree(are_near);
  }

  __device__ int column() const { return x0_ + 32 * warp_ + lane_id(); }
  /// The candidates between the winners at the ends of the warp's 32 columns.
  __device__ int first_in_range(int count) const {
    return count <= kFewCandidates || warp_ == 0 ? 0 : m_.first_winner[warp_];
  }
  __device__ int last_in_range(int count) const {
    return count <= kFewCandidates || warp_ == kFarWarps - 1 ? count - 1 : m_.last_winner[warp_ + 1];
  }

  /// Lane = column: the least values.
  __device__ void scan(int count) {
    if constexpr (kReal) return scan_exactly(count);
    else scan_in_units(count);
  }

  __device__ void scan_exactly(int count) {
    if (!is_mine_) return;
    const int x = column(), last = last_in_range(count);
#pragma unroll 1
    for (int k = first_in_range(count); k <= last; ++k) {
      const double a = across(x, k);
      const auto* rows = reinterpret_cast<const double2*>(squares() + k * 32);
#pragma unroll
      for (int q = 0; q < kBand / 2; ++q) {
        const double2 u = rows[q];
        best_[2 * q] = lesser(u.x + a, best_[2 * q]);
        best_[2 * q + 1] = lesser(u.y + a, best_[2 * q + 1]);
      }
    }
  }
  /// Of numbers: fmin() asks whether they are.
  static __device__ double lesser(double one, double other) { return one < other ? one : other; }

  __device__ void scan_in_units(int count) {
    const int x = column();
    scan_in_units(count, [&](int k) { return across(x, k); });
  }
  /// @param across_to  what the columns to a candidate add
  template <class AcrossTo>
  __device__ void scan_in_units(int count, AcrossTo&& across_to) {
    if (!is_mine_) return;
    const int last = last_in_range(count);
    int k = first_in_range(count);
#pragma unroll 1
    for (; k + 2 <= last; k += 3) {
      const unsigned a = across_to(k), b = across_to(k + 1), c = across_to(k + 2);
      const auto* rows = reinterpret_cast<const uint4*>(&m_.squares[k * 32]);
#pragma unroll
      for (int q = 0; q < 8; ++q) {
        const uint4 u = rows[q], v = rows[8 + q], w = rows[16 + q];
        unsigned* best = best_ + 4 * q;
        best[0] = __viaddmin_u32(u.x, a, __vimin3_u32(best[0], v.x + b, w.x + c));
        best[1] = __viaddmin_u32(u.y, a, __vimin3_u32(best[1], v.y + b, w.y + c));
        best[2] = __viaddmin_u32(u.z, a, __vimin3_u32(best[2], v.z + b, w.z + c));
        best[3] = __viaddmin_u32(u.w, a, __vimin3_u32(best[3], v.w + b, w.w + c));
      }
    }
#pragma unroll 1
    for (; k <= last; ++k) {
      const unsigned a = across_to(k);
      const auto* rows = reinterpret_cast<const uint4*>(&m_.squares[k * 32]);
#pragma unroll
      for (int q = 0; q < 8; ++q) {
        const uint4 u = rows[q];
        unsigned* best = best_ + 4 * q;
        best[0] = __viaddmin_u32(u.x, a, best[0]);
        best[1] = __viaddmin_u32(u.y, a, best[1]);
        best[2] = __viaddmin_u32(u.z, a, best[2]);
        best[3] = __viaddmin_u32(u.w, a, best[3]);
      }
    }
  }

  // A key is a value, up to kKeyedMost, and behind it the column as find_columns() has it.
  static constexpr float kKeyedReach = 724;
  static constexpr int kColumnBits = 11;
  static constexpr unsigned kKeyedMost = (1u << 20) - 1, kTurn = 0x7FEu;  ///< no sum of two keys wraps
  static_assert(2 * 724 * 724 <= kKeyedMost && 2 * 724 < kTurn);

  /// Lane = column: the least keys. By all threads of the block; the squares become keys.
  __device__ void scan_keys(int count) {
    for (int i = static_cast<int>(threadIdx.x); i < count * 32; i += kFarBlock) {
      const unsigned value = m_.squares[i];
      m_.squares[i] = min(value, kKeyedMost) << kColumnBits | (value & 1 ? kTurn : 0);
    }
    __syncthreads();
    const int x = column();
    scan_in_units(count, [&](int k) {
      const Nearest nearest = m_.nearest[k];
      return nearest == Nearest::both ? kKeyedMost << kColumnBits : across_in_key(x, k, nearest == Nearest::below);
    });
    if (!is_mine_) return;
    const int last = last_in_range(count);
#pragma unroll 1
    for (int k = first_in_range(count); k <= last; ++k) {
      if (m_.nearest[k] != Nearest::both) continue;
      const unsigned above = across_in_key(x, k, false), below = across_in_key(x, k, true);
#pragma unroll
      for (int r = 0; r < kBand; ++r) {
        const unsigned key = m_.squares[k * 32 + r];
        best_[r] = __viaddmin_u32(key, key & kTurn ? below : above, best_[r]);
      }
    }
  }
  /// What the columns from x to candidate k add to a key.
  __device__ unsigned across_in_key(int x, int k, bool is_below) const {
    const int steps = m_.column[k] - x;
    const unsigned square = across(x, k), twice = static_cast<unsigned>(2 * abs(steps));
    if (square >= kKeyedMost) return kKeyedMost << kColumnBits;
    return (square << kColumnBits) + (is_below ? 0 - twice : twice) + unsigned{steps > 0};
  }
  /// From keys to values and columns.
  __device__ void open_keys() {
#pragma unroll
    for (int r = 0; r < kBand; ++r) {
      const unsigned key = best_[r], code = key & ((1u << kColumnBits) - 1);
      best_[r] = key >> kColumnBits;
      column_[r] = best_[r] & 1 ? code ^ kTurn ^ turned(1) : code;
    }
  }

  /// Lane = column: the columns of the sites that the least values belong to, as twice the columns to it and 1 if they
  /// go to the right. The larger the steps, the less the rows: below, where the lowest row is the nearest, these bits
  /// are turned round, and the least is right on either side.
  __device__ void find_columns(int count) {
    if (!is_mine_) return;
    const int x = column(), last = last_in_range(count);
#pragma unroll 1
    for (int k = first_in_range(count); k <= last; ++k) {
      const int steps = m_.column[k] - x;
      const unsigned a = across(x, k), code = static_cast<unsigned>(2 * abs(steps)) + unsigned{steps > 0};
      const Nearest nearest = m_.nearest[k];
      if (nearest == Nearest::both) offer_column(k, a, [&](int r) { return code ^ turned(best_[r]); });
      else offer_column(k, a, [own = code ^ turned(nearest == Nearest::below)](int) { return own; });
    }
  }
  /// @param a        what the columns to candidate k add
  /// @param code_of  of a row
  template <class CodeOf>
  __device__ void offer_column(int k, unsigned a, CodeOf&& code_of) {
    const auto* rows = reinterpret_cast<const uint4*>(&m_.squares[k * 32]);
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const uint4 u = rows[q];
      const unsigned value[4] = {u.x, u.y, u.z, u.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int r = 4 * q + j;
        if (value[j] + a == best_[r]) column_[r] = min(column_[r], code_of(r));
      }
    }
  }
  static __device__ unsigned turned(unsigned value) { return (0u - (value & 1)) & 0x1FFFEu; }
  static __device__ unsigned code_of(unsigned value, int steps) {
    return (static_cast<unsigned>(2 * abs(steps)) + unsigned{steps > 0}) ^ turned(value);
  }

  /// Linear index of the site nearest to (y, x). There are fewer than 2³¹ elements.
  ///
  /// kSmall: values are less than kMostSmall, and spare conversions, which are slow.
  template <bool kSmall>
  __device__ std::int32_t site_of(std::int32_t y, std::int32_t x, unsigned value, unsigned column) const {
    const unsigned code = column ^ turned(value);
    const auto columns = static_cast<std::int32_t>(code >> 1);
    const std::int32_t rows = rows_of<kSmall>((value >> 1) - square_across(columns));
    return (value & 1 ? y + rows : y - rows) * plane_.width + (code & 1 ? x + columns : x - columns);
  }
  static constexpr unsigned kMostSmall = 1u << 23;
  template <bool kSmall>
  __device__ std::int32_t rows_of(std::uint32_t square) const {
    if constexpr (kSmall && !kSpaced) return root_of_square(square);
    auto rows = kSmall ? small_float(square) : static_cast<float>(square);
    if constexpr (kSpaced) rows /= static_cast<float>(plane_.row_weight);
    return static_cast<std::int32_t>(small_root(rows) + 0.5f);
  }

  /// Takes the end of a run in the row instead, if it is nearer, or as near and what was found lies below.
  __device__ void find_in_row(std::int32_t y, std::int32_t x, unsigned value, std::uint32_t& square,
                              std::int32_t& site) const {
    const RowRuns& runs = runs_of(y - plane_.first_row(band_));
    RunSteps steps = runs.steps(tile_ * kFarWarps + warp_, lane_id());
    if (plane_.pins && runs.background >> lane_id() & 1) steps = {0, 0};
    if (steps.least() >= static_cast<unsigned>(plane_.width)) return;
    const unsigned end = plane_.across(steps.least());
    if (2 * end >= value) return;
    square = end;
    site = y * plane_.width + x + steps.nearest();
  }

  /// Where the tile has no candidates, nor its rows.
  __device__ void write_no_sites() const {
    const std::int32_t y0 = plane_.first_row(band_), end = min(y0 + kBand, plane_.height);
    auto row = emitter_.plain.row(plane_.first_item + plane_.item_of(band_), 0, y0);
    for (std::int32_t y = y0; y < end; ++y, emitter_.plain.advance(row))
      emitter_.plain.write(row, column(), plane_.side.none(), -1);
  }
  /// Through shared memory, so that rows can be gone through in a loop: results of all at once take too many registers.
  __device__ void write_sites() const {
    unsigned* stage = m_.squares + warp_ * kBand * 32 + lane_id();
    const int x = column(), y0 = plane_.first_row(band_);
    const std::uint32_t sites = plane_.bits[start_ + x], upper = kLabels ? plane_.upper[start_ + x] : 0;
    const bool are_small = max(largest(), kLabels ? 2 * plane_.along(1) + 1 : 0) < kMostSmall;
    auto row = emitter_.plain.row(plane_.first_item + plane_.item_of(band_), 0, y0);
#pragma unroll
    for (int r0 = 0; r0 < kBand; r0 += kBand / 2) {
#pragma unroll
      for (int r = 0; r < kBand / 2; ++r) {
        const bool is_marked = sites >> (r0 + r) & 1;  // solid columns between solid columns are not in the list
        const unsigned marked = kLabels ? 2 * plane_.along(1) + (~upper >> (r0 + r) & 1) : 0;
        stage[64 * r] = is_marked ? marked : best_[r0 + r];
        stage[64 * r + 32] = is_marked ? turned(marked) : column_[r0 + r];
      }
      const int y1 = y0 + r0, end = min(y1 + kBand / 2, plane_.height);
      if (are_small) write_staged<true>(row, stage, y1, end);
      else write_staged<false>(row, stage, y1, end);
    }
  }
  /// Rows y … end − 1, which follow one another in memory.
  template <bool kSmall>
  __device__ void write_staged(PlainSites::Row& row, const unsigned* stage, int y, int end) const {
    const int x = column();
#pragma unroll 1
    for (; y < end; ++y, stage += 64, emitter_.plain.advance(row)) {
      const unsigned value = stage[0];
      const bool is_there = kSmall || value != kNothing;
      std::uint32_t square = is_there ? value >> 1 : kNoSquare;
      std::int32_t site = is_there ? site_of<kSmall>(y, x, value, stage[32]) : -1;
      if constexpr (kLabels) find_in_row(y, x, value, square, site);
      const auto root = [&] { return kSmall ? small_root(small_float(square)) : root_of(square); };
      if (emitter_.plain.serves)
        emitter_.plain.write(row, x, !kSmall && square == kNoSquare ? plane_.side.none() : in_units(root()), site);
      else
        write_site(emitter_, plane_.item_of(band_), y, x, square, site,
                   kLabels && is_inside(plane_, band_, y - plane_.first_row(band_), x));
    }
  }

  __device__ void finish() {
    if (is_general(kWriting) || (kReal && first_ < last_)) __syncthreads();  // the squares give way to the results
    bool by_columns = true;
    if constexpr (kLabels) {
      find_runs();
      by_columns = runs_are_endless();
    }
    if (!is_mine_ || column() >= plane_.width) return;
    if constexpr (kSites) {
      if (by_columns && first_ > last_ && emitter_.plain.serves) write_no_sites();
      else write_sites();
    } else if constexpr (kReal) {
      write_measured();
    } else if constexpr (is_general(kWriting)) {
      write_values(by_columns);
    } else {
      write_floats(by_columns);
    }
  }

  /// The runs of the tile's rows, a word to a lane, where the squares were.
  __device__ void find_runs() {
    __syncthreads();
    constexpr int kRows = kBand / kFarWarps;  // of a warp
    RowRuns runs[kRows];
    const std::int64_t cells = plane_.cells(), first = (band_ * kBand + warp_) * cells;
    RowRuns::find(plane_, first, kFarWarps * cells, tile_ * kFarWarps, runs);
    if (lane_id() < kFarWarps)
#pragma unroll
      for (int r = 0; r < kRows; ++r) run_words()[(warp_ + r * kFarWarps) * kFarWarps + lane_id()] = runs[r];
    __syncthreads();
  }
  /// Of row r, the word that the warp's columns are.
  __device__ const RowRuns& runs_of(int r) const { return run_words()[r * kFarWarps + warp_]; }
  /// Whether no row of the warp's columns has a change, or pinned elements.
  __device__ bool runs_are_endless() const {
    static_assert(kBand == 32);
    const RowRuns& runs = runs_of(lane_id());
    return __all_sync(kAllLanes, runs.are_endless() && !(plane_.pins && runs.background));
  }
  /// Behind the room for results.
  __device__ RowRuns* run_words() const {
    constexpr int kResults = kFarWarps * kBand * 32;
    static_assert(kResults * sizeof(unsigned) + kFarWarps * kBand * sizeof(RowRuns) <= sizeof(m_.squares));
    return reinterpret_cast<RowRuns*>(m_.squares + kResults);
  }

  /// Of row r, if a site was found. @param sites  the column's word
  __device__ std::uint32_t settled_square(int r, std::uint32_t sites) const {
    const auto beyond = static_cast<unsigned>(plane_.beyond);
    return sites >> r & 1 ? (kSpaced ? plane_.along(beyond) : beyond) : best_[r];
  }
  /// Of row r, or kNoSquare. @param by_columns  there is nothing else
  __device__ std::uint32_t square_of(int r, std::uint32_t sites, bool by_columns = false) const {
    std::uint32_t square = settled_square(r, sites);
    if (square == kUnsolved) square = kNoSquare;
    if (kLabels && !by_columns) {
      const RowRuns& runs = runs_of(r);
      if (plane_.pins && runs.background >> lane_id() & 1) return 0;
      const unsigned steps = runs.steps(tile_ * kFarWarps + warp_, lane_id()).least();
      if (steps < static_cast<unsigned>(plane_.width)) square = min(square, plane_.across(steps));
    }
    return square;
  }

  /// Through shared memory, as sites. A few rows at a time, so that they wait together.
  __device__ void write_measured() const {
    constexpr int kTogether = 4;
    double* stage = squares() + warp_ * (kBand / 2) * 32 + lane_id();
    const int x = column(), y0 = plane_.first_row(band_), rows = min(kBand, plane_.height - y0);
    const std::uint32_t sites = first_ <= last_ ? plane_.bits[start_ + x] : 0;
    float* to = is_general(kWriting) ? nullptr : plane_.row(band_, y0) + x;
#pragma unroll
    for (int r0 = 0; r0 < kBand; r0 += kBand / 2) {
#pragma unroll
      for (int r = 0; r < kBand / 2; ++r) stage[32 * r] = sites >> (r0 + r) & 1 ? 0 : best_[r0 + r];
      const int end = min(r0 + kBand / 2, rows);
#pragma unroll 1
      for (int r = r0; r < end; r += kTogether) {
        double squares[kTogether];
#pragma unroll
        for (int j = 0; j < kTogether; ++j) squares[j] = stage[32 * (r - r0 + j)];
        Measured<kWriting> nearest[kTogether];
        measure_all(squares, nearest);
#pragma unroll
        for (int j = 0; j < kTogether; ++j, to += plane_.row_stride) {
          if (r + j >= end) break;
          if constexpr (is_general(kWriting)) write_exact(plane_, emitter_, band_, r + j, x, nearest[j]);
          else if (kWriting != Writing::one_side || squares[j] > 0) *to = in_units(nearest[j]);
        }
      }
    }
  }
  /// What squares measure, 0 and infinity included.
  template <class M, int kCount>
  static __device__ void measure_all(const double (&squares)[kCount], M (&measured)[kCount]) {
    if constexpr (std::is_same_v<M, float>) roots_of(squares, measured);
#pragma unroll
    for (int j = 0; j < kCount; ++j)
      if (std::is_same_v<M, double> || squares[j] == 0 || squares[j] == kNothing)
        measured[j] = static_cast<M>(squares[j]);
  }

  /// Through shared memory, as sites.
  __device__ void write_values(bool by_columns) const {
    constexpr int kTogether = 8;
    unsigned* stage = m_.squares + warp_ * kBand * 32 + lane_id();
    const int x = column(), y0 = plane_.first_row(band_);
    const std::uint32_t sites = plane_.bits[start_ + x];
#pragma unroll
    for (int r = 0; r < kBand; ++r) stage[32 * r] = square_of(r, sites, by_columns);
#pragma unroll 1
    for (int r0 = 0; r0 < kBand; r0 += kTogether) {
      const int y = y0 + r0;
      LaneResults<kTogether, 1> results{
          .item = plane_.item_of(band_), .z = 0, .y = y, .x = x, .rows = plane_.height - y};
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        results.squares[j][0] = stage[32 * (r0 + j)];
        if constexpr (kLabels)
          if (!plane_.pins) results.inside |= (~runs_of(r0 + j).background >> lane_id() & 1) << j;
      }
      write_results(emitter_, results);
    }
  }

  /// @param by_columns  there is nothing else
  __device__ void write_floats(bool by_columns) {
    const int x = column(), y0 = plane_.first_row(band_), rows = min(kBand, plane_.height - y0);
    const std::uint32_t sites = first_ <= last_ ? plane_.bits[start_ + x] : 0;
    float* to = plane_.row(band_, y0) + x;
    if constexpr (kWriting == Writing::one_side) {
#pragma unroll
      for (int r = 0; r < kBand; ++r, to += plane_.row_stride) {
        if (r >= rows) break;
        if (!(sites >> r & 1)) *to = best_[r] == kUnsolved ? plane_.side.none() : plane_.side.far(best_[r]);
      }
    } else if (rows < kBand || !by_columns) {
      write_rows(to, sites, rows);
    } else {
      write_column(to, sites);
    }
  }

  /// A whole column. No element needs a branch if results are alike.
  __device__ void write_column(float* to, std::uint32_t sites) {
    if (sites) {
#pragma unroll
      for (int r = 0; r < kBand; ++r) best_[r] = settled_square(r, sites);
    }
    const unsigned least = smallest(), most = largest();
    if (most < 1u << 24) write_alike(to, [](unsigned square) { return small_root(static_cast<float>(square)); });
    else if (least == kUnsolved) write_none(to);
    else if (LargeRoots::serve(least, most)) write_alike(to, LargeRoots(least));
    else write_rows(to, 0, kBand);
  }
  template <class Root>
  __device__ void write_alike(float* to, const Root& root_of) const {
#pragma unroll
    for (int r = 0; r < kBand; ++r, to += plane_.row_stride) __stcs(to, in_units(root_of(best_[r])));
  }
  __device__ void write_none(float* to) const {
#pragma unroll
    for (int r = 0; r < kBand; ++r, to += plane_.row_stride) __stcs(to, plane_.side.none());
  }
  __device__ void write_rows(float* to, std::uint32_t sites, int rows) const {
#pragma unroll
    for (int r = 0; r < kBand; ++r, to += plane_.row_stride) {
      if (r >= rows) break;
      const std::uint32_t square = square_of(r, sites);
      *to = square == kNoSquare ? plane_.side.none() : in_units(root_of(square));
    }
  }

  __device__ float in_units(float root) const { return kSpaced ? root * plane_.side.scale : root; }

  __device__ unsigned largest() const {
    unsigned most = best_[0];
#pragma unroll
    for (int r = 1; r + 1 < kBand; r += 2) most = max(most, max(best_[r], best_[r + 1]));
    return max(most, best_[kBand - 1]);
  }
  __device__ unsigned smallest() const {
    unsigned least = best_[0];
#pragma unroll
    for (int r = 1; r < kBand; ++r) least = min(least, best_[r]);
    return least;
  }

  const Plane& plane_;
  const Emitter<V>& emitter_;
  FarMemory& m_;
  const std::int64_t band_;
  const int tile_, x0_, warp_;
  const std::int64_t start_;  ///< of the band's columns
  const List& list_;
  bool is_mine_;
  int first_ = 0, last_ = -1;
  Value best_[kBand];
  unsigned column_[kBand];  ///< sites
};

/// Blocks per multiprocessor.
constexpr int far_blocks(Writing writing, Spaced spaced) {
  return finds_sites(writing) || spaced == Spaced::real ? kFarBlocksWithSites : kFarBlocks;
}

/// V: the emitter's.
template <Writing kWriting, Spaced kSpaced, class V = std::int64_t>
__global__ void __launch_bounds__(kFarBlock, far_blocks(kWriting, kSpaced))
    solve_far(const __grid_constant__ Plane plane, const __grid_constant__ Emitter<V> emitter) {
  using Tile = FarTile<kWriting, kSpaced, V, BandList>;
  __shared__ __align__(16) FarMemory memory;
  plane.take_turn();
  const unsigned short_tiles = plane.counters[0], long_tiles = plane.counters[1];
  const std::int64_t all = plane.all_bands * plane.tiles();
  while (long_tiles > 0) {
    if (threadIdx.x == 0) memory.ticket = static_cast<int>(atomicAdd(&plane.counters[2], 1u));
    __syncthreads();
    const auto ticket = static_cast<unsigned>(memory.ticket);
    if (ticket >= long_tiles) break;
    const std::uint32_t tile = plane.work[all - 1 - ticket];
    Tile(plane, emitter, memory, tile, BandList(plane, tile)).solve_long();
    __syncthreads();
  }
  // While one is solved, what the next one reads is on its way.
  const auto short_tile = [&](unsigned i) { return i < short_tiles ? plane.work[i] : 0; };
  std::uint32_t tile = short_tile(blockIdx.x), next = short_tile(blockIdx.x + gridDim.x);
  for (unsigned i = blockIdx.x; i < short_tiles; i += gridDim.x) {
    const std::uint32_t behind = short_tile(i + 2 * gridDim.x);
    Tile::expect(plane, next);
    Tile(plane, emitter, memory, tile, BandList(plane, tile)).solve_short();
    tile = next;
    next = behind;
  }
}

/// All tiles at once, each with a list of its own. Block = tile.
template <Writing kWriting, Spaced kSpaced, class V = std::int64_t>
__global__ void __launch_bounds__(kFarBlock, kFarBlocksAtOnce)
    solve_far_at_once(const __grid_constant__ Plane plane, const __grid_constant__ Emitter<V> emitter) {
  static_assert(kSpaced != Spaced::real);
  extern __shared__ __align__(16) uint4 tile_entries[];
  __shared__ __align__(16) FarMemory memory;
  plane.take_turn();
  TileList list(plane, blockIdx.x, tile_entries, memory.list);
  if (!list.make()) return;
  const int2 range = list.range();
  FarTile<kWriting, kSpaced, V, TileList> tile(plane, emitter, memory, blockIdx.x, list);
  if (range.y - range.x >= kShortOwnTile) tile.solve_long();
  else tile.solve_short();
}

}  // namespace fathom::grid::cuda
