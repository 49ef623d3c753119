// Points are answered by teams, eight at a time, lattices tile by tile: how far the tile's middle is says which
// triangles matter to its points.
// Cost: of points as in mesh/cpu/search.cpp, kFan lanes for each node; see tile.cuh.
#include "core/cuda/runtime.h"
#include "mesh/cuda/answer.h"
#include "mesh/cuda/lines.cuh"
#include "mesh/cuda/tile.cuh"

namespace fathom::mesh::cuda {

namespace {

using fathom::cuda::check_launch;

template <Sign kSign>
__global__ void __launch_bounds__(kAnswerBlock)
    answer_by_teams(const __grid_constant__ TreeView tree, const __grid_constant__ Points points,
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
  if (own.valid)
    put(tree.mesh, to, {{i}, own.point, found.place, found.squared, is_inside<kSign>(tree, own.point, found)});
  else if (i < points.count) put_none(to, {i, 0, 0});
}

/// The tiles of some planes, from the first of them on.
struct TilesOfPlanes {
  std::int64_t across, down, first_plane, count;

  TilesOfPlanes(const Grid& grid, const Planes& planes) : first_plane(planes.first) {
    const auto of = [](std::int64_t points) { return (points + kTileSide - 1) / kTileSide; };
    across = of(grid.shape[0]);
    down = of(grid.shape[1]);
    count = across * down * of(planes.count);
  }
  __device__ const CubeList* list_of(std::int64_t) const { return nullptr; }
  __device__ void first_of(std::int64_t tile, std::int64_t (&at)[3]) const {
    at[0] = tile % across * kTileSide;
    at[1] = tile / across % down * kTileSide;
    at[2] = first_plane + tile / across / down * kTileSide;
  }
};

template <Sign kSign>
__global__ void __launch_bounds__(kTileBlock, kTileBlocks)
    answer_tiles(const __grid_constant__ TreeView tree, const __grid_constant__ Grid grid,
                 const __grid_constant__ Planes planes, const __grid_constant__ TilesOfPlanes tiles,
                 const __grid_constant__ Places to, const TileList* lists, const std::uint64_t* bits,
                 std::int64_t words) {
  std::int64_t first[3];
  tiles.first_of(blockIdx.x, first);
  TileSearch search(tree, grid, first, tile_memory());
  search.run(INFINITY, lists[blockIdx.x], [&](int n, std::int64_t place, const Nearest& nearest) {
    const int i = TileSearch::index_of(n);
    const std::int64_t x = first[0] + i % 8, y = first[1] + i / 8 % 8, z = first[2] - planes.first + i / 64;
    if (x >= grid.shape[0] || y >= grid.shape[1] || z >= planes.count) return;
    bool inside;
    if constexpr (kSign == Sign::winding) inside = is_set(bits + (z * grid.shape[1] + y) * words, x);
    else inside = is_inside<kSign>(tree, search.point(n), place, nearest);
    put(tree.mesh, to, {{z, y, x}, search.point(n), place, nearest.squared, inside});
  });
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
  visit_sign(tree.sign, [&]<Sign kSign>(SignTag<kSign>) {
    answer_by_teams<kSign>
        <<<blocks_for(points.count, kAnswerBlock), kAnswerBlock, stacks_bytes(tree, kAnswerBlock), stream>>>(
            tree, points, to, stack_size(tree));
  });
  check_launch("finding nearest triangles");
}

std::size_t plane_bytes(const TreeView& tree, const Grid& grid) {
  const std::int64_t words = tree.sign == Sign::winding ? grid.shape[1] * words_of(grid) : 0;
  return static_cast<std::size_t>(TilesOfPlanes(grid, {0, 1}).count) * sizeof(TileList) +
         static_cast<std::size_t>(words) * sizeof(std::uint64_t);
}

void answer_lattice(const TreeView& tree, const Grid& grid, const Planes& planes, const Places& to, std::byte* scratch,
                    cudaStream_t stream) {
  const TilesOfPlanes tiles(grid, planes);
  auto* const lists = reinterpret_cast<TileList*>(scratch);
  auto* const bits = reinterpret_cast<std::uint64_t*>(lists + tiles.count);
  if (tree.sign == Sign::winding) {
    const LinesOfPlanes lines{planes.count * grid.shape[1], grid.shape[1], planes.first};
    set_lines<<<blocks_for(lines.count, kLinesBlock), kLinesBlock, 0, stream>>>(tree, grid, lines, bits,
                                                                                words_of(grid));
    check_launch("counting windings");
  }
  list_triangles<<<blocks_for(tiles.count * kFan, kAnswerBlock), kAnswerBlock, stacks_bytes(tree, kAnswerBlock),
                   stream>>>(tree, grid, tiles, INFINITY, lists, stack_size(tree));
  check_launch("listing triangles");
  visit_sign(tree.sign, [&]<Sign kSign>(SignTag<kSign>) {
    launch_tiles(answer_tiles<kSign>, tiles.count, tree, stream, tree, grid, planes, tiles, to, lists, bits,
                 words_of(grid));
  });
}

}  // namespace fathom::mesh::cuda
