// The engine for images of up to 31 rows, and for lines: Euclidean, of masks, with equal spacings, without a sign.
//
// Two kernels, whatever the sites: words, and from them the results (shallow_images.cuh). Bands of 32 rows, as the
// engine for planes has them, would be filled in part, and ask for as much scratch. Of float distances, borders of
// sites and a maximum distance are a kernel more (border_clamp.cuh).
#include <algorithm>

#include "grid/cuda/border_clamp.cuh"
#include "grid/cuda/engine.h"
#include "grid/cuda/image_shape.h"
#include "grid/cuda/scratch.h"
#include "grid/cuda/shallow_images.cuh"
#include "grid/cuda/sides.cuh"

namespace fathom::grid::cuda {

namespace {

bool shallow_serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank > 2 || !p.isotropic || p.signed_distance || has_labels(p)) return false;
  for (int k = 0; k < p.rank; ++k)
    if (p.border[static_cast<std::size_t>(k)] == Border::periodic) return false;
  return height_of(p) <= kShallowRows && width_of(p) <= kShallowColumns;
}

ShallowImages make_images(const Problem& p, std::int64_t items, std::byte* words, std::size_t* bytes = nullptr) {
  ShallowImages images;
  images.height = static_cast<std::int32_t>(height_of(p));
  images.width = static_cast<std::int32_t>(width_of(p));
  images.words = (images.width + 31) / 32;
  images.summaries = (images.words + 31) / 32;
  images.items = items;
  Scratch s(words);
  images.bits = s.take<std::uint32_t>(items * images.height * images.words);
  images.summary = s.take<std::uint32_t>(items * images.height * images.summaries);
  if (bytes) *bytes = s.bytes();
  return images;
}

/// What of the images is solved, and where it goes.
void place(ShallowImages& images, const Problem& part, const Batch& batch, std::int64_t first_item, bool floats) {
  const Range columns = part.range(part.rank - 1);
  images.first_item = first_item;
  images.begin = static_cast<std::int32_t>(columns.begin);
  images.end = static_cast<std::int32_t>(columns.end);
  images.first_tile = images.begin / kShallowBlock;
  images.tiles = (images.end + kShallowBlock - 1) / kShallowBlock - images.first_tile;
  if (floats) images.distance = Placed<float>::of(part.outputs.distance, part.rank, batch.shape, batch.distance);
}

using ShallowKernel = void (*)(ShallowImages, Emitter<std::int64_t>);

template <Writing kWriting>
ShallowKernel kernel_of(int rows) {
  if (rows == 1) return solve_shallow_images<kWriting, 1>;
  if (rows <= 4) return solve_shallow_images<kWriting, 4>;
  if (rows <= 8) return solve_shallow_images<kWriting, 8>;
  if (rows <= 16) return solve_shallow_images<kWriting, 16>;
  return solve_shallow_images<kWriting, 32>;
}

ShallowKernel kernel_of(Writing writing, int rows) {
  switch (writing) {
    case Writing::sites: return kernel_of<Writing::sites>(rows);
    case Writing::general: return kernel_of<Writing::general>(rows);
    default: return kernel_of<Writing::unaligned>(rows);
  }
}

class ShallowEngine final : public Engine {
 public:
  explicit ShallowEngine(const Problem& problem) : p_(problem) {}

  Cut cut() const override { return {p_.rank - 1, kShallowBlock}; }
  std::int64_t packed_unit() const override { return p_.rank == 1 ? p_.extent(0) : 1; }
  std::int64_t group_of(std::int64_t items) const override {
    const ShallowImages images = make_images(p_, 1, nullptr);
    const std::int64_t padded = std::int64_t{images.height} * images.words * 32;
    return std::clamp<std::int64_t>(kPlaneGroup / padded, 1, items);
  }
  std::size_t words_bytes(std::int64_t items) const override {
    std::size_t bytes = 0;
    make_images(p_, items, nullptr, &bytes);
    return bytes;
  }
  std::size_t scratch_bytes(const Problem&, std::int64_t) const override { return 0; }

  void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const override {
    ShallowImages images = make_images(p_, items, words);
    const std::int64_t rows = packing.to_item * images.height + (p_.rank == 1 ? 0 : packing.to);
    images.bits += rows * images.words;
    images.summary += rows * images.summaries;
    if (p_.rank == 2) images.height = static_cast<std::int32_t>(packing.input.extent[0]);
    images.items = packing.items;
    images.first_item = packing.first_item;
    const Mask mask = sites_of(p_, packing.input, 0);
    auto* kernel = pack_shallow_images<Reading::elements>;
    if (mask.has_zero_bytes())
      kernel = has_aligned_rows(packing.input, 16) ? pack_shallow_images<Reading::aligned_bytes>
                                                   : pack_shallow_images<Reading::bytes>;
    const std::int64_t warps = images.items * images.height * images.summaries;
    kernel<<<blocks_for(warps * 32, kShallowPackBlock), kShallowPackBlock, 0, stream>>>(images, mask);
    fathom::cuda::check_launch("packing sites");
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte*, cudaStream_t stream) const override {
    const Writing writing = writing_of(part, is_plain_float(part, part.rank - 1), false);
    ShallowImages images = make_images(part, items, words);
    place(images, part, batch, first_item, !is_general(writing));
    const auto blocks = static_cast<unsigned>(items * images.tiles);
    const bool begins_early = items * height_of(part) * width_of(part) <= kEarlyElements;
    fathom::cuda::launch(kernel_of(writing, images.height), blocks, kShallowBlock, 0, stream, begins_early, images,
                         Emitter<std::int64_t>::of(part, batch, first_item));
    fathom::cuda::check_launch("solving");
    if (!is_general(writing) && has_limits(part)) clamp_items(part, batch, first_item, items, stream);
  }

 private:
  const Problem& p_;
};

}  // namespace

std::unique_ptr<Engine> make_shallow_engine(const Problem& problem) {
  return shallow_serves(problem) ? std::make_unique<ShallowEngine>(problem) : nullptr;
}

}  // namespace fathom::grid::cuda
