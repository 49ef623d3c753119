// A block for each tile: of the lattice, which is looked up among those that are stored, or of the band, whose first
// point has its place by a sum over the masks. A thread has a line of eight points along x.
// Cost: what is read and written, and log n steps for each tile of the lattice.
#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <utility>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "mesh/cuda/band_points.h"
#include "mesh/cuda/near_tiles.h"

namespace fathom::mesh::cuda {

namespace {

using fathom::cuda::check;
using fathom::cuda::check_launch;
using fathom::cuda::DeviceMemory;
using fathom::cuda::OnDevice;
using fathom::cuda::Scratch;

constexpr int kLines = kTileSide * kTileSide;  ///< of a tile, and threads of a block
constexpr std::int64_t kMostBlocks = 1 << 30;

unsigned blocks_for_tiles(std::int64_t tiles) { return static_cast<unsigned>(std::min(tiles, kMostBlocks)); }

/// A band as kernels take it.
struct Tiles {
  TileGrid grid;
  std::int64_t count;
  const std::int32_t* places;
  const std::uint64_t* masks;
  const std::byte* distances;
  const std::int32_t* triangles;
  const float* closest;
  const std::uint8_t *row_inside, *after_inside;

  explicit Tiles(const DeviceBand& band)
      : grid(band.lattice, {0, band.lattice.shape[2]}),
        count(band.count()),
        places(reinterpret_cast<const std::int32_t*>(band.tiles.data())),
        masks(reinterpret_cast<const std::uint64_t*>(band.masks.data())),
        distances(band.distances.data()),
        triangles(reinterpret_cast<const std::int32_t*>(band.triangles.data())),
        closest(reinterpret_cast<const float*>(band.closest.data())),
        row_inside(reinterpret_cast<const std::uint8_t*>(band.row_inside.data())),
        after_inside(reinterpret_cast<const std::uint8_t*>(band.after_inside.data())) {}

  __device__ std::int64_t number(std::int64_t tile) const {
    const std::int32_t* const at = places + 3 * tile;
    return (at[2] * grid.shape[1] + at[1]) * grid.shape[0] + at[0];
  }
  /// The first stored tile that is not before one of the lattice.
  __device__ std::int64_t first_from(std::int64_t of_lattice) const {
    std::int64_t low = 0, high = count;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (number(middle) < of_lattice) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};

template <class T>
struct Dense {
  T* data;
  std::int64_t of_plane, of_row;  ///< steps
};

template <class T>
__global__ void __launch_bounds__(kLines)
    spread_tiles(const __grid_constant__ Tiles tiles, double cutoff, const __grid_constant__ Dense<T> to) {
  const int line = static_cast<int>(threadIdx.x);
  for (std::int64_t t = blockIdx.x; t < tiles.grid.count(); t += gridDim.x) {
    std::int64_t at[3];
    tiles.grid.place_of(t, at);
    const std::int64_t x = at[0] * kTileSide, y = at[1] * kTileSide + line % kTileSide,
                       z = at[2] * kTileSide + line / kTileSide, row = t / tiles.grid.shape[0];
    const std::int64_t stored = tiles.first_from(t);
    const bool is_stored = stored < tiles.count && tiles.number(stored) == t;
    const bool follows = stored > 0 && tiles.number(stored - 1) / tiles.grid.shape[0] == row;
    const bool inside = (follows ? tiles.after_inside[stored - 1] : tiles.row_inside[row]) != 0;
    const auto background = static_cast<T>(inside ? -cutoff : cutoff);
    const auto& shape = tiles.grid.grid.shape;
    if (y >= shape[1] || z >= shape[2]) continue;
    const T* const from = reinterpret_cast<const T*>(tiles.distances) + stored * kTilePoints + line * kTileSide;
    T* const out = to.data + z * to.of_plane + y * to.of_row + x;
    const std::int64_t size = min(std::int64_t{kTileSide}, shape[0] - x);
    for (std::int64_t i = 0; i < size; ++i) out[i] = is_stored ? from[i] : background;
  }
}

__global__ void __launch_bounds__(kLines)
    count_points(const std::uint64_t* masks, std::int64_t count, std::int64_t* to) {
  const std::int64_t tile = std::int64_t{blockIdx.x} * kLines + threadIdx.x;
  if (tile >= count) return;
  std::int64_t points = 0;
  for (int z = 0; z < kTileSide; ++z) points += __popcll(masks[tile * kTileSide + z]);
  to[tile] = points;
}

/// @param until  [tile]: points up to it, and its own
template <class T>
__global__ void __launch_bounds__(kLines)
    list_points(const __grid_constant__ Tiles tiles, const std::int64_t* until, const __grid_constant__ BandList to) {
  const int line = static_cast<int>(threadIdx.x), y = line % kTileSide, z = line / kTileSide;
  for (std::int64_t t = blockIdx.x; t < tiles.count; t += gridDim.x) {
    const std::uint64_t* const words = tiles.masks + t * kTileSide;
    std::int64_t at = t > 0 ? until[t - 1] : 0;
    for (int k = 0; k < z; ++k) at += __popcll(words[k]);
    at += __popcll(words[z] & ((std::uint64_t{1} << kTileSide * y) - 1));
    for (int x = 0; x < kTileSide; ++x) {
      if (!(words[z] >> (x + kTileSide * y) & 1)) continue;
      const std::int64_t from = t * kTilePoints + line * kTileSide + x;
      if (to.places) {
        const int in_tile[3] = {x, y, z};
        for (int k = 0; k < 3; ++k) to.places[3 * at + k] = tiles.places[3 * t + k] * kTileSide + in_tile[k];
      }
      if (to.distances) reinterpret_cast<T*>(to.distances)[at] = reinterpret_cast<const T*>(tiles.distances)[from];
      if (to.triangles) to.triangles[at] = tiles.triangles[from];
      if (to.closest)
        for (int k = 0; k < 3; ++k) to.closest[3 * at + k] = tiles.closest[3 * from + k];
      ++at;
    }
  }
}

}  // namespace

void fill_dense(const DeviceBand& band, const AnyDeviceView& out, Stream given) {
  const OnDevice on_device(fathom::cuda::device_of(out.data(), "out"));
  const cudaStream_t stream = fathom::cuda::native(given);
  const Tiles tiles(band);
  const auto launch = [&]<class T>(T*) {
    const Dense<T> to{reinterpret_cast<T*>(out.data()), out.strides()[0], out.strides()[1]};
    spread_tiles<T><<<blocks_for_tiles(tiles.grid.count()), kLines, 0, stream>>>(tiles, band.cutoff, to);
  };
  band.distances.dtype() == DType::float32 ? launch(static_cast<float*>(nullptr))
                                           : launch(static_cast<double*>(nullptr));
  check_launch("spreading a band");
}

void fill_list(const DeviceBand& band, const BandList& to, Stream given) {
  const OnDevice on_device(fathom::cuda::device_of(band.tiles.data(), "a band"));
  for (const auto& [data, name] : {std::pair<const void*, const char*>{to.places, "places"},
                                   {to.distances, "distances"},
                                   {to.triangles, "triangles"},
                                   {to.closest, "closest"}})
    if (data) fathom::cuda::device_of(data, name);
  const cudaStream_t stream = fathom::cuda::native(given);
  const Tiles tiles(band);
  std::int64_t *counts = nullptr, *until = nullptr;
  std::byte* temporary = nullptr;
  std::size_t for_scan = 0;
  const auto scan = [&] {
    check(cub::DeviceScan::InclusiveSum(temporary, for_scan, counts, until, tiles.count, stream), "counting points");
  };
  scan();
  const auto place = [&](std::byte* base) {
    Scratch scratch(base);
    counts = scratch.take<std::int64_t>(tiles.count);
    until = scratch.take<std::int64_t>(tiles.count);
    temporary = scratch.take<std::byte>(static_cast<std::int64_t>(for_scan));
    return scratch.bytes();
  };
  const DeviceMemory memory(place(nullptr), stream);
  place(memory.data());
  count_points<<<static_cast<unsigned>((tiles.count + kLines - 1) / kLines), kLines, 0, stream>>>(tiles.masks,
                                                                                                  tiles.count, counts);
  check_launch("counting points");
  scan();
  if (band.distances.dtype() == DType::float32)
    list_points<float><<<blocks_for_tiles(tiles.count), kLines, 0, stream>>>(tiles, until, to);
  else list_points<double><<<blocks_for_tiles(tiles.count), kLines, 0, stream>>>(tiles, until, to);
  check_launch("listing points");
}

}  // namespace fathom::mesh::cuda
