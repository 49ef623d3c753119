// What lies between the passes of volumes with any spacings: how many steps it is to the site that is nearest in the
// same plane, in a word. Its square in double, as the CPU has it, follows from these; where sites are near, no square
// in double is asked for at all.
//
// There, passes search in keys: squares in fixed point, and behind them steps. What a step adds along each axis is a
// number of a table, so that keys of steps along several axes add up, and the least key is of the nearest site – but
// for sites whose squares are about as large. Which these are follows from the spacings alone: tables say of all near
// sites where another one with no lesser key may be nearer. There, and where sites are far, squares in double decide.
//
// In doubt is a distance, not a square: two squares that are equal as real numbers may differ in double's last bit, yet
// hardly ever in float's. In a plane that is asked for all distances from it that there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/extremes.cuh"
#include "grid/cuda/volume_solve.cuh"
#include "grid/cuda/volume_step_squares.cuh"
#include "grid/cuda/volume_window.cuh"

namespace fathom::grid::cuda {

/// √x, roughly.
__device__ inline float rough_root(float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0,%1;" : "=f"(root) : "f"(x));
  return root;
}

/// Keys with so many bits for steps behind the square: of up to kSteps steps of the least spacing, whose squares take
/// kPlaces binary places. Two of them do not wrap when they add up.
template <int kStepBits, int kSquareBits, int kMostSteps>
struct Keys {
  static constexpr int kBits = kStepBits, kSteps = kMostSteps, kPlaces = kSquareBits;
  static constexpr std::uint32_t kEnd =  ///< and more: not near
      std::min<std::uint64_t>(std::uint64_t{kSteps * kSteps} << (kPlaces + kBits), (1u << 31) - (1u << kBits));

  std::uint32_t of[kSteps + 1];  ///< so many steps along an axis

  /// @param ratio  of the axis' squared spacing to the least
  /// @param step   what is added behind the square
  static Keys along(double ratio, std::uint32_t step) {
    Keys keys;
    for (std::uint32_t i = 0; i <= kSteps; ++i) {
      const double square = std::rint(ratio * (1 << kPlaces) * (i * i));
      const bool is_near = square < (kEnd >> kBits);
      keys.of[i] = is_near ? (static_cast<std::uint32_t>(square) << kBits) + i * step : kEnd;
    }
    return keys;
  }
  /// Of so many steps of the least spacing.
  static __host__ __device__ constexpr std::uint32_t of_steps(std::uint32_t steps) {
    return steps * steps << (kPlaces + kBits);
  }
  static __host__ __device__ int square_of(std::uint32_t key) { return static_cast<int>(key >> kBits); }
  /// A site with a key that is larger by more is no nearer: rounding moves a square by half a place for each axis.
  static constexpr int kSlack = 3;
  static constexpr std::uint32_t kSlackOfKeys = kSlack << kBits;  ///< where no steps are behind squares
  static __device__ bool may_be_nearer(int difference) { return difference >= 0 && difference <= kSlack; }
  /// The steps along an axis whose square this is, roughly. @param inverse  1 / the axis' ratio
  static __device__ int steps_of(int square, float inverse) {
    constexpr float kMagic = 8388608.0f;  // 2²³: integers below are its last bits
    const float one = inverse * (4.0f / (1 << kPlaces));
    const float shifted = __uint_as_float(static_cast<unsigned>(square) >> 2 | 0x4B000000u);
    return __float_as_int(rough_root(fmaf(shifted, one, -kMagic * one)) + kMagic) - 0x4B000000;
  }
};
using PlaneKeys = Keys<6, 13, 64>;   ///< of sites in a plane; behind the square: steps along y
using VolumeKeys = Keys<9, 12, 24>;  ///< of all sites; behind the square: the number of the steps along y and x
inline constexpr int kPairs = 1 << VolumeKeys::kBits;
inline constexpr int kPlanePairs = PlaneKeys::kSteps * PlaneKeys::kSteps;

/// Numbers of near pairs of steps along y and x: there are fewer of these than a square of them would have.
struct NearPairs {
  std::uint16_t first[VolumeKeys::kSteps + 1];  ///< by steps along y; at last, how many there are

  static NearPairs of(const VolumeKeys& along_y, const VolumeKeys& along_x) {
    NearPairs pairs{};
    for (int y = 0; y < VolumeKeys::kSteps; ++y) {
      int x = 0;
      while (x < VolumeKeys::kSteps && along_y.of[y] + along_x.of[x] < VolumeKeys::kEnd) ++x;
      pairs.first[y + 1] = static_cast<std::uint16_t>(pairs.first[y] + x);
    }
    return pairs;
  }
  __device__ int count() const { return first[VolumeKeys::kSteps]; }
  /// Steps along y of a pair. By whole warps.
  __device__ int steps_along_y(int pair) const {
    const int y = lane_id();
    return __popc(__ballot_sync(kAllLanes, y < VolumeKeys::kSteps && first[y + 1] <= pair));
  }
};

__device__ inline std::uint32_t squared(int steps) {
  const auto n = static_cast<std::uint32_t>(steps);
  return n * n;
}

/// Spacings and what follows from them.
struct ExactSpacing {
  double z, y, x;                                     ///< squares
  float scale;                                        ///< of distances
  float inverse_z, inverse_x;                         ///< of the ratios to the least
  float halves_z_of_y, halves_z_of_x, halves_y_of_x;  ///< one square in halves of another
  IntegerFactor times_z, times_y, times_x;
  PlaneKeys plane_y, plane_x;
  VolumeKeys volume_z, volume_y, volume_x;
  NearPairs pairs;

  static ExactSpacing of(const ExactWeights& weights, float scale) {
    const auto [z, y, x] = weights;
    const double least = std::min({z, y, x}), least_in_plane = std::min(y, x);
    const auto volume_y = VolumeKeys::along(y / least, 0), volume_x = VolumeKeys::along(x / least, 0);
    return {.z = z,
            .y = y,
            .x = x,
            .scale = scale,
            .inverse_z = static_cast<float>(least / z),
            .inverse_x = static_cast<float>(least_in_plane / x),
            .halves_z_of_y = static_cast<float>(2 * y / z),
            .halves_z_of_x = static_cast<float>(2 * x / z),
            .halves_y_of_x = static_cast<float>(2 * x / y),
            .times_z = IntegerFactor(z),
            .times_y = IntegerFactor(y),
            .times_x = IntegerFactor(x),
            .plane_y = PlaneKeys::along(y / least_in_plane, 1),
            .plane_x = PlaneKeys::along(x / least_in_plane, 0),
            .volume_z = VolumeKeys::along(z / least, 0),
            .volume_y = volume_y,
            .volume_x = volume_x,
            .pairs = NearPairs::of(volume_y, volume_x)};
  }
  /// As the CPU adds them up.
  __device__ double square(int y_steps, int x_steps) const {
    return times_x * squared(x_steps) + times_y * squared(y_steps);
  }
  __device__ double square(int z_steps, int y_steps, int x_steps) const {
    return square(y_steps, x_steps) + times_z * squared(z_steps);
  }
};

/// What is found out about near sites before all else, by blocks of which each looks at a few.
inline constexpr int kTabulateBlocks = 512, kTabulateWarps = 16;

struct alignas(double) StepTables {
  PlaneKeys plane_y, plane_x;                   ///< the spacing's, where lanes ask for different ones
  std::uint32_t pair[kPairs];                   ///< VolumeKeys by their last bits: of a pair of steps
  std::uint32_t pair_steps[kPairs];             ///< the pair, as Steps have it
  float distance[VolumeKeys::kSteps * kPairs];  ///< [steps along z][as above]; less than 0: in doubt
  std::uint32_t plane[kPlanePairs];             ///< [steps along y][along x]: words of Steps, or kInDoubt

  /// Squares of steps along z, and along y, lie behind the rest.
  static std::size_t bytes(int nz, int ny) {
    return sizeof(StepTables) +
           static_cast<std::size_t>(StepSquares::count(nz) + StepSquares::count(ny)) * sizeof(double);
  }
  __device__ double* squares() { return reinterpret_cast<double*>(this + 1); }
  __device__ const double* squares() const { return reinterpret_cast<const double*>(this + 1); }
  __device__ StepSquares along_z(int nz) const { return {squares(), nz}; }
  __device__ StepSquares along_y(int nz, int ny) const { return {squares() + StepSquares::count(nz), ny}; }
};

/// The steps to a site in the same plane.
struct Steps {
  static constexpr unsigned kFar = 1u << 31, kFarBits = 11, kNone = kFar | 1u << (2 * kFarBits);  ///< far: y, x
  static constexpr unsigned kAtSite = 0;                           ///< of the first near pair
  static constexpr unsigned kHere = kFar, kInDoubt = 0xFFFFFFFFu;  ///< no word is as large
  static_assert(kLongestKeyed < 1 << kFarBits);

  int y, x;

  /// @param word  a far one
  __device__ explicit Steps(unsigned word)
      : y(static_cast<int>(word >> kFarBits & ((1u << kFarBits) - 1))),
        x(static_cast<int>(word & ((1u << kFarBits) - 1))) {}
  static __device__ unsigned far_word_of(int y, int x) { return kFar | static_cast<unsigned>(y << kFarBits | x); }
  /// @param pairs  the spacing's, in shared memory
  static __device__ unsigned word_of(const StepTables& tables, const NearPairs& pairs, int y, int x) {
    if (max(y, x) < VolumeKeys::kSteps && pairs.first[y] + x < pairs.first[y + 1])
      return __ldg(tables.pair + (pairs.first[y] + x));
    return far_word_of(y, x);
  }
  /// The far word of the same steps.
  static __device__ unsigned far(const StepTables& tables, unsigned word) {
    return word >= kFar ? word : __ldg(tables.pair_steps + word % kPairs);
  }
};

__device__ inline float root_of_exact(double square) { return static_cast<float>(sqrt(square)); }

/// The steps along z, at most all that are near, whose key this is, roughly. @param key  below 2³¹, or less than 0: none
__device__ inline int steps_along_z(const ExactSpacing& spacing, unsigned key) {
  const int square = VolumeKeys::square_of(static_cast<unsigned>(max(static_cast<int>(key), 0)));
  return min(VolumeKeys::steps_of(square, spacing.inverse_z), VolumeKeys::kSteps);
}

/// Of the key of a near site along all axes, without steps: in bits, at which steps along y another one may be nearer,
/// though its key is no less. Lane = steps along x to it.
__device__ inline unsigned possible_rivals(const ExactSpacing& spacing, unsigned key) {
  constexpr int kTogether = 5;  // which need not wait for each other
  static_assert((VolumeKeys::kSteps + 1) % kTogether == 0);
  const unsigned above_x = key - spacing.volume_x.of[min(lane_id(), VolumeKeys::kSteps)];
  unsigned rivals = 0;
#pragma unroll 1
  for (int first = 0; first <= VolumeKeys::kSteps; first += kTogether) {
    if (spacing.volume_y.of[first] > key + VolumeKeys::kSlackOfKeys) break;
#pragma unroll
    for (int y = first; y < first + kTogether; ++y) {
      const unsigned rest = above_x - spacing.volume_y.of[y];
      const int z = steps_along_z(spacing, rest);
      if (spacing.volume_z.of[z] - rest <= VolumeKeys::kSlackOfKeys) rivals |= 1u << y;
    }
  }
  return lane_id() <= VolumeKeys::kSteps ? rivals : 0;
}

/// The distance of a near site, less than 0 where it is in doubt. Lane = steps along x to another.
__device__ inline float tabulated_distance(const ExactSpacing& spacing, int z, int y, int x) {
  const float distance = root_of_exact(spacing.square(z, y, x));
  const unsigned key = spacing.volume_z.of[z] + (spacing.volume_y.of[y] + spacing.volume_x.of[x]);
  bool in_doubt = false;
  if (key < VolumeKeys::kEnd)
    for (unsigned rivals = possible_rivals(spacing, key); rivals != 0; rivals &= rivals - 1) {
      const int other_y = __ffs(static_cast<int>(rivals)) - 1;
      const unsigned rest = key - spacing.volume_y.of[other_y] - spacing.volume_x.of[lane_id()];
      const int other_z = steps_along_z(spacing, rest);
      in_doubt |= root_of_exact(spacing.square(other_z, other_y, lane_id())) < distance;
    }
  return __any_sync(kAllLanes, in_doubt) ? -distance : distance;
}

/// All near sites of a pair, each by another of as many warps. @param warp  that of the caller
__device__ inline void tabulate_pair(StepTables* tables, const ExactSpacing& spacing, int pair, int warp) {
  if (pair >= spacing.pairs.count()) return;
  const int y = spacing.pairs.steps_along_y(pair), x = pair - spacing.pairs.first[y];
  for (int z = warp; z < VolumeKeys::kSteps; z += kTabulateWarps / 2) {
    const float distance = tabulated_distance(spacing, z, y, x);
    if (lane_id() == 0) tables->distance[z * kPairs + pair] = distance * spacing.scale;
  }
  if (warp > 0 || lane_id() > 0) return;
  tables->pair[pair] = spacing.volume_y.of[y] + spacing.volume_x.of[x] + static_cast<unsigned>(pair);
  tables->pair_steps[pair] = Steps::far_word_of(y, x);
}

/// Another site of a plane, with no lesser key, that is nearer by its square at least.
struct Rival {
  static constexpr int kMost = 512;  ///< of a block
  int of, y, x;
};

/// The word of a site of a plane, by its number.
__device__ inline unsigned word_in_plane(const ExactSpacing& spacing, int number) {
  const int y = number / PlaneKeys::kSteps, x = number % PlaneKeys::kSteps;
  const bool is_near = y < VolumeKeys::kSteps && spacing.pairs.first[y] + x < spacing.pairs.first[y + 1];
  if (!is_near) return Steps::far_word_of(y, x);
  return spacing.volume_y.of[y] + spacing.volume_x.of[x] + static_cast<unsigned>(spacing.pairs.first[y] + x);
}

/// Finds the rivals of a site of a plane. @returns whether there are too many
__device__ inline bool find_rivals(const ExactSpacing& spacing, int pair, Rival* rivals, int* count) {
  const int y = pair / PlaneKeys::kSteps, x = pair % PlaneKeys::kSteps;
  const auto square_of = PlaneKeys::square_of;
  const int square = square_of(spacing.plane_y.of[y]) + square_of(spacing.plane_x.of[x]);
  bool too_many = false;
  if (square >= square_of(PlaneKeys::kEnd)) return false;
  for (int other_y = lane_id(); other_y <= PlaneKeys::kSteps; other_y += 32) {
    const int rest = square - square_of(spacing.plane_y.of[other_y]);
    if (rest < -PlaneKeys::kSlack) continue;
    const int nearest = PlaneKeys::steps_of(max(rest, 0), spacing.inverse_x);
    for (int other_x = max(nearest - 1, 0); other_x <= min(nearest + 1, PlaneKeys::kSteps); ++other_x) {
      if (!PlaneKeys::may_be_nearer(square_of(spacing.plane_x.of[other_x]) - rest)) continue;
      if (!(spacing.square(other_y, other_x) < spacing.square(y, x))) continue;
      const int place = atomicAdd(count, 1);
      if (place < Rival::kMost) rivals[place] = {pair, other_y, other_x};
      else too_many = true;
    }
  }
  return too_many;
}

/// Whether a rival is nearer by its distance, too, from any plane. Lane = planes away.
__device__ inline bool is_nearer(const ExactSpacing& spacing, const Rival& rival, int nz) {
  const double own = spacing.square(rival.of / PlaneKeys::kSteps, rival.of % PlaneKeys::kSteps);
  const double other = spacing.square(rival.y, rival.x);
  bool result = false;
  for (int z = lane_id(); z < nz; z += 32) {
    const double along_z = spacing.z * static_cast<double>(z * z);
    if (own + along_z != other + along_z)  // seldom: their difference is mostly lost
      result |= root_of_exact(own + along_z) != root_of_exact(other + along_z);
  }
  return result;
}

/// Fills the tables. Half of a block's warps look at a near site each, half at one of a plane; then each at rivals. It
/// may begin before the kernel ahead ends, which packs words and leaves the tables alone, and ends behind that.
static __global__ void __launch_bounds__(kTabulateWarps * 32)
    tabulate_steps(StepTables* tables, const __grid_constant__ ExactSpacing constants, int nz, int ny) {
  constexpr int kSites = kTabulateWarps / 2;
  static_assert(kTabulateBlocks * kSites == kPlanePairs && kTabulateBlocks == kPairs);
  __shared__ Rival rivals[Rival::kMost];
  __shared__ int count;
  __shared__ unsigned doubt[kSites];
  __shared__ ExactSpacing spacing;  // there, because lanes ask for different keys
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, first = static_cast<int>(blockIdx.x) * kSites;
  constexpr int kWords = sizeof(ExactSpacing) / sizeof(unsigned);
  if (t < kWords) reinterpret_cast<unsigned*>(&spacing)[t] = reinterpret_cast<const unsigned*>(&constants)[t];
  if (t == 0) count = 0;
  if (t < kSites) doubt[t] = 0;
  __syncthreads();
  if (blockIdx.x == 0 && t <= PlaneKeys::kSteps)
    tables->plane_y.of[t] = spacing.plane_y.of[t], tables->plane_x.of[t] = spacing.plane_x.of[t];
  const int of_grid = static_cast<int>(blockIdx.x) * kTabulateWarps * 32 + t, along_z = StepSquares::count(nz);
  static_assert(2 * StepSquares::count(kLongestKeyed) <= kTabulateBlocks * kTabulateWarps * 32);
  if (of_grid < along_z) tables->squares()[of_grid] = spacing.times_z * squared(of_grid - StepSquares::none(nz));
  else if (of_grid < along_z + StepSquares::count(ny))
    tables->squares()[of_grid] = spacing.times_y * squared(of_grid - along_z - StepSquares::none(ny));
  if (warp < kSites) {
    if (find_rivals(spacing, first + warp, rivals, &count)) atomicOr(doubt + warp, 1u);
  } else {
    tabulate_pair(tables, spacing, static_cast<int>(blockIdx.x), warp - kSites);
  }
  __syncthreads();
  for (int i = warp; i < min(count, Rival::kMost); i += kTabulateWarps)
    if (is_nearer(spacing, rivals[i], nz)) atomicOr(doubt + (rivals[i].of - first), 1u);
  __syncthreads();
  if (t < kSites) tables->plane[first + t] = doubt[t] ? Steps::kInDoubt : word_in_plane(spacing, first + t);
  fathom::cuda::wait_for_last();
}

/// What rows of a search hold: along y keys, along z words of steps, which are no less than their end where they are no
/// keys. To keys none wraps when it is added.
template <class KeysOfRows>
struct KeyRows {
  static constexpr unsigned kNone = std::is_same_v<KeysOfRows, VolumeKeys> ? Steps::kNone : KeysOfRows::kEnd;
  static_assert(kNone >= KeysOfRows::kEnd && KeysOfRows::kEnd + kNone > kNone);
};

/// From where a lane's words of a row and of each sixteenth before and behind it are, as WindowRows keep them: of row r
/// at [16 r].
__device__ inline unsigned* each_sixteenth(unsigned* memory, int row, int lane) {
  return memory + (((row * 16 + lane) ^ ((row & 8) << 1)) - row * 16);
}

/// Eight rows from those that are near, by their keys.
template <class KeysOfRows>
class KeyWindow {
 public:
  using Rows = WindowRows<KeyRows<KeysOfRows>>;

  /// @param keys  of steps along the line
  __device__ KeyWindow(const Rows& rows, int group, int lane, const KeysOfRows& keys)
      : rows_(rows), group_(group), lane_(lane), keys_(keys) {
    const auto own = rows.group(group, lane);
#pragma unroll
    for (int j = 0; j < 8; ++j) best[j] = before_[j] = behind_[j] = own[j];
  }

  /// @param count  rows of the line from the group's first on: those behind keep no search busy
  /// @returns whether all of the warp's are near
  __device__ bool search(int count) {
    if (count < 8) {
#pragma unroll
      for (int j = 0; j < 8; ++j)
        if (j >= count) best[j] = 0;
    }
    if (settled(1)) return true;
    // Beside a long search, what one that fails costs is little: it is all of the tile that is solved in another way.
    constexpr bool kShort = KeysOfRows::kSteps <= 24;
    if (kShort && __popc(__ballot_sync(kAllLanes, least_of_eight(best) >= KeysOfRows::kEnd)) > kFar) return false;
#pragma unroll 1
    for (int m = 0; m < KeysOfRows::kSteps / 8; ++m) {
      const auto left = rows_.group(group_ - 1 - m, lane_), right = rows_.group(group_ + 1 + m, lane_);
#pragma unroll
      for (int s = 1; s <= 8; ++s) {
        const int steps = 8 * m + s;
        const unsigned key = keys_.of[steps];
        behind_[s - 1] = right[s - 1];
        before_[8 - s] = left[8 - s];
#pragma unroll
        for (int j = 0; j < 8; ++j) best[j] = __viaddmin_u32(behind_[(j + s) & 7], key, best[j]);
#pragma unroll
        for (int j = 0; j < 8; ++j) best[j] = __viaddmin_u32(before_[(j - s) & 7], key, best[j]);
        const bool look = s == 4 || s == 8 || (m == 0 && (s <= 3 || s == 6));
        if (look && settled(min(steps + 1, KeysOfRows::kSteps))) return true;
      }
    }
    return false;
  }

  /// Whether all of the warp's are sites.
  __device__ bool is_all_sites() const { return !__any_sync(kAllLanes, greatest_of_eight(best) > 0); }

  unsigned best[8];

 private:
  static constexpr int kFar = 24;  ///< lanes of whose rows none is near, from which a short search is no use

  /// Whether rows from so many steps on cannot be nearer.
  __device__ bool settled(int steps) const {
    return !__any_sync(kAllLanes, greatest_of_eight(best) >= keys_.of[steps]);
  }

  const Rows& rows_;
  const int group_, lane_;
  const KeysOfRows& keys_;
  unsigned before_[8], behind_[8];
};

}  // namespace fathom::grid::cuda
