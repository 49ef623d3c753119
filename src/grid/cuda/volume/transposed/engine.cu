// The engine for volumes (volume/engine.cu) where rows of results begin inside sectors of memory: nearest sites as indices
// of 32 bits, and float distances, from a mask, Euclidean, with equal spacings, in rows of up to 800 elements, up to 1024
// along the other axes, where words along y take little more than along x.
//
// With y and x in each other's places: words and carries along y, the pass along z, and the last along x
// (volume/nearest/last_pass.cuh), whose tiles are whole rows of the outputs.
#include <algorithm>

#include "grid/cuda/engine.h"
#include "grid/cuda/input/mask.cuh"
#include "grid/cuda/volume/nearest/along_z.cuh"
#include "grid/cuda/volume/nearest/last_pass.cuh"
#include "grid/cuda/volume/nearest/row_sink.cuh"
#include "grid/cuda/volume/solve.cuh"

namespace fathom::grid::cuda::volume {

namespace {

/// Of a block: columns, planes, and from plane to plane in shared memory, so that eight columns of four planes lie in
/// different banks. Bits are there by word, plane and column.
constexpr int kBlockColumns = 128, kBlockPlanes = 4, kBlockPitch = 136;
std::size_t column_bits_memory(int words) {
  return static_cast<std::size_t>(words) * kBlockPlanes * kBlockPitch * sizeof(unsigned);
}

/// The blocks of an item: each has up to 128 neighbours of a row, as many as the others or few less, in four planes.
struct ColumnBlocks {
  int of_row, slabs, columns;

  __host__ __device__ explicit ColumnBlocks(const Volume& v)
      : of_row((v.ny + kBlockColumns - 1) / kBlockColumns),
        slabs((v.nz + kBlockPlanes - 1) / kBlockPlanes),
        columns((v.ny + 4 * of_row - 1) / (4 * of_row) * 4) {}
};

/// The words and carries: of 32 neighbours along y, in rows at any address.
///
/// Work mapping: block = up to 128 columns of four planes, all rows. Phase 1: warp = the words of these columns in 32
/// rows of a plane, lane = every 32nd column. Phase 2: thread = column of a plane, from word to word. Planes are
/// neighbours in memory then, as the pass along z reads them.
/// Cost: every element is read once, 1/4 byte is written.
/// @param volume  transposed
template <Reading kReading>
__global__ void __launch_bounds__(kColumnsPackBlock, resident_blocks(kColumnsPackBlock, kColumnsPackBlocks))
    pack_columns(const __grid_constant__ Volume volume, const __grid_constant__ Mask mask) {
  extern __shared__ uint4 columns_shared[];
  volume.clear_counter(0);
  auto* const bits = reinterpret_cast<unsigned*>(columns_shared);
  const auto at = [bits](int word, int plane, int column) -> unsigned& {
    return bits[(word * kBlockPlanes + plane) * kBlockPitch + column];
  };
  const ColumnBlocks blocks(volume);
  const Volume::Parts block = volume.parts_of(blockIdx.x, blocks.slabs, blocks.of_row);
  const int x0 = block.fast * blocks.columns, z0 = block.slow * kBlockPlanes,
            columns = min(blocks.columns, volume.ny - x0), planes = min(kBlockPlanes, volume.nz - z0);
  const std::int64_t item = mask.input.items.offset(volume.first_item + block.item), *stride = mask.input.stride;
  const int t = thread(), threads = static_cast<int>(blockDim.x);
  for (int task = t / 32; task < volume.words * kBlockPlanes; task += threads / 32) {
    const int word = task / kBlockPlanes, plane = task % kBlockPlanes, rows = min(32, volume.nx - word * 32);
    if (plane >= planes) continue;
    const std::int64_t first = item + (z0 + plane) * stride[0] + word * 32 * stride[1] + x0;
    for (int x = lane_id(); x < columns; x += 32)
      at(word, plane, x) = mask.template sites_of_column<kReading == Reading::bytes>(first + x, stride[1], rows);
  }
  __syncthreads();
  const std::int64_t step = std::int64_t{volume.ny} * volume.depth;
  for (int i = t; i < kBlockPlanes * columns; i += threads) {
    const int plane = i % kBlockPlanes, column = i / kBlockPlanes;
    if (plane >= planes) continue;
    uint2* to = volume.word + (block.item * volume.words * volume.ny + x0 + column) * volume.depth + z0 + plane;
    unsigned filled = 0;  // words that have sites
    for (int w = 0; w < volume.words; ++w) filled |= static_cast<unsigned>(at(w, plane, column) != 0) << w;
    unsigned left = kNoneInWord;
    for (int w = 0; w < volume.words; ++w, to += step) {
      const unsigned word = at(w, plane, column), behind = filled >> w >> 1;
      const int steps = __ffs(static_cast<int>(behind));
      const int next = __ffs(static_cast<int>(at(w + steps, plane, column)));
      const unsigned right = behind ? static_cast<unsigned>((steps - 1) * 32 + next) : kNoneInWord;
      *to = make_uint2(word, left | right << 16);
      left = word ? 1 + static_cast<unsigned>(__clz(static_cast<int>(word))) : min(left + 32, kNoneInWord);
    }
  }
}

}  // namespace

void VolumePasses::find_sites_along_x() const { find_sites_along_line<RowSink>(*this, sites_along_x_block(volume.ny)); }

void pack_transposed_mask(const Volume& volume, const Mask& mask, cudaStream_t stream, bool /*is_early*/) {
  // As many warps of a block as share its words evenly, in as few rounds as the most would take.
  constexpr int kMostWarps = kColumnsPackBlock / 32;
  const int tasks = volume.words * kBlockPlanes, rounds = (tasks + kMostWarps - 1) / kMostWarps;
  launch(mask.has_zero_bytes() ? pack_columns<Reading::bytes> : pack_columns<Reading::elements>,
         volume.items * ColumnBlocks(volume).of_row * ColumnBlocks(volume).slabs, (tasks + rounds - 1) / rounds * 32,
         column_bits_memory(volume.words), stream, volume, mask);
}

bool transposed_serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank != 3 || !p.isotropic || has_labels(p) || is_periodic(p)) return false;
  const DistanceOutputs& out = p.outputs;
  if (!SiteResults::serves_outputs(p) || !out.distance.present() || out.nearest.dtype() != DType::int32) return false;
  // Rows begin inside sectors, and fit; and words along y take little more than along x.
  if (p.extent(2) % kSectorFloats == 0 || p.extent(2) > kLongestAlongX ||
      std::max(p.extent(0), p.extent(1)) > kLongestKeyed)
    return false;
  const auto nz = static_cast<int>(p.extent(0)), ny = static_cast<int>(p.extent(1)), nx = static_cast<int>(p.extent(2));
  const int words = (ny + 31) / 32, words_along_x = (nx + 31) / 32;
  if (9 * words_along_x * ny < 8 * words * nx) return false;
  constexpr std::size_t kNumbers = 4096;  // besides: kinds of rows, and few numbers
  using Sink = RowSink<128>;
  const std::size_t most = std::max({envelope_memory(nz, 32), near_sites_memory(nz), column_bits_memory(words),
                                     window_memory(nx) + Sink::memory(nx), far_sites_memory<Sink>(nx, 32)});
  return most + kNumbers <= fathom::cuda::block_memory();
}

}  // namespace fathom::grid::cuda::volume
