// The pass along y of volumes with any spacings (volume/any/along_z.cuh says how both work): where in its plane the
// nearest site of each element lies, as steps, with their signs where that site is asked for.
#pragma once

#include "grid/cuda/volume/any/lines.cuh"
#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Bytes of dynamic shared memory of the pass along y: of steps and brackets, in place of which the window's keys are
/// before.
inline std::size_t any_memory_along_y(int rows) { return StepRows::memory(rows) + brackets_bytes(rows); }

/// Half a tile along y. All functions are called by all threads of the block.
/// @tparam kSided  whether steps have signs; no keys do
template <int kThreads, int kMostRows, Runs kRuns, bool kSided>
class StepsAlongY {
 public:
  static constexpr bool kHasRuns = kRuns != Runs::none;

  struct Keyed {
    uint2 of_byte[256];
    PlaneKeys keys_x, keys_y;  ///< the spacing's: lanes ask for different ones
    unsigned near_of_warps[kThreads / 32];
  };
  struct NotKeyed {};
  struct Shared {
    int has_ends;
    SortedRows filled;
    typename LineEnds<kRuns>::Words run_words;
    std::conditional_t<kSided, NotKeyed, Keyed> keyed;
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
        line_{StepRows(reinterpret_cast<unsigned*>(memory), v.ny), spacing},
        ends_(shared.run_words, v.ny, half.first + lane()),
        tables_(*v.step_tables),
        column_(v.wide.row(v.wide_first_item + half.tile.item, half.tile.line, 0) + half.x * v.wide_x_stride) {}

  /// Leaves the kind of the half tile, and the ends of runs if it has steps. @returns whether it has
  __device__ bool leave_kind() {
    const auto t = static_cast<int>(threadIdx.x);
    if (t == 0) shared_.has_ends = 0;
    with_sites_ = shared_.filled.find(n_, [&](int row) { return plane_.has_sites(row); });
    const TileKind kind = with_sites_ == 0 ? kEmpty : plane_.template are_full<kThreads>(n_) ? kFull : kNarrow;
    if (t == 0) kinds_of_planes(v_, half_)[half_.tile.line] = kind;
    if (kind != kNarrow) return false;
    ends_.fill([&](int r) { return plane_.changes(r); }, &shared_.has_ends);
    return true;
  }

  /// From the rows that have sites, where these are few. @returns whether they are
  __device__ bool solve_few() const {
    if (kHasRuns || with_sites_ > kFewRows) return false;
    for (int k = static_cast<int>(threadIdx.x) / 16; k < with_sites_; k += kThreads / 16)
      put_row(shared_.filled.row[k]);
    __syncthreads();
    solve_left<kThreads, true>(FewOfLine{shared_.filled}, line_, n_, tables_.along_y(v_.nz, n_), ~0u,
                               [&](int q, auto& eight) { store_found(q, eight); });
    return true;
  }

  /// Rows of keys. @returns whether a window is worth a try
  __device__ bool fill_keys() {
    const auto t = static_cast<int>(threadIdx.x);
    Keyed& keyed = shared_.keyed;
    for (int i = t; i <= PlaneKeys::kSteps; i += kThreads) {
      keyed.keys_x.of[i] = __ldg(tables_.plane_x.of + i);
      keyed.keys_y.of[i] = __ldg(tables_.plane_y.of + i);
    }
    copy_byte_table<kThreads>(keyed.of_byte, kRuns == Runs::of_labels ? kByteDistancesBeyond.of : kByteDistances.of);
    rows_.pad(n_);
    __syncthreads();
    static_assert(kUnbracketedSteps < PlaneKeys::kSteps);
    constexpr unsigned kNear = PlaneKeys::of_steps(kUnbracketedSteps);
    NearRows<kThreads, 64, kLongestKeyed> near;
    static_assert(kThreads / 2 % 16 == 0);  // so that each sixteenth is among a thread's rows
    unsigned* own = each_sixteenth(reinterpret_cast<unsigned*>(memory_), t / 2, t % 2 * 8);
    plane_.template for_steps<kThreads>(n_, keyed.of_byte, [&](int r, const unsigned(&along_x)[4]) {
      unsigned keys[8], least = PlaneKeys::kEnd;
#pragma unroll
      for (int k = 0; k < 8; k += 2) {
        const unsigned two = __vminu2(along_x[k / 2], PlaneKeys::kSteps * 0x10001u);
        keys[k] = keyed.keys_x.of[two & 0xFFFFu], keys[k + 1] = keyed.keys_x.of[two >> 16];
        least = min(least, min(keys[k], keys[k + 1]));
      }
      near.add(r, least < kNear);
      auto* to = reinterpret_cast<uint4*>(own + r * 16);
      to[0] = make_uint4(keys[0], keys[1], keys[2], keys[3]);
      to[1] = make_uint4(keys[4], keys[5], keys[6], keys[7]);
    });
    near.put(keyed.near_of_warps);
    __syncthreads();
    // A window must settle all of a warp's elements, and may take many rows for it. Ends of runs bound these.
    return has_ends() || near.nearly_suffice(keyed.near_of_warps, n_, 8);
  }

  /// @returns the warp's groups of rows that no window settles, as left_by_windows() has them
  __device__ unsigned search() const {
    return left_by_windows<kThreads>(rows_.groups, [&](int q) {
      unsigned steps[8];
      KeyWindow<PlaneKeys> window(rows_, min(q, rows_.groups - 1), lane(), spacing_.plane_y);
      if (has_ends()) ends_.bound(min(q, rows_.groups - 1), window.best, shared_.keyed.keys_y);
      if (!window.search(n_ - q * 8) || !find_steps(window, steps)) return false;
      store(q * 8, steps);
      return true;
    });
  }

  /// Those. In place of keys, rows hold steps then.
  __device__ void solve_others(unsigned left) {
    line_.rows.pad(n_);
    const auto t = static_cast<int>(threadIdx.x);
    if constexpr (kSided) {
#pragma unroll 4
      for (int r = t / 16; r < n_; r += kThreads / 16) put_row(r);
    } else {
      plane_.template for_steps<kThreads>(n_, shared_.keyed.of_byte, [&](int r, const unsigned(&along_x)[4]) {
        line_.rows.put(r, t % 2, make_uint4(along_x[0], along_x[1], along_x[2], along_x[3]));
      });
    }
    __syncthreads();
    Brackets<kThreads, kMostRows> brackets(reinterpret_cast<unsigned*>(memory_ + StepRows::memory(n_) / sizeof(uint4)),
                                           n_);
    brackets.find(line_, spacing_.y);
    solve_left<kThreads, true>(brackets, line_, n_, tables_.along_y(v_.nz, n_), left,
                               [&](int q, auto& eight) { store_found(q, eight); });
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 16; }
  __device__ bool has_ends() const { return kHasRuns && shared_.has_ends; }
  /// The lane's steps along x in a row; of runs, where steps are sided, to their ends.
  __device__ void put_row(int row) const {
    const int steps =
        kHasRuns ? plane_.steps_beyond_run(row, lane()) : steps_along_x(plane_.word(row), half_.first + lane());
    line_.rows.at(row, lane()) = static_cast<std::uint16_t>(RowSteps<kSided>::of(steps));
  }
  /// From keys to words of steps. @returns whether none of the warp's is in doubt
  __device__ bool find_steps(const KeyWindow<PlaneKeys>& window, unsigned (&steps)[8]) const {
    if (window.is_all_sites()) {
#pragma unroll
      for (unsigned& word : steps) word = Steps::kAtSite;
      return true;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const auto y = static_cast<int>(window.best[j] % PlaneKeys::kSteps);
      const int square = PlaneKeys::square_of(window.best[j] - shared_.keyed.keys_y.of[y]);
      const int x = PlaneKeys::steps_of(square, spacing_.inverse_x);
      steps[j] = __ldg(tables_.plane + (y * PlaneKeys::kSteps + x));
    }
    return !__any_sync(kAllLanes, greatest_of_eight(steps) == Steps::kInDoubt);
  }
  /// From steps along y, and a row's word, to the word that is left.
  __device__ unsigned word_of(int y, unsigned row_steps) const {
    if constexpr (kSided) return SignedSteps::word_of(y, row_steps);
    else return Steps::word_of(tables_, abs(y), static_cast<int>(row_steps));
  }
  __device__ void store_found(int q, EightSquares<true>& eight) const {
    unsigned steps[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const bool none = eight.best[j] == kNoSquareExact;
      steps[j] = none ? Steps::kNone : word_of(eight.row(j) - (q * 8 + j), eight.word(j));
    }
    if (has_ends()) {
      int to_end[8];
      take_nearer_ends(ends_, min(q, rows_.groups - 1), eight.best, to_end,
                       [&](int y) { return spacing_.square(y, 0); });
#pragma unroll
      for (int j = 0; j < 8; ++j)
        if (to_end[j] != 0) steps[j] = word_of(to_end[j], 0);
    }
    store(q * 8, steps);
  }
  __device__ void store(int y, const unsigned (&steps)[8]) const {
    if (half_.x >= v_.nx) return;
    store_eight<false>(n_ - y, column_ + y * v_.wide.y_stride, v_.wide.y_stride, [&](int j) { return steps[j]; });
  }

  const Volume& v_;
  const AnySpacing& spacing_;
  const HalfTile& half_;
  Shared& shared_;
  uint4* const memory_;
  const int n_;
  const RowsOfPlane<kRuns> plane_;
  const KeyWindow<PlaneKeys>::Rows rows_;
  const LineOfPlane<kSided> line_;  ///< in the same memory
  LineEnds<kRuns> ends_;
  const StepTables& tables_;
  std::uint32_t* const column_;
  int with_sites_ = 0;
};

template <int kThreads, int kMostRows, Runs kRuns, bool kSided>
__global__ void __launch_bounds__(kThreads, any_blocks(kThreads))
    solve_any_along_y(const __grid_constant__ Volume v, const __grid_constant__ AnySpacing spacing) {
  using Steps = StepsAlongY<kThreads, kMostRows, kRuns, kSided>;
  extern __shared__ uint4 window_shared[];
  __shared__ typename Steps::Shared shared;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  Steps steps(v, spacing, half, shared, window_shared);
  if (!steps.leave_kind() || steps.solve_few()) return;
  if constexpr (kSided) {
    __syncthreads();
    return steps.solve_others(~0u);
  } else {
    const unsigned left = steps.fill_keys() ? steps.search() : ~0u;
    if (__syncthreads_or(left != 0)) steps.solve_others(left);
  }
}

}  // namespace fathom::grid::cuda::volume
