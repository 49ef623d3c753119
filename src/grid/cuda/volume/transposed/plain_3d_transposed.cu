// The engine for large volumes on the device whose rows of distances begin inside sectors of memory: float distances
// from a mask, and nearest sites beside them, Euclidean, with equal spacings, in rows of up to 800 elements, up to 1024
// along the other axes, where words along y take little more than along x.
//
// As the engine for volumes (volume/plain_3d.cu) goes about it, but with y and x in each other's places: words and
// carries along y (volume/transposed/columns.cuh), the pass along z, and the last along x
// (volume/transposed/along_x.cuh, volume/nearest/sites_along_x.cuh), whose tiles are whole rows of the output. Where
// the last word along y has one row, that is solved as a plane by itself (volume/last_column.cuh); where it
// would take much scratch for few rows, it is worked on behind the others. What else may be asked for is left to that
// engine, and so are parts of results.
#include <algorithm>
#include <vector>

#include "grid/cuda/engine.h"
#include "grid/cuda/input/sides.cuh"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/output/border_clamp.h"
#include "grid/cuda/scratch.h"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/far_sites_along_x.cuh"
#include "grid/cuda/volume/nearest/near_sites_along_z.cuh"
#include "grid/cuda/volume/nearest/sites_along_x.cuh"
#include "grid/cuda/volume/short_lines.cuh"
#include "grid/cuda/volume/solve.cuh"
#include "grid/cuda/volume/transposed/along_x.cuh"
#include "grid/cuda/volume/transposed/columns.cuh"

namespace fathom::grid::cuda {

namespace {

/// The words of some items, and how many bytes they take. The rest of the scratch is not there yet.
Volume make_volume(const Problem& p, std::int64_t items, std::byte* words, std::size_t* bytes = nullptr) {
  Volume v;
  v.is_transposed = true;
  v.nz = static_cast<std::int32_t>(p.extent(0));
  v.ny = static_cast<std::int32_t>(p.extent(2));
  v.nx = static_cast<std::int32_t>(p.extent(1));
  v.words = (v.nx + 31) / 32;
  v.depth = padded_depth(v.nz);
  v.items = items;
  Scratch s(words);
  v.word = s.take<uint2>(items * v.words * v.ny * v.depth);
  v.counters = s.take<std::uint32_t>(2);
  if (bytes) *bytes = s.bytes();
  return v;
}

/// Whether the last column is solved as a plane, not in tiles (volume/last_column.cuh). The kernel for short
/// lines along z has no blocks for it.
bool has_last_column(const Problem& p, std::int64_t items) {
  return p.extent(1) % 32 == 1 && p.extent(1) > 1 && items == 1 && !wants_site(p) && p.extent(0) > kShortLines;
}

/// Leaves out what is not in a range of columns, which begins at a word.
void take_range(Volume& v, const Problem& p, const Range& range) {
  v.has_last_column = has_last_column(p, v.items);
  v.take_columns(range.begin, range.end - int{v.has_last_column});
  v.distance.data += range.begin * v.distance.y_stride;
  v.wide.data += range.begin * v.wide.y_stride;
}

/// What is needed besides words. @returns its bytes
std::size_t take_scratch(Volume& v, const Problem& p, std::byte* base) {
  const std::int64_t columns = v.items * v.words, jobs = (wants_site(p) ? 2 : 1) * columns;
  Scratch s(base);
  v.z_list = s.take<std::uint32_t>(jobs * v.ny);
  v.y_list = s.take<std::uint32_t>(jobs * v.nz);
  v.take_narrow(s, wants_site(p) ? v.last_pairs_of_leads() : kPairsOfWord);
  v.kind = s.take<std::uint8_t>(jobs * v.ny);
  if (wants_site(p)) return s.bytes();
  v.beyond = s.take<std::uint8_t>(columns * 2 * ((v.nz + 7) / 8) * v.ny);
  return s.bytes();
}

/// Whether the results are what this engine writes: float distances in planes without gaps …
bool distances_serve(const Problem& p) {
  return is_float_field(p, kNoAxis) && !wants_site(p) && !p.signed_distance &&
         p.outputs.distance.strides()[1] == p.extent(2);
}

/// … or, anywhere, float distances and indices of 32 bits.
bool sites_serve(const Problem& p) {
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
  const auto bytes = static_cast<double>(words + take_scratch(volume, p, nullptr));
  return voxels_of(p) < kVoxelsWorthCutting || bytes <= kVolumeScratch * static_cast<double>(voxels_of(p));
}

bool memory_serves(const Problem& p) {
  // besides: 18 KB in which an envelope turns its results (volume/lines.cuh), kinds of rows, and few numbers
  constexpr std::size_t kNumbers = 20480;
  const int nz = static_cast<int>(p.extent(0)), nx = static_cast<int>(p.extent(2));
  const std::size_t along_z = std::max(envelope_memory(nz, 32), near_sites_memory(nz));
  const std::size_t along_x = wants_site(p) ? std::max(sites_along_x_memory(nx), sites_envelope_memory(nx, 32))
                                            : std::max(along_x_memory(nx), envelope_memory(nx, 32));
  const std::size_t lines = std::max(along_z, along_x);
  return std::max(lines, ColumnBits::memory((static_cast<int>(p.extent(1)) + 31) / 32)) + kNumbers <=
         fathom::cuda::block_memory();
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
    std::size_t bytes = 0;
    for (const Range& range : ranges_of(items)) bytes = std::max(bytes, scratch_of(part, items, range));
    return bytes;
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
    volume.first_item = volume.wide_first_item = first_item;
    volume.side = side_of(part, 0);
    volume.distance = Placed<float>::of(part.outputs.distance, part.rank, batch.shape, batch.distance);
    volume.wide = Placed<std::uint32_t>::of(part.outputs.distance, part.rank, batch.shape, batch.distance);
    for (const Range& range : ranges_of(items)) {
      Volume columns = volume;
      take_range(columns, part, range);
      take_scratch(columns, part, scratch);
      run({columns, Emitter<std::int64_t>::of(part, batch, first_item), stream}, wants_site(part));
    }
    if (!wants_site(part) && has_limits(part)) clamp_items(part, batch, first_item, items, stream);
  }

 private:
  static void run(const VolumePasses& passes, bool wants_sites) {
    if (wants_sites) {
      passes.find_sites_along_z();
      passes.find_sites_along_x();
    } else {
      passes.search_along_z<false>();
      passes.search_along_x();
    }
  }

  /// Besides words, where these columns are worked on together.
  static std::size_t scratch_of(const Problem& part, std::int64_t items, const Range& columns) {
    Volume volume = make_volume(part, items, nullptr);
    take_range(volume, part, columns);
    return take_scratch(volume, part, nullptr);
  }

  /// The columns that are worked on together: all, or where a large volume's would take much scratch for those that its
  /// last word lacks, unless it is a plane, that word after the others.
  std::vector<Range> ranges_of(std::int64_t items) const {
    const Range all{0, p_.extent(1)};
    const std::int64_t last = (all.end - 1) / 32 * 32, voxels = p_.extent(0) * all.end * p_.extent(2);
    const auto bytes = static_cast<double>(words_bytes(items) + scratch_of(p_, items, all));
    const bool fits = bytes <= kVolumeScratch * static_cast<double>(voxels);
    if (items > 1 || fits || has_last_column(p_, items) || voxels < kVoxelsCountedAlone || last == 0) return {all};
    return {{0, last}, {last, all.end}};
  }

  const Problem& p_;
};

}  // namespace

std::unique_ptr<Engine> make_transposed_volume_engine(const Problem& p) {
  const bool is_plain =
      p.metric == Metric::euclidean && p.rank == 3 && p.isotropic && !has_labels(p) && !is_periodic(p);
  const bool serves = is_plain && (wants_site(p) ? sites_serve(p) : distances_serve(p)) && extents_serve(p) &&
                      scratch_serves(p) && memory_serves(p);
  return serves ? std::make_unique<TransposedVolumeEngine>(p) : nullptr;
}

}  // namespace fathom::grid::cuda
