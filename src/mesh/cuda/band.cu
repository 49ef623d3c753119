// Bands: the tiles that the surface may be near to, from coarse to fine, and those that are cut in its holes; each by a
// block of threads, which also learns from those before it where its place among the active tiles is; in the end the
// sides of what is not stored.
// Source: places by looking back after Merrill & Garland, Single-pass parallel prefix scan with decoupled look-back,
// 2016.
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "mesh/band_rule.h"
#include "mesh/cuda/band.h"
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

/// What is known of a tile's place: the number of active tiles · 4, and what it counts.
enum State : unsigned long long { unknown = 0, own = 1, with_all_before = 2 };

/// Of all pieces, but for the tickets.
struct Counts {
  unsigned long long tiles_before;  ///< the piece
  unsigned long long tiles, points;
  unsigned long long tickets;
};

/// Arrays of a band, for as many tiles as are near.
struct BandArrays {
  std::int32_t* tiles;
  std::uint64_t* masks;
  std::byte* distances;
  std::int32_t* triangles;  ///< may be null, as the next
  float* closest;
  std::uint8_t *row_inside, *after_inside;
};

/// Tiles by their numbers.
struct NearList {
  TileGrid tiles;
  std::int64_t count;
  const std::uint64_t* numbers;
  CubeLists cubes;

  __device__ const CubeList* list_of(std::int64_t i) const {
    std::int64_t at[3];
    place_of(i, at);
    return cubes.of(at);
  }
  __device__ void place_of(std::int64_t i, std::int64_t (&at)[3]) const {
    tiles.place_of(static_cast<std::int64_t>(numbers[i]), at);
  }
  __device__ void first_of(std::int64_t i, std::int64_t (&at)[3]) const {
    place_of(i, at);
    for (std::int64_t& x : at) x *= kTileSide;
  }
};

struct BandWork {
  TileGrid tiles;
  double cutoff;
  double largest, largest_near;  ///< squares of distances in the band, and of those for which a tile is stored
  BandRule rule;
  bool in_double;
  BandArrays to;
  const std::uint8_t* cut;  ///< [tile]: whether inside and outside meet in it; or null

  // Of a piece of the near tiles.
  NearList near;
  const TileList* lists = nullptr;       ///< [near tile]
  const std::uint64_t* bits = nullptr;   ///< of the lines of their rows, where winding numbers make the sign
  const std::int32_t* rows = nullptr;    ///< [near tile]: number of its row among those, from 1
  unsigned long long* places = nullptr;  ///< [near tile]: see State
  Counts* counts = nullptr;
};

/// By a warp: how many tiles before one are active, once that is known of them all.
__device__ std::int64_t active_before(unsigned long long* places, std::int64_t tile, bool is_active) {
  const auto tell = [&](std::int64_t count, State state) {
    if (lane_id() == 0) atomicExch(places + tile, static_cast<unsigned long long>(count) << 2 | state);
  };
  std::int64_t sum = 0;
  if (tile > 0) tell(is_active, own);
  for (std::int64_t last = tile - 1; last >= 0; last -= 32) {
    const std::int64_t other = last - lane_id();
    unsigned long long word = with_all_before;
    if (other >= 0) do
        word = *const_cast<volatile unsigned long long*>(places + other);
      while ((word & 3) == unknown);
    const unsigned whole = __ballot_sync(kAllLanes, (word & 3) == with_all_before);
    const int end = whole ? lowest_bit(whole) : 31;
    std::int64_t count = lane_id() <= end ? static_cast<std::int64_t>(word >> 2) : 0;
    for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(kAllLanes, count, step);
    sum += count;
    if (whole) break;
  }
  tell(sum + is_active, with_all_before);
  return sum;
}

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

/// Point i of a tile, in words of the order of Band's masks.
__device__ void set_bit(std::uint64_t* words, int i) {
  atomicOr(reinterpret_cast<std::uint32_t*>(words) + i / 32, 1u << i % 32);
}

/// Which points of the tile are inside, as far as its own points tell it. By all threads.
/// @param found, within  the lane's points, and which of them are in the band, as bits
template <Sign kSign>
__device__ void set_sides(const TreeView& tree, const BandWork& work, const TileSearch& search,
                          const std::int64_t (&first)[3], const Found (&found)[kPointsOfLane], unsigned within,
                          TileMemory& memory) {
#pragma unroll
  for (int n = 0; n < kPointsOfLane; ++n) {
    const int i = TileSearch::index_of(n);
    bool inside = false;
    if constexpr (kSign != Sign::winding) {
      inside = within >> n & 1 && is_inside<kSign>(tree, search.point(n), found[n]);
    } else if (first[0] + i % 8 < work.tiles.grid.shape[0]) {
      const std::int64_t line = std::int64_t{work.rows[memory.ticket] - 1} * (kTileSide * kTileSide) + i / 8;
      inside = is_set(work.bits + line * words_of(work.tiles.grid), first[0] + i % 8);
    }
    if (inside) set_bit(memory.inside, i);
  }
  __syncthreads();
  if (kSign == Sign::winding || !work.rule.spreads || threadIdx.x >= 32) return;
  const int z = lane_id() % kTileSide;
  const std::uint64_t inside = spread_sides(memory.mask[z], memory.inside[z]);
  if (lane_id() < kTileSide) memory.inside[z] = inside;
}

template <Sign kSign>
__device__ void store_points(const TreeView& tree, const BandWork& work, const TileSearch& search,
                             const Found (&found)[kPointsOfLane], unsigned within, const TileMemory& memory) {
  const int first = TileSearch::index_of(0);
  const std::int64_t at = memory.slot * kTilePoints + first;
  const auto inside = static_cast<unsigned>(memory.inside[first / 64] >> first % 64);
  double distances[kPointsOfLane];
#pragma unroll
  for (int n = 0; n < kPointsOfLane; ++n) distances[n] = within >> n & 1 ? sqrt(found[n].squared) : work.cutoff;
  if (work.in_double) put_row<double>(work.to.distances, at, distances, kSign == Sign::none ? 0 : inside);
  else put_row<float>(work.to.distances, at, distances, kSign == Sign::none ? 0 : inside);
  if (work.to.triangles) {
    Row<std::int32_t> ids;
#pragma unroll
    for (int n = 0; n < kPointsOfLane; ++n) ids.at[n] = within >> n & 1 ? found[n].id : -1;
    reinterpret_cast<Row<std::int32_t>*>(work.to.triangles)[at / kPointsOfLane] = ids;
  }
  if (!work.to.closest) return;
  Row<float> coordinates[3];
#pragma unroll
  for (int n = 0; n < kPointsOfLane; ++n) {
    const float none = __int_as_float(0x7fc00000);  // as the host's
    const bool is_in = within >> n & 1;
    Vec3 closest;
    if (is_in)
      closest = closest_of(triangle_at(tree.mesh, found[n].place), nearest_at(tree.mesh, found[n], search.point(n)),
                           search.point(n));
    coordinates[3 * n / 4].at[3 * n % 4] = is_in ? static_cast<float>(closest.x) : none;
    coordinates[(3 * n + 1) / 4].at[(3 * n + 1) % 4] = is_in ? static_cast<float>(closest.y) : none;
    coordinates[(3 * n + 2) / 4].at[(3 * n + 2) % 4] = is_in ? static_cast<float>(closest.z) : none;
  }
#pragma unroll
  for (int k = 0; k < 3; ++k)
    reinterpret_cast<Row<float>*>(work.to.closest)[3 * (at / kPointsOfLane) + k] = coordinates[k];
}

template <Sign kSign>
__global__ void __launch_bounds__(kTileBlock, kTileBlocks)
    make_tiles(const __grid_constant__ TreeView tree, const __grid_constant__ BandWork work) {
  __shared__ TileMemory memory;
  extern __shared__ Node stacks[];
  if (threadIdx.x < kTileSide) memory.mask[threadIdx.x] = memory.inside[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    memory.ticket = static_cast<std::int64_t>(atomicAdd(&work.counts->tickets, 1ull));  // in the order of starting
  __syncthreads();
  std::int64_t tile[3], first[3];
  work.near.place_of(memory.ticket, tile);
  work.near.first_of(memory.ticket, first);
  TileSearch search(tree, work.tiles.grid, first, memory, stacks);
  Found found[kPointsOfLane];
  search.run(work.rule.within, work.lists[memory.ticket], found);
  unsigned within = 0;
  int near = 0;
#pragma unroll
  for (int n = 0; n < kPointsOfLane; ++n) {
    const int i = TileSearch::index_of(n);
    const bool exists = first[0] + i % 8 < work.tiles.grid.shape[0] &&
                        first[1] + i / 8 % 8 < work.tiles.grid.shape[1] && first[2] + i / 64 < work.tiles.grid.shape[2];
    const bool is_in = exists && found[n].squared <= work.largest;
    within |= static_cast<unsigned>(is_in) << n;
    near |= exists && found[n].squared <= work.largest_near;
    if (is_in) set_bit(memory.mask, i);
  }
  near = __syncthreads_or(near);
  const bool is_stored = near || (work.cut && work.cut[work.near.numbers[memory.ticket]]);
  if (threadIdx.x < 32) {
    const std::int64_t slot = active_before(work.places, memory.ticket, is_stored);
    if (threadIdx.x == 0) memory.slot = static_cast<std::int64_t>(work.counts->tiles_before) + slot;
  }
  if (!is_stored) return;
  if constexpr (kSign != Sign::none) set_sides<kSign>(tree, work, search, first, found, within, memory);
  __syncthreads();
  store_points<kSign>(tree, work, search, found, within, memory);
  if (threadIdx.x < 3) work.to.tiles[3 * memory.slot + threadIdx.x] = static_cast<std::int32_t>(tile[threadIdx.x]);
  if (threadIdx.x >= 32) return;
  const std::uint64_t mask = memory.mask[threadIdx.x % kTileSide];
  if (threadIdx.x < kTileSide) work.to.masks[kTileSide * memory.slot + threadIdx.x] = mask;
  int active = __popcll(mask);
  for (int step = kTileSide / 2; step > 0; step /= 2) active += __shfl_xor_sync(kAllLanes, active, step, kTileSide);
  if (threadIdx.x != 0) return;
  atomicAdd(&work.counts->tiles, 1ull);
  atomicAdd(&work.counts->points, static_cast<unsigned long long>(active));
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

constexpr std::int64_t kWatchedTiles = 1 << 18;  ///< at a time

/// How many of the near tiles are made at a time.
/// @param fixed  bytes of scratch that are taken besides
std::int64_t tiles_at_a_time(const TreeView& tree, const TileGrid& tiles, std::int64_t near, std::size_t fixed,
                             const Execution& execution) {
  if (is_watched(execution)) near = std::min(near, kWatchedTiles);
  const std::size_t of_tile = sizeof(TileList) + sizeof(unsigned long long) + RowSides::bytes_of_tile(tree),
                    of_row = RowSides::bytes_of_row(tree, tiles.grid),
                    of_rows = static_cast<std::size_t>(tiles.rows()) * of_row;
  fixed += std::size_t{1} << 16;  // for what is small
  // All rows, where there is room for them; else a tile may be the only one of its row.
  const bool has_room = execution.scratch_limit.value_or(SIZE_MAX) / 2 > fixed + of_rows;
  return parts_at_a_time(near, fixed + (has_room ? of_rows : 0), of_tile + (has_room ? 0 : of_row), SIZE_MAX,
                         execution);
}

/// Makes all tiles that are near, one piece of them after the other. Waits.
Counts make_pieces(const TreeView& tree, BandWork& work, const NearTiles& near, std::int64_t piece,
                   const Execution& execution, cudaStream_t stream) {
  Counts found{};
  if (near.count == 0) return found;
  const DeviceMemory scratch(sizeof(Counts) + static_cast<std::size_t>(piece) * sizeof(unsigned long long), stream),
      lists(static_cast<std::size_t>(piece) * sizeof(TileList), stream);
  auto* const counts = work.counts = reinterpret_cast<Counts*>(scratch.data());
  work.places = reinterpret_cast<unsigned long long*>(counts + 1);
  work.lists = reinterpret_cast<const TileList*>(lists.data());
  for (std::int64_t first = 0; first < near.count; first += piece) {
    stop_if_asked(execution);
    const std::int64_t count = std::min(piece, near.count - first);
    work.near = {work.tiles, count, near.tiles + first, near.cubes};
    const RowSides sides(tree, work.tiles, work.near.numbers, count, stream);
    work.bits = sides.bits();
    work.rows = sides.rows();
    if (first > 0)
      check(cudaMemcpyAsync(&counts->tiles_before, &counts->tiles, sizeof counts->tiles, cudaMemcpyDeviceToDevice,
                            stream),
            "counting tiles");
    // Tickets and the places behind them begin anew, what is counted of all pieces does not.
    unsigned long long* const cleared = first > 0 ? &counts->tickets : &counts->tiles_before;
    check(
        cudaMemsetAsync(cleared, 0, static_cast<std::size_t>(work.places + count - cleared) * sizeof *cleared, stream),
        "clearing counts");
    list_triangles<<<blocks_for(count * kFan, kAnswerBlock), kAnswerBlock, stacks_bytes(tree, kAnswerBlock), stream>>>(
        tree, work.tiles.grid, work.near, work.rule.within, reinterpret_cast<TileList*>(lists.data()),
        stack_size(tree));
    check_launch("listing triangles");
    visit_sign(tree.sign, [&]<Sign kSign>(SignTag<kSign>) {
      make_tiles<kSign>
          <<<static_cast<unsigned>(count), kTileBlock, stacks_bytes(tree, kTileBlock), stream>>>(tree, work);
    });
    check_launch("making tiles");
    if (!is_watched(execution) || first + count == near.count) continue;
    check(cudaStreamSynchronize(stream), "making tiles");
    tell(execution, first + count, near.count);
  }
  check(cudaMemcpyAsync(&found, counts, sizeof found, cudaMemcpyDeviceToHost, stream), "reading counts");
  check(cudaStreamSynchronize(stream), "making tiles");
  tell(execution, near.count, near.count);
  return found;
}

}  // namespace

DeviceBand make_band(const TreeView& tree, const Lattice& lattice, const BandOptions& options, bool is_scratch,
                     cudaStream_t stream) {
  const TileGrid tiles(grid_of(lattice));
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
