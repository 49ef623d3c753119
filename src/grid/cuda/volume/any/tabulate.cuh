// Fills the tables in which the passes of volumes with any spacings look near sites up
// (volume/any/steps.cuh).
//
// A near site is in doubt where another one with no lesser key may be nearer. The squares of two such differ by what
// rounding moves them at most: so sites are looked at in shells, from one square to another, and hardly beyond.
//
// Work mapping: block = a shell of a volume's near sites and one of a plane's. Phase 1, thread = a row of sites: lists
// those in the shell. Phase 2, lane = site, warp = another one of the shell. Phase 3: those of a plane that may be
// nearer are few, and compared in all planes, a lane to each.
// Cost: 625 rows and some 40 sites of a volume to a block, 65 and 15 of a plane.
#pragma once

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/volume/any/steps.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kShells = 256, kTabulateBlock = 704;  ///< a thread for each row

/// Near sites whose squares, as keys have them, are within a shell, or behind it by so little that they may be nearer.
/// In shared memory.
template <class KeysOfSites, int kRows>
struct Shell {
  struct Site {
    int square;
    std::uint8_t z, y, x;
  };
  static constexpr int kSquares = KeysOfSites::kSteps * KeysOfSites::kSteps << KeysOfSites::kPlaces;
  static constexpr int kWidth = kSquares / kShells;
  static_assert(kSquares % kShells == 0);  // else the last near sites were in no shell
  static constexpr int kSlack = KeysOfSites::kSlack;
  /// Sites of a row: the squares of n + 1 differ by n², and by what rounding takes off.
  static constexpr int most_of_row() {
    int n = 1;
    while (n * n << KeysOfSites::kPlaces <= kWidth + 2 * kSlack) ++n;
    return n;
  }
  /// Of the row through the site itself, one may be too far for keys.
  static constexpr int kMost = kRows * most_of_row() + 1;

  int first, end;  ///< squares
  int count;
  Site sites[kMost];

  /// By one thread.
  __device__ void start(int number) {
    first = number * kWidth;
    end = min(first + kWidth, KeysOfSites::square_of(KeysOfSites::kEnd));
    count = 0;
  }
  /// Lists those of a row along an axis.
  ///
  /// @param base     what the other axes add
  /// @param inverse  1 / the axis' ratio
  /// @param site_at  site_at(square, steps)
  template <class SiteAt>
  __device__ void add_row(int base, const KeysOfSites& keys, float inverse, SiteAt&& site_at) {
    const int nearest = KeysOfSites::steps_of(max(first - base, 0), inverse);
    int steps = min(max(nearest - 1, 0), KeysOfSites::kSteps);
    int square = base + KeysOfSites::square_of(keys.of[steps]);
    while (square <= end + kSlack) {
      if (square >= first) sites[atomicAdd(&count, 1)] = site_at(square, static_cast<std::uint8_t>(steps));
      // Of steps that are too many for keys, which have all the same, the first are the nearest.
      if (keys.of[steps] == KeysOfSites::kEnd || ++steps > KeysOfSites::kSteps) break;
      square = base + KeysOfSites::square_of(keys.of[steps]);
    }
  }
  /// By all threads of the block, after a barrier. @param take  takes a site of the shell itself, and one that may be
  /// nearer: take(its number, the other's)
  template <class Take>
  __device__ void for_rivals(Take&& take) const {
    const int warp = warp_number();
    for (int i = lane_id(); i < count; i += 32) {
      if (sites[i].square >= end) continue;
      for (int other = warp; other < count; other += kTabulateBlock / 32)
        if (KeysOfSites::may_be_nearer(sites[other].square - sites[i].square)) take(i, other);
    }
  }
  /// Sites of the shell itself, each by a thread. @param take  take(its number)
  template <class Take>
  __device__ void for_own(Take&& take) const {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kTabulateBlock)
      if (sites[i].square < end) take(i);
  }
};

inline constexpr int kPlaneRows = PlaneKeys::kSteps + 1, kVolumeRows = VolumeKeys::kSteps + 1;
using PlaneShell = Shell<PlaneKeys, kPlaneRows>;
using VolumeShell = Shell<VolumeKeys, kVolumeRows * kVolumeRows>;

/// The spacing's, in shared memory, because lanes ask for different ones. To compute them takes less time than to copy
/// them from where constants are.
struct SharedKeys {
  PlaneKeys plane_y, plane_x;
  VolumeKeys volume_z, volume_y, volume_x;

  /// By all threads of the block, before a barrier.
  __device__ void fill(const AnySpacing& spacing) {
    const double least_in_plane = min(spacing.y, spacing.x), least = min(spacing.z, least_in_plane);
    static_assert(2 * kPlaneRows + 3 * kVolumeRows <= kTabulateBlock);
    const unsigned t = threadIdx.x, of_volume = t - 2 * kPlaneRows;
    if (t < 2 * kPlaneRows) {
      const bool is_y = t < kPlaneRows;
      const unsigned i = t % kPlaneRows;
      (is_y ? plane_y : plane_x).of[i] = PlaneKeys::along((is_y ? spacing.y : spacing.x) / least_in_plane, is_y, i);
    } else if (of_volume < 3 * kVolumeRows) {
      const unsigned axis = of_volume / kVolumeRows, i = of_volume % kVolumeRows;
      const double square = axis == 0 ? spacing.z : axis == 1 ? spacing.y : spacing.x;
      (axis == 0 ? volume_z : axis == 1 ? volume_y : volume_x).of[i] = VolumeKeys::along(square / least, 0, i);
    }
  }
};

/// Row y of sites along x.
__device__ inline void add_row(PlaneShell& shell, const SharedKeys& keys, float inverse, std::uint8_t y) {
  const int base = PlaneKeys::square_of(keys.plane_y.of[y]);
  shell.add_row(base, keys.plane_x, inverse, [&](int square, std::uint8_t x) {
    return PlaneShell::Site{square, 0, y, x};
  });
}

/// Sites of a plane that are nearer by their squares than others with no larger keys. In shared memory.
struct Rivals {
  static constexpr int kMost = 512;
  int count;
  struct {
    std::uint16_t of, other;
  } pairs[kMost];

  /// By all threads of the block, after a barrier. @param in_doubt  of each site, if these are too many
  __device__ void find(const AnySpacing& spacing, const PlaneShell& shell, bool* in_doubt) {
    const auto square_of = [&](int i) { return spacing.square(shell.sites[i].y, shell.sites[i].x); };
    shell.for_rivals([&](int i, int other) {
      if (!(square_of(other) < square_of(i))) return;
      const int place = atomicAdd(&count, 1);
      if (place < kMost) pairs[place] = {static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(other)};
      else in_doubt[i] = true;
    });
  }
  /// In doubt are sites of whose rivals one is nearer by its distance, too, from any plane. Likewise.
  __device__ void compare(const AnySpacing& spacing, const PlaneShell& shell, int nz, bool* in_doubt) const {
    const auto square_of = [&](int i) { return spacing.square(shell.sites[i].y, shell.sites[i].x); };
    for (int i = warp_number(); i < min(count, kMost); i += kTabulateBlock / 32) {
      const double own = square_of(pairs[i].of), others = square_of(pairs[i].other);
      bool is_nearer = false;
#pragma unroll 2
      for (int z = lane_id(); z < nz; z += 32) {
        const double along_z = spacing.times_z * squared(z);
        float distances[2];
        roots_of({own + along_z, others + along_z}, distances);
        is_nearer |= distances[0] != distances[1];
      }
      if (is_nearer) in_doubt[pairs[i].of] = true;
    }
  }
};

/// The word of a site of a plane.
__device__ inline unsigned word_in_plane(const SharedKeys& keys, const NearPairs& pairs, int y, int x) {
  const bool is_near = y < VolumeKeys::kSteps && pairs.first[y] + x < pairs.first[y + 1];
  if (!is_near) return Steps::far_word_of(y, x);
  return keys.volume_y.of[y] + keys.volume_x.of[x] + static_cast<unsigned>(pairs.first[y] + x);
}

/// What needs no search. @param thread  of the grid
__device__ inline void tabulate_others(StepTables* tables, const AnySpacing& spacing, const SharedKeys& keys, int nz,
                                       int ny, int thread) {
  const int along_z = StepSquares::count(nz), y = thread / VolumeKeys::kSteps, x = thread % VolumeKeys::kSteps;
  static_assert(2 * StepSquares::count(kLongestKeyed) <= kShells * kTabulateBlock);
  if (thread >= max(VolumeKeys::kSteps * VolumeKeys::kSteps, along_z + StepSquares::count(ny))) return;
  if (thread <= PlaneKeys::kSteps) {
    tables->plane_y.of[thread] = keys.plane_y.of[thread];
    tables->plane_x.of[thread] = keys.plane_x.of[thread];
  }
  if (thread < along_z) tables->squares()[thread] = spacing.times_z * squared(thread - StepSquares::none(nz));
  else if (thread < along_z + StepSquares::count(ny))
    tables->squares()[thread] = spacing.times_y * squared(thread - along_z - StepSquares::none(ny));
  if (y >= VolumeKeys::kSteps || spacing.pairs.first[y] + x >= spacing.pairs.first[y + 1]) return;
  const int pair = spacing.pairs.first[y] + x;
  tables->pair[pair] = word_in_plane(keys, spacing.pairs, y, x);
  tables->pair_steps[pair] = Steps::far_word_of(y, x);
}

/// Row i of sites along z.
__device__ inline void add_row(VolumeShell& shell, const SharedKeys& keys, float inverse, int i) {
  const auto y = static_cast<std::uint8_t>(i / kVolumeRows), x = static_cast<std::uint8_t>(i % kVolumeRows);
  const int base = VolumeKeys::square_of(keys.volume_y.of[y] + keys.volume_x.of[x]);
  shell.add_row(base, keys.volume_z, inverse, [&](int square, std::uint8_t z) {
    return VolumeShell::Site{square, z, y, x};
  });
}

/// Words are packed meanwhile, by a kernel that ends behind this one.
static __global__ void __launch_bounds__(kTabulateBlock)
    tabulate_steps(StepTables* tables, const __grid_constant__ AnySpacing spacing, int nz, int ny) {
  __shared__ VolumeShell volume;
  __shared__ PlaneShell plane;
  __shared__ Rivals rivals;
  __shared__ SharedKeys keys;
  __shared__ float distances[VolumeShell::kMost];
  __shared__ bool volume_in_doubt[VolumeShell::kMost], plane_in_doubt[PlaneShell::kMost];
  fathom::cuda::let_next_begin();
  const int t = static_cast<int>(threadIdx.x), number = static_cast<int>(blockIdx.x);
  keys.fill(spacing);
  if (t == 0) volume.start(number), plane.start(number), rivals.count = 0;
  __syncthreads();
  tabulate_others(tables, spacing, keys, nz, ny, number * kTabulateBlock + t);
  constexpr int kFirstOfPlane = kTabulateBlock - kPlaneRows;
  static_assert(kVolumeRows * kVolumeRows <= kFirstOfPlane);
  if (t >= kFirstOfPlane) add_row(plane, keys, spacing.inverse_x, static_cast<std::uint8_t>(t - kFirstOfPlane));
  else if (t < kVolumeRows * kVolumeRows) add_row(volume, keys, spacing.inverse_z, t);
  __syncthreads();
  for (int i = t; i < volume.count; i += kTabulateBlock) {
    const auto& site = volume.sites[i];
    distances[i] = root_of_exact(spacing.square(site.z, site.y, site.x));
    volume_in_doubt[i] = false;
  }
  for (int i = t; i < plane.count; i += kTabulateBlock) plane_in_doubt[i] = false;
  __syncthreads();
  rivals.find(spacing, plane, plane_in_doubt);
  volume.for_rivals([&](int i, int other) {
    if (distances[other] < distances[i]) volume_in_doubt[i] = true;
  });
  __syncthreads();
  volume.for_own([&](int i) {
    const auto& site = volume.sites[i];
    const float distance = distances[i] * spacing.scale;
    tables->distance[site.z * kPairs + spacing.pairs.first[site.y] + site.x] =
        volume_in_doubt[i] ? -distance : distance;
  });
  rivals.compare(spacing, plane, nz, plane_in_doubt);
  __syncthreads();
  plane.for_own([&](int i) {
    const auto& site = plane.sites[i];
    tables->plane[site.y * PlaneKeys::kSteps + site.x] =
        plane_in_doubt[i] ? Steps::kInDoubt : word_in_plane(keys, spacing.pairs, site.y, site.x);
  });
}

}  // namespace fathom::grid::cuda::volume
