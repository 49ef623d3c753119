// The column of a transposed volume's last word, where it has but one: tiles of it would have most lanes idle, and take
// scratch for all. It is a plane by itself, the last along the array's middle axis.
//
// Its elements know the steps along that axis to their nearest site, so that two passes solve it, along z and along x.
// In a pass an element tries the rows beside it, one step further each time; where these are not near enough, groups of
// 8 · 8 rows, the near ones first, of which only those eights are looked at whose least square may be nearer.
//
// Work mapping: blocks ahead of those of the tiles in both passes of the volume, which have two lines each; lane =
// neighbours along a line. So they take no time of their own where a device is full.
// Source: searching outwards along separable passes (Hirata 1996). Cost: eight operations per element and step of the
// first ones, then some ten for a group, or eight rows of it, that are passed over.
#pragma once

#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume/volume.cuh"

namespace fathom::grid::cuda::volume {

/// How many blocks a plane takes.
inline __host__ __device__ unsigned last_column_blocks(int lines) {
  return static_cast<unsigned>(lines + kLinesOfLastColumn - 1) / kLinesOfLastColumn;
}

/// A line of the plane, in shared memory, with the least of each eight rows and of each eight of these.
class LineOfPlaneSquares {
 public:
  /// @param memory  of memory_words(length)
  __device__ LineOfPlaneSquares(unsigned* memory, int length)
      : length_(length),
        eights_((length + 7) / 8),
        groups_((eights_ + 7) / 8),
        squares_(memory),
        of_eights_(squares_ + eights_ * 8),
        of_groups_(of_eights_ + groups_ * 8) {}
  static __host__ __device__ constexpr int memory_words(int length) {
    return (length + 7) / 8 * 8 + (length + 63) / 64 * 9;
  }

  /// @param square  behind the line's end, up to a multiple of eight, kNone32
  __device__ void put(int at, unsigned square) const { squares_[at] = square; }

  /// From kStepsOfLastColumn rows to both sides, as far as they may be nearer.
  __device__ unsigned least_near(int at) const {
    unsigned least = squares_[at];
    for (int first = 1; first <= kStepsOfLastColumn && squared_steps(first) < least; first += kTogether)
#pragma unroll
      for (int steps = first; steps < first + kTogether; ++steps) {
        // Beyond the ends these again, for which it is too many steps.
        const unsigned both = min(squares_[max(at - steps, 0)], squares_[min(at + steps, length_ - 1)]);
        least = min(least, both + squared_steps(steps));
      }
    return least;
  }
  /// Whether that is the least of all.
  static __device__ bool is_settled(unsigned square) { return square <= squared_steps(kStepsOfLastColumn + 1); }

  /// By so many threads, between barriers.
  __device__ void find_eights(int thread, int threads) const {
    for (int i = thread; i < groups_ * 8; i += threads)
      of_eights_[i] = i < eights_ ? least_of_eight(squares_ + i * 8) : kNone32;
  }
  /// Likewise, from these.
  __device__ void find_groups(int thread, int threads) const {
    for (int i = thread; i < groups_; i += threads) of_groups_[i] = least_of_eight(of_eights_ + i * 8);
  }
  /// @param least  what is known
  __device__ unsigned least_far(int at, unsigned least) const {
    const int own = at / 64;
    for (int k = 0; k <= max(own, groups_ - 1 - own); ++k) {
      if (squared_steps(max(64 * k - 63, 0)) >= least) break;
      if (k <= own) offer_group(own - k, at, least);
      if (k > 0 && own + k < groups_) offer_group(own + k, at, least);
    }
    return least;
  }

 private:
  static constexpr int kTogether = 4;  ///< steps before it is asked again whether others may be nearer
  static_assert(kStepsOfLastColumn % kTogether == 0);

  static __device__ unsigned squared_steps(int steps) { return static_cast<unsigned>(steps * steps); }
  /// To the next of so many rows.
  static __device__ unsigned squared_steps_to(int at, int first, int count) {
    return squared_steps(max(max(first - at, at - (first + count - 1)), 0));
  }
  __device__ void offer_group(int group, int at, unsigned& least) const {
    if (of_groups_[group] + squared_steps_to(at, group * 64, 64) >= least) return;
    for (int eight = group * 8; eight < group * 8 + 8; ++eight) {
      if (of_eights_[eight] + squared_steps_to(at, eight * 8, 8) >= least) continue;
#pragma unroll
      for (int row = eight * 8; row < eight * 8 + 8; ++row) least = min(least, squares_[row] + squared_steps(row - at));
    }
  }

  const int length_, eights_, groups_;
  unsigned *const squares_, *const of_eights_, *const of_groups_;
};

constexpr bool lines_fit_a_tile() {
  for (int length = 1; length <= kLongestKeyed; ++length)
    if (kLinesOfLastColumn * LineOfPlaneSquares::memory_words(length) > ((length + 7) / 8 + 1) * 8 * 16) return false;
  return true;
}
static_assert(kLinesOfLastColumn == 2 && lines_fit_a_tile());

/// The least squares of a block's lines. By all threads.
///
/// @param memory     a tile's, which is more than lines take
/// @param length     of a line
/// @param square_of  an element's: square_of(line, at)
/// @param store      takes the least: store(line, at, square)
template <int kThreads, class SquareOf, class Store>
__device__ void solve_lines_together(unsigned* memory, int length, SquareOf&& square_of, Store&& store) {
  const int t = static_cast<int>(threadIdx.x);
  const LineOfPlaneSquares lines[] = {{memory, length}, {memory + LineOfPlaneSquares::memory_words(length), length}};
  for (int at = t; at < (length + 7) / 8 * 8; at += kThreads)
#pragma unroll
    for (int k = 0; k < kLinesOfLastColumn; ++k) lines[k].put(at, at < length ? square_of(k, at) : kNone32);
  __syncthreads();
  const auto for_elements = [&](auto&& take) {
#pragma unroll
    for (int k = 0; k < kLinesOfLastColumn; ++k)
      for (int at = t; at < length; at += kThreads) take(k, at, lines[k].least_near(at));
  };
  bool all_near = true;
  for_elements([&](int k, int at, unsigned square) {
    if (LineOfPlaneSquares::is_settled(square)) store(k, at, square);
    else all_near = false;
  });
  if (__syncthreads_and(all_near)) return;
  for (const LineOfPlaneSquares& line : lines) line.find_eights(t, kThreads);
  __syncthreads();
  for (const LineOfPlaneSquares& line : lines) line.find_groups(t, kThreads);
  __syncthreads();
  for_elements([&](int k, int at, unsigned square) {
    if (!LineOfPlaneSquares::is_settled(square)) store(k, at, lines[k].least_far(at, square));
  });
}

/// The squares of a line after the pass along z: in place of its words, half of which they take. So these serve but
/// once, which is all that is asked of them: results are not cut (TransposedVolumeEngine::cut()).
__device__ inline std::uint32_t* squares_of_last_column(const Volume& v, int y) {
  return reinterpret_cast<std::uint32_t*>(v.word + (std::int64_t{v.words} * v.ny + y) * v.depth);
}

/// By all threads of a block. @param block  of last_column_blocks(v.ny)
template <int kThreads>
__device__ void solve_last_column_along_z(const Volume& v, unsigned block, void* memory) {
  const int first = static_cast<int>(block) * kLinesOfLastColumn;
  const auto square_of = [&](int k, int z) {
    const uint2 word = v.word_line({0, v.words, min(first + k, v.ny - 1)})[z];
    const unsigned steps = word.x ? 0 : word.y & 0xFFFFu;  // it is the last: sites lie before it alone
    return steps < kNoneInWord ? steps * steps : kNone32;
  };
  solve_lines_together<kThreads>(static_cast<unsigned*>(memory), v.nz, square_of, [&](int k, int z, unsigned square) {
    if (first + k < v.ny) squares_of_last_column(v, first + k)[z] = square;
  });
}

/// The last pass, which writes float distances: a line is a row of them. By all threads of a block.
/// @param block  of last_column_blocks(v.nz)
template <int kThreads>
__device__ void solve_last_column_along_x(const Volume& v, unsigned block, void* memory) {
  const int first = static_cast<int>(block) * kLinesOfLastColumn;
  float* to = v.distance.row(v.first_item, first, v.nx);
  const auto square_of = [&](int k, int y) { return __ldg(squares_of_last_column(v, y) + min(first + k, v.nz - 1)); };
  solve_lines_together<kThreads>(static_cast<unsigned*>(memory), v.ny, square_of, [&](int k, int y, unsigned square) {
    if (first + k >= v.nz) return;
    const float distance = square < kNone32 ? small_root(small_float(square)) : v.side.none();
    __stcs(to + k * v.distance.z_stride + y, distance);
  });
}

}  // namespace fathom::grid::cuda::volume
