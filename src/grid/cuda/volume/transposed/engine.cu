// The engine for volumes (volume/engine.cu) where rows of results begin inside sectors of memory: nearest sites as indices
// of 32 bits, and float distances, from a mask, Euclidean, with equal spacings, in rows of up to 800 elements, up to 1024
// along the other axes, where words along y take little more than along x.
//
// With y and x in each other's places: words and carries along y (volume/transposed/columns.cuh), the pass along z, and
// the last along x (volume/nearest/last_pass.cuh), whose tiles are whole rows of the outputs. What else may be asked for
// is solved as it lies, and so are parts of results.
#include <algorithm>

#include "grid/cuda/engine.h"
#include "grid/cuda/volume/nearest/along_z.cuh"
#include "grid/cuda/volume/nearest/last_pass.cuh"
#include "grid/cuda/volume/nearest/row_sink.cuh"
#include "grid/cuda/volume/solve.cuh"
#include "grid/cuda/volume/transposed/columns.cuh"

namespace fathom::grid::cuda::volume {

void VolumePasses::find_sites_along_x() const { find_sites_along_line<RowSink>(*this, sites_along_x_block(volume.ny)); }

void pack_transposed_mask(const Volume& volume, const Mask& mask, const PackingLaunch& to) {
  launch(mask.has_zero_bytes() ? pack_columns<Reading::bytes> : pack_columns<Reading::elements>,
         to.items * ColumnBlock::count(volume), columns_pack_block(volume.words), ColumnBits::memory(volume.words),
         to.stream, volume, mask);
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
  const std::size_t most = std::max({envelope_memory(nz, 32), near_sites_memory(nz), ColumnBits::memory(words),
                                     window_memory(nx) + Sink::memory(nx), far_sites_memory<Sink>(nx, 32)});
  return most + kNumbers <= fathom::cuda::block_memory();
}

}  // namespace fathom::grid::cuda::volume
