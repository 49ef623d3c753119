// The passes along z and y where sites are near: an outwards search in 16-bit arithmetic on two lines at once, or with
// nearest sites in 32 bits on one (along z, where they are all along the line, in 16 as well:
// volume_near_sites_along_z.cuh). With equal spacings, one that passes over gaps (volume_gaps.cuh).
//
// Work mapping: block = tile. Phase 1: its squares go to shared memory, row by row, 16 words for 32 lines; odd groups
// of eight rows swap even and odd rows, so that the two halves of a warp, which work on neighbouring groups, meet
// different banks. Phase 2, half warp = 8 rows, lane = two lines: the rows around slide through registers, one step
// outwards at a time on both sides, until all values of the warp are at most the square of the next step. A tile whose
// search would be long is left to the envelope (volume_envelope.cuh), by a list; the two are kernels of their own
// because the envelope needs three times the registers. What both need of halves of tiles, and how the pass along y
// writes results of masks and labels, stands here, too.
//
// Source: separable passes (Hirata 1996); departs by searching outwards with an exact stop in place of an envelope.
// Cost: one operation per element and step.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume_runs.cuh"

namespace fathom::grid::cuda {

inline __host__ __device__ int row_groups(int rows) { return (rows + 7) / 8; }
/// Bytes of dynamic shared memory: the rows, and a group of rows without sites.
inline __host__ __device__ std::size_t window_memory(int rows) {
  return static_cast<std::size_t>(row_groups(rows) + 1) * 8 * 64;
}

/// This thread's warp in its block. All lanes have it from the first, by which the compiler knows that it is the same:
/// loops by it do not part them, and votes in these need no preparations.
__device__ inline int warp_number() { return __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / 32, 0); }

/// Squares of two lines in a word.
struct WindowPairs {
  using Stored = WindowPairs;
  static constexpr unsigned kNone = kNone16x2;
  static constexpr unsigned kSquare = 0x10001u;  ///< what a square of 1 adds
  static constexpr unsigned kStep = 0;           ///< what a step to a higher row adds
  static constexpr unsigned kRight = 0;
  static constexpr unsigned kTies = 0;
  static constexpr bool kOffersTwo = true;  ///< at once, where there are two
  static constexpr bool kIsCharged = true;  ///< see GapWindow
  static constexpr int kMostSteps = 176;    ///< of a search: what it settles is below kNone16
  static_assert((kMostSteps + 1) * (kMostSteps + 1) < kNone16 && kNone16 + kMostSteps * kMostSteps < 1 << 16);
  static __device__ unsigned from(unsigned stored) { return stored; }
  static __device__ unsigned offer(unsigned value, unsigned square, unsigned best) {
    return __viaddmin_u16x2(value, square, best);
  }
  /// Two at once. The sums are left to the multipliers, which have less to do than what takes minima.
  static __device__ unsigned offer_two(unsigned a, unsigned square_a, unsigned b, unsigned square_b, unsigned best) {
    return __vimin3_u16x2(a + square_a, b + square_b, best);
  }
  static __device__ unsigned lesser(unsigned a, unsigned b) { return __vminu2(a, b); }
  /// The greatest of eight words and another, and the least of eight, of each line.
  static __device__ unsigned most(const unsigned* eight, unsigned other = 0) {
    const unsigned a = __vimax3_u16x2(eight[0], eight[1], eight[2]), b = __vimax3_u16x2(eight[3], eight[4], eight[5]);
    return __vimax3_u16x2(a, b, __vimax3_u16x2(eight[6], eight[7], other));
  }
  template <class Eight>
  static __device__ unsigned least(const Eight& eight) {
    const unsigned a = __vimin3_u16x2(eight[0], eight[1], eight[2]), b = __vimin3_u16x2(eight[3], eight[4], eight[5]);
    return __vimin3_u16x2(a, b, __vminu2(eight[6], eight[7]));
  }
  /// Greatest square of eight words.
  static __device__ unsigned largest(const unsigned* eight) {
    const unsigned both = most(eight);
    return max(both & 0xFFFFu, both >> 16);
  }
};

/// A line's squared distance and the way to the site (volume_sites.cuh), so that of equally near sites the first is
/// least:
/// square · 2¹⁷ + (steps along z + 128) · 2⁹ + (steps along the line + 128) · 2 + whether the site lies to the right.
struct WindowSites {
  using Stored = WindowSites;
  static constexpr unsigned kSquare = 1u << 17;
  static constexpr unsigned kStep = 2, kRight = 0;
  static constexpr unsigned kTies = 1;
  static constexpr bool kOffersTwo = false;  ///< one by one they are fewer operations in 32 bits
  static constexpr bool kIsCharged = true;
  static constexpr int kMostSteps = 120;
  static constexpr unsigned kHere = 128 * kStep;            ///< no steps along the line
  static constexpr unsigned kFar = 127;                     ///< steps along x; what a search settles is nearer
  static constexpr unsigned kNone = kFar * kFar * kSquare;  ///< the farthest step does not wrap it
  static_assert(kMostSteps < 128 && kMostSteps * kMostSteps + kFar * kFar < 1 << 15);
  static_assert((kMostSteps + 1) * (kMostSteps + 1) <= kFar * kFar);

  static __device__ unsigned square(unsigned word) { return word >> 17; }
  static __device__ int along_line(unsigned word) { return static_cast<int>(word >> 1 & 255) - 128; }
  /// Both, as two bytes with signs.
  static __device__ int steps(unsigned word) { return static_cast<int>((word >> 1 & 0xFFFFu) ^ 0x8080u); }
  static __device__ int along_z_of(int steps) { return static_cast<std::int8_t>(steps >> 8); }
  static __device__ int along_line_of(int steps) { return static_cast<std::int8_t>(steps); }
  static __device__ int along_x(unsigned word) {
    const int both = steps(word);
    return signed_root_of_square(square(word) - static_cast<unsigned>(__dp4a(both, both, 0)), word & 1);
  }

  static __device__ unsigned from(unsigned stored) { return stored; }
  static __device__ unsigned offer(unsigned value, unsigned square, unsigned best) {
    return __viaddmin_u32(value, square, best);
  }
  static __device__ unsigned lesser(unsigned a, unsigned b) { return min(a, b); }
  static __device__ unsigned most(const unsigned* eight, unsigned other = 0) { return greatest_of_nine(eight, other); }
  template <class Eight>
  static __device__ unsigned least(const Eight& eight) {
    return least_of_eight(eight);
  }
  static __device__ unsigned largest(const unsigned* eight) { return square(most(eight)); }
};

/// The tile in shared memory.
template <class Word>
class WindowRows {
 public:
  __device__ WindowRows(unsigned* memory, int rows) : memory_(memory), groups(row_groups(rows)) {}

  /// Four words of a row: `quarter` of the 16.
  __device__ void put(int row, int quarter, uint4 words) const {
    reinterpret_cast<uint4*>(memory_)[(row * 4 + quarter) ^ ((row & 8) >> 1)] = words;
  }
  /// A word of a row.
  __device__ void put(int row, int lane, unsigned word) const { memory_[(row * 16 + lane) ^ ((row & 8) << 1)] = word; }
  __device__ unsigned get(int row, int lane) const { return memory_[(row * 16 + lane) ^ ((row & 8) << 1)]; }
  /// Rows behind the last, and the group that stands for all outside.
  __device__ void pad(int rows) {
    const uint4 none = make_uint4(Word::kNone, Word::kNone, Word::kNone, Word::kNone);
    for (int i = rows * 4 + static_cast<int>(threadIdx.x); i < (groups + 1) * 32; i += static_cast<int>(blockDim.x))
      put(i / 4, i % 4, none);
  }
  /// A group's rows for a lane: even rows from one address, odd rows from the other.
  struct Group {
    const unsigned *even, *odd;
    __device__ unsigned operator[](int j) const { return (j % 2 ? odd : even)[j * 16]; }
  };
  __device__ Group group(int q, int lane) const {
    const unsigned place = min(static_cast<unsigned>(q), static_cast<unsigned>(groups));  // −1 and below: outside
    const auto swap = static_cast<int>((place & 1) * 16);
    const unsigned* first = memory_ + place * 128 + lane;
    return {first + swap, first - swap};
  }

 private:
  unsigned* memory_;

 public:
  const int groups;
};

/// Eight rows of a word.
///
/// Word::Stored: what the rows hold, of which Word::from() makes a word.
/// Word::kTies: the square of the steps to a farther row must be more than the largest; else as much is enough.
template <class Word>
class Window {
 public:
  using Rows = WindowRows<typename Word::Stored>;

  /// @param weight  of the square of a step
  __device__ Window(const Rows& rows, int group, int lane, unsigned weight = 1)
      : rows_(rows), group_(group), lane_(lane), weight_(weight) {
    const auto own = rows.group(group, lane);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = before_[j] = behind_[j] = Word::from(own[j]);
  }

  /// Sixteen steps at most. @returns whether the warp's rows are settled
  __device__ bool search() {
    return search_while([](int m) { return m < 1; });
  }
  /// @param go_on  whether to look farther after all rows up to 8 m + 8 steps away: go_on(m)
  template <class GoOn>
  __device__ bool search_while(GoOn&& go_on) {
    if (settled(1)) return true;
    unsigned square = 0;  // of the steps, as words add it
    for (int m = 0;; ++m) {
      const auto left = rows_.group(group_ - 1 - m, lane_), right = rows_.group(group_ + 1 + m, lane_);
#pragma unroll
      for (int s = 1; s <= 8; ++s) {
        const int steps = 8 * m + s;
        square += static_cast<unsigned>(2 * steps - 1) * Word::kSquare * weight_;
        const unsigned way = static_cast<unsigned>(steps) * Word::kStep;
        behind_[s - 1] = Word::from(right[s - 1]);
        before_[8 - s] = Word::from(left[8 - s]);
#pragma unroll
        for (int j = 0; j < 8; ++j) best[j] = Word::offer(behind_[(j + s) & 7], square + way, best[j]);
#pragma unroll
        for (int j = 0; j < 8; ++j) best[j] = Word::offer(before_[(j - s) & 7], square - way, best[j]);
        const bool look = s == 4 || s == 8 || (m == 0 && (s <= 3 || s == 6));
        if (look && settled(static_cast<unsigned>((steps + 1) * (steps + 1)))) return true;
      }
      if (!go_on(m)) return false;
    }
  }

  unsigned best[8];

 private:
  __device__ bool settled(unsigned square) const {
    return !__any_sync(kAllLanes, Word::largest(best) > square * weight_ - Word::kTies);
  }

  const Rows& rows_;
  const int group_, lane_;
  const unsigned weight_;
  unsigned before_[8], behind_[8];
};

/// A half of a tile, 16 neighbours along x; which, says the job's number.
struct HalfTile {
  Volume::Tile tile;
  int first;  ///< bit of the word
  int x;      ///< column of this thread

  __device__ HalfTile(const Volume::Tile& whole, std::uint32_t job)
      : tile(whole),
        first(static_cast<int>(job % 2) * 16),
        x(tile.word * 32 + first + static_cast<int>(threadIdx.x) % 16) {}

  /// Whether it lies behind the volume's last column.
  __device__ bool is_outside(const Volume& v) const { return tile.word * 32 + first >= v.nx; }
};

/// Row (z, y) of `narrow` from the half's first column on: squares, or leads.
__device__ inline std::uint16_t* narrow_half(const Volume& v, const HalfTile& half, std::int32_t z, std::int32_t y) {
  return reinterpret_cast<std::uint16_t*>(v.narrow_row(half.tile.item, half.tile.word, z, y)) + half.first;
}
/// A tile of the pass along z by the number of its job, numbered as `narrow` lies.
__device__ inline HalfTile narrow_half_along_z(const Volume& v, std::uint32_t job) {
  return HalfTile(v.narrow_tile(job / 2), job);
}
/// A tile of the pass along z by the number of its job, numbered along rows of the output.
__device__ inline HalfTile half_along_z(const Volume& v, std::uint32_t job) {
  return HalfTile(v.tile(job / 2, v.ny), job);
}
/// The same along y.
__device__ inline HalfTile half_along_y(const Volume& v, std::uint32_t job) {
  return HalfTile(v.tile(job / 2, v.nz), job);
}

/// Sum over the block; `total` must be 0 before and is shared.
__device__ inline void add_over_block(int value, int* total) {
  value = warp_sum(value);
  if (lane_id() == 0 && value) atomicAdd(total, value);
}

/// Leaves a tile to the envelope. By one thread.
__device__ inline void enlist(std::uint32_t* list, std::uint32_t* count, std::int64_t tile) {
  list[atomicAdd(count, 1u)] = static_cast<std::uint32_t>(tile);
}

/// Blocks of a search per multiprocessor.
constexpr int search_blocks(int threads, bool labels) {
  return resident_blocks(threads, (labels ? kResidentThreadsAt64 : kResidentThreads) / threads);
}

/// What is left to do with a float distance, of an element of row y: nothing.
struct AsItIs {
  __device__ float operator()(float distance, int) const { return distance; }
};

/// Float distances of two neighbours of a row, or whatever else is asked for.
template <Writing kWriting>
struct VolumeWriter {
  const Volume& v;
  const Emitter<std::int64_t>& emitter;
  const Volume::Tile& tile;  ///< along y: line = z
  float* rows;               ///< first element of the tile's first row

  __device__ VolumeWriter(const Volume& volume, const Emitter<std::int64_t>& e, const Volume::Tile& t)
      : v(volume), emitter(e), tile(t) {
    if constexpr (!is_general(kWriting)) rows = v.distance.row(v.first_item + t.item, t.line, 0) + t.word * 32;
  }

  /// Start of the tile's row y, where results are floats.
  __device__ float* row_of(int y) const { return rows + y * v.distance.y_stride; }

  /// Eight rows from y on. The other half of the warp takes part, too, with the eight before or behind.
  ///
  /// @param squares  of columns 2·lane and 2·lane + 1 of the tile, lane < 16
  __device__ void write_pairs(int y, const unsigned* squares) const {
    if constexpr (is_general(kWriting)) {
      write_rows(y, squares);
    } else if constexpr (kWriting == Writing::unaligned) {
      write_rows_of_32(row_of(y), y, squares);
    } else {
      float* row = row_of(y);
      if (kWriting == Writing::one_side && v.is_aligned) return write_sides(row, y, squares);
      if (kWriting == Writing::labels && !v.is_aligned) return write_rows_of_32(row, y, squares);
      if (kWriting != Writing::one_side && y + 8 <= v.ny) return write_eight_pairs(row, squares);
#pragma unroll
      for (int j = 0; j < 8; ++j, row += v.distance.y_stride) write_pair(row, y + j, squares[j]);
    }
  }

  /// Up to eight results along y.
  /// @tparam kSmall  squares are below 2²³, where there is a site
  /// @param finish   with unequal spacings, of float distances
  template <bool kSpaced = false, bool kSmall = false, class Finish = AsItIs>
  __device__ void write_column(int y, int x, const unsigned* squares, int count, const Finish& finish = {}) const {
    constexpr unsigned kNone = kSpaced ? kNoneSpaced : kNone32;
    if (x >= v.nx) return;
    if constexpr (is_general(kWriting)) {
      auto results = results_of(y, x, count);
#pragma unroll
      for (int j = 0; j < 8; ++j) results.squares[j][0] = squares[j] >= kNone ? kNoSquare : squares[j];
      write_results(emitter, results);
    } else {
      float* to = row_of(y) + x - tile.word * 32;
      if (kWriting == Writing::unaligned && !kSpaced && count == 8 && squares[0] < kNone)
        return write_eight<kSmall>(to, squares);
      if constexpr (kWriting == Writing::labels && !kSpaced)
        if (count == 8 && greatest_of_eight(squares) < kNone) return write_eight<kSmall>(to, squares);
      if constexpr (kWriting == Writing::one_side)
        if (count == 8 && greatest_of_eight(squares) < Side::kLeastFar) return write_eight_of_side(to, squares);
#pragma unroll
      for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
        if (j >= count) break;
        if constexpr (kWriting == Writing::one_side) {
          if (squares[j] > 0) *to = squares[j] >= kNone ? v.side.none() : v.side.far(squares[j]);
        } else if constexpr (kSpaced) {
          const float distance = squares[j] >= kNone ? v.side.none() : root_of(squares[j]) * v.side.scale;
          *to = finish(kWriting == Writing::both_sides && !is_site(y + j, x) ? -distance : distance, y + j);
        } else {
          *to = squares[j] >= kNone ? v.side.none() : small_root(static_cast<float>(squares[j]));
        }
      }
    }
  }

  /// No site anywhere: eight rows from y on.
  __device__ void write_none(int y, int x) const {
    unsigned squares[8];
#pragma unroll
    for (unsigned& square : squares) square = kNone32;
    write_column(y, x, squares, v.ny - y);
  }

 private:
  /// Of eight rows that all have a site.
  template <bool kSmall>
  __device__ void write_eight(float* to, const unsigned* squares) const {
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.distance.y_stride)
      *to = small_root(kSmall ? small_float_of_sum(squares[j]) : static_cast<float>(squares[j]));
  }
  /// The same of a side, of squares that are below Side::kLeastFar.
  __device__ void write_eight_of_side(float* to, const unsigned* squares) const {
#pragma unroll
    for (int j = 0; j < 8; ++j, to += v.distance.y_stride)
      if (squares[j] > 0) *to = v.side.near(small_float(squares[j]));
  }
  /// small_float() for what is a sum anyway, to which the constant is added at once.
  static __device__ float small_float_of_sum(unsigned sum) { return __uint_as_float(sum + 0x4B000000u) - 8388608.0f; }

  /// What is no float, a row of 32 by all lanes together, so that neighbouring lanes write neighbours.
  __device__ void write_rows(int y, const unsigned* squares) const {
    const int x = tile.word * 32 + lane_id();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = y + 8 * (half - lane_id() / 16);
      auto results = results_of(first, x, x < v.nx ? v.ny - first : 0);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned pair = __shfl_sync(kAllLanes, squares[j], 16 * half + lane_id() / 2);
        results.squares[j][0] = lane_id() % 2 ? pair >> 16 : pair & 0xFFFFu;
      }
      write_results(emitter, results);
    }
  }

  /// Whose squares are not there yet.
  __device__ LaneResults<8, 1> results_of(int y, int x, int rows) const {
    LaneResults<8, 1> results{.item = tile.item, .z = tile.line, .y = y, .x = v.first_x + x, .rows = rows};
    if constexpr (is_of_labels(kWriting)) {
#pragma unroll
      for (int j = 0; j < 8; ++j)
        if (j < rows && !v.pins) results.inside |= unsigned{is_inside(y + j, x)} << j;
    }
    return results;
  }
  /// Of signed labels. Masks are written so without a sign alone.
  __device__ bool is_inside(int y, int x) const {
    const uint2* line = v.changes_along_z({tile.item, tile.word, y});
    return !(__ldg(&line[tile.line].y) >> (x - tile.word * 32) & 1);
  }

  /// Of a signed field: whether an element is on the outer side, as the sites of the inner one are.
  __device__ bool is_site(int y, int x) const {
    const uint2* line = v.word_line({tile.item, tile.word, y});
    return __ldg(&line[tile.line].x) >> (x - tile.word * 32) & 1;
  }

  /// The roots of two squares.
  static __device__ float2 roots_of(unsigned squares) {
    return make_float2(small_root(low_float(squares)), small_root(high_float(squares)));
  }
  // Below 2²³ integers are the last bits of floats.
  static __device__ float low_float(unsigned squares) {
    return __uint_as_float(__byte_perm(squares, 0x4B000000u, 0x7610)) - 8388608.0f;
  }
  static __device__ float high_float(unsigned squares) {
    return __uint_as_float(__byte_perm(squares, 0x4B000000u, 0x7632)) - 8388608.0f;
  }

  /// Rows that are all there. @param row  row_of(y)
  __device__ void write_eight_pairs(float* row, const unsigned* squares) const {
    const int lane = lane_id() % 16;
    if (tile.word * 32 + 2 * lane >= v.nx) return;
    row += 2 * lane;
#pragma unroll
    for (int j = 0; j < 8; ++j, row += v.distance.y_stride)
      __stcs(reinterpret_cast<float2*>(row), roots_of(squares[j]));
  }

  /// @param row  row_of(y)
  __device__ void write_pair(float* row, int y, unsigned squares) const {
    const int lane = lane_id() % 16, x = tile.word * 32 + 2 * lane;
    const bool there = y < v.ny;
    if constexpr (kWriting == Writing::one_side) {
      if (there) write_side(row + 2 * lane, x, squares);
      return;
    }
    if (there && x < v.nx) __stcs(reinterpret_cast<float2*>(row) + lane, roots_of(squares));
  }

  /// Sixteen rows of any address, those of both halves, each of 32 by all lanes together, so that few sectors of memory
  /// are written in two goes: neighbours take the same square and its own half.
  /// @param row  row_of(y)
  __device__ void write_rows_of_32(float* row, int y, const unsigned* squares) const {
    constexpr unsigned kSmallFloat = 0x4B000000u;  // 2²³: integers below are its last bits
    const unsigned half = lane_id() % 2 ? 0x7632 : 0x7610;
    const bool there = tile.word * 32 + lane_id() < v.nx;
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
      const int before = 8 * (k - lane_id() / 16), count = there ? v.ny - y - before : 0;
      float* to = row + before * v.distance.y_stride + lane_id();
#pragma unroll
      for (int j = 0; j < 8; ++j, to += v.distance.y_stride) {
        const unsigned pair = __shfl_sync(kAllLanes, squares[j], 16 * k + lane_id() / 2);
        const float square = __uint_as_float(__byte_perm(pair, kSmallFloat, half)) - 8388608.0f;
        if (j < count) __stcs(to, small_root(square));
      }
    }
  }

  /// Of a pair.
  __device__ void write_side(float* to, int x, unsigned squares) const {
    const float2 both = distances_of(squares);
    if ((v.side.is_first || has_low(squares)) && x < v.nx) to[0] = both.x;
    if ((v.side.is_first || has_high(squares)) && x + 1 < v.nx) to[1] = both.y;
  }
  __device__ float2 distances_of(unsigned squares) const {
    return make_float2(v.side.near(low_float(squares)), v.side.near(high_float(squares)));
  }
  static __device__ bool has_low(unsigned squares) { return (squares & 0xFFFFu) != 0; }
  static __device__ bool has_high(unsigned squares) { return squares > 0xFFFFu; }

  /// Of eight rows of aligned pairs.
  __device__ void write_sides(float* row, int y, const unsigned* squares) const {
    const int lane = lane_id() % 16, rows = v.ny - y;
    if (tile.word * 32 + 2 * lane >= v.nx) return;
    row += 2 * lane;
    const auto write = [&](int count) {
      if (v.side.is_first) write_first_side(row, squares, count);
      else write_second_side(row, squares, count);
    };
    if (rows >= 8) write(8);
    else write(rows);
  }
  __device__ void write_first_side(float* row, const unsigned* squares, int count) const {
#pragma unroll
    for (int j = 0; j < 8; ++j, row += v.distance.y_stride)
      if (j < count) __stcs(reinterpret_cast<float2*>(row), distances_of(squares[j]));
  }
  /// What the first side has left in a pair is read before anything is written, so that the waits are one.
  __device__ void write_second_side(float* row, const unsigned* squares, int count) const {
    float left[8];
    const float* at = row;
#pragma unroll
    for (int j = 0; j < 8; ++j, at += v.distance.y_stride) {
      left[j] = 0;
      if (has_low(squares[j]) != has_high(squares[j]) && j < count) left[j] = at[int{has_low(squares[j])}];
    }
#pragma unroll
    for (int j = 0; j < 8; ++j, row += v.distance.y_stride) {
      if (squares[j] == 0 || j >= count) continue;
      float2 both = distances_of(squares[j]);
      if (!has_low(squares[j])) both.x = left[j];
      if (!has_high(squares[j])) both.y = left[j];
      __stcs(reinterpret_cast<float2*>(row), both);
    }
  }
};

}  // namespace fathom::grid::cuda
