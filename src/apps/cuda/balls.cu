// Unions of balls on a lattice, each element taken by the largest ball that covers it: the largest squared radius so
// far, of each element, raised by atomics. What comes out does not depend on their order.
//
// Balls that a neighbour's contains are left out, where spacings are equal. The others come into a list, the largest
// first, to a factor of two in the square, and warps draw them: a large ball is drawn in many parts. The image is cut
// into tiles of 8 × 4 elements, and of each tile one knows a radius that all of it has at least, so that most tiles of
// most balls are passed over, 32 at a time.
//
// Phases: 1. thread = element: marks balls, counts those of each size; 2. one thread: places in the list; 3. thread =
// element: the list; 4. warp = part of a ball, taken from a queue: lane = tile, then, of those that are left, lane =
// element; 5. thread = element: results. Launch: blocks of 256 threads, in phase 4 as many as the device holds.
// Memory, per element: 8 bytes, and 1/4; 12 where squares have 64 bits. Cost: some instructions for each 32 elements of
// each ball that is drawn, and for each 1024 that larger balls cover. Source: as the CPU; Rémy & Thiel 2002 for which
// balls are left out, with a bound in place of their table.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "apps/ball.hd.h"
#include "apps/cuda/balls.h"
#include "apps/division.hd.h"
#include "apps/squares.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "core/cuda/warp.cuh"
#include "fathom/core/error.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;
using fathom::cuda::Scratch;

constexpr int kBlock = 256, kWarps = kBlock / 32;
constexpr int kTileWidth = 8, kTileHeight = 4;
constexpr int kSizes = 64;  ///< of balls: powers of two of squared radii, the largest first

/// Radii as they are compared: integers, or a double's bits, which are in the order of positive numbers.
template <class T>
using Key = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;

template <class T>
__device__ Key<T> key_of(T squared) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<Key<T>>(__double_as_longlong(squared));
  else return squared;
}

template <class T>
__device__ T squared_of(Key<T> key) {
  if constexpr (std::is_floating_point_v<T>) return __longlong_as_double(static_cast<long long>(key));
  else return key;
}

/// Of balls of one size.
struct Counts {
  unsigned balls, first, placed;    ///< how many; their place in the list; how many are there
  unsigned long long parts_before;  ///< of balls that are larger
};

struct Queue {
  Counts sizes[kSizes];
  unsigned long long next, end;  ///< part to be drawn; parts in all
  unsigned endless;              ///< a ball without end
};

/// What kernels know of an image and its balls.
template <class T>
struct Balls {
  /// @param scratch  what lies behind null is counted
  Balls(const Lattice3& lattice, T* squares, Scratch& scratch);

  int extent[3], tiles[2];  ///< tiles along y and x
  Division by_width, by_height;
  Measure<T> measure;
  T least;                 ///< balls up to it cover their middle alone
  int largest_size;        ///< exponent of two of squared radii of the first size
  unsigned parts[kSizes];  ///< that balls of a size are drawn in
  T* squared;              ///< squared radii; 0: no ball
  Key<T>* covered;         ///< largest radius that covers an element
  Key<T>* covered_tile;    ///< by tile: all of its elements have at least that
  unsigned* marks;         ///< a bit per element: a ball to be drawn
  unsigned* middles;       ///< of the balls to be drawn, by size
  Queue* queue;

  __device__ int size() const { return extent[0] * extent[1] * extent[2]; }
  __device__ void places(int linear, int (&at)[3]) const {
    const int row = by_width(linear);
    at[0] = by_height(row);
    at[1] = row - at[0] * extent[1];
    at[2] = linear - row * extent[2];
  }
  __device__ int size_of(T square) const {
    int exponent;
    if constexpr (std::is_floating_point_v<T>) exponent = (__double2hiint(square) >> 20) - 1023;
    else exponent = 63 - __clzll(static_cast<long long>(square));
    return max(0, min(largest_size - exponent, kSizes - 1));
  }
};

__device__ int element_of_thread() { return static_cast<int>(blockIdx.x * kBlock + threadIdx.x); }

/// The least squared radius of a ball that covers all of one whose middle is a step along `axes` axes away. Of a point
/// of the ball, n = |v|² < R, the way to the other middle is at most n + 2 (the sum of `axes` coordinates) + axes
/// squared, and that sum at most the root of axes · n.
__device__ std::uint64_t containing(std::uint32_t squared, int axes) {
  const auto sum = static_cast<std::uint64_t>(sqrt(static_cast<double>(axes) * (squared - 1.0)));
  return squared + 2 * sum + static_cast<std::uint64_t>(axes);
}

/// Whether no neighbour's ball covers all of an element's.
__device__ bool is_maximal(const Balls<std::uint32_t>& balls, int element, std::uint32_t squared) {
  int at[3];
  balls.places(element, at);
  std::uint32_t largest[3] = {};  // of neighbours that differ along one, two and three axes
  for (int z = max(at[0] - 1, 0); z <= min(at[0] + 1, balls.extent[0] - 1); ++z)
    for (int y = max(at[1] - 1, 0); y <= min(at[1] + 1, balls.extent[1] - 1); ++y)
      for (int x = max(at[2] - 1, 0); x <= min(at[2] + 1, balls.extent[2] - 1); ++x) {
        const int axes = (z != at[0]) + (y != at[1]) + (x != at[2]);
        const std::uint32_t its = balls.squared[(z * balls.extent[1] + y) * balls.extent[2] + x];
        for (int k = 0; k < 3; ++k) largest[k] = axes == k + 1 ? max(largest[k], its) : largest[k];
      }
  for (int k = 0; k < 3; ++k)
    if (largest[k] >= containing(squared, k + 1)) return false;
  return true;
}

/// @param bare  what an element without a ball is covered by at first
template <class T>
__global__ void __launch_bounds__(kBlock) mark_balls(const __grid_constant__ Balls<T> balls, Key<T> bare) {
  __shared__ unsigned counts[kSizes];
  if (threadIdx.x < kSizes) counts[threadIdx.x] = 0;
  __syncthreads();
  const int element = element_of_thread();
  bool is_drawn = false;
  if (element >= 0 && element < balls.size()) {
    const T squared = balls.squared[element];
    balls.covered[element] = squared > 0 ? key_of(squared) : bare;
    is_drawn = squared > balls.least && squared != kNoSite<T>;
    if constexpr (std::is_same_v<T, std::uint32_t>) is_drawn = is_drawn && is_maximal(balls, element, squared);
    if (is_drawn) atomicAdd(&counts[balls.size_of(squared)], 1u);
  }
  const unsigned mark = __ballot_sync(kAllLanes, is_drawn);
  if (lane_id() == 0) balls.marks[blockIdx.x * kWarps + threadIdx.x / 32] = mark;
  __syncthreads();
  if (threadIdx.x < kSizes && counts[threadIdx.x] > 0)
    atomicAdd(&balls.queue->sizes[threadIdx.x].balls, counts[threadIdx.x]);
}

template <class T>
__global__ void number_balls(const __grid_constant__ Balls<T> balls) {
  unsigned before = 0;
  unsigned long long parts = 0;
  for (int size = 0; size < kSizes; ++size) {
    Counts& counts = balls.queue->sizes[size];
    counts.first = before;
    counts.parts_before = parts;
    before += counts.balls;
    parts += static_cast<unsigned long long>(counts.balls) * balls.parts[size];
  }
  balls.queue->end = parts;
}

template <class T>
__global__ void __launch_bounds__(kBlock) list_balls(const __grid_constant__ Balls<T> balls) {
  __shared__ unsigned counts[kSizes], first[kSizes];
  if (threadIdx.x < kSizes) counts[threadIdx.x] = 0;
  __syncthreads();
  const int element = element_of_thread();
  const bool is_drawn = balls.marks[blockIdx.x * kWarps + threadIdx.x / 32] >> lane_id() & 1;
  const int size = is_drawn ? balls.size_of(balls.squared[element]) : 0;
  const unsigned place = is_drawn ? atomicAdd(&counts[size], 1u) : 0;
  __syncthreads();
  if (threadIdx.x < kSizes && counts[threadIdx.x] > 0) {
    Counts& all = balls.queue->sizes[threadIdx.x];
    first[threadIdx.x] = all.first + atomicAdd(&all.placed, counts[threadIdx.x]);
  }
  __syncthreads();
  if (is_drawn) balls.middles[first[size] + place] = static_cast<unsigned>(element);
}

template <class T>
__device__ T least_of_warp(T value) {
  if constexpr (sizeof(T) == 4) {
    return fathom::cuda::warp_min(value);
  } else {
    for (int step = 16; step > 0; step /= 2) value = min(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
  }
}

/// What others may be raising. What was there before is of use, too.
template <class K>
__device__ K now(const K* value) {
  return *const_cast<const volatile K*>(value);
}

/// A ball as a warp draws it: middle, tiles [first, first + count) along z, y and x that it may reach.
template <class T>
struct Ball {
  T bound;
  Key<T> key;
  int middle[3], first[3], count[3];

  __device__ Ball(const Balls<T>& balls, int element) {
    const T squared = balls.squared[element];
    bound = bound_of(squared);
    key = key_of(squared);
    balls.places(element, middle);
    const int tile[3] = {1, kTileHeight, kTileWidth};
    for (int k = 0; k < 3; ++k) {
      const double steps = sqrt(static_cast<double>(squared) / static_cast<double>(balls.measure.weight[k])) + 1;
      const int reach = static_cast<int>(fmin(steps, static_cast<double>(balls.extent[k])));
      first[k] = max(middle[k] - reach, 0) / tile[k];
      count[k] = min(middle[k] + reach, balls.extent[k] - 1) / tile[k] + 1 - first[k];
    }
  }
};

/// Elements from a place to [first, first + count).
__device__ int apart(int place, int first, int count) { return max(max(first - place, place - first - count + 1), 0); }

/// All lanes together. @param tile  along z, y and x
template <class T>
__device__ void draw_tile(const Balls<T>& balls, const Ball<T>& ball, int z, int tile_y, int tile_x) {
  const int y = tile_y * kTileHeight + lane_id() / kTileWidth, x = tile_x * kTileWidth + lane_id() % kTileWidth;
  Key<T> covered = ~Key<T>{0};
  if (y < balls.extent[1] && x < balls.extent[2]) {
    Key<T>* const its = balls.covered + (z * balls.extent[1] + y) * balls.extent[2] + x;
    covered = now(its);
    if (covered < ball.key && balls.measure(z - ball.middle[0], y - ball.middle[1], x - ball.middle[2]) < ball.bound) {
      atomicMax(its, ball.key);
      covered = ball.key;
    }
  }
  const Key<T> least = least_of_warp(covered);
  Key<T>* const of_tile = balls.covered_tile + (z * balls.tiles[0] + tile_y) * balls.tiles[1] + tile_x;
  if (lane_id() == 0 && least > now(of_tile)) atomicMax(of_tile, least);
}

/// Tiles part, part + parts, … of a ball, by 32. All lanes together.
template <class T>
__device__ void draw_part(const Balls<T>& balls, const Ball<T>& ball, unsigned part, unsigned parts) {
  const unsigned tiles = static_cast<unsigned>(ball.count[0]) * ball.count[1] * ball.count[2];
  for (std::uint64_t batch = part; batch * 32 < tiles; batch += parts) {
    const auto tile = static_cast<unsigned>(batch * 32) + lane_id();
    const unsigned row = tile / ball.count[2], slice = row / ball.count[1];
    const int z = ball.first[0] + static_cast<int>(slice),
              y = ball.first[1] + static_cast<int>(row - slice * ball.count[1]),
              x = ball.first[2] + static_cast<int>(tile - row * ball.count[2]);
    const bool is_left = tile < tiles &&
                         balls.measure(z - ball.middle[0], apart(ball.middle[1], y * kTileHeight, kTileHeight),
                                       apart(ball.middle[2], x * kTileWidth, kTileWidth)) < ball.bound &&
                         now(balls.covered_tile + (z * balls.tiles[0] + y) * balls.tiles[1] + x) < ball.key;
    for (unsigned left = __ballot_sync(kAllLanes, is_left); left != 0; left &= left - 1) {
      const int lane = __ffs(static_cast<int>(left)) - 1;
      draw_tile(balls, ball, __shfl_sync(kAllLanes, z, lane), __shfl_sync(kAllLanes, y, lane),
                __shfl_sync(kAllLanes, x, lane));
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock) draw_balls(const __grid_constant__ Balls<T> balls) {
  const Counts* const sizes = balls.queue->sizes;
  const unsigned long long end = balls.queue->end;
  while (true) {
    unsigned long long item = 0;
    if (lane_id() == 0) item = atomicAdd(&balls.queue->next, 1ull);
    item = __shfl_sync(kAllLanes, item, 0);
    if (item >= end) return;
    // The last size whose parts begin at or before it.
    int size = -1;
    for (int k = lane_id(); k < kSizes; k += 32)
      size += __popc(__ballot_sync(kAllLanes, sizes[k].parts_before <= item));
    const unsigned long long number = item - sizes[size].parts_before;
    const unsigned parts = balls.parts[size];
    const auto middle = static_cast<int>(balls.middles[sizes[size].first + static_cast<unsigned>(number / parts)]);
    draw_part(balls, Ball<T>(balls, middle), static_cast<unsigned>(number % parts), parts);
  }
}

template <class T, class Float>
__global__ void __launch_bounds__(kBlock) tell_thickness(const __grid_constant__ Balls<T> balls, double spacing,
                                                         const __grid_constant__ ImageRows<std::byte> out) {
  const int element = element_of_thread();
  if (element < 0 || element >= balls.size()) return;
  int at[3];
  balls.places(element, at);
  const T squared = squared_of<T>(balls.covered[element]);
  out.at<Float>(at[0], at[1])[at[2]] = balls.squared[element] == T{0} ? Float{0}
                                       : squared == kNoSite<T>        ? static_cast<Float>(INFINITY)
                                                                      : diameter<Float>(squared, spacing);
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    read_radii(const __grid_constant__ Balls<T> balls, const __grid_constant__ ImageRows<std::byte> chosen,
               const __grid_constant__ ImageRows<const std::byte> nearest) {
  const int element = element_of_thread();
  if (element < 0 || element >= balls.size()) return;
  int at[3];
  balls.places(element, at);
  T squared = 0;
  if (chosen.at<std::uint8_t>(at[0], at[1])[at[2]] != 0) {
    const std::int64_t site = nearest.size == 4 ? nearest.at<std::int32_t>(at[0], at[1])[at[2]]
                                                : nearest.at<std::int64_t>(at[0], at[1])[at[2]];
    if (site < 0) balls.queue->endless = 1;
    int to[3];
    balls.places(site < 0 ? element : static_cast<int>(site), to);
    squared = balls.measure(to[0] - at[0], to[1] - at[1], to[2] - at[2]);
  }
  balls.squared[element] = squared;
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    tell_covered(const __grid_constant__ Balls<T> balls, const __grid_constant__ ImageRows<std::byte> out) {
  const int element = element_of_thread();
  if (element < 0 || element >= balls.size()) return;
  int at[3];
  balls.places(element, at);
  out.at<std::uint8_t>(at[0], at[1])[at[2]] = balls.covered[element] > 0 || balls.queue->endless != 0;
}

unsigned blocks_of(const Lattice3& lattice) { return static_cast<unsigned>((lattice.size() + kBlock - 1) / kBlock); }

std::int64_t tiles_along(std::int64_t extent, int tile) { return (extent + tile - 1) / tile; }

/// How many parts a ball of a squared radius, in units of the weights, is drawn in.
unsigned parts_of(const Lattice3& lattice, double squared) {
  constexpr double kTilesOfPart = 512, kMostParts = 1 << 20;
  const int tile[3] = {1, kTileHeight, kTileWidth};
  double tiles = 1;
  for (std::size_t k = 0; k < 3; ++k)
    tiles *= std::min(2 * std::sqrt(squared / lattice.weights()[k]) / tile[k] + 2,
                      static_cast<double>(tiles_along(lattice.extent[k], tile[k])));
  return static_cast<unsigned>(std::clamp(tiles / kTilesOfPart, 1.0, kMostParts));
}

template <class T>
Balls<T>::Balls(const Lattice3& lattice, T* squares, Scratch& scratch)
    : tiles{static_cast<int>(tiles_along(lattice.extent[1], kTileHeight)),
            static_cast<int>(tiles_along(lattice.extent[2], kTileWidth))},
      by_width(lattice.extent[2]),
      by_height(lattice.extent[1]),
      measure(lattice.weights()),
      least(least_ball<T>(lattice)),
      squared(squares),
      covered(scratch.take<Key<T>>(lattice.size())),
      covered_tile(scratch.take<Key<T>>(lattice.extent[0] * tiles[0] * tiles[1])),
      marks(scratch.take<unsigned>(std::int64_t{blocks_of(lattice)} * kWarps)),
      middles(scratch.take<unsigned>(lattice.size())),
      queue(scratch.take<Queue>(1)) {
  double most = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    extent[k] = static_cast<int>(lattice.extent[k]);
    most += lattice.weights()[k] * static_cast<double>(lattice.extent[k]) * static_cast<double>(lattice.extent[k]);
  }
  largest_size = std::ilogb(most);
  for (int size = 0; size < kSizes; ++size) parts[size] = parts_of(lattice, std::ldexp(1.0, largest_size + 1 - size));
}

/// Nothing is counted, and of no tile is known what covers it.
template <class T>
void clear(const Balls<T>& balls, cudaStream_t stream) {
  const std::size_t tiles = static_cast<std::size_t>(balls.extent[0]) * static_cast<std::size_t>(balls.tiles[0]) *
                            static_cast<std::size_t>(balls.tiles[1]);
  fathom::cuda::check(cudaMemsetAsync(balls.covered_tile, 0, tiles * sizeof(Key<T>), stream), "clearing tiles");
  fathom::cuda::check(cudaMemsetAsync(balls.queue, 0, sizeof(Queue), stream), "clearing a queue");
}

/// From radii to what covers each element.
template <class T>
void draw(const Lattice3& lattice, const Balls<T>& balls, Key<T> bare, cudaStream_t stream) {
  constexpr unsigned kBlocksHeld = 8;  // of a multiprocessor
  const unsigned blocks = blocks_of(lattice);
  mark_balls<T><<<blocks, kBlock, 0, stream>>>(balls, bare);
  number_balls<T><<<1, 1, 0, stream>>>(balls);
  list_balls<T><<<blocks, kBlock, 0, stream>>>(balls);
  const unsigned held = static_cast<unsigned>(fathom::cuda::multiprocessors()) * kBlocksHeld;
  draw_balls<T><<<std::min(blocks, held), kBlock, 0, stream>>>(balls);
  fathom::cuda::check_launch("drawing balls");
}

}  // namespace

std::size_t balls_bytes(const Lattice3& lattice) {
  if (lattice.size() > kMostElements)
    throw InvalidArgument("on a device balls are drawn in images of less than 2^31 elements; use the backend cpu");
  Scratch scratch(nullptr);
  visit_squares(squares_of(lattice), [&](auto tag) { Balls<typename decltype(tag)::type>(lattice, nullptr, scratch); });
  return scratch.bytes();
}

void draw_thickness(const Lattice3& lattice, const std::byte* squares, const ImageRows<std::byte>& out,
                    std::byte* scratch, cudaStream_t stream) {
  visit_squares(squares_of(lattice), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Scratch taken(scratch);
    const Balls<T> balls(lattice, const_cast<T*>(reinterpret_cast<const T*>(squares)), taken);
    clear(balls, stream);
    // Background is covered by nothing and done with.
    draw<T>(lattice, balls, ~Key<T>{0}, stream);
    const auto tell = out.size == sizeof(float) ? tell_thickness<T, float> : tell_thickness<T, double>;
    tell<<<blocks_of(lattice), kBlock, 0, stream>>>(balls, lattice.spacing[2], out);
    fathom::cuda::check_launch("telling the thickness");
  });
}

void draw_axis_balls(const Lattice3& lattice, const ImageRows<const std::byte>& nearest,
                     const ImageRows<std::byte>& out, std::byte* squares, std::byte* scratch, cudaStream_t stream) {
  visit_squares(squares_of(lattice), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Scratch taken(scratch);
    const Balls<T> balls(lattice, reinterpret_cast<T*>(squares), taken);
    clear(balls, stream);
    read_radii<T><<<blocks_of(lattice), kBlock, 0, stream>>>(balls, out, nearest);
    draw<T>(lattice, balls, 0, stream);
    tell_covered<T><<<blocks_of(lattice), kBlock, 0, stream>>>(balls, out);
    fathom::cuda::check_launch("telling what balls cover");
  });
}

}  // namespace fathom::apps::cuda
