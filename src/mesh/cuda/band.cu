// Bands: the tiles that the surface may be near to, from coarse to fine, and those that are cut in its holes. Which of
// them are stored is plain for nearly all from one triangle and one point; the others are searched. Then each has its
// place, and is made by a block of threads; in the end come the sides of what is not stored.
#include <cub/device/device_scan.cuh>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "mesh/cuda/band.h"
#include "mesh/cuda/band_work.cuh"
#include "mesh/cuda/cut_tiles.h"
#include "mesh/cuda/lines.cuh"
#include "mesh/cuda/pieces.h"
#include "mesh/cuda/row_sides.h"
#include "mesh/cuda/side_questions.cuh"
#include "mesh/cuda/tile.cuh"

namespace fathom::mesh::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::DeviceMemory;
using fathom::cuda::kAllLanes;
using fathom::cuda::lane_id;
using fathom::cuda::Scratch;

/// By a warp, of which eight lanes have a word each: spreads the sides of known points to their neighbours until all
/// are known, step by step as mesh/cpu/band.cpp does.
__device__ std::uint64_t spread_sides(std::uint64_t known, std::uint64_t inside) {
  constexpr std::uint64_t kNotFirst = 0xfefefefefefefefe, kNotLast = 0x7f7f7f7f7f7f7f7f;
  const int z = lane_id() % kTileSide;
  const auto beside = [&](std::uint64_t word) {
    const std::uint64_t below = __shfl_up_sync(kAllLanes, word, 1, kTileSide),
                        above = __shfl_down_sync(kAllLanes, word, 1, kTileSide);
    return (word << 1 & kNotFirst) | (word >> 1 & kNotLast) | word << 8 | word >> 8 | (z > 0 ? below : 0) |
           (z < kTileSide - 1 ? above : 0);
  };
  while (__any_sync(kAllLanes, ~known != 0)) {
    const std::uint64_t next = known | beside(known);
    inside |= beside(inside) & next & ~known;
    known = next;
  }
  return inside;
}

template <class T>
__device__ T signed_value(double distance, bool inside) {
  const auto value = static_cast<T>(distance);
  return inside && value > 0 ? -value : value;
}

__device__ void put_distance(const BandWork& work, std::int64_t at, double distance, bool inside) {
  if (work.in_double) reinterpret_cast<double*>(work.to.distances)[at] = signed_value<double>(distance, inside);
  else reinterpret_cast<float*>(work.to.distances)[at] = signed_value<float>(distance, inside);
}

/// What a lane writes at once.
template <class T>
struct alignas(16) Row {
  T at[kPointsOfLane];
};

/// @param inside  a bit for each point
template <class T>
__device__ void put_row(std::byte* to, std::int64_t at, const double (&distances)[kPointsOfLane], unsigned inside) {
  Row<T> row;
#pragma unroll
  for (int n = 0; n < kPointsOfLane; ++n) row.at[n] = signed_value<T>(distances[n], inside >> n & 1);
  reinterpret_cast<Row<T>*>(to)[at / kPointsOfLane] = row;
}

/// A team for each near tile: whether it is plain that it is stored, by the point of it that is next to where the
/// triangle nearest to its middle is nearest. Others are listed as open.
__global__ void __launch_bounds__(kAnswerBlock)
    mark_stored(const __grid_constant__ TreeView tree, const __grid_constant__ BandWork work) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * kAnswerBlock + threadIdx.x) / kFan;
  if (i >= work.near.count) return;
  const Team team(tree, nullptr, 0);
  const Grid& grid = work.tiles.grid;
  std::int64_t first[3];
  work.near.first_of(i, first);
  const Vec3 middle = ball_about(grid, first, {kTileSide, kTileSide, kTileSide}).middle;
  const TileList& list = work.lists[i];
  Nearest nearest;
  Triangle triangle;
  for (int k = team.lane(); k < min(list.count, kMostListed); k += kFan) {
    const Triangle other = triangle_at(tree.mesh, list.places[k]);
    const Nearest there = nearest_of(other, middle);
    if (!(there.squared < nearest.squared)) continue;
    nearest = there;
    triangle = other;
  }
  const auto index = [&](int k, double at) {
    const double low = static_cast<double>(first[k]),
                 place = rint((at - grid.origin[k]) / grid.spacing[k] - static_cast<double>(grid.first[k])),
                 high = static_cast<double>(min(first[k] + kTileSide, grid.shape[k]) - 1);
    return static_cast<std::int64_t>(fmin(fmax(place, low), high));
  };
  bool plain = work.cut && work.cut[work.near.numbers[i]];
  if (nearest.squared < INFINITY) {
    const Vec3 at = middle + nearest.way, point = grid.point(index(0, at.x), index(1, at.y), index(2, at.z));
    plain |= nearest_of(triangle, point).squared <= work.largest_near;
  }
  plain = team.votes(plain) != 0;
  if (team.lane() != 0) return;
  work.stored[i] = plain;
  if (!plain) work.open[atomicAdd(&work.counts->open, 1ull)] = static_cast<std::int32_t>(i);
}

/// Blocks for the open tiles: whether they are stored.
__global__ void __launch_bounds__(kTileBlock, kTileBlocks)
    settle(const __grid_constant__ TreeView tree, const __grid_constant__ BandWork work) {
  TileMemory& memory = tile_memory();
  const auto open = static_cast<std::int64_t>(work.counts->open);
  for (std::int64_t k = blockIdx.x; k < open; k += gridDim.x) {
    const std::int64_t i = work.open[k];
    std::int64_t first[3];
    work.near.first_of(i, first);
    TileSearch search(tree, work.tiles.grid, first, memory);
    bool near = false;
    search.run(work.rule.within, work.lists[i], [&](int n, std::int64_t, const Nearest& nearest) {
      near |= search.exists(n) && nearest.squared <= work.largest_near;
    });
    near = __syncthreads_or(near);
    if (threadIdx.x == 0) work.stored[i] = near;
  }
}

/// What a lane knows of its points, as bits, put together to the words of its tile.
__device__ void put_bits(std::uint32_t (&words)[2 * kTileSide], unsigned bits) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = lane_id();
  std::uint32_t word = bits << kPointsOfLane * (lane % 8);
  for (int step = 4; step > 0; step /= 2) word |= __shfl_xor_sync(kAllLanes, word, step);
  if (lane % 8 == 0) words[2 * (warp / 2 * 4 + lane / 8) + warp % 2] = word;
}
__device__ std::uint64_t word_of(const std::uint32_t (&words)[2 * kTileSide], int z) {
  return std::uint64_t{words[2 * z + 1]} << 32 | words[2 * z];
}

/// What is found of a lane's points.
struct LanePoints {
  unsigned within = 0, inside = 0;  ///< as bits: in the band, and inside as far as they tell it themselves
  double squares[kPointsOfLane];
  std::int32_t ids[kPointsOfLane] = {-1, -1, -1, -1};
  float closest[3 * kPointsOfLane];
};

/// Which of a lane's points are inside, as bits. By all threads.
template <Sign kSign>
__device__ unsigned sides_of(const BandWork& work, const TileSearch& search, std::int64_t i, const LanePoints& points,
                             TileMemory& memory) {
  if constexpr (kSign == Sign::winding) {
    unsigned inside = 0;
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) {
      const int at = TileSearch::index_of(n);
      const std::int64_t line = std::int64_t{work.rows[i] - 1} * (kTileSide * kTileSide) + at / 8,
                         x = search.first(0) + at % 8;
      if (x < work.tiles.grid.shape[0])
        inside |= unsigned{is_set(work.bits + line * words_of(work.tiles.grid), x)} << n;
    }
    return inside;
  }
  if (kSign == Sign::none || !work.rule.spreads) return points.inside;
  put_bits(memory.inside, points.inside);
  __syncthreads();
  if (threadIdx.x < 32) {
    const int z = lane_id() % kTileSide;
    const std::uint64_t inside = spread_sides(word_of(memory.mask, z), word_of(memory.inside, z));
    if (lane_id() < kTileSide) {
      memory.inside[2 * z] = static_cast<std::uint32_t>(inside);
      memory.inside[2 * z + 1] = static_cast<std::uint32_t>(inside >> 32);
    }
  }
  __syncthreads();
  const int first = TileSearch::index_of(0);
  return memory.inside[first / 32] >> first % 32;
}

/// @param at  place of the first one
__device__ void store_points(const BandWork& work, const LanePoints& points, unsigned inside, std::int64_t at) {
  double distances[kPointsOfLane];
#pragma unroll
  for (int n = 0; n < kPointsOfLane; ++n) distances[n] = points.within >> n & 1 ? sqrt(points.squares[n]) : work.cutoff;
  if (work.in_double) put_row<double>(work.to.distances, at, distances, inside);
  else put_row<float>(work.to.distances, at, distances, inside);
  if (work.to.triangles) {
    Row<std::int32_t> row;
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) row.at[n] = points.ids[n];
    reinterpret_cast<Row<std::int32_t>*>(work.to.triangles)[at / kPointsOfLane] = row;
  }
  if (!work.to.closest) return;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    Row<float> row;
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) row.at[n] = points.closest[k * kPointsOfLane + n];
    reinterpret_cast<Row<float>*>(work.to.closest)[3 * (at / kPointsOfLane) + k] = row;
  }
}

template <Sign kSign>
__global__ void __launch_bounds__(kTileBlock, kTileBlocks)
    make_tiles(const __grid_constant__ TreeView tree, const __grid_constant__ BandWork work) {
  const std::int64_t i = blockIdx.x;
  const std::int64_t slot = static_cast<std::int64_t>(work.counts->tiles_before) + work.ranks[i] - 1;
  if (i == work.near.count - 1 && threadIdx.x == 0) work.counts->tiles = static_cast<unsigned long long>(slot + 1);
  if (!work.stored[i]) return;
  TileMemory& memory = tile_memory();
  std::int64_t first[3];
  work.near.first_of(i, first);
  TileSearch search(tree, work.tiles.grid, first, memory);
  LanePoints points;
#pragma unroll
  for (float& x : points.closest) x = __int_as_float(0x7fc00000);  // as the host's
  search.run(work.rule.within, work.lists[i], [&](int n, std::int64_t place, const Nearest& nearest) {
    if (!search.exists(n) || !(nearest.squared <= work.largest)) return;
    points.within |= 1u << n;
    points.squares[n] = nearest.squared;
    if constexpr (kSign != Sign::none && kSign != Sign::winding)
      points.inside |= unsigned{is_inside<kSign>(tree, search.point(n), place, nearest)} << n;
    if (work.to.triangles) points.ids[n] = tree.mesh.ids[place];
    if (!work.to.closest) return;
    const Vec3 closest = closest_of(triangle_at(tree.mesh, place), nearest, search.point(n));
    points.closest[3 * n] = static_cast<float>(closest.x);
    points.closest[3 * n + 1] = static_cast<float>(closest.y);
    points.closest[3 * n + 2] = static_cast<float>(closest.z);
  });
  put_bits(memory.mask, points.within);
  const unsigned inside = sides_of<kSign>(work, search, i, points, memory);
  store_points(work, points, inside, slot * kTilePoints + TileSearch::index_of(0));
  if (threadIdx.x == 0)
    for (int k = 0; k < 3; ++k) work.to.tiles[3 * slot + k] = static_cast<std::int32_t>(first[k] / kTileSide);
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const std::uint64_t mask = word_of(memory.mask, lane_id() % kTileSide);
  if (lane_id() < kTileSide) work.to.masks[kTileSide * slot + lane_id()] = mask;
  int active = __popcll(mask);
  for (int step = kTileSide / 2; step > 0; step /= 2) active += __shfl_xor_sync(kAllLanes, active, step, kTileSide);
  if (lane_id() == 0) atomicAdd(&work.counts->points, static_cast<unsigned long long>(active));
}

/// Of a band that is done: what of it is still to be signed.
struct BandTiles {
  TileGrid tiles;
  std::int64_t count;
  const std::int32_t* stored;

  __device__ std::int64_t row_of(std::int64_t t) const {
    return stored[3 * t + 2] * tiles.shape[1] + stored[3 * t + 1];
  }
  __device__ Vec3 point(std::int64_t tx, std::int64_t row) const {
    return tiles.grid.point(tx * kTileSide, row % tiles.shape[1] * kTileSide, row / tiles.shape[1] * kTileSide);
  }
};

/// The tiles after stored ones, and the first of each row, where these are not stored.
struct Gaps : BandTiles {
  std::uint8_t *after_inside, *row_inside;

  FATHOM_HD std::int64_t questions() const { return count + tiles.rows(); }
  __device__ Question question(std::int64_t i) const {
    if (i < count) {
      const std::int64_t row = row_of(i), next = std::int64_t{stored[3 * i]} + 1;
      const bool is_stored = i + 1 < count && row_of(i + 1) == row && stored[3 * i + 3] == next;
      return {next < tiles.shape[0] && !is_stored, point(next, row)};
    }
    const std::int64_t row = i - count;
    std::int64_t low = 0, high = count;  // the first tile that is not before the row
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (row_of(middle) < row) low = middle + 1;
      else high = middle;
    }
    return {!(low < count && row_of(low) == row && stored[3 * low] == 0), point(0, row)};
  }
  __device__ void take(std::int64_t i, bool inside) const {
    (i < count ? after_inside + i : row_inside + (i - count))[0] = inside;
  }
};

/// The points of stored tiles that are not in the band.
struct FarPoints : BandTiles {
  BandWork work;

  FATHOM_HD std::int64_t questions() const { return count * kTilePoints; }
  __device__ Question question(std::int64_t i) const {
    const std::int64_t t = i / kTilePoints, n = i % kTilePoints;
    const std::int32_t* const tile = stored + 3 * t;
    return {!(work.to.masks[kTileSide * t + n / 64] >> n % 64 & 1),
            tiles.grid.point(std::int64_t{tile[0]} * kTileSide + n % 8, std::int64_t{tile[1]} * kTileSide + n / 8 % 8,
                             std::int64_t{tile[2]} * kTileSide + n / 64)};
  }
  __device__ void take(std::int64_t i, bool inside) const {
    if (inside) put_distance(work, i, work.cutoff, true);
  }
};

BandArrays place_arrays(const BandOptions& options, const TileGrid& tiles, std::int64_t count, Scratch& scratch) {
  BandArrays to{};
  to.tiles = scratch.take<std::int32_t>(3 * count);
  to.masks = scratch.take<std::uint64_t>(kTileSide * count);
  to.distances = scratch.take<std::byte>(count * kTilePoints * static_cast<std::int64_t>(size_of(options.dtype)));
  if (options.triangles) to.triangles = scratch.take<std::int32_t>(kTilePoints * count);
  if (options.closest) to.closest = scratch.take<float>(3 * kTilePoints * count);
  to.after_inside = scratch.take<std::uint8_t>(count);
  to.row_inside = scratch.take<std::uint8_t>(tiles.rows());
  return to;
}

template <class T>
AnyConstDeviceView view_of(const T* data, DType dtype, const Shape& shape) {
  return {reinterpret_cast<const std::byte*>(data), dtype, shape};
}

constexpr std::int64_t kWatchedTiles = 1 << 18, kMostTiles = 1 << 22;  ///< at a time

/// What making a piece takes besides its lists.
class PieceScratch {
 public:
  PieceScratch(BandWork& work, std::int64_t count, cudaStream_t stream) : work_(work) {
    scan(nullptr, count, stream);
    Scratch sizes(nullptr);
    place(sizes, count);
    bytes_ = sizes.bytes();
  }
  std::size_t bytes() const { return bytes_; }
  void place(Scratch& scratch, std::int64_t count) {
    work_.counts = scratch.take<Counts>(1);
    work_.stored = scratch.take<std::int32_t>(count);
    work_.ranks = scratch.take<std::int32_t>(count);
    work_.open = scratch.take<std::int32_t>(count);
    temporary_ = scratch.take<std::byte>(static_cast<std::int64_t>(for_scan_));
  }
  void rank(std::int64_t count, cudaStream_t stream) { scan(temporary_, count, stream); }

 private:
  void scan(void* temporary, std::int64_t count, cudaStream_t stream) {
    check(cub::DeviceScan::InclusiveSum(temporary, for_scan_, work_.stored, work_.ranks, count, stream),
          "ranking tiles");
  }

  BandWork& work_;
  std::size_t bytes_ = 0, for_scan_ = 0;
  std::byte* temporary_ = nullptr;
};

/// How many of the near tiles are made at a time.
/// @param fixed  bytes of scratch that are taken besides
std::int64_t tiles_at_a_time(const TreeView& tree, const TileGrid& tiles, std::int64_t near, std::size_t fixed,
                             const Execution& execution) {
  near = std::min(near, is_watched(execution) ? kWatchedTiles : kMostTiles);
  const std::size_t of_tile = sizeof(TileList) + 3 * sizeof(std::int32_t) + 1 + RowSides::bytes_of_tile(tree),
                    of_row = RowSides::bytes_of_row(tree, tiles.grid),
                    of_rows = static_cast<std::size_t>(tiles.rows()) * of_row;
  fixed += std::size_t{1} << 17;  // for what is small
  // All rows, where there is room for them; else a tile may be the only one of its row.
  const bool has_room = execution.scratch_limit.value_or(SIZE_MAX) / 2 > fixed + of_rows;
  return parts_at_a_time(near, fixed + (has_room ? of_rows : 0), of_tile + (has_room ? 0 : of_row), SIZE_MAX,
                         execution);
}

/// Makes all tiles of a piece.
void make_piece(const TreeView& tree, BandWork& work, PieceScratch& scratch, cudaStream_t stream) {
  const std::int64_t count = work.near.count;
  auto* const lists = const_cast<TileList*>(work.lists);
  const unsigned teams = blocks_for(count * kFan, kAnswerBlock);
  list_triangles<<<teams, kAnswerBlock, stacks_bytes(tree, kAnswerBlock), stream>>>(
      tree, work.tiles.grid, work.near, work.rule.within, lists, stack_size(tree));
  check_launch("listing triangles");
  check(cudaMemsetAsync(&work.counts->open, 0, sizeof work.counts->open, stream), "clearing counts");
  mark_stored<<<teams, kAnswerBlock, 0, stream>>>(tree, work);
  check_launch("marking tiles");
  launch_tiles(settle, std::min<std::int64_t>(count, kTileBlocks * fathom::cuda::multiprocessors()), tree, stream, tree,
               work);
  scratch.rank(count, stream);
  visit_sign(tree.sign,
             [&]<Sign kSign>(SignTag<kSign>) { launch_tiles(make_tiles<kSign>, count, tree, stream, tree, work); });
}

/// Makes all tiles that are near, one piece of them after the other. Waits.
Counts make_pieces(const TreeView& tree, BandWork& work, const NearTiles& near, std::int64_t piece,
                   const Execution& execution, cudaStream_t stream) {
  Counts found{};
  if (near.count == 0) return found;
  PieceScratch arrays(work, piece, stream);
  const DeviceMemory memory(arrays.bytes(), stream), lists(static_cast<std::size_t>(piece) * sizeof(TileList), stream);
  Scratch scratch(memory.data());
  arrays.place(scratch, piece);
  work.lists = reinterpret_cast<const TileList*>(lists.data());
  check(cudaMemsetAsync(work.counts, 0, sizeof(Counts), stream), "clearing counts");
  for (std::int64_t first = 0; first < near.count; first += piece) {
    stop_if_asked(execution);
    const std::int64_t count = std::min(piece, near.count - first);
    work.near = {work.tiles, count, near.tiles + first, near.cubes};
    const RowSides sides(tree, work.tiles, work.near.numbers, count, stream);
    work.bits = sides.bits();
    work.rows = sides.rows();
    if (first > 0)
      check(cudaMemcpyAsync(&work.counts->tiles_before, &work.counts->tiles, sizeof work.counts->tiles,
                            cudaMemcpyDeviceToDevice, stream),
            "counting tiles");
    make_piece(tree, work, arrays, stream);
    if (!is_watched(execution) || first + count == near.count) continue;
    check(cudaStreamSynchronize(stream), "making tiles");
    tell(execution, first + count, near.count);
  }
  check(cudaMemcpyAsync(&found, work.counts, sizeof found, cudaMemcpyDeviceToHost, stream), "reading counts");
  check(cudaStreamSynchronize(stream), "making tiles");
  tell(execution, near.count, near.count);
  return found;
}

}  // namespace

DeviceBand make_band(const TreeView& tree, const Lattice& lattice, const Planes& planes, const BandOptions& options,
                     bool is_scratch, cudaStream_t stream) {
  const TileGrid tiles(lattice, planes);
  const BandRule rule = band_rule(lattice, options.cutoff, tree);
  NearTiles near = near_tiles(tree, tiles, rule.within, options.execution, stream);
  stop_if_asked(options.execution);
  const CutTiles cut =
      rule.asks_corners && tiles.count() > 0 ? add_cut_tiles(tree, tiles, near, options.execution, stream) : CutTiles();
  Scratch sizes(nullptr);
  place_arrays(options, tiles, near.count, sizes);
  const std::size_t fixed = near.bytes + cut.bytes + (is_scratch ? sizes.bytes() : 0);
  const std::int64_t piece = tiles_at_a_time(tree, tiles, near.count, fixed, options.execution);
  check(cudaStreamSynchronize(nullptr), "asking for memory");
  const auto memory = std::make_shared<DeviceMemory>(sizes.bytes(), nullptr);  // outlives the stream
  check(cudaStreamSynchronize(nullptr), "asking for memory");
  Scratch arrays(memory->data());
  const BandArrays to = place_arrays(options, tiles, near.count, arrays);
  BandWork work{tiles,
                options.cutoff,
                largest_square(options.cutoff),
                largest_square(rule.within),
                rule,
                options.dtype == DType::float64,
                to,
                cut.marks,
                {tiles, 0, nullptr, {}}};
  const Counts found = make_pieces(tree, work, near, piece, options.execution, stream);
  const auto count = static_cast<std::int64_t>(found.tiles);
  check(cudaMemsetAsync(to.row_inside, 0, static_cast<std::size_t>(tiles.rows()), stream), "clearing sides");
  check(cudaMemsetAsync(to.after_inside, 0, static_cast<std::size_t>(count), stream), "clearing sides");
  if (tree.sign != Sign::none && tiles.shape[0] > 0) {
    const BandTiles done{tiles, count, to.tiles};
    ask_sides(tree, Gaps{done, to.after_inside, to.row_inside}, stream);
    if (!work.rule.spreads && tree.sign != Sign::winding) ask_sides(tree, FarPoints{done, work}, stream);
  }
  check(cudaStreamSynchronize(stream), "signing a band");

  DeviceBand band;
  band.lattice = lattice;
  band.cutoff = options.cutoff;
  band.is_signed = tree.sign != Sign::none;
  band.active = static_cast<std::int64_t>(found.points);
  band.tiles = view_of(to.tiles, DType::int32, {count, 3});
  band.masks = view_of(to.masks, DType::uint64, {count, kTileSide});
  band.distances = view_of(to.distances, options.dtype, {count, kTilePoints});
  if (options.triangles) band.triangles = view_of(to.triangles, DType::int32, {count, kTilePoints});
  if (options.closest) band.closest = view_of(to.closest, DType::float32, {count, kTilePoints, 3});
  band.after_inside = view_of(to.after_inside, DType::uint8, {count});
  band.row_inside = view_of(to.row_inside, DType::uint8, {tiles.shape[2], tiles.shape[1]});
  band.bytes = sizes.bytes();
  band.memory = memory;
  return band;
}

}  // namespace fathom::mesh::cuda
