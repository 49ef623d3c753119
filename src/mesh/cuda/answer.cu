// Each team answers eight points at a time. Of a lattice it takes rows of eight, back and forth: every search starts from
// the answer of a neighbour.
// Source: as mesh/cpu/search.cpp. Cost: as there, kFan lanes for each node.
#include "mesh/cuda/answer.h"

#include "core/cuda/runtime.h"
#include "mesh/cuda/lines.cuh"
#include "mesh/cuda/questions.cuh"

namespace fathom::mesh::cuda {

namespace {

using fathom::cuda::check_launch;

__global__ void __launch_bounds__(kAnswerBlock)
    answer_points_kernel(const __grid_constant__ TreeView tree, const __grid_constant__ Points points,
                         const __grid_constant__ Places to, int stack_nodes) {
  extern __shared__ Node stacks[];
  Team team(tree, stacks, stack_nodes);
  const std::int64_t i = std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x;
  Question own;
  if (i < points.count) own = {true, {points.at(i, 0), points.at(i, 1), points.at(i, 2)}};
  constexpr double kMost = 1e150;
  own.valid &= fabs(own.point.x) <= kMost && fabs(own.point.y) <= kMost && fabs(own.point.z) <= kMost;
  std::int64_t near = -1;
  const Found found = answer_own(team, own, near);
  if (own.valid) put(tree.mesh, to, {{i}, own.point, found.place, found.squared, is_inside(tree, own.point, found.place)});
  else if (i < points.count) put_none(to, {i, 0, 0});
}

constexpr int kRowsOfTeam = 8;

/// The cells of kFan × kRowsOfTeam points that teams take of some planes.
struct Cells {
  std::int64_t across, down;  ///< along x and y

  explicit Cells(const Grid& grid)
      : across((grid.shape[0] + kFan - 1) / kFan), down((grid.shape[1] + kRowsOfTeam - 1) / kRowsOfTeam) {}
};

__global__ void __launch_bounds__(kAnswerBlock)
    answer_lattice_kernel(const __grid_constant__ TreeView tree, const __grid_constant__ Grid grid,
                          const __grid_constant__ Planes planes, const __grid_constant__ Cells cells,
                          const __grid_constant__ Places to, const std::uint64_t* bits, std::int64_t words, int stack_nodes) {
  extern __shared__ Node stacks[];
  Team team(tree, stacks, stack_nodes);
  const std::int64_t number = (std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x) / kFan;
  const std::int64_t plane = number / cells.across / cells.down, first_row = number / cells.across % cells.down * kRowsOfTeam;
  if (plane >= planes.count) return;
  std::int64_t near = 0;
  for (int row = 0; row < kRowsOfTeam; ++row) {
    const int along = row % 2 ? kFan - 1 - team.lane() : team.lane();
    const std::int64_t x = number % cells.across * kFan + along, y = first_row + row;
    const Question own{x < grid.shape[0] && y < grid.shape[1], grid.point(x, y, planes.first + plane)};
    const Found found = answer_own(team, own, near);
    if (!own.valid) continue;
    const bool inside = bits ? is_set(bits + (plane * grid.shape[1] + y) * words, x) : is_inside(tree, own.point, found.place);
    put(tree.mesh, to, {{plane, y, x}, own.point, found.place, found.squared, inside});
  }
}

/// All lines of some planes.
struct LinesOfPlanes {
  std::int64_t count, of_plane, first;

  __device__ bool of(std::int64_t line, std::int64_t& j, std::int64_t& k) const {
    j = line % of_plane;
    k = first + line / of_plane;
    return true;
  }
};

}  // namespace

void answer_points(const TreeView& tree, const Points& points, const Places& to, cudaStream_t stream) {
  answer_points_kernel<<<blocks_for(points.count, kAnswerBlock), kAnswerBlock, stacks_bytes(tree, kAnswerBlock), stream>>>(
      tree, points, to, stack_size(tree));
  check_launch("finding nearest triangles");
}

std::size_t plane_bytes(const TreeView& tree, const Grid& grid) {
  return tree.sign == Sign::winding ? static_cast<std::size_t>(grid.shape[1] * words_of(grid)) * sizeof(std::uint64_t) : 0;
}

void answer_lattice(const TreeView& tree, const Grid& grid, const Planes& planes, const Places& to, std::byte* scratch,
                    cudaStream_t stream) {
  std::uint64_t* bits = nullptr;
  if (tree.sign == Sign::winding) {
    bits = reinterpret_cast<std::uint64_t*>(scratch);
    const LinesOfPlanes lines{planes.count * grid.shape[1], grid.shape[1], planes.first};
    set_lines<<<blocks_for(lines.count, kLinesBlock), kLinesBlock, 0, stream>>>(tree, grid, lines, bits, words_of(grid));
    check_launch("counting windings");
  }
  const Cells cells(grid);
  const std::int64_t threads = cells.across * cells.down * planes.count * kFan;
  answer_lattice_kernel<<<blocks_for(threads, kAnswerBlock), kAnswerBlock, stacks_bytes(tree, kAnswerBlock), stream>>>(
      tree, grid, planes, cells, to, bits, words_of(grid), stack_size(tree));
  check_launch("finding nearest triangles");
}

}  // namespace fathom::mesh::cuda
