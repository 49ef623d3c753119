// The pass along y of volumes with any spacings (volume/any/along_z.cuh says how both work): where in its plane the
// nearest site of each element lies, as steps, with their signs where that site is asked for.
#pragma once

#include "grid/cuda/volume/any/lines.cuh"
#include "grid/cuda/volume/window.cuh"

namespace fathom::grid::cuda::volume {

/// Bytes of dynamic shared memory of the pass along y: of steps and brackets, in place of which the window's keys are
/// before.
inline std::size_t any_memory_along_y(int rows) { return StepRows::memory(rows) + brackets_bytes(rows); }

/// @tparam kSided  whether steps have signs; no keys do
template <int kThreads, int kMostRows, Runs kRuns, bool kSided>
class PassAlongY
    : public LinePass<PassAlongY<kThreads, kMostRows, kRuns, kSided>, LineOfPlane<kSided>, kThreads, kMostRows, kRuns> {
  using Base = LinePass<PassAlongY, LineOfPlane<kSided>, kThreads, kMostRows, kRuns>;
  using Base::lane, Base::has_ends, Base::kHasRuns;
  using Base::v_, Base::spacing_, Base::half_, Base::shared_, Base::n_, Base::line_, Base::with_sites_;

 public:
  struct Shared : Base::Shared {
    uint2 of_byte[kSided ? 1 : 256];
    PlaneKeys keys_x;
    unsigned near_of_warps[kThreads / 32];
  };
  struct Target {};

  static __device__ HalfTile half_of(const Volume& v, unsigned job) { return half_along_y(v, job); }

  __device__ PassAlongY(const Volume& v, const AnySpacing& spacing, const Target&, const HalfTile& half, Shared& shared,
                        uint4* memory)
      : Base(v, spacing, half, shared, memory, v.ny), own_(shared) {}

  /// Leaves the kind of the half tile. @returns whether that says all
  __device__ bool look() {
    const auto t = thread();
    if (t == 0) shared_.has_ends = 0;
    with_sites_ = shared_.filled.find(n_, [&](int row) { return plane_.has_sites(row); });
    const TileKind kind = with_sites_ == 0 ? kEmpty : plane_.template are_full<kThreads>(n_) ? kFull : kNarrow;
    if (t == 0) kinds_of_half(v_, half_.tile, half_.first / 16, v_.nz)[half_.tile.line] = kind;
    if (kind == kNarrow) Base::fill_ends([&](int r) { return plane_.changes(r); });
    return kind != kNarrow;
  }

  __device__ void put_few() const {
    for (int k = thread() / 16; k < with_sites_; k += kThreads / 16) put_row(shared_.filled.row[k]);
  }

  /// Rows of keys. @returns whether a window is worth a try
  __device__ bool fill() {
    const auto t = thread();
    if constexpr (kSided) {
      __syncthreads();
      return false;
    } else {
      for (int i = t; i <= PlaneKeys::kSteps; i += kThreads)
        own_.keys_x.of[i] = spacing_.plane_key_x(i), own_.keys.of[i] = spacing_.plane_key_y(i);
      copy_byte_table<kThreads>(own_.of_byte, kRuns == Runs::of_labels ? kByteDistancesBeyond.of : kByteDistances.of);
      const KeyRows<PlaneKeys> rows(this->words(), n_);
      rows.pad(n_);
      __syncthreads();
      static_assert(kUnbracketedSteps < PlaneKeys::kSteps);
      constexpr unsigned kNear = PlaneKeys::of_steps(kUnbracketedSteps);
      NearRows<kThreads, 64, kLongestKeyed> near;
      plane_.template for_steps<kThreads>(n_, own_.of_byte, [&](int r, const unsigned(&along_x)[4]) {
        unsigned keys[8], least = PlaneKeys::kEnd;
#pragma unroll
        for (int k = 0; k < 8; k += 2) {
          const unsigned two = __vminu2(along_x[k / 2], PlaneKeys::kSteps * 0x10001u);
          keys[k] = own_.keys_x.of[two & 0xFFFFu], keys[k + 1] = own_.keys_x.of[two >> 16];
          least = min(least, min(keys[k], keys[k + 1]));
        }
        near.add(r, least < kNear);
        rows.put(r, t % 2 * 2, make_uint4(keys[0], keys[1], keys[2], keys[3]));
        rows.put(r, t % 2 * 2 + 1, make_uint4(keys[4], keys[5], keys[6], keys[7]));
      });
      near.put(own_.near_of_warps);
      __syncthreads();
      // A window must settle all of a warp's elements, and may take many rows for it. Ends of runs bound these.
      return has_ends() || near.nearly_suffice(own_.near_of_warps, n_, 8);
    }
  }

  __device__ const PlaneKeys& keys() const { return spacing_.plane_y; }
  __device__ const double* squares() const { return tables_.along_y(v_.nz); }
  /// @returns whether none of the warp's is in doubt
  __device__ bool take(int y, const unsigned (&keys)[8]) const {
    unsigned steps[8] = {};
    static_assert(Steps::kAtSite == 0);
    if (__any_sync(kAllLanes, greatest_of_eight(keys) > 0)) {  // not all are sites
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const auto along_y = static_cast<int>(keys[j] % PlaneKeys::kSteps);
        const int square = PlaneKeys::square_of(keys[j] - shared_.keys.of[along_y]);
        const int along_x = PlaneKeys::steps_of(square, spacing_.inverse_x);
        steps[j] = __ldg(tables_.plane + (along_y * PlaneKeys::kSteps + along_x));
      }
      if (__any_sync(kAllLanes, greatest_of_eight(steps) == Steps::kInDoubt)) return false;
    }
    store(y, steps);
    return true;
  }

  __device__ void put_steps() const {
    line_.rows.pad(n_);
    const auto t = thread();
    if constexpr (kSided) {
#pragma unroll 4
      for (int r = t / 16; r < n_; r += kThreads / 16) put_row(r);
    } else {
      plane_.template for_steps<kThreads>(n_, own_.of_byte, [&](int r, const unsigned(&along_x)[4]) {
        line_.rows.put(r, t % 2, make_uint4(along_x[0], along_x[1], along_x[2], along_x[3]));
      });
    }
  }

  __device__ void write(int y, const EightSquares<true>& eight, const int (&to_end)[8]) const {
    unsigned steps[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const bool none = eight.best[j] == kNoSquareExact;
      steps[j] = to_end[j] != 0 ? word_of(to_end[j], 0)
                 : none         ? Steps::kNone
                                : word_of(eight.row(j) - (y + j), eight.word(j));
    }
    store(y, steps);
  }

 private:
  /// The lane's steps along x in a row; of runs, where steps are sided, to their ends.
  __device__ void put_row(int row) const {
    const int steps =
        kHasRuns ? plane_.steps_beyond_run(row, lane()) : steps_along_x(plane_.word(row), half_.first + lane());
    line_.rows.at(row, lane()) = static_cast<std::uint16_t>(kSided ? steps : abs(steps));
  }
  /// From steps along y, and a row's word, to the word that is left.
  __device__ unsigned word_of(int y, unsigned row_steps) const {
    if constexpr (kSided) return Steps::far_word_of(y, this->line_.steps(row_steps));
    else return Steps::word_of(tables_, abs(y), static_cast<int>(row_steps));
  }
  __device__ void store(int y, const unsigned (&steps)[8]) const {
    if (half_.x >= v_.nx) return;
    store_eight<false>(n_ - y, column_ + y * v_.wide.y_stride, v_.wide.y_stride, [&](int j) { return steps[j]; });
  }

  Shared& own_;
  const RowsOfPlane<kRuns> plane_{v_, half_};
  const StepTables& tables_ = *v_.step_tables;
  std::uint32_t* const column_ = v_.wide_at(half_.tile.item, half_.tile.line, 0, half_.x);
};

}  // namespace fathom::grid::cuda::volume
