// The engine for volumes on the device whose rows of results begin inside sectors of memory: nearest sites as indices of
// 32 bits, and float distances, from a mask, Euclidean, with equal spacings, in rows of up to 800 elements, up to 1024
// along the other axes, where words along y take little more than along x.
//
// As the engine for volumes (volume/engine.cu) goes about it, but with y and x in each other's places: words and carries
// along y (volume/transposed/columns.cuh), the pass along z, and the last along x (volume/nearest/last_pass.cuh),
// whose tiles are whole rows of the outputs. What else may be asked for is left to that engine, and so are parts of
// results.
#include <algorithm>

#include "grid/cuda/engine.h"
#include "grid/cuda/input/sides.cuh"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/along_z.cuh"
#include "grid/cuda/volume/nearest/last_pass.cuh"
#include "grid/cuda/volume/nearest/row_sink.cuh"
#include "grid/cuda/volume/solve.cuh"
#include "grid/cuda/volume/transposed/columns.cuh"

namespace fathom::grid::cuda::volume {

namespace {

/// The words of some items, and how many bytes they take. The rest of the scratch is not there yet.
Volume make_volume(const Problem& p, std::int64_t items, std::byte* words, std::size_t* bytes = nullptr) {
  Scratch s(words);
  const Volume v = Volume::of(p.extent(0), p.extent(2), p.extent(1), items, s);
  if (bytes) *bytes = s.bytes();
  return v;
}

/// What is needed besides words. @returns its bytes
std::size_t take_scratch(Volume& v, std::byte* base) {
  const std::int64_t jobs = 2 * v.items * v.words;
  Scratch s(base);
  v.z_list = s.take<std::uint32_t>(jobs * v.ny);
  v.y_list = s.take<std::uint32_t>(jobs * v.nz);
  v.take_narrow(s, v.last_pairs_of_leads());
  v.kind = s.take<std::uint8_t>(jobs * v.ny);
  return s.bytes();
}

/// Whether the results are what this engine writes: float distances and indices of 32 bits.
bool outputs_serve(const Problem& p) {
  const DistanceOutputs& out = p.outputs;
  return SiteResults::serves_outputs(p) && out.distance.present() && out.nearest.dtype() == DType::int32;
}

std::int64_t filled_up(std::int64_t n) { return (n + 31) / 32 * 32; }
/// With what fills up words along y.
std::int64_t voxels_of(const Problem& p) { return p.extent(0) * filled_up(p.extent(1)) * p.extent(2); }

/// Whether rows begin inside sectors, and fit; and whether words along y take little more than along x.
bool extents_serve(const Problem& p) {
  const std::int64_t nz = p.extent(0), ny = p.extent(1), nx = p.extent(2);
  return nx % kSectorFloats != 0 && nx <= kLongestAlongX && std::max(nz, ny) <= kLongestKeyed &&
         9 * filled_up(nx) * ny * nz >= 8 * voxels_of(p);
}

/// Whether the volume is small, or takes no more than the engine for volumes, which would cut it.
bool scratch_serves(const Problem& p) {
  std::size_t words = 0;
  Volume volume = make_volume(p, 1, nullptr, &words);
  const auto bytes = static_cast<double>(words + take_scratch(volume, nullptr));
  return voxels_of(p) < kVoxelsWorthCutting || bytes <= kVolumeScratch * static_cast<double>(voxels_of(p));
}

bool memory_serves(const Problem& p) {
  constexpr std::size_t kNumbers = 4096;  // besides: kinds of rows, and few numbers
  const int nz = static_cast<int>(p.extent(0)), words = static_cast<int>(p.extent(1) + 31) / 32,
            nx = static_cast<int>(p.extent(2));
  using Sink = RowSink<128>;
  const std::size_t most = std::max({envelope_memory(nz, 32), near_sites_memory(nz), ColumnBits::memory(words),
                                     window_memory(nx) + Sink::memory(nx), far_sites_memory<Sink>(nx, 32)});
  return most + kNumbers <= fathom::cuda::block_memory();
}

class TransposedVolumeEngine final : public Engine {
 public:
  explicit TransposedVolumeEngine(const Problem& problem) : p_(problem) {}

  Cut cut() const override { return {2, p_.extent(2)}; }  // none: they are whole arrays on the device
  std::int64_t packed_unit() const override { return p_.extent(0); }
  std::int64_t group_of(std::int64_t items) const override {
    return std::clamp<std::int64_t>(kVolumeGroup / voxels_of(p_), 1, items);
  }
  std::size_t words_bytes(std::int64_t items) const override {
    std::size_t bytes = 0;
    make_volume(p_, items, nullptr, &bytes);
    return bytes;
  }
  std::size_t scratch_bytes(const Problem& part, std::int64_t items) const override {
    Volume volume = make_volume(part, items, nullptr);
    return take_scratch(volume, nullptr);
  }

  void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const override {
    Volume volume = make_volume(p_, items, words);
    volume.first_item = packing.first_item;
    const Mask mask = sites_of(p_, packing.input, 0);
    launch(mask.has_zero_bytes() ? pack_columns<Reading::bytes> : pack_columns<Reading::elements>,
           packing.items * ColumnBlock::count(volume), columns_pack_block(volume.words),
           ColumnBits::memory(volume.words), stream, volume, mask);
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte* scratch, cudaStream_t stream) const override {
    Volume volume = make_volume(part, items, words);
    volume.first_item = first_item;
    take_scratch(volume, scratch);
    const VolumePasses passes{volume, Emitter<std::int64_t>::of(part, batch, first_item), stream};
    passes.find_sites_along_z();
    passes.find_sites_along_x();
  }

 private:
  const Problem& p_;
};

}  // namespace

void VolumePasses::find_sites_along_x() const { find_sites_along_line<RowSink>(*this, sites_along_x_block(volume.ny)); }

}  // namespace fathom::grid::cuda::volume

namespace fathom::grid::cuda {

std::unique_ptr<Engine> make_transposed_volume_engine(const Problem& p) {
  const bool serves = p.metric == Metric::euclidean && p.rank == 3 && p.isotropic && !has_labels(p) &&
                      !is_periodic(p) && volume::outputs_serve(p) && volume::extents_serve(p) &&
                      volume::scratch_serves(p) && volume::memory_serves(p);
  return serves ? std::make_unique<volume::TransposedVolumeEngine>(p) : nullptr;
}

}  // namespace fathom::grid::cuda
