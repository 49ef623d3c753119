// A column of an image of few rows, all of it in registers of a thread: the nearest site of each row, from the steps
// along rows (small/shallow_images.cuh).
#pragma once

#include "grid/cuda/small/shallow_words.cuh"

namespace fathom::grid::cuda {

/// Rows of a column of labels, or of sides, in bits.
struct ColumnRuns {
  unsigned changes = 0;  ///< differ from those above
  unsigned pinned = 0;   ///< have distance 0
};

/// For the rows of a column: keys of their nearest sites.
///
/// Of labels, what differs from an element in a row lies beyond the ends of its run there, if its column has the same
/// label there, too, and in all rows between; the first row that has another one is itself nearest, and none behind it.
///
/// kRows: at least as many as there are. kSites: whether it matters which of several is the nearest
template <int kRows, bool kSites, bool kRuns>
class ShallowColumn {
 public:
  static constexpr int kRowBits = 5;
  static_assert(kShallowRows < 1 << kRowBits);

  /// @param words  of all rows; x lies in them
  __device__ ShallowColumn(const WordInRow (*words)[kShallowWarps], const ColumnRuns& runs, int rows, int x)
      : rows_(rows), runs_(runs) {
    const int w = x / 32 % kShallowWarps;
    int steps[kRows];
    least_ = WordInRow::kNoneBehind;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      steps[r] = r < rows ? words[r][w].template least<kRuns>(x) : WordInRow::kNoneBehind;
      least_ = min(least_, steps[r]);
    }
    if (kRuns && runs.changes) least_ = 0;  // no row is farther from another label than there are rows
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const auto more = static_cast<unsigned>(steps[r] - least_);
      const unsigned square = more * static_cast<unsigned>(steps[r] + least_);
      own_[r] = has_site() && more < kShallowRows ? square << kRowBits | static_cast<unsigned>(r) : kNothing;
      best_[r] = r < rows && !is_pinned(r) ? own_[r] : 0;  // what is not there keeps nobody busy
    }
  }

  /// By a whole warp.
  __device__ void search() {
    if (!__any_sync(kAllLanes, has_site())) return;
    unsigned up = ~0u, down = ~0u;  // rows of the label of that k rows above or below, as all between
#pragma unroll
    for (int k = 1; k < kRows; ++k) {
      if (k >= rows_) break;
      const bool asks = (k & (k - 1)) == 0;
      if (asks && settled(static_cast<unsigned>(k * k))) break;
      up &= ~(runs_.changes << (k - 1)), down &= ~(runs_.changes >> k);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const auto square = static_cast<unsigned>(k * k) << kRowBits;
        if (r >= k) best_[r] = __viaddmin_u32(of_row(r - k, up >> r & 1), square, best_[r]);
        if (r + k < kRows) best_[r] = __viaddmin_u32(of_row(r + k, down >> r & 1), square, best_[r]);
      }
    }
  }

  __device__ bool is_pinned(int r) const { return kRuns && runs_.pinned >> r & 1; }
  __device__ bool has_site() const { return least_ < kFarthestSite; }
  /// Squares that fit 32 bits, whatever the row.
  __device__ bool is_near() const { return least_ < 65500; }
  __device__ unsigned key(int r) const { return best_[r]; }
  // Of a row that is not pinned, from its key.
  __device__ std::uint32_t near_square(unsigned key) const {
    const auto steps = static_cast<std::uint32_t>(least_);
    return steps * steps + (key >> kRowBits);
  }
  __device__ std::uint64_t square(unsigned key) const {
    const auto steps = static_cast<std::uint64_t>(least_);
    return steps * steps + (key >> kRowBits);
  }
  /// Column (x) and row (y) of the site nearest to row y of column x, which is not pinned.
  __device__ int2 site(const WordInRow (*words)[kShallowWarps], int y, int x, unsigned key) const {
    const auto row = static_cast<int>(key & ((1u << kRowBits) - 1));
    if (kRuns && differ(min(y, row), max(y, row))) return make_int2(x, row);
    return make_int2(words[row][x / 32 % kShallowWarps].template site<kRuns>(x), row);
  }

 private:
  static constexpr unsigned kNothing = 1u << 31;  ///< more than any key
  static_assert((std::uint64_t{kShallowRows} * 2 * kShallowColumns) << kRowBits <= kNothing);

  /// Whether a label changes from one row to another one below.
  __device__ bool differ(int from, int to) const { return (runs_.changes >> from & ((2u << (to - from)) - 1)) > 1; }
  __device__ unsigned of_row(int r, bool is_same) const {
    return kRuns && !is_same ? static_cast<unsigned>(r) : own_[r];
  }
  /// @param square  of the steps to the next rows
  __device__ bool settled(unsigned square) const {
    unsigned most = best_[0];
#pragma unroll
    for (int r = 1; r < kRows; ++r) most = max(most, best_[r]);
    return !__any_sync(kAllLanes, most >= (square + !kSites) << kRowBits);
  }

  const int rows_;
  const ColumnRuns runs_;
  int least_;  ///< steps along a row
  unsigned own_[kRows], best_[kRows];
};

}  // namespace fathom::grid::cuda
