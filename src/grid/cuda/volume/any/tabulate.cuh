// Fills the tables in which the passes of volumes with any spacings look near sites up
// (volume/any/steps.cuh).
//
// A near site is in doubt where another one with no lesser key may be nearer. The squares of two such differ by what
// rounding moves them at most, of which a row along an axis has one at most.
//
// Work mapping: warp = near site of a volume or of a plane, lane = row of others. Rivals in a plane are few, and compared
// in all planes, a lane to each.
// Cost: 529 rows for each of some 5000 sites of a volume, 65 for 3200 of a plane.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/any/steps.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kTabulateBlocks = 512, kTabulateBlock = 256;
inline constexpr int kPlaneRows = PlaneKeys::kSteps + 1, kVolumeRows = VolumeKeys::kNear + 1;

/// The steps along an axis whose square is `least` or hardly more; −1: there are none. Of steps that are too many for
/// keys, which have all the same, the first are the nearest.
/// @param inverse  1 / the axis' ratio
template <class KeysOfSites>
__device__ int steps_to_rival(const KeysOfSites& keys, float inverse, int least) {
  const int nearest = KeysOfSites::steps_of(max(least, 0), inverse);
  for (int steps = min(max(nearest - 1, 0), KeysOfSites::kSteps); steps <= KeysOfSites::kSteps; ++steps) {
    const int difference = KeysOfSites::square_of(keys.of[steps]) - least;
    if (difference >= 0) return KeysOfSites::may_be_nearer(difference) ? steps : -1;
  }
  return -1;
}

/// From the spacing's keys to the tables.
class Tabulation {
 public:
  struct Keys {
    PlaneKeys plane_y, plane_x;
    VolumeKeys z, y, x;
  };

  /// By all threads of the block. @param keys  shared
  __device__ Tabulation(StepTables* tables, const AnySpacing& spacing, Keys& keys)
      : tables_(tables), spacing_(spacing), keys_(keys) {
    static_assert(kPlaneRows + kVolumeRows <= kTabulateBlock);
    const unsigned t = threadIdx.x, i = t - kPlaneRows;
    if (t < kPlaneRows) {
      keys.plane_y.of[t] = spacing.plane_key_y(t), keys.plane_x.of[t] = spacing.plane_key_x(t);
    } else if (i < kVolumeRows) {
      keys.z.of[i] = VolumeKeys::along(spacing.z / spacing.least, 0, i);
      keys.y.of[i] = VolumeKeys::along(spacing.y / spacing.least, 0, i);
      keys.x.of[i] = VolumeKeys::along(spacing.x / spacing.least, 0, i);
    }
    __syncthreads();
  }

  /// What needs no search. @param thread  of the grid
  __device__ void put_others(int nz, int ny, int thread) const {
    static_assert(2 * step_squares(kLongestKeyed) <= kTabulateBlocks * kTabulateBlock);
    const int along_y = thread - step_squares(nz);
    if (along_y < 0) tables_->squares()[thread] = spacing_.times_z * squared(thread - nz);
    else if (along_y < step_squares(ny)) tables_->squares()[thread] = spacing_.times_y * squared(along_y - ny);
    if (thread < kNear * kNear) tables_->pair[thread] = word_in_plane(thread / kNear, thread % kNear);
  }

  /// The distance to a site of a volume. By a warp.
  __device__ void put_distance(int z, int y, int x) const {
    const int square = square_in_plane(y, x) + VolumeKeys::square_of(keys_.z.of[z]);
    if (square >= VolumeKeys::square_of(VolumeKeys::kEnd)) return;
    const float own = root_of_exact(spacing_.square(z, y, x));
    bool in_doubt = false;
    for (int row = lane_id(); row < kVolumeRows * kVolumeRows; row += 32) {
      const int to_y = row / kVolumeRows, to_x = row % kVolumeRows;
      const int to_z = steps_to_rival(keys_.z, spacing_.inverse_z, square - square_in_plane(to_y, to_x));
      in_doubt |= to_z >= 0 && root_of_exact(spacing_.square(to_z, to_y, to_x)) < own;
    }
    in_doubt = __any_sync(kAllLanes, in_doubt);
    const float distance = own * spacing_.scale;
    if (lane_id() == 0) tables_->distance[z * kPairs + pair_of(y, x)] = in_doubt ? -distance : distance;
  }

  /// The word of a site of a plane, if in none of so many planes a rival is nearer by its distance. By a warp.
  __device__ void put_word(int nz, int y, int x) const {
    const int square = PlaneKeys::square_of(keys_.plane_y.of[y] + keys_.plane_x.of[x]);
    if (square >= PlaneKeys::square_of(PlaneKeys::kEnd)) return;
    const double own = spacing_.square(y, x);
    bool in_doubt = false;
    for (int first = 0; first < kPlaneRows; first += 32) {
      const int to_y = min(first + lane_id(), kPlaneRows - 1);
      const int least = square - PlaneKeys::square_of(keys_.plane_y.of[to_y]);
      const int to_x = steps_to_rival(keys_.plane_x, spacing_.inverse_x, least);
      const double rival = to_x < 0 ? own : spacing_.square(to_y, to_x);
      for (unsigned lanes = __ballot_sync(kAllLanes, rival < own); lanes != 0; lanes &= lanes - 1)
        in_doubt |= is_nearer_somewhere(own, __shfl_sync(kAllLanes, rival, __ffs(static_cast<int>(lanes)) - 1), nz);
    }
    in_doubt = __any_sync(kAllLanes, in_doubt);
    if (lane_id() == 0) tables_->plane[y * PlaneKeys::kSteps + x] = in_doubt ? Steps::kInDoubt : word_in_plane(y, x);
  }

 private:
  __device__ int square_in_plane(int y, int x) const { return VolumeKeys::square_of(keys_.y.of[y] + keys_.x.of[x]); }
  __device__ unsigned word_in_plane(int y, int x) const {
    if (max(y, x) >= VolumeKeys::kNear) return Steps::far_word_of(y, x);
    return keys_.y.of[y] + keys_.x.of[x] + static_cast<unsigned>(pair_of(y, x));
  }
  /// Of squares in a plane, whether their distances differ from a plane of the lane's.
  __device__ bool is_nearer_somewhere(double own, double rival, int nz) const {
    bool is_nearer = false;
    for (int z = lane_id(); z < nz; z += 32) {
      const double along_z = spacing_.times_z * squared(z);
      float distances[2];
      roots_of({own + along_z, rival + along_z}, distances);
      is_nearer |= distances[0] != distances[1];
    }
    return is_nearer;
  }

  static constexpr int kNear = VolumeKeys::kNear;

  StepTables* const tables_;
  const AnySpacing& spacing_;
  const Keys& keys_;
};

/// Words are packed meanwhile, by a kernel that ends behind this one.
static __global__ void __launch_bounds__(kTabulateBlock)
    tabulate_steps(StepTables* tables, const __grid_constant__ AnySpacing spacing, int nz, int ny) {
  __shared__ Tabulation::Keys keys;
  fathom::cuda::let_next_begin();
  const Tabulation tabulation(tables, spacing, keys);
  tabulation.put_others(nz, ny, static_cast<int>(blockIdx.x * kTabulateBlock + threadIdx.x));
  constexpr int kSteps = VolumeKeys::kNear, kSites = kSteps * kSteps * kSteps, kWarps = kTabulateBlock / 32;
  for (int i = static_cast<int>(blockIdx.x) * kWarps + warp_number(); i < kSites + kPlanePairs;
       i += kTabulateBlocks * kWarps) {
    const int in_plane = i - kSites;
    if (in_plane < 0) tabulation.put_distance(i / (kSteps * kSteps), i / kSteps % kSteps, i % kSteps);
    else tabulation.put_word(nz, in_plane / PlaneKeys::kSteps, in_plane % PlaneKeys::kSteps);
  }
}

}  // namespace fathom::grid::cuda::volume
