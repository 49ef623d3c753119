// Proximate points on a device: see proximate.hd.h. Thread = line. Stacks of neighbouring lines are neighbouring columns of
// an array (section 5.2), so that threads that push at the same time write side by side. In the access mode VTV-VTV what
// threads have written vertically is transposed by tiles. Memory: 2 bytes per element for what step 1 finds, 2 for
// stacks, and in that mode as much again for what is transposed.
#include <algorithm>

#include "published/cuda/task.h"
#include "published/cuda/transpose.cuh"
#include "published/proximate.hd.h"

namespace fathom::published::cuda {

namespace {

constexpr int kLines = 64;  ///< of a block: there are few threads

__global__ void __launch_bounds__(kLines) find_in_lines(const std::uint8_t* mask, const __grid_constant__ Step step,
                                                        int lines, int length, std::int16_t* found) {
  const std::int64_t line = std::int64_t{blockIdx.x} * kLines + threadIdx.x;
  if (line < lines) find_in_line(mask, step, line, length, found);
}

__global__ void __launch_bounds__(kLines)
    find_proximates(const __grid_constant__ Places places, bool columns_first, const std::int16_t* found,
                    const __grid_constant__ Step step, int lines, int length, std::int16_t* stacks,
                    std::uint32_t* nearest) {
  const std::int64_t line = std::int64_t{blockIdx.x} * kLines + threadIdx.x;
  if (line >= lines) return;
  find_proximate(found, step, line, length, stacks + line, lines, [&](std::int64_t at, int along, int beside) {
    nearest[at] = site_of(places, columns_first, along, beside);
  });
}

unsigned blocks_of_lines(int lines) { return static_cast<unsigned>((lines + kLines - 1) / kLines); }

}  // namespace

void proximate(const Task& task) {
  const Places& p = task.places;
  const Mode mode = mode_of(task.options.access, p.width, p.height);
  const bool transposes = mode.first.transpose;
  auto* found = task.scratch.take<std::int16_t>(p.size());
  auto* const stacks = task.scratch.take<std::int16_t>(p.size());
  auto* const transposed = task.scratch.take<std::int16_t>(transposes ? p.size() : 0);
  auto* const result = task.scratch.take<std::uint32_t>(transposes ? p.size() : 0);
  if (task.counts_only()) return;
  const int columns = mode.columns_first ? p.width : p.height, length = mode.columns_first ? p.height : p.width;
  find_in_lines<<<blocks_of_lines(columns), kLines, 0, task.stream>>>(task.mask, mode.first, columns, length, found);
  if (transposes) transpose(found, p.width, p.height, 1, transposed, task.stream);
  fathom::cuda::check_launch("finding sites in lines");
  task.watch->lap("step 1");
  find_proximates<<<blocks_of_lines(length), kLines, 0, task.stream>>>(
      p, mode.columns_first, transposes ? transposed : found, mode.second, length, columns, stacks,
      transposes ? result : task.nearest);
  if (transposes) transpose(result, p.height, p.width, 1, task.nearest, task.stream);
  fathom::cuda::check_launch("finding proximate points");
  task.watch->lap("step 2");
}

}  // namespace fathom::published::cuda
