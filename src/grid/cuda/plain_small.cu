// The engine for small images: Euclidean, with spacings of 1, up to 128 elements along an axis; lines as images of one
// row.
//
// Two kernels, whatever the sites: words, and from them the results of an image by a block (small_images.cuh). So a
// batch of small images takes what its input and its results take to move, and one alone no more than two launches.
// Borders of sites and a maximum distance are a third kernel (border_clamp.cuh).
#include <algorithm>

#include "grid/cuda/border_clamp.cuh"
#include "grid/cuda/engine.h"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/scratch.h"
#include "grid/cuda/small_images.cuh"

namespace fathom::grid::cuda {

namespace {

bool small_serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank > 2 || !p.isotropic || has_labels(p) || p.signed_distance ||
      wants_site(p) || !is_plain_float(p, kNoAxis))
    return false;
  for (int k = 0; k < p.rank; ++k)
    if (p.extent(k) > kSmallAxis || p.border[static_cast<std::size_t>(k)] == Border::periodic) return false;
  return true;
}

SmallImages make_images(const Problem& p, std::int64_t items, std::byte* words, std::size_t* bytes = nullptr) {
  SmallImages images;
  Volume& v = images.volume;
  v.ny = p.rank == 1 ? 1 : static_cast<std::int32_t>(p.extent(0));
  v.nx = static_cast<std::int32_t>(p.extent(p.rank - 1));
  v.words = (v.nx + 31) / 32;
  v.items = items;
  Scratch s(words);
  images.bits = s.take<std::uint32_t>(items * v.ny * v.words);
  if (bytes) *bytes = s.bytes();
  return images;
}

/// Whether two results can be written at once, everywhere.
bool has_aligned_rows(const Problem& p, const Batch& batch) {
  const AnyView& distance = p.outputs.distance;
  bool aligned =
      reinterpret_cast<std::uintptr_t>(distance.data()) % sizeof(float2) == 0 && p.extent(p.rank - 1) % 2 == 0;
  if (p.rank == 2) aligned &= distance.strides()[0] % 2 == 0;
  for (std::int64_t stride : batch.distance) aligned &= stride % 2 == 0;
  return aligned;
}

/// Whether sixteen bytes can be read at once, everywhere.
bool is_aligned(const Input& input) {
  constexpr int kBytes = 16;
  bool aligned =
      reinterpret_cast<std::uintptr_t>(input.data) % kBytes == 0 && input.extent[input.rank - 1] % kBytes == 0;
  if (input.rank == 2) aligned &= input.stride[0] % kBytes == 0;
  for (int k = 0; k < input.items.rank; ++k) aligned &= input.items.stride[k] % kBytes == 0;
  return aligned;
}

class SmallEngine final : public Engine {
 public:
  explicit SmallEngine(const Problem& problem) : p_(problem) {}

  Cut cut() const override { return {0, p_.extent(0)}; }
  std::int64_t packed_unit() const override { return cut().unit; }
  std::int64_t group_of(std::int64_t items) const override {
    const SmallImages images = make_images(p_, 1, nullptr);
    const std::int64_t padded = std::int64_t{images.volume.ny} * images.volume.words * 32;
    return std::clamp<std::int64_t>(kPlaneGroup / padded, 1, items);
  }
  std::size_t words_bytes(std::int64_t items) const override {
    std::size_t bytes = 0;
    make_images(p_, items, nullptr, &bytes);
    return bytes;
  }
  std::size_t scratch_bytes(const Problem&, std::int64_t) const override { return 0; }

  void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const override {
    SmallImages images = make_images(p_, items, words);
    images.bits += packing.to_item * images.volume.ny * images.volume.words;
    images.volume.first_item = packing.first_item;
    const Mask mask = Mask::of(packing.input, element_rule(packing.input.dtype, p_.sites), false);
    auto* kernel = pack_small_images<Reading::elements>;
    if (mask.has_zero_bytes())
      kernel =
          is_aligned(packing.input) ? pack_small_images<Reading::aligned_bytes> : pack_small_images<Reading::bytes>;
    kernel<<<static_cast<unsigned>(packing.items), kSmallPackBlock, 0, stream>>>(images, mask);
    fathom::cuda::check_launch("packing sites");
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte*, cudaStream_t stream) const override {
    SmallImages images = make_images(part, items, words);
    Volume& v = images.volume;
    v.first_item = first_item;
    v.distance = Placed<float>::of(part.outputs.distance, part.rank, batch.shape, batch.distance);
    v.is_aligned = has_aligned_rows(part, batch);
    auto* kernel = v.is_aligned ? solve_small_images<Writing::aligned> : solve_small_images<Writing::unaligned>;
    const int warps = (row_groups(v.ny) + 1) / 2 * v.words, threads = std::min(warps * 32, kSmallBlock);
    const std::size_t memory = static_cast<std::size_t>(v.words) * window_memory(v.ny);
    launch(kernel, persistent_blocks(kernel, items, threads, memory), threads, memory, stream, images,
           Emitter<std::int64_t>::of(part, batch, first_item));
    if (has_limits(part)) clamp_items(part, batch, first_item, items, stream);
  }

 private:
  const Problem& p_;
};

}  // namespace

std::unique_ptr<Engine> make_small_engine(const Problem& problem) {
  return small_serves(problem) ? std::make_unique<SmallEngine>(problem) : nullptr;
}

}  // namespace fathom::grid::cuda
