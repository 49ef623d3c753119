// Which points of lines are inside, by winding numbers: a line along x of a lattice for each thread.
#pragma once

#include "mesh/sides.hd.h"

namespace fathom::mesh::cuda {

FATHOM_HD inline std::int64_t words_of(const Grid& grid) { return (grid.shape[0] + 63) / 64; }

/// Whether point i of a line is inside.
__device__ inline bool is_set(const std::uint64_t* bits, std::int64_t i) { return bits[i / 64] >> i % 64 & 1; }

constexpr int kLinesBlock = 128;

/// @param lines  lines.count of them; lines.of(l, j, k) says whether line l is in the lattice, and which one it is
/// @param bits   [line, word]
template <class Lines>
__global__ void __launch_bounds__(kLinesBlock)
    set_lines(const __grid_constant__ TreeView tree, const __grid_constant__ Grid grid,
              const __grid_constant__ Lines lines, std::uint64_t* bits, std::int64_t words) {
  const std::int64_t line = std::int64_t{blockIdx.x} * kLinesBlock + threadIdx.x;
  std::int64_t j, k;
  if (line < lines.count && lines.of(line, j, k)) winding_line(tree, grid, j, k, bits + line * words);
}

}  // namespace fathom::mesh::cuda
