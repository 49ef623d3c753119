// Where sites are near: an outwards search in 16-bit arithmetic on two lines at once, or with nearest sites in 32 bits on
// one (along z, where they are all along the line, in 16 as well: volume/nearest/along_z.cuh).
//
// Work mapping: block = tile. Phase 1: its squares go to shared memory, row by row, 16 words for 32 lines; odd groups
// of eight rows swap even and odd rows, so that the two halves of a warp, which work on neighbouring groups, meet
// different banks. Phase 2, half warp = 8 rows, lane = two lines: the rows around slide through registers, one step
// outwards at a time on both sides, until all values of the warp are at most the square of the next step. A tile whose
// search would be long is left, by a list, to the envelope (volume/envelope.cuh), which takes three times the registers.
//
// Where sites are few, most rows hold none near, and between balls lie stretches of such rows. So after sixteen steps a
// warp takes eight more to a side only if the rows of the next group there, or of the one before, with the least steps
// to them, could better the farthest element of any lane. What was passed over is still in the registers that slide
// outwards, as an older group, whose rows are nearer than where they are taken to be: what they offer is too much there.
//
// Source: separable passes (Hirata 1996); departs by searching outwards with an exact stop in place of an envelope.
// Cost: one operation per element and step, and some 20 for eight steps to a side.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/runs.cuh"

namespace fathom::grid::cuda::volume {

inline __host__ __device__ int row_groups(int rows) { return (rows + 7) / 8; }
/// Bytes of dynamic shared memory: the rows, and a group of rows without sites.
inline __host__ __device__ std::size_t window_memory(int rows) {
  return static_cast<std::size_t>(row_groups(rows) + 1) * 8 * 64;
}

/// Bytes of shared memory that kernels take besides, for numbers of which each has few.
inline constexpr std::size_t kNumbersMemory = 384;

/// This thread's warp. All lanes have it from the first, so that loops by it do not part them for the compiler, either.
__device__ inline int warp_number() { return __shfl_sync(kAllLanes, thread() / 32, 0); }

/// Squares of two lines in a word.
struct WindowPairs {
  static constexpr unsigned kNone = kNone16x2;
  static constexpr unsigned kSquare = 0x10001u;     ///< what a square of 1 adds
  static constexpr unsigned kStep = 0, kRight = 0;  ///< what a step to a higher row adds, and any steps there
  static constexpr unsigned kTies = 0;
  static constexpr bool kOffersTwo = true;  ///< at once, where there are two
  static constexpr bool kIsCharged = true;  ///< see Window
  static constexpr int kMostSteps = 176;    ///< of a search: what it settles is below kNone16
  static_assert((kMostSteps + 1) * (kMostSteps + 1) < kNone16 && kNone16 + kMostSteps * kMostSteps < 1 << 16);
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

/// A line's squared distance and the way to the site, so that of equally near sites the first is least: square · 2¹⁷ +
/// (steps along z + 128) · 2⁹ + (steps along the line + 128) · 2 + whether the site lies to the right.
struct WindowSites {
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

  static __device__ unsigned offer(unsigned value, unsigned square, unsigned best) {
    return __viaddmin_u32(value, square, best);
  }
  static __device__ unsigned lesser(unsigned a, unsigned b) { return min(a, b); }
  static __device__ unsigned most(const unsigned* eight, unsigned other = 0) { return greatest_of_eight(eight, other); }
  template <class Eight>
  static __device__ unsigned least(const Eight& eight) {
    return least_of_eight(eight);
  }
  static __device__ unsigned largest(const unsigned* eight) { return square(most(eight)); }
};

/// Eight rows of a lane, of sixteen lanes: even rows from one address, odd rows from the other.
struct EightRows {
  const unsigned *even, *odd;
  __device__ unsigned operator[](int j) const { return (j % 2 ? odd : even)[j * 16]; }
};

/// Half a tile's rows in shared memory, in 16 bits, two columns to a word: eight words to a row, and as many behind each
/// eight rows, so that neighbouring groups of rows meet different banks.
/// @tparam Words  kNone, which two columns have without a site; operator[] of a group's row, to a search
template <class Words>
class HalfRows {
 public:
  using Group = Words;

  static __host__ __device__ std::size_t memory(int rows) {
    return static_cast<std::size_t>(row_groups(rows) + 1) * kGroup * sizeof(unsigned);
  }

  __device__ HalfRows(unsigned* memory, int rows) : groups(row_groups(rows)), memory_(memory) {}

  /// Four words of a row: a half of the eight.
  __device__ void put(int row, int half, uint4 words) const {
    reinterpret_cast<uint4*>(memory_)[row / 8 * (kGroup / 4) + row % 8 * 2 + half] = words;
  }
  __device__ std::uint16_t& at(int row, int column) const {
    return reinterpret_cast<std::uint16_t*>(memory_)[row / 8 * kGroup * 2 + row % 8 * 16 + column];
  }
  __device__ unsigned get(int row, int column) const { return at(row, column); }
  /// Rows behind the last, and the group that stands for all outside.
  __device__ void pad(int rows) const {
    constexpr unsigned kNone = Words::kNone;
    for (int i = rows * 2 + thread(); i < (groups + 1) * 16; i += static_cast<int>(blockDim.x))
      put(i / 2, i % 2, make_uint4(kNone, kNone, kNone, kNone));
  }
  __device__ Group group(int q, int lane) const {
    const unsigned place = min(static_cast<unsigned>(q), static_cast<unsigned>(groups));  // −1 and below: outside
    return {memory_ + place * kGroup, lane};
  }

  const int groups;

 private:
  static constexpr int kGroup = 9 * 8;  ///< words

  unsigned* const memory_;
};

/// The tile in shared memory.
template <class Word>
class WindowRows {
 public:
  __device__ WindowRows(unsigned* memory, int rows) : groups(row_groups(rows)), memory_(memory) {}

  /// Four words of a row: `quarter` of the 16.
  __device__ void put(int row, int quarter, uint4 words) const {
    reinterpret_cast<uint4*>(memory_)[(row * 4 + quarter) ^ ((row & 8) >> 1)] = words;
  }
  /// Where a word of a row is, and up to the end of its quarter those beside it.
  __device__ unsigned* at(int row, int lane) const { return memory_ + ((row * 16 + lane) ^ ((row & 8) << 1)); }
  __device__ unsigned get(int row, int lane) const { return (memory_ + lane)[(row * 16) ^ ((row & 8) << 1)]; }
  static __host__ __device__ std::size_t memory(int rows) { return window_memory(rows); }
  /// Rows behind the last, and the group that stands for all outside.
  __device__ void pad(int rows) const {
    const uint4 none = make_uint4(Word::kNone, Word::kNone, Word::kNone, Word::kNone);
    for (int i = rows * 4 + thread(); i < (groups + 1) * 32; i += static_cast<int>(blockDim.x)) put(i / 4, i % 4, none);
  }
  using Group = EightRows;
  __device__ Group group(int q, int lane) const {
    const unsigned place = min(static_cast<unsigned>(q), static_cast<unsigned>(groups));  // −1 and below: outside
    const auto swap = static_cast<int>((place & 1) * 16);
    const unsigned* first = memory_ + place * 128 + lane;
    return {first + swap, first - swap};
  }

  const int groups;

 private:
  unsigned* const memory_;
};

/// Eight rows of a word.
///
/// Word::kTies: the square of the steps to a farther row must be more than the largest; else as much is enough
/// Word::kMostSteps: of a search; kOffersTwo: whether a step to both sides is offered at once
/// Word::kRight: what steps to higher rows add, however many they are
/// square_of_steps(steps): what stands for the square of so many steps, if that is from a table
/// Word::kIsCharged: whether nothing else searches what this leaves, so that steps count and it fails the block
template <class Word, class Rows = WindowRows<Word>>
class Window {
 public:
  __device__ Window(const Rows& rows, int group, int lane, const Word& word = Word())
      : word_(word), rows_(rows), group_(group), lane_(lane) {
    const auto own = rows.group(group, lane);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = before_[j] = behind_[j] = own[j];
  }

  /// What the warps of a block may spend on a tile: eight steps to a side are one.
  static __device__ int budget_of(int rows) { return max(row_groups(rows) / 2 * kUsualSides, 4); }

  /// @param work  of the block: what its warps have spent so far
  /// @param took  steps that the warp's rows before took, and what these did: whether they are settled is not asked
  ///              before half as many. Null: it is asked always
  /// @returns whether the warp's rows are settled
  __device__ bool search(int* work, int budget, int* took = nullptr) {
    const int unasked = took ? *took / 2 : 0;
    const auto is_done = [&](int steps) {
      if (steps < unasked || __any_sync(kAllLanes, is_open(steps))) return false;
      if (took) *took = steps;
      return true;
    };
    if (is_done(0)) return true;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      if (eight_steps<Word::kOffersTwo>(m, is_done)) return true;
      if (!may_spend(2, work, budget)) return false;
    }
    unsigned least_left = Word::least(before_), least_right = Word::least(behind_);
    for (int m = 2; m < Word::kMostSteps / 8; ++m) {
      const bool goes_left = may_better(m, -1, least_left), goes_right = may_better(m, 1, least_right);
      if (!goes_left && !goes_right) {
        if (is_done(8 * m + 8)) return true;
        continue;
      }
      if (!may_spend(goes_left + goes_right, work, budget)) return false;
#pragma unroll
      for (int half = 0; half < 8; half += 4) {
        const auto right = rows_.group(group_ + m + 1, lane_), left = rows_.group(group_ - m - 1, lane_);
        if (goes_right)
#pragma unroll
          for (int s = half + 1; s <= half + 4; ++s) step_right(right, s, 8 * m + s);
        if (goes_left)
#pragma unroll
          for (int s = half + 1; s <= half + 4; ++s) step_left(left, s, 8 * m + s);
        if (is_done(8 * m + half + 4)) return true;
      }
    }
    return Word::kIsCharged && may_spend(1 << 24, work, budget);  // for the other warps
  }
  /// Passes over nothing. @param go_on  whether to look farther after all rows up to 8 m + 8 steps away: go_on(m)
  /// @returns whether the warp's rows are settled
  template <class GoOn>
  __device__ bool search_while(GoOn&& go_on) {
    const auto is_done = [&](int steps) {
      return !__any_sync(kAllLanes, Word::largest(best) > plain_square(steps + 1) - Word::kTies);
    };
    if (is_done(0) || eight_steps<false>(0, is_done)) return true;
#pragma unroll 1
    for (int m = 0; go_on(m); ++m)
      if (eight_steps<false>(m + 1, is_done)) return true;
    return false;
  }
  /// Of this lane's rows, whether some are farther than such steps may tell.
  __device__ bool is_open(int steps) const {
    const unsigned next = square_of(steps + 1) - Word::kTies;
    return Word::most(best, next) != next;
  }

  unsigned best[8];

 private:
  /// Of eight rows, those that are offered two at once: so that both kinds of units have as much to do.
  static constexpr int kByThree = 5;

  __device__ unsigned plain_square(int steps) const {
    if constexpr (requires { word_.square_of_steps(steps); }) return word_.square_of_steps(steps);
    else return static_cast<unsigned>(steps * steps);
  }
  /// What so many steps add: without the way, and with it to higher rows and to lower ones.
  __device__ unsigned square_of(int steps) const { return plain_square(steps) * Word::kSquare; }
  __device__ unsigned to_right(int steps) const {
    return square_of(steps) + static_cast<unsigned>(steps) * Word::kStep + Word::kRight;
  }
  __device__ unsigned to_left(int steps) const { return square_of(steps) - static_cast<unsigned>(steps) * Word::kStep; }

  /// Whether steps 8 m + 1 … 8 m + 8 to a side may better an element of the warp.
  /// @param least  of the group that the steps before went to, and the next one's
  __device__ bool may_better(int m, int side, unsigned& least) const {
    const unsigned most = Word::most(best), next = Word::least(rows_.group(group_ + side * (m + 1), lane_));
    const unsigned steps = square_of(8 * m + 1) - static_cast<unsigned>(8 * m + 8) * Word::kStep;
    const unsigned nearest = Word::offer(Word::lesser(least, next), steps, most);
    least = next;
    return __any_sync(kAllLanes, nearest != most) != 0;
  }
  __device__ static bool may_spend(int sides, int* work, int budget) {
    if (!Word::kIsCharged) return true;
    int spent = 0;
    if (lane_id() == 0) spent = atomicAdd(work, sides);
    return __shfl_sync(kAllLanes, spent, 0) + sides <= budget;
  }

  /// Steps 8 m + 1 … 8 m + 8 to both sides. @returns whether is_done(steps) has said so behind one of them
  /// @tparam kTogether  both sides at once, which takes some registers
  template <bool kTogether, class IsDone>
  __device__ bool eight_steps(int m, IsDone&& is_done) {
    const auto left = rows_.group(group_ - 1 - m, lane_), right = rows_.group(group_ + 1 + m, lane_);
#pragma unroll
    for (int s = 1; s <= 8; ++s) {
      const int steps = 8 * m + s;
      if constexpr (kTogether) {
        behind_[s - 1] = right[s - 1], before_[8 - s] = left[8 - s];
        const unsigned on_right = to_right(steps), on_left = to_left(steps);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const unsigned a = behind_[(j + s) & 7], b = before_[(j - s) & 7];
          if (j < kByThree) best[j] = Word::offer_two(a, on_right, b, on_left, best[j]);
          else best[j] = Word::offer(a, on_right, Word::offer(b, on_left, best[j]));
        }
      } else {
        step_right(right, s, steps);
        step_left(left, s, steps);
      }
      const bool look = s == 4 || s == 8 || (m == 0 && (s <= 3 || s == 6));
      if (look && is_done(steps)) return true;
    }
    return false;
  }
  /// A step to one side.
  __device__ void step_right(const typename Rows::Group& from, int s, int steps) {
    behind_[s - 1] = from[s - 1];
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = Word::offer(behind_[(j + s) & 7], to_right(steps), best[j]);
  }
  __device__ void step_left(const typename Rows::Group& from, int s, int steps) {
    before_[8 - s] = from[8 - s];
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = Word::offer(before_[(j - s) & 7], to_left(steps), best[j]);
  }

  const Word word_;
  const Rows& rows_;
  const int group_, lane_;
  unsigned before_[8], behind_[8];
};

/// Whether a tile has sites near enough for a search to be worth while: in each stretch of so many rows.
template <int kThreads, int kStretch, int kLongest = kLongestAxis>
class NearRows {
 public:
  /// Of a thread.
  __device__ void add(int row, bool is_near) {
    if (is_near) near_ |= 1u << static_cast<unsigned>(row) / kStretch;
  }
  /// By all threads of the block, before they meet. @param of_warps  shared
  __device__ void put(unsigned* of_warps) const {
    const unsigned near = warp_or(near_);
    if (lane_id() == 0) of_warps[threadIdx.x / 32] = near;
  }
  /// Thereafter, if one in so many may have none. A last stretch that is less than half as long is not asked for.
  __device__ static bool nearly_suffice(const unsigned* of_warps, int rows, int share) {
    const int stretches = (rows + kStretch / 2) / kStretch;
    const unsigned missing = ~near_ones(of_warps) & static_cast<unsigned>((std::uint64_t{1} << stretches) - 1);
    return __popc(missing) * share <= stretches;
  }
  __device__ static bool suffice(const unsigned* of_warps, int rows) { return nearly_suffice(of_warps, rows, 64); }
  /// Whether few stretches without one lie between others of those. From the middle of several that lie together, none is
  /// near along the line, either: each of their rows would take as many steps as it is rows to the nearest other
  /// stretch. What is outside is as far.
  __device__ static bool few_lie_between(const unsigned* of_warps, int rows) {
    constexpr int kShare = 8;  // one stretch in so many is not few
    const int stretches = (rows + kStretch - 1) / kStretch;
    const unsigned far = ~near_ones(of_warps), between = far & (far << 1 | 1u) & (far >> 1 | 1u << 31);
    return __popc(between & (0xFFFFFFFFu >> (32 - stretches))) * kShare < stretches;
  }

 private:
  static_assert(kLongest / kStretch <= 32);

  /// Which stretches have some, in bits.
  static __device__ unsigned near_ones(const unsigned* of_warps) {
    unsigned near = 0;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w) near |= of_warps[w];
    return near;
  }

  unsigned near_ = 0;
};

/// The stretches of a line that is searched along z, from its words before its rows are filled.
template <int kThreads>
using StretchesAlongZ = NearRows<kThreads, longest_line(kThreads) / 32, longest_line(kThreads)>;

/// A half of a tile, 16 neighbours along x; which, says whether a number is odd.
struct HalfTile {
  Volume::Tile tile;
  int first;  ///< bit of the word
  int x;      ///< column of this thread

  __device__ HalfTile(const Volume::Tile& whole, std::uint32_t number)
      : tile(whole), first(static_cast<int>(number % 2) * 16), x(tile.word * 32 + first + thread() % 16) {}

  /// Of a word: those of its columns that are there.
  __device__ unsigned bits(const Volume& v) const { return first_bits(v.nx - tile.word * 32) & 0xFFFFu << first; }
  /// Whether it lies behind the volume's last column.
  __device__ bool is_outside(const Volume& v) const { return tile.word * 32 + first >= v.nx; }
};

/// A tile of the pass along z by the number of its job, numbered as the `kind` of halves is: as lines lie in `narrow`.
__device__ inline HalfTile narrow_half_along_z(const Volume& v, std::uint32_t job) {
  const Volume::Parts at = v.parts_of(job, 2 * v.words, v.ny);
  return HalfTile({at.item, at.slow >> 1, at.fast}, static_cast<std::uint32_t>(at.slow));
}
/// A tile of the pass along y by the number of its job, numbered along rows of the output.
__device__ inline HalfTile half_along_y(const Volume& v, std::uint32_t job) {
  return HalfTile(v.tile(job / 2, v.nz), job);
}

/// Sum over the block; `total` must be 0 before and is shared.
template <class T>
__device__ void add_over_block(T value, T* total) {
  value = warp_sum(value);
  if (lane_id() == 0 && value) atomicAdd(total, value);
}

/// Leaves a tile to the envelope. By one thread.
__device__ inline void enlist(std::uint32_t* list, std::uint32_t* count, std::int64_t tile) {
  list[atomicAdd(count, 1u)] = static_cast<std::uint32_t>(tile);
}
/// Leaves the kind of the block's tile along z, or half tile, and what is not done to the envelope. By all threads.
__device__ inline void leave_along_z(const Volume& v, TileKind kind, bool is_done = true) {
  if (threadIdx.x != 0) return;
  v.kind[blockIdx.x] = kind;
  if (!is_done) enlist(v.z_list, v.counters, blockIdx.x);
}

/// Blocks of a search per multiprocessor.
constexpr int search_blocks(int threads, bool labels) {
  return resident_blocks(threads, (labels ? kResidentThreadsAt64 : kResidentThreads) / threads);
}

}  // namespace fathom::grid::cuda::volume
