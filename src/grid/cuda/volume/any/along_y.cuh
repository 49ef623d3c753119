// The pass along y of volumes with any spacings (volume/any/along_z.cuh says how both work): where in its
// plane the nearest site of each element lies, as steps.
#pragma once

#include <algorithm>

#include "grid/cuda/volume/any/lines.cuh"
#include "grid/cuda/volume/gaps.cuh"

namespace fathom::grid::cuda::volume {

/// Words of steps. @param group  of rows, of which these are the least squares
__device__ inline void steps_of_squares(const StepTables& tables, const NearPairs& pairs, int group,
                                        const EightSquares<true>& eight, unsigned (&steps)[8]) {
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    steps[j] = Steps::kNone;
    if (eight.best[j] == kNoSquareExact) continue;
    steps[j] = Steps::word_of(tables, pairs, abs(eight.row(j) - (group * 8 + j)), static_cast<int>(eight.word(j)));
  }
}

/// From keys, and ends of runs, to words of steps.
struct FoundSteps {
  const AnySpacing& spacing;
  const StepTables& tables;
  const NearPairs& pairs;   ///< the spacing's, in shared memory: lanes ask for different ones
  const PlaneKeys& keys_y;  ///< likewise

  /// @returns whether none of the warp's is in doubt
  __device__ bool of_keys(const KeyWindow<PlaneKeys>& window, unsigned (&steps)[8]) const {
    if (window.is_all_sites()) {
#pragma unroll
      for (unsigned& word : steps) word = Steps::kAtSite;
      return true;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto y = static_cast<int>(window.best[j] % PlaneKeys::kSteps);
      const int x = PlaneKeys::steps_of(PlaneKeys::square_of(window.best[j] - keys_y.of[y]), spacing.inverse_x);
      steps[j] = __ldg(tables.plane + (y * PlaneKeys::kSteps + x));
    }
    return !__any_sync(kAllLanes, greatest_of_eight(steps) == Steps::kInDoubt);
  }

  /// What is nearer than steps of so large squares. @param to_end  steps along the line
  __device__ void of_ends(const unsigned (&to_end)[8], const double (&squares)[8], unsigned (&steps)[8]) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto y = static_cast<int>(to_end[j]);
      if (to_end[j] < RunEnds::kNoEnd && spacing.square(y, 0) < squares[j])
        steps[j] = Steps::word_of(tables, pairs, y, 0);
    }
  }
};

/// Bytes of dynamic shared memory of the pass along y: of the window's keys, in place of which steps and brackets come.
inline std::size_t any_memory_along_y(int rows) {
  return std::max(window_memory(rows), StepRows::memory(rows) + brackets_bytes(rows));
}

/// Half a tile along y. All functions are called by all threads of the block.
template <int kThreads, int kMostRows, Runs kRuns>
class StepsAlongY {
 public:
  static constexpr bool kHasRuns = kRuns != Runs::none;

  struct Shared {
    uint2 of_byte[256];
    PlaneKeys keys_x, keys_y;
    NearPairs pairs;  ///< the spacing's, as these keys
    int has_ends;
    unsigned near_of_warps[kThreads / 32];
    SortedRows filled;
    typename LineEnds<kRuns>::Words run_words;
  };

  __device__ StepsAlongY(const Volume& v, const AnySpacing& spacing, const HalfTile& half, Shared& shared,
                         uint4* memory)
      : v_(v),
        spacing_(spacing),
        half_(half),
        shared_(shared),
        memory_(memory),
        n_(v.ny),
        plane_(v, half),
        rows_(reinterpret_cast<unsigned*>(memory), v.ny),
        line_{StepRows(memory), spacing},
        ends_(shared.run_words, v.ny, half.first + lane()),
        tables_(*v.step_tables),
        column_(v.wide.row(v.wide_first_item + half.tile.item, half.tile.line, 0) + half.x) {}

  /// Leaves the kind of the half tile, and the rows that have sites if these are few. @returns whether it has steps
  __device__ bool leave_kind() {
    with_sites_ = shared_.filled.find(n_, [&](int row) { return plane_.has_sites(row); });
    const TileKind kind = with_sites_ == 0 ? kEmpty : plane_.template are_full<kThreads>(n_) ? kFull : kNarrow;
    if (threadIdx.x == 0) kinds_of_planes(v_, half_)[half_.tile.line] = kind;
    const auto t = static_cast<int>(threadIdx.x);
    if (t <= VolumeKeys::kSteps) shared_.pairs.first[t] = spacing_.pairs.first[t];
    return kind == kNarrow;
  }

  /// From the rows that have sites, where these are few. @returns whether they are
  __device__ bool solve_few() {
    if (kHasRuns || !SortedRows::are_few(with_sites_, n_)) return false;
    for (int i = static_cast<int>(threadIdx.x); i < 16 * with_sites_; i += kThreads) {
      const int row = shared_.filled.row[i / 16];
      line_.rows.put(row, lane(), abs(steps_along_x(plane_.word(row), half_.first + lane())));
    }
    __syncthreads();
    const auto store_squares = [&](int q, const auto& eight) {
      unsigned steps[8];
      steps_of_squares(tables_, shared_.pairs, q, eight, steps);
      store(q * 8, steps);
    };
    const StepSquares squares = tables_.along_y(v_.nz, n_);
    auto brackets = brackets_of_line();
    if (with_sites_ <= kFewRows) {
      solve_from_few<kThreads, true>(shared_.filled, line_, rows_.groups, squares, store_squares);
    } else {
      if (!brackets.find_among(shared_.filled, line_)) return false;
      solve_left<kThreads, true>(brackets, line_, n_, squares, ~0u, store_squares);
    }
    return true;
  }

  /// Rows of keys. @returns whether a window is worth a try
  __device__ bool fill_keys() {
    const auto t = static_cast<int>(threadIdx.x);
    if (t == 0) shared_.has_ends = 0;
    for (int i = t; i <= PlaneKeys::kSteps; i += kThreads) {
      shared_.keys_x.of[i] = __ldg(tables_.plane_x.of + i);
      shared_.keys_y.of[i] = __ldg(tables_.plane_y.of + i);
    }
    for (int i = t; i < 256; i += kThreads) shared_.of_byte[i] = byte_distances(i, kRuns == Runs::of_labels);
    rows_.pad(n_);
    __syncthreads();
    ends_.fill([&](int r) { return plane_.changes(r); }, &shared_.has_ends);
    static_assert(kUnbracketedSteps < PlaneKeys::kSteps);
    constexpr unsigned kNear = PlaneKeys::of_steps(kUnbracketedSteps);
    NearRows<kThreads, 64, kLongestKeyed> near;
    static_assert(kThreads / 2 % 16 == 0);  // so that each sixteenth is among a thread's rows
    unsigned* own = each_sixteenth(reinterpret_cast<unsigned*>(memory_), t / 2, t % 2 * 8);
    plane_.template for_steps<kThreads>(n_, shared_.of_byte, [&](int r, const unsigned(&along_x)[4]) {
      unsigned keys[8], least = PlaneKeys::kEnd;
#pragma unroll
      for (int k = 0; k < 8; k += 2) {
        const unsigned two = __vminu2(along_x[k / 2], PlaneKeys::kSteps * 0x10001u);
        keys[k] = shared_.keys_x.of[two & 0xFFFFu], keys[k + 1] = shared_.keys_x.of[two >> 16];
        least = min(least, min(keys[k], keys[k + 1]));
      }
      near.add(r, least < kNear);
      auto* to = reinterpret_cast<uint4*>(own + r * 16);
      to[0] = make_uint4(keys[0], keys[1], keys[2], keys[3]);
      to[1] = make_uint4(keys[4], keys[5], keys[6], keys[7]);
    });
    near.put(shared_.near_of_warps);
    __syncthreads();
    // A window must settle all of a warp's elements, and may take many rows for it. Ends of runs bound these.
    return has_ends() || near.nearly_suffice(shared_.near_of_warps, n_, 8);
  }

  /// @returns the warp's groups of rows that no window settles, as left_by_windows() has them
  __device__ unsigned search() const {
    const FoundSteps found{spacing_, tables_, shared_.pairs, shared_.keys_y};
    return left_by_windows<kThreads>(rows_.groups, [&](int q) {
      unsigned steps[8];
      KeyWindow<PlaneKeys> window(rows_, min(q, rows_.groups - 1), lane(), spacing_.plane_y);
      if (has_ends()) ends_.bound(min(q, rows_.groups - 1), window.best, shared_.keys_y);
      if (!window.search(n_ - q * 8) || !found.of_keys(window, steps)) return false;
      store(q * 8, steps);
      return true;
    });
  }

  /// Those. In place of keys, rows hold steps then.
  __device__ void solve_others(unsigned left) {
    line_.rows.pad(n_);
    plane_.template for_steps<kThreads>(n_, shared_.of_byte, [&](int r, const unsigned(&along_x)[4]) {
      line_.rows.put(r, static_cast<int>(threadIdx.x) % 2, along_x);
    });
    __syncthreads();
    auto brackets = brackets_of_line();
    brackets.find(line_, spacing_.y);
    const FoundSteps found{spacing_, tables_, shared_.pairs, shared_.keys_y};
    solve_left<kThreads, true>(brackets, line_, n_, tables_.along_y(v_.nz, n_), left, [&](int q, const auto& eight) {
      unsigned steps[8];
      steps_of_squares(tables_, shared_.pairs, q, eight, steps);
      if (has_ends()) {
        unsigned to_end[8];
        ends_.steps(min(q, rows_.groups - 1), to_end);
        found.of_ends(to_end, eight.best, steps);
      }
      store(q * 8, steps);
    });
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 16; }
  __device__ bool has_ends() const { return kHasRuns && shared_.has_ends; }
  __device__ auto brackets_of_line() const {
    auto* memory = reinterpret_cast<unsigned*>(memory_ + StepRows::memory(n_) / sizeof(uint4));
    return Brackets<kThreads, kMostRows>(memory, n_);
  }
  __device__ void store(int y, const unsigned (&steps)[8]) const {
    if (half_.x >= v_.nx) return;
    store_eight(n_ - y, column_ + y * v_.wide.y_stride, v_.wide.y_stride, [&](int j) { return steps[j]; });
  }

  const Volume& v_;
  const AnySpacing& spacing_;
  const HalfTile& half_;
  Shared& shared_;
  uint4* const memory_;
  const int n_;
  const RowsOfPlane<kRuns> plane_;
  const KeyWindow<PlaneKeys>::Rows rows_;
  const LineOfPlane line_;  ///< in the same memory
  LineEnds<kRuns> ends_;
  const StepTables& tables_;
  std::uint32_t* const column_;
  int with_sites_ = 0;
};

template <int kThreads, int kMostRows, Runs kRuns>
__global__ void __launch_bounds__(kThreads, any_blocks(kThreads))
    solve_any_along_y(const __grid_constant__ Volume v, const __grid_constant__ AnySpacing spacing) {
  using Steps = StepsAlongY<kThreads, kMostRows, kRuns>;
  extern __shared__ uint4 window_shared[];
  __shared__ typename Steps::Shared shared;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  Steps steps(v, spacing, half, shared, window_shared);
  if (!steps.leave_kind() || steps.solve_few()) return;
  const unsigned left = steps.fill_keys() ? steps.search() : ~0u;
  if (__syncthreads_or(left != 0)) steps.solve_others(left);
}

}  // namespace fathom::grid::cuda::volume
