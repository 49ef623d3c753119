// The ends of runs of equal labels along the lines of a tile (see volume/labels.cuh), in shared memory.
//
// Work mapping: warp = 32 rows by 32 lines of bits, which it turns by swapping ever smaller blocks of them. A lane then
// looks for the changes around eight rows of a line, word by word. Cost: some ten operations per element.
#pragma once

#include "grid/cuda/volume/row_steps.cuh"

namespace fathom::grid::cuda::volume {

/// The runs whose ends passes take in: of labels, or of the sides of a signed field that are solved at once.
enum class Runs { none, of_labels, of_sides };

/// Words along a tile's 32 lines: [32 rows][line].
template <bool kRuns, int kMostRows = kLongestKeyed>
struct RunWords {
  static constexpr int kWords = kRuns ? kMostRows : 1;
  unsigned changes[kWords], background[kWords];
};

/// The ends, from such words.
class RunEnds {
 public:
  static constexpr unsigned kNoEnd = 1u << 15;  ///< steps from here on: there is no end

  /// @param first  of the words that are the tile's
  template <bool kRuns, int kMostRows>
  __device__ RunEnds(RunWords<kRuns, kMostRows>& words, int rows, int first = 0)
      : changes_(words.changes + first), background_(words.background + first), rows_(rows) {}

  /// By all threads of the block, before a barrier.
  /// @param load   a row's changes, and background unless no label is pinned, or squares tell of it
  /// @param lines  that are filled, in bits
  /// @returns whether those that the thread fills have changes
  template <class Load>
  __device__ bool fill(Load&& load, unsigned lines = kAllLanes) const {
    bool any = false;
    for (int b = thread() / 32; b * 32 < rows_; b += static_cast<int>(blockDim.x) / 32) {
      const int row = b * 32 + lane_id();
      const uint2 word = row < rows_ ? load(row) : make_uint2(0, 0xFFFFFFFFu);
      const unsigned changes = turn(word.x), background = turn(word.y);
      if ((lines >> lane_id() & 1) == 0) continue;
      any |= changes != 0;
      changes_[row] = changes;
      background_[row] = background;
    }
    return any;
  }

  /// Which of eight rows of a line need no search: those of label 0, and behind the last.
  __device__ unsigned settled(int group, int line) const {
    return background_[group / 4 * 32 + line] >> group % 4 * 8 & 255;
  }

  /// Steps from eight rows of a line to the elements beyond their runs' ends; 0 for label 0 and behind the last row.
  __device__ void steps(int group, int line, unsigned* to_end) const {
    const unsigned none = settled(group, line);
    unsigned down[8];
    around(group, line, to_end, down);
#pragma unroll
    for (int j = 0; j < 8; ++j) to_end[j] = none >> j & 1 ? 0 : min(to_end[j], down[j]);
  }

  /// The same to the nearer of both, whatever the label: upwards, where the other one is not nearer, they are negative.
  /// 0: there is none, or it is farther than `most`.
  __device__ void nearest(int group, int line, int most, int* to_end) const {
    unsigned up[8], down[8];
    around(group, line, up, down, (most + 31) / 32);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto steps = static_cast<int>(min(up[j], down[j]));
      to_end[j] = steps >= static_cast<int>(kNoEnd) ? 0 : up[j] <= down[j] ? -steps : steps;
    }
  }

  /// A minimum with the squares of eight rows of a line …
  __device__ void bound(int group, int line, unsigned* squares) const {
    unsigned ends[8];
    steps(group, line, ends);
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (ends[j] < kNoEnd) squares[j] = min(squares[j], ends[j] * ends[j]);
  }
  /// … and of a pair of lines in 16 bits.
  __device__ void bound_pairs(int group, int pair, unsigned* squares) const {
    if ((settled(group, 2 * pair) & settled(group, 2 * pair + 1)) == 255) {  // no change matters
#pragma unroll
      for (int j = 0; j < 8; ++j) squares[j] = 0;
      return;
    }
    unsigned low[8], high[8];
    steps(group, 2 * pair, low);
    steps(group, 2 * pair + 1, high);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const unsigned a = min(low[j], kCap16), b = min(high[j], kCap16);
      squares[j] = __vminu2(squares[j], a * a + (b * b << 16));
    }
  }

 private:
  /// Steps from eight rows of a line to the elements beyond the upper and the lower end of their runs.
  /// @param words  to look into, before and behind
  __device__ void around(int group, int line, unsigned* up, unsigned* down, int words = kLongestAxis / 32) const {
    const int b = group / 4, shift = group % 4 * 8;
    const unsigned word = changes_[b * 32 + line], own = word >> shift;
    unsigned above = word & ((1u << shift) - 1), below = own >> 8 << shift << 8;  // of the words before and behind, too
    int first = b, end = b;
    for (const int most = max(b - words, 0); !above && first > most;) above = changes_[--first * 32 + line];
    for (const int most = min(b + words, (rows_ - 1) / 32); !below && end < most;) below = changes_[++end * 32 + line];
    unsigned last =
        above ? static_cast<unsigned>(group * 8 - (first * 32 + 31 - __clz(static_cast<int>(above)))) : kNoEnd;
    unsigned next =
        below ? static_cast<unsigned>(end * 32 + __ffs(static_cast<int>(below)) - 1 - (group * 8 + 7)) : kNoEnd;
#pragma unroll
    for (int j = 0; j < 8; ++j) up[j] = last = own >> j & 1 ? 1 : last + 1;
    down[7] = next;
#pragma unroll
    for (int j = 6; j >= 0; --j) down[j] = next = own >> (j + 1) & 1 ? 1 : next + 1;
  }

  /// Bit `lane` of the words of all lanes: of 2ᵏ⁺¹ bits, two lanes swap the halves that belong to the other.
  static __device__ unsigned turn(unsigned word) {
    constexpr unsigned kLower[] = {0x55555555u, 0x33333333u, 0x0F0F0F0Fu, 0x00FF00FFu, 0x0000FFFFu};
#pragma unroll
    for (int k = 4; k >= 0; --k) {
      const bool is_upper = (lane_id() >> k & 1) != 0;
      const unsigned kept = is_upper ? ~kLower[k] : kLower[k], other = __shfl_xor_sync(kAllLanes, word, 1 << k);
      const unsigned across = __funnelshift_l(other, other, is_upper ? 32 - (1 << k) : 1 << k);
      word = (word & kept) | (across & ~kept);
    }
    return word;
  }
  unsigned *changes_, *background_;
  const int rows_;
};

}  // namespace fathom::grid::cuda::volume
