// Jump flooding on a device: see flooding.hd.h. Thread = element; a launch is a round. Memory: a second image.
#include <utility>

#include "published/cuda/task.h"
#include "published/flooding.hd.h"

namespace fathom::published::cuda {

namespace {

__global__ void __launch_bounds__(kBlock)
    flood(const __grid_constant__ Places places, const std::uint32_t* known, int step, std::uint32_t* next) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (at < places.size()) next[at] = flooded(places, known, places.point(at), step);
}

}  // namespace

void jump_flooding(const Task& task) {
  const Places& p = task.places;
  auto* const second = task.scratch.take<std::uint32_t>(p.size());
  if (task.counts_only()) return;
  std::uint32_t *known = task.nearest, *next = second;
  place_sites(task, known);
  const auto rounds = [&](int first, const char* name) {
    for (int step = first; step > 0; step /= 2) {
      flood<<<blocks_of(p.size()), kBlock, 0, task.stream>>>(p, known, step, next);
      fathom::cuda::check_launch("jump flooding");
      std::swap(known, next);
    }
    task.watch->lap(name);
  };
  rounds(first_step(p), "rounds");
  if (task.options.more_rounds > 0) rounds(1 << (task.options.more_rounds - 1), "more rounds");
  if (known != task.nearest)
    fathom::cuda::check(cudaMemcpyAsync(task.nearest, known, static_cast<std::size_t>(p.size()) * sizeof *known,
                                        cudaMemcpyDeviceToDevice, task.stream),
                        "copying the result");
}

}  // namespace fathom::published::cuda
