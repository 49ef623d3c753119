// The engine for planes: images, and lines as images of one row, Euclidean, isotropic.
//
// Five kernels, of which the last three do nothing where sites are near everywhere: words and carries (plane_words.cuh),
// near elements (plane_near.cuh), columns that can matter to far ones (plane_prune.cuh), lists and queue (plane_list.cuh),
// far tiles (plane_far.cuh). What is left to do stays on the device: the host launches all and waits for nothing.
#include <algorithm>

#include "core/cuda/runtime.h"
#include "grid/cuda/border_clamp.cuh"
#include "grid/cuda/plain.h"
#include "grid/cuda/plane_far.cuh"
#include "grid/cuda/plane_list.cuh"
#include "grid/cuda/plane_near.cuh"
#include "grid/cuda/plane_prune.cuh"
#include "grid/cuda/plane_words.cuh"
#include "grid/cuda/scratch.h"
#include "grid/cuda/sides.cuh"

namespace fathom::grid::cuda {

namespace {

std::int64_t height_of(const Problem& p) { return p.rank == 1 ? 1 : p.extent(0); }
std::int64_t width_of(const Problem& p) { return p.extent(p.rank - 1); }
std::int64_t bands_of(const Problem& p) { return (height_of(p) + kBand - 1) / kBand; }
std::int64_t pitch_of(const Problem& p) { return (width_of(p) + kTile - 1) / kTile * kTile; }

/// Items that are worked on together: as many as keep the scratch small beside the results.
std::int64_t group_of(const Problem& p, const Batch& batch) {
  const std::int64_t padded = bands_of(p) * kBand * pitch_of(p);
  return std::clamp<std::int64_t>(kPlaneGroup / padded, 1, batch.count());
}

/// Sizes, and the arrays cut from the scratch.
Plane make_plane(const Problem& p, std::int64_t items, std::byte* base, std::size_t* bytes, std::size_t* cleared) {
  Plane plane;
  plane.height = static_cast<std::int32_t>(height_of(p));
  plane.width = static_cast<std::int32_t>(width_of(p));
  plane.bands = static_cast<std::int32_t>(bands_of(p));
  plane.pitch = static_cast<std::int32_t>(pitch_of(p));
  plane.all_bands = items * plane.bands;
  const std::int64_t columns = plane.all_bands * plane.pitch, cells = columns / 32, tiles = columns / kTile;
  Scratch s(base);
  plane.counters = s.take<std::uint32_t>(3);
  plane.open_bands = s.take<std::uint32_t>(plane.all_bands);
  plane.open_cells = s.take<std::uint8_t>(cells);
  *cleared = s.bytes();
  plane.bits = s.take<std::uint32_t>(columns);
  plane.above = s.take<std::uint16_t>(columns);
  plane.below = s.take<std::uint16_t>(columns);
  plane.keep_above = s.take<std::uint32_t>(cells);
  plane.keep_below = s.take<std::uint32_t>(cells);
  plane.list_column = s.take<std::uint16_t>(columns);
  plane.list_above = s.take<std::uint16_t>(columns);
  plane.list_below = s.take<std::uint16_t>(columns);
  plane.list_bits = s.take<std::uint32_t>(columns);
  plane.list_count = s.take<std::uint32_t>(plane.all_bands);
  plane.anchors = s.take<ushort2>(tiles + plane.all_bands);
  plane.work = s.take<std::uint32_t>(tiles);
  *bytes = s.bytes();
  return plane;
}

/// Whether four float results can be written at once, everywhere.
bool has_aligned_rows(const Problem& p, const Batch& batch) {
  constexpr int kFloats = 4;
  bool aligned = reinterpret_cast<std::uintptr_t>(p.outputs.distance.data()) % (kFloats * sizeof(float)) == 0;
  for (int k = 0; k + 1 < p.rank; ++k) aligned &= p.outputs.distance.strides()[k] % kFloats == 0;
  for (std::int64_t stride : batch.distance) aligned &= stride % kFloats == 0;
  return aligned;
}

Writing writing_of(const Problem& p, const Batch& batch) {
  if (!is_plain_float(p)) return Writing::general;
  if (p.signed_distance) return Writing::one_side;
  return has_aligned_rows(p, batch) ? Writing::aligned : Writing::unaligned;
}

class PlaneTransform {
 public:
  PlaneTransform(const Problem& p, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* scratch,
                 cudaStream_t stream)
      : p_(p), batch_(batch), stream_(stream), clear_(scratch) {
    std::size_t bytes = 0;
    plane_ = make_plane(p, items, scratch, &bytes, &cleared_);
    plane_.first_item = first_item;
    writing_ = writing_of(p, batch);
    emitter_ = Emitter<std::int64_t>::of(p, batch, first_item);
    if (writing_ == Writing::general) return;
    plane_.distance = reinterpret_cast<float*>(p.outputs.distance.data());
    plane_.row_stride = p.rank == 1 ? 0 : p.outputs.distance.strides()[0];
    plane_.items = ItemStrides::of(batch.shape, batch.distance);
    plane_.is_aligned = has_aligned_rows(p, batch);
  }

  void run() {
    if (writing_ != Writing::one_side) return run(Mask::of(p_, batch_));
    for (const bool inside : {true, false}) {
      plane_.side = side_of(p_, inside);
      run(other_side(p_, batch_, inside));
    }
  }

 private:
  void run(const Mask& mask) const {
    fathom::cuda::check(cudaMemsetAsync(clear_, 0, cleared_, stream_), "clearing the scratch");
    pack(mask);
    const dim3 columns = blocks(plane_.all_bands / plane_.bands, plane_.pitch, 32);
    carry<<<columns, carry_segments(plane_.bands) * 32, 0, stream_>>>(plane_);
    switch (writing_) {
      case Writing::aligned: solve<Writing::aligned>(); break;
      case Writing::unaligned: solve<Writing::unaligned>(); break;
      case Writing::one_side: return solve<Writing::one_side>();
      case Writing::general: return solve<Writing::general>();
    }
    if (has_limits(p_)) clamp_items(p_, batch_, plane_.first_item, plane_.all_bands / plane_.bands, stream_);
  }

  /// Blocks of `block` for each of `count` rows of `width`. There are fewer than 2¹⁶ bands in a group (see group_of()).
  static dim3 blocks(std::int64_t count, std::int64_t width, int block) {
    return {static_cast<unsigned>((width + block - 1) / block), static_cast<unsigned>(count)};
  }

  void pack(const Mask& mask) const {
    if (!mask.has_zero_bytes()) {
      pack_elements<<<blocks(plane_.all_bands, plane_.pitch, kPackBlock), kPackBlock, 0, stream_>>>(plane_, mask);
    } else if (is_aligned(mask.input)) {
      pack_bytes<true>
          <<<blocks(plane_.all_bands, plane_.pitch, 4 * kPackBlock), kPackBlock, 0, stream_>>>(plane_, mask);
    } else {
      const dim3 grid = blocks(plane_.all_bands, plane_.pitch, 4 * kPackBlock);
      pack_bytes<false><<<grid, kPackBlock, 0, stream_>>>(plane_, mask);
    }
    fathom::cuda::check_launch("packing sites");
  }

  /// Whether four bytes can be read at once, everywhere, also at the ends of rows.
  bool is_aligned(const Input& input) const {
    bool aligned = reinterpret_cast<std::uintptr_t>(input.data) % 4 == 0 && plane_.width % 4 == 0;
    if (input.rank == 2) aligned &= input.stride[0] % 4 == 0;
    for (int k = 0; k < input.items.rank; ++k) aligned &= input.items.stride[k] % 4 == 0;
    return aligned;
  }

  template <Writing kWriting>
  void solve() const {
    solve_near<kWriting>
        <<<blocks(plane_.all_bands, plane_.width, kNearWidth), kNearWords, 0, stream_>>>(plane_, emitter_);
    const std::int64_t lines = plane_.all_bands / plane_.bands * (plane_.bands + 1);
    prune<<<blocks(lines, plane_.tiles(), kPruneWarps), kPruneWarps * 32, 0, stream_>>>(plane_);
    list_columns<<<static_cast<unsigned>(plane_.all_bands), kListBlock,
                   static_cast<std::size_t>(list_memory(plane_.pitch)), stream_>>>(plane_);
    const std::int64_t tiles = plane_.all_bands * plane_.tiles();
    const auto persistent =
        static_cast<unsigned>(std::min<std::int64_t>(tiles, fathom::cuda::multiprocessors() * kFarBlocks));
    solve_far<kWriting><<<persistent, kFarBlock, 0, stream_>>>(plane_, emitter_);
    fathom::cuda::check_launch("solving planes");
  }

  const Problem& p_;
  const Batch& batch_;
  const cudaStream_t stream_;
  std::byte* clear_;
  std::size_t cleared_ = 0;
  Plane plane_;
  Writing writing_;
  Emitter<std::int64_t> emitter_;
};

}  // namespace

bool plane_serves(const Problem& p) {
  const DistanceOutputs& out = p.outputs;
  if (p.metric != Metric::euclidean || !p.isotropic || p.sites.rule == Sites::Rule::labels ||
      (p.signed_distance && !serves_sides(p)) || out.nearest.present() || out.coordinates.present() || p.rank > 2)
    return false;
  for (int k = 0; k < p.rank; ++k)
    if (p.border[static_cast<std::size_t>(k)] == Border::periodic) return false;
  // Carries and list entries are 16 bits, squared distances 31, and the list's masks must fit shared memory.
  constexpr std::int64_t kLongest = 46000;
  const std::int64_t height = height_of(p), width = width_of(p);
  return height <= kLongest && width <= kLongest &&
         (height - 1) * (height - 1) + (width - 1) * (width - 1) < std::int64_t{1} << 31;
}

std::size_t plane_scratch_bytes(const Problem& p, const Batch& batch) {
  std::size_t bytes = 0, cleared = 0;
  make_plane(p, group_of(p, batch), nullptr, &bytes, &cleared);
  return bytes;
}

void plane_transform(const Problem& p, const Batch& batch, std::byte* scratch, cudaStream_t stream) {
  const std::int64_t group = group_of(p, batch), count = batch.count();
  for (std::int64_t item = 0; item < count; item += group)
    PlaneTransform(p, batch, item, std::min(group, count - item), scratch, stream).run();
}

}  // namespace fathom::grid::cuda
