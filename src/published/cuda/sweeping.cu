// Sweeps of vectors on a device: see flooding.hd.h. Thread = element of the line (in volumes, slice) whose turn it is;
// a launch is a line, as published, where one was a pass of the graphics pipeline.
#include "published/cuda/task.h"
#include "published/flooding.hd.h"

namespace fathom::published::cuda {

namespace {

__global__ void __launch_bounds__(kBlock)
    sweep_line(const __grid_constant__ Places places, Sweep sweep, int at, std::int64_t count, std::uint32_t* known) {
  const std::int64_t number = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (number >= count) return;
  const Point one = element(places, sweep.axis, at, number);
  known[places.index(one)] = swept(places, known, one, sweep);
}

}  // namespace

void sweeping(const Task& task) {
  if (task.counts_only()) return;
  const Places& p = task.places;
  place_sites(task, task.nearest);
  for (Axis axis : {kZ, kY, kX}) {
    if (axis == kZ && !task.is_volume) continue;
    const int lines = extent(p, axis);
    const std::int64_t count = p.size() / lines;
    const auto sweep = [&](int line, int direction) {
      sweep_line<<<blocks_of(count), kBlock, 0, task.stream>>>(p, Sweep{axis, direction}, line, count, task.nearest);
      fathom::cuda::check_launch("sweeping lines");
    };
    for (int line = 1; line < lines; ++line) sweep(line, 1);
    for (int line = lines - 2; line >= 0; --line) sweep(line, -1);
    task.watch->lap(axis == kX ? "sweeps along x" : axis == kY ? "sweeps along y" : "sweeps along z");
  }
}

}  // namespace fathom::published::cuda
