// Tiles on a device: see tiles.hd.h. Blocks have 32 × 32 threads, so that a warp reads and writes pieces of rows. What
// a thread has – a pixel of the target, of the repeater or of the source, or a copy of the repeater – the kernel says.
// Memory: both tiles, and 4 bytes per pixel for squared distances.
#include <utility>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "fathom/core/error.h"
#include "published/cuda/stopwatch.h"
#include "published/cuda/tiles.h"

namespace fathom::published::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OwnStream;
using fathom::cuda::Scratch;

constexpr int kSide = 32, kBlock = kSide * kSide;

dim3 blocks_of(std::int64_t width, std::int64_t height) {
  return {static_cast<unsigned>((width + kSide - 1) / kSide), static_cast<unsigned>((height + kSide - 1) / kSide)};
}
constexpr dim3 block() { return {kSide, kSide}; }

__device__ int column() { return static_cast<int>(blockIdx.x * kSide + threadIdx.x); }
__device__ int row() { return static_cast<int>(blockIdx.y * kSide + threadIdx.y); }

/// Case 1.4. Thread = pixel of the target.
__global__ void __launch_bounds__(kBlock)
    repeat_modulo(const __grid_constant__ Tile<float> target, const __grid_constant__ Tile<const float> repeater) {
  const int x = column(), y = row();
  if (x < target.width && y < target.height) look_up(target, repeater, x, y);
}

/// Case 1.5. Thread = pixel of the target; one of each block copies the repeater.
__global__ void __launch_bounds__(kBlock) repeat_modulo_shared(const __grid_constant__ Tile<float> target,
                                                               const __grid_constant__ Tile<const float> repeater) {
  extern __shared__ float shared[];
  if (threadIdx.x == 0 && threadIdx.y == 0)
    memcpy(shared, repeater.data, sizeof(float) * repeater.width * repeater.height);
  __syncthreads();
  const int x = column(), y = row();
  const Tile<const float> copy{shared, repeater.width, repeater.height, repeater.width};
  if (x < target.width && y < target.height) look_up(target, copy, x, y);
}

/// Case 1.6. Thread = pixel of the repeater.
__global__ void __launch_bounds__(kBlock)
    repeat_grid(const __grid_constant__ Tile<float> target, const __grid_constant__ Tile<const float> repeater) {
  const int x = column(), y = row();
  if (x < repeater.width && y < repeater.height) show(target, repeater, x, y);
}

/// Case 2.3. Thread = pixel of the target.
__global__ void __launch_bounds__(kBlock)
    blend_target(const __grid_constant__ Tile<float> target, const __grid_constant__ Tile<const float> repeater,
                 const __grid_constant__ Steps steps, const __grid_constant__ StepBounds around) {
  const int x = column(), y = row();
  if (x < target.width && y < target.height) blend(target, repeater, steps, around, x, y);
}

/// Case 2.4. Thread = copy of the repeater, (u, v).
template <bool kExchange>
__global__ void __launch_bounds__(kBlock)
    place_copies(const __grid_constant__ Tile<float> target, const __grid_constant__ Tile<const float> repeater,
                 const __grid_constant__ Steps steps, const __grid_constant__ StepBounds all) {
  const std::int64_t u = all.u_min + column(), v = all.v_min + row();
  if (u > all.u_max || v > all.v_max) return;
  place_copy(target, repeater, steps.place(u, v), [](float& to, float value) {
    if constexpr (kExchange) atomicExch(&to, value);
    else to = value;
  });
}

/// Case 3, white. Thread = pixel of the source.
template <NearVariant kVariant>
__global__ void __launch_bounds__(kBlock)
    lower_distances(const __grid_constant__ Tile<const float> source,
                    const __grid_constant__ Tile<std::uint32_t> squared, int reach) {
  const int x = column(), y = row();
  if (x >= source.width || y >= source.height) return;
  tell_around<kVariant>(source, squared, reach, x, y,
                        [](std::uint32_t& known, std::uint32_t distance) { atomicMin(&known, distance); });
}

/// Case 3, black. Thread = pixel of the source.
__global__ void __launch_bounds__(kBlock) find_white(const __grid_constant__ Tile<const float> source,
                                                     const __grid_constant__ Tile<std::uint32_t> squared, int reach) {
  const int x = column(), y = row();
  if (x < source.width && y < source.height) look_around(source, squared, reach, x, y);
}

__global__ void __launch_bounds__(kBlock)
    take_roots(const __grid_constant__ Tile<std::uint32_t> squared, const __grid_constant__ Tile<float> distance) {
  const int x = column(), y = row();
  if (x < squared.width && y < squared.height) distance.at(x, y) = root_of(squared.at(x, y));
}

/// A tile of the device of the same extent.
template <class T, class U>
Tile<T> beside(const Tile<U>& tile, Scratch& scratch) {
  return {scratch.take<T>(std::int64_t{tile.width} * tile.height), tile.width, tile.height, tile.width};
}

template <class T, class U>
void copy(const Tile<T>& to, const Tile<U>& from, cudaMemcpyKind way, cudaStream_t stream) {
  check(cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.pitch) * sizeof(T), from.data,
                          static_cast<std::size_t>(from.pitch) * sizeof(U), to.width * sizeof(T),
                          static_cast<std::size_t>(to.height), way, stream),
        "copying a tile");
}

/// Copies a tile to the device, works there on it, and copies the result back.
/// @param more  words of scratch for the work
/// @param work  called with the tile, that of the result, what is left of the scratch, the stream and the watch
template <class Work>
Phases run(const Tile<const float>& input, const Tile<float>& output, std::int64_t more, const Execution& execution,
           const Work& work) {
  const OwnStream stream;
  const auto lay_out = [&](Scratch& scratch) {
    return std::pair(beside<float>(input, scratch), beside<float>(output, scratch));
  };
  Scratch counted(nullptr);
  lay_out(counted);
  counted.take<std::uint32_t>(more);
  const DeviceMemory memory(counted.bytes(), stream.get());
  Scratch scratch(memory.data());
  const std::pair tiles = lay_out(scratch);
  Stopwatch watch(stream.get());
  copy(tiles.first, input, cudaMemcpyHostToDevice, stream.get());
  watch.lap("copy to the device");
  const Tile<const float> given{tiles.first.data, input.width, input.height, input.width};
  work(given, tiles.second, scratch, stream.get(), watch);
  copy(output, tiles.second, cudaMemcpyDeviceToHost, stream.get());
  watch.lap("copy back");
  stream.wait();
  if (execution.stop.stop_requested()) throw Cancelled();
  return watch.phases();
}

void find_near(const Tile<const float>& source, const Tile<std::uint32_t>& squared, int reach, NearVariant variant,
               cudaStream_t stream) {
  const dim3 blocks = blocks_of(source.width, source.height);
  switch (variant) {
    case NearVariant::white:
      lower_distances<NearVariant::white><<<blocks, block(), 0, stream>>>(source, squared, reach);
      break;
    case NearVariant::distance_check:
      lower_distances<NearVariant::distance_check><<<blocks, block(), 0, stream>>>(source, squared, reach);
      break;
    case NearVariant::neighbour_check:
      lower_distances<NearVariant::neighbour_check><<<blocks, block(), 0, stream>>>(source, squared, reach);
      break;
    case NearVariant::improved:
      lower_distances<NearVariant::improved><<<blocks, block(), 0, stream>>>(source, squared, reach);
      break;
    case NearVariant::black: find_white<<<blocks, block(), 0, stream>>>(source, squared, reach);
  }
  check_launch("finding distances");
}

}  // namespace

std::size_t most_shared() { return fathom::cuda::block_memory(); }

Phases repeat(const Tile<const float>& repeater, RepeatVariant variant, const Tile<float>& target,
              const Execution& execution) {
  return run(
      repeater, target, 0, execution,
      [&](const Tile<const float>& from, const Tile<float>& to, Scratch&, cudaStream_t stream, Stopwatch& watch) {
        const dim3 blocks = blocks_of(to.width, to.height);
        if (variant == RepeatVariant::repeater_grid) {
          repeat_grid<<<blocks_of(from.width, from.height), block(), 0, stream>>>(to, from);
        } else if (variant == RepeatVariant::shared) {
          const std::size_t bytes = sizeof(float) * from.width * from.height;
          fathom::cuda::allow_memory(repeat_modulo_shared);
          repeat_modulo_shared<<<blocks, block(), bytes, stream>>>(to, from);
        } else {
          repeat_modulo<<<blocks, block(), 0, stream>>>(to, from);
        }
        check_launch("stitching");
        watch.lap("stitching");
      });
}

Phases lattice(const Tile<const float>& repeater, const Steps& steps, LatticeVariant variant, const Tile<float>& target,
               const Execution& execution) {
  return run(
      repeater, target, 0, execution,
      [&](const Tile<const float>& from, const Tile<float>& to, Scratch&, cudaStream_t stream, Stopwatch& watch) {
        const Vector first{1 - from.width, 1 - from.height};
        check(cudaMemsetAsync(to.data, 0, sizeof(float) * to.width * to.height, stream), "clearing a tile");
        watch.lap("clearing");
        if (variant == LatticeVariant::target_loop) {
          blend_target<<<blocks_of(to.width, to.height), block(), 0, stream>>>(to, from, steps,
                                                                               bounds_of(steps, first, {0, 0}));
        } else {
          const StepBounds all = bounds_of(steps, first, {to.width - 1, to.height - 1});
          const dim3 blocks = blocks_of(all.u_max - all.u_min + 1, all.v_max - all.v_min + 1);
          if (variant == LatticeVariant::uv_exchange)
            place_copies<true><<<blocks, block(), 0, stream>>>(to, from, steps, all);
          else place_copies<false><<<blocks, block(), 0, stream>>>(to, from, steps, all);
        }
        check_launch("stitching");
        watch.lap("stitching");
      });
}

Phases near(const Tile<const float>& source, int reach, NearVariant variant, const Tile<float>& distance,
            const Execution& execution) {
  const std::int64_t pixels = std::int64_t{source.width} * source.height;
  return run(source, distance, pixels, execution,
             [&](const Tile<const float>& from, const Tile<float>& to, Scratch& scratch, cudaStream_t stream,
                 Stopwatch& watch) {
               const auto squared = beside<std::uint32_t>(from, scratch);
               check(cudaMemsetAsync(squared.data, 0xff, sizeof(kBeyond) * pixels, stream), "clearing distances");
               watch.lap("clearing");
               find_near(from, squared, reach, variant, stream);
               watch.lap("squared distances");
               take_roots<<<blocks_of(from.width, from.height), block(), 0, stream>>>(squared, to);
               check_launch("taking roots");
               watch.lap("roots");
             });
}

}  // namespace fathom::published::cuda
