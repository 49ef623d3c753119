// The engine for small images: Euclidean, with equal spacings, up to 128 elements along an axis; lines as images of one
// row.
//
// Two kernels, whatever the sites: words (small/words.cuh), and from them the results of an image by a block
// (small/search.cuh). So a batch of small images takes what its input and its results take to move, and one alone no
// more than two launches; signed, as many for each side. Of float distances, borders of sites and a maximum distance
// are a kernel more (output/border_clamp.cu).
#include <algorithm>

#include "grid/cuda/engine.h"
#include "grid/cuda/input/sides.cuh"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/small/search.cuh"

namespace fathom::grid::cuda::small {

namespace {

/// Tiles of an image, side by side: its words, or with nearest sites halves of them.
int tiles_of(const Problem& p) {
  const std::int64_t columns = wants_site(p) ? 16 : 32;
  return static_cast<int>((p.extent(p.rank - 1) + columns - 1) / columns);
}

/// Bytes of dynamic shared memory.
std::size_t image_memory(const Problem& p) {
  return static_cast<std::size_t>(tiles_of(p)) * window_memory(p.rank == 1 ? 1 : static_cast<int>(p.extent(0)));
}

bool small_serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank > 2 || !p.isotropic || is_periodic(p) || !serves_sides(p)) return false;
  for (int k = 0; k < p.rank; ++k)
    if (p.extent(k) > kSmallAxis) return false;
  // Without nearest sites an image takes less than every device has.
  const std::size_t of_runs = has_labels(p) ? sizeof(SmallRuns<true>) : 0;
  return !wants_site(p) || image_memory(p) + of_runs <= fathom::cuda::block_memory();
}

SmallImages make_images(const Problem& p, std::int64_t items, std::byte* words, std::size_t* bytes = nullptr) {
  SmallImages images;
  Volume& v = images.volume;
  v.ny = p.rank == 1 ? 1 : static_cast<std::int32_t>(p.extent(0));
  v.nx = static_cast<std::int32_t>(p.extent(p.rank - 1));
  v.words = (v.nx + 31) / 32;
  v.depth = 1;
  v.items = items;
  Scratch s(words);
  const std::int64_t words_of_items = items * v.ny * v.words;
  images.bits = s.take<std::uint32_t>(words_of_items);
  if (has_labels(p)) {
    v.pins = !p.signed_distance;
    v.keeps_changes = wants_site(p);
    v.along_z = s.take<uint2>(words_of_items);
    v.along_y = s.take<std::uint32_t>(words_of_items);
  }
  if (bytes) *bytes = s.bytes();
  return images;
}

/// Whether two results can be written at once, everywhere.
bool writes_pairs(const Problem& p, const Batch& batch) {
  return p.extent(p.rank - 1) % 2 == 0 && has_aligned_rows(p, batch, 2);
}

using SmallKernel = void (*)(SmallImages, Emitter<std::int64_t>);

template <Writing kWriting>
constexpr SmallKernel kDistances = solve_small_images<SmallDistances<kWriting>>;

SmallKernel kernel_of(Writing writing) {
  switch (writing) {
    case Writing::aligned: return kDistances<Writing::aligned>;
    case Writing::labels: return kDistances<Writing::labels>;
    case Writing::signed_labels: return kDistances<Writing::signed_labels>;
    case Writing::one_side: return kDistances<Writing::one_side>;
    case Writing::sites: return solve_small_images<SmallSites<false>>;
    case Writing::label_sites: return solve_small_images<SmallSites<true>>;
    case Writing::general: return kDistances<Writing::general>;
    case Writing::general_labels: return kDistances<Writing::general_labels>;
    default: return kDistances<Writing::unaligned>;
  }
}

class SmallEngine final : public Engine {
 public:
  explicit SmallEngine(const Problem& problem) : p_(problem) {}

  Cut cut() const override { return {0, p_.extent(0)}; }
  std::int64_t group_of(std::int64_t items) const override {
    const SmallImages images = make_images(p_, 1, nullptr);
    const std::int64_t padded = std::int64_t{images.volume.ny} * images.volume.words * 32;
    return std::clamp<std::int64_t>(kPlaneGroup / padded, 1, items);
  }
  std::size_t words_bytes(std::int64_t items) const override { return sides_of(p_) * bytes_of_side(items); }
  std::size_t scratch_bytes(const Problem&, std::int64_t) const override { return 0; }

  void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const override {
    for (std::size_t side = 0; side < sides_of(p_); ++side) {
      SmallImages images = make_images(p_, items, words + side * bytes_of_side(items));
      const std::int64_t before = packing.to_item * images.volume.ny * images.volume.words;
      images.bits += before;
      images.volume.along_z += before;
      images.volume.along_y += before;
      images.volume.first_item = packing.first_item;
      images.volume.items = packing.items;
      const auto rows = blocks_for(packing.items * PackedRows::warps(images.volume) * 32, kSmallPackBlock);
      const auto launch_packing = [&](auto kernel, unsigned blocks, const auto& source) {
        kernel<<<blocks, kSmallPackBlock, 0, stream>>>(images, source);
      };
      if (has_labels(p_)) {
        visit_dtype(p_.input.dtype(), [&](auto tag) {
          launch_packing(pack_small_labels<Label<typename decltype(tag)::type>>, rows, packing.input);
        });
        continue;
      }
      const Mask mask = sites_of(p_, packing.input, side);
      if (!mask.has_zero_bytes()) launch_packing(pack_small_images<Reading::elements>, rows, mask);
      else if (!has_aligned_rows(packing.input, 16)) launch_packing(pack_small_images<Reading::bytes>, rows, mask);
      else launch_packing(pack_small_images<Reading::aligned_bytes>, static_cast<unsigned>(packing.items), mask);
    }
    fathom::cuda::check_launch("packing sites");
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte*, cudaStream_t stream) const override {
    const Writing writing = writing_of(part, is_float_field(part, kNoAxis), writes_pairs(part, batch), true);
    const SmallKernel kernel = kernel_of(writing);
    for (std::size_t side = 0; side < sides_of(p_); ++side) {
      SmallImages images = make_images(part, items, words + side * bytes_of_side(items));
      Volume& v = images.volume;
      v.first_item = first_item;
      v.side = side_of(part, side, side == 0);
      v.distance = Placed<float>::of(part.outputs.distance, part.rank, batch.shape, batch.distance);
      v.is_aligned = writes_pairs(part, batch);
      const int warps = (row_groups(v.ny) + 1) / 2 * tiles_of(part), threads = std::min(warps * 32, kSmallBlock);
      const std::size_t memory = image_memory(part);
      launch(kernel, persistent_blocks(kernel, items, threads, memory), threads, memory, stream, images,
             Emitter<std::int64_t>::of(part, batch, first_item));
    }
    if (!is_general(writing) && has_limits(part)) clamp_items(part, batch, first_item, items, stream);
  }

 private:
  std::size_t bytes_of_side(std::int64_t items) const {
    std::size_t bytes = 0;
    make_images(p_, items, nullptr, &bytes);
    return bytes;
  }

  const Problem& p_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Problem& problem) {
  return small_serves(problem) ? std::make_unique<SmallEngine>(problem) : nullptr;
}

}  // namespace fathom::grid::cuda::small
