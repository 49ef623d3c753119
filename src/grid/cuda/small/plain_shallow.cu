// The engine for images of up to 31 rows, and for lines: Euclidean, with equal spacings.
//
// Two kernels, whatever the sites: words, and from them the results (small/shallow_images.cuh; labels have words of
// their own, small/shallow_labels.cuh). Bands of 32 rows, as the engine for planes has them, would be filled in part,
// and ask for as much scratch. Of float distances, borders of sites and a maximum distance are a kernel more
// (border_clamp.cu).
#include <algorithm>

#include "grid/cuda/border_clamp.h"
#include "grid/cuda/engine.h"
#include "grid/cuda/scratch.h"
#include "grid/cuda/sides.cuh"
#include "grid/cuda/small/shallow_images.cuh"
#include "grid/cuda/small/shallow_labels.cuh"
#include "grid/cuda/small/shallow_words.cuh"

namespace fathom::grid::cuda {

namespace {

// A line is an image of one row.
std::int64_t height_of(const Problem& p) { return p.rank == 1 ? 1 : p.extent(0); }
std::int64_t width_of(const Problem& p) { return p.extent(p.rank - 1); }

/// A signed field of a mask, whose sides are as two labels.
bool has_sides(const Problem& p) { return sides_of(p) == 2; }

/// The most rows of images that the engine for planes would not serve, or not as fast.
std::int64_t most_rows(const Problem& p) {
  if (width_of(p) > kLongestAxisOfPlanes || !serves_sides(p)) return kShallowRows;
  return has_labels(p) ? kShallowRowsOfLabels : has_sides(p) ? kShallowRowsOfSides : kShallowRows;
}

bool shallow_serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank > 2 || !p.isotropic) return false;
  return !is_periodic(p) && height_of(p) <= most_rows(p) && width_of(p) <= kShallowColumns;
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
  if (has_sides(p)) images.sides = s.take<std::uint32_t>(items * images.height * images.words);
  if (has_labels(p)) {
    images.pins = !p.signed_distance;
    images.labels = s.take<uint2>(items * images.height * images.words);
  }
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

Writing writing_of_part(const Problem& part) {
  const bool floats = is_plain_float(part, part.rank - 1);
  if (!part.signed_distance) return writing_of(part, floats, false);
  return wants_site(part) ? Writing::label_sites : floats ? Writing::both_sides : Writing::general_labels;
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
    case Writing::both_sides: return kernel_of<Writing::both_sides>(rows);
    case Writing::labels: return kernel_of<Writing::labels>(rows);
    case Writing::general_labels: return kernel_of<Writing::general_labels>(rows);
    case Writing::label_sites: return kernel_of<Writing::label_sites>(rows);
    default: return kernel_of<Writing::unaligned>(rows);
  }
}

class ShallowEngine final : public Engine {
 public:
  explicit ShallowEngine(const Problem& problem) : p_(problem) {}

  Cut cut() const override { return {p_.rank - 1, kShallowBlock}; }
  /// Labels are compared with those of the row above.
  std::int64_t packed_unit() const override { return p_.rank == 1 || has_labels(p_) ? p_.extent(0) : 1; }
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
    const ShallowImages images = packed_images(packing, items, words);
    if (has_labels(p_)) pack_labels(packing, images, stream);
    else if (has_sides(p_)) pack_sites<true>(packing, images, sites_of(p_, packing.input, 1), stream);
    else pack_sites<false>(packing, images, sites_of(p_, packing.input, 0), stream);
    fathom::cuda::check_launch("packing sites");
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte*, cudaStream_t stream) const override {
    const Writing writing = writing_of_part(part);
    ShallowImages images = make_images(part, items, words);
    images.side.half = part.surface == Surface::faces ? 0.5f : 0.0f;
    place(images, part, batch, first_item, !is_general(writing));
    const auto blocks = static_cast<unsigned>(items * images.tiles);
    const bool begins_early = items * height_of(part) * width_of(part) <= kEarlyElements;
    fathom::cuda::launch(kernel_of(writing, images.height), blocks, kShallowBlock, 0, stream, begins_early, images,
                         Emitter<std::int64_t>::of(part, batch, first_item));
    if (!is_general(writing) && has_limits(part)) clamp_items(part, batch, first_item, items, stream);
  }

 private:
  /// Where the words of a part belong.
  ShallowImages packed_images(const Packing& packing, std::int64_t items, std::byte* words) const {
    ShallowImages images = make_images(p_, items, words);
    const std::int64_t rows = packing.to_item * images.height + (p_.rank == 1 ? 0 : packing.to);
    images.bits += rows * images.words;
    images.summary += rows * images.summaries;
    images.sides += rows * images.words;
    images.labels += rows * images.words;
    if (p_.rank == 2) images.height = static_cast<std::int32_t>(packing.input.extent[0]);
    images.items = packing.items;
    images.first_item = packing.first_item;
    return images;
  }

  static unsigned pack_blocks(const ShallowImages& images) {
    return blocks_for(images.items * images.height * images.summaries * 32, kShallowPackBlock);
  }

  void pack_labels(const Packing& packing, const ShallowImages& images, cudaStream_t stream) const {
    visit_dtype(p_.input.dtype(), [&](auto tag) {
      using T = Label<typename decltype(tag)::type>;
      pack_shallow_labels<T><<<pack_blocks(images), kShallowPackBlock, 0, stream>>>(images, packing.input);
    });
  }

  template <bool kSides>
  static void pack_sites(const Packing& packing, const ShallowImages& images, const Mask& mask, cudaStream_t stream) {
    auto* kernel = pack_shallow_images<Reading::elements, kSides>;
    if (mask.has_zero_bytes())
      kernel = has_aligned_rows(packing.input, 16) ? pack_shallow_images<Reading::aligned_bytes, kSides>
                                                   : pack_shallow_images<Reading::bytes, kSides>;
    kernel<<<pack_blocks(images), kShallowPackBlock, 0, stream>>>(images, mask);
  }

  const Problem& p_;
};

}  // namespace

std::unique_ptr<Engine> make_shallow_engine(const Problem& problem) {
  return shallow_serves(problem) ? std::make_unique<ShallowEngine>(problem) : nullptr;
}

}  // namespace fathom::grid::cuda
