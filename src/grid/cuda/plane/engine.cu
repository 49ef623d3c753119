// The engine for planes: images, Euclidean; with spacings that are multiples of a unit, or, of masks, with any.
//
// Six kernels, of which the last four do nothing where sites are near everywhere: words (plane/words.cuh), near
// elements (plane/near.cuh), carries (plane/words.cuh; with unequal spacings they come before near elements, which need
// them), columns that can matter to far ones (plane/prune.cuh), lists and queue (plane/list.cuh), far tiles
// (plane/far.cuh). Of small images they begin before the one ahead ends, which hides what a launch takes. Labels have
// words of their own (plane/labels.cuh), limits a kernel more (output/border_clamp.cu). With spacings that squares of
// 31 bits do not hold, rough squares say where to look, and double has the last word (plane/exact.cuh). What is left to
// do stays on the device: the host launches all and waits for nothing. The two kernels that write results are compiled
// apart (plane/solve.cu).
#include <algorithm>

#include "core/cuda/runtime.h"
#include "grid/cuda/engine.h"
#include "grid/cuda/input/sides.cuh"
#include "grid/cuda/plane/exact.cuh"
#include "grid/cuda/plane/labels.cuh"
#include "grid/cuda/plane/list.cuh"
#include "grid/cuda/plane/prune.cuh"
#include "grid/cuda/plane/solve.cuh"
#include "grid/cuda/plane/words.cuh"

namespace fathom::grid::cuda::plane {

namespace {

std::int64_t bands_of(const Problem& p) { return (p.extent(0) + kBand - 1) / kBand; }
std::int64_t pitch_of(const Problem& p) { return (p.extent(1) + kTile - 1) / kTile * kTile; }

/// Whether squares fit integers of 31 bits.
bool squares_fit(const Problem& p) {
  constexpr std::int64_t kSquares = std::int64_t{1} << 31;
  const std::int64_t height = p.extent(0), width = p.extent(1);
  if (!p.integral) return false;
  if (!p.isotropic) {  // of padding, too
    const std::int64_t rows = bands_of(p) * kBand, columns = pitch_of(p);
    return weight_of(p, 0) * rows * rows + weight_of(p, 1) * columns * columns < kSquares;
  }
  const std::int64_t columns = wants_site(p) ? pitch_of(p) : width - 1;  // these are doubled, also in the padding
  return (height - 1) * (height - 1) + columns * columns < kSquares;
}

/// Whether squares in double serve: masks, without nearest sites. Signed, limits are not seen to.
bool any_serves(const Problem& p) {
  if (p.isotropic || has_labels(p) || wants_site(p) || (p.signed_distance && has_limits(p))) return false;
  const double weight = exact_weight(p, 1), ratio = exact_weight(p, 0) / weight;
  return ratio <= kMostRatio && ratio >= 1 / kMostRatio && fits_doubles(weight);
}

bool plane_serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank != 2 || is_periodic(p) || !serves_sides(p)) return false;
  if (p.extent(0) > kLongestAxisOfPlanes || p.extent(1) > kLongestAxisOfPlanes) return false;
  return squares_fit(p) || any_serves(p);
}

/// The words of a side of some items, and how many bytes they take with those of the sides before. The rest of the
/// scratch is not there yet.
Plane make_plane(const Problem& p, std::int64_t items, std::size_t side, std::byte* words,
                 std::size_t* bytes = nullptr) {
  Plane plane;
  plane.height = static_cast<std::int32_t>(p.extent(0));
  plane.width = static_cast<std::int32_t>(p.extent(1));
  plane.bands = plane.image_bands = static_cast<std::int32_t>(bands_of(p));
  plane.pitch = static_cast<std::int32_t>(pitch_of(p));
  plane.all_bands = items * plane.bands;
  plane.spacing.row_weight = static_cast<std::uint32_t>(weight_of(p, 0));
  plane.spacing.column_weight = static_cast<std::uint32_t>(weight_of(p, 1));
  plane.spacing.exact_row_weight = exact_weight(p, 0);
  plane.spacing.exact_column_weight = exact_weight(p, 1);
  plane.spacing.row_ratio = static_cast<float>(plane.spacing.exact_row_weight / plane.spacing.exact_column_weight);
  plane.spacing.inverse_ratio = 1 / plane.spacing.row_ratio;
  const std::int64_t columns = plane.all_bands * plane.pitch;
  Scratch s(words);
  // The sides share them: each makes its own when it is solved.
  plane.above = s.take<std::uint16_t>(columns);
  plane.below = s.take<std::uint16_t>(columns);
  for (std::size_t k = 0; k <= side; ++k) {
    plane.bits = s.take<std::uint32_t>(columns);
    plane.left.open_cells = s.take<std::uint8_t>(columns / 32);
    plane.left.open_bands = s.take<std::uint32_t>(plane.all_bands);
  }
  if (has_labels(p)) {
    plane.beyond = 1;
    plane.runs.pins = !p.signed_distance;
    plane.runs.row_words = (plane.width + 63) / 64 * 2;
    const std::int64_t words_of_rows = plane.all_bands * kBand * plane.runs.row_words;
    plane.runs.changes = s.take<std::uint32_t>(words_of_rows);
    if (wants_site(p)) plane.runs.upper = s.take<std::uint32_t>(columns);
    plane.runs.background = s.take<std::uint32_t>(words_of_rows);
  }
  if (bytes) *bytes = s.bytes();
  plane.begins_early = columns * kBand <= kEarlyElements;
  return plane;
}

/// Leaves bands out at the front.
void advance(Plane& plane, std::int64_t bands) {
  const std::int64_t words = bands * plane.pitch, words_of_rows = bands * kBand * plane.runs.row_words;
  plane.left.open_cells += words / 32;
  plane.left.open_bands += bands;
  plane.bits += words;
  plane.above += words;
  plane.below += words;
  plane.runs.changes += words_of_rows;
  plane.runs.background += words_of_rows;
  if (plane.runs.upper) plane.runs.upper += words;
}

/// The bands that hold the region; of several images, all.
void take_region(Plane& plane, const Problem& p, std::int64_t items) {
  if (items != 1) return;
  plane.first_band = static_cast<std::int32_t>(p.range(0).begin / kBand);
  plane.height = static_cast<std::int32_t>(p.range(0).end);
  plane.bands = (plane.height + kBand - 1) / kBand - plane.first_band;
  plane.all_bands = plane.bands;
  advance(plane, plane.first_band);
}

/// What is needed besides words. @returns its bytes
std::size_t take_scratch(Plane& plane, const Problem& p, std::byte* base) {
  const std::int64_t columns = plane.all_bands * plane.pitch, tiles = columns / kTile;
  Scratch s(base);
  plane.left.counters = s.take<std::uint32_t>(PlaneLeft::kCounters);
  plane.left.list_column = s.take<std::uint16_t>(columns);
  plane.left.list_count = s.take<std::uint32_t>(plane.all_bands);
  plane.left.anchors = s.take<ushort2>(tiles + plane.all_bands);
  plane.left.work = s.take<std::uint32_t>(tiles);
  if (!squares_fit(p)) {
    plane.spacing.near_roots = s.take<float>(kNearRows * kNearColumns);
    plane.spacing.near_keys = s.take<std::uint32_t>(kNearRows);
  }
  return s.bytes();
}

/// Whether results are floats of whole bands, whose limits, if any, are seen to afterwards.
bool writes_floats(const Problem& p, std::int64_t items) {
  const bool may_be_cut = items == 1 && p.range(0).begin % kBand == 0;
  return is_float_field(p, may_be_cut ? 0 : kNoAxis) && (squares_fit(p) || !has_limits(p));
}

Spacing spacing_of(const Problem& p, Writing writing) {
  if (!squares_fit(p)) return Spacing::any;
  if (p.isotropic) return Spacing::equal;
  return weight_of(p, 1) == 1 && !is_general(writing) ? Spacing::unit_along_columns : Spacing::unit;
}

/// @param image  all of it
/// @param open   see carry()
void carry_sites(const Plane& image, int2 open, cudaStream_t stream) {
  launch_in_turn(carry, blocks(image.all_bands / image.bands, image.pitch, kCarryWidth),
                 carry_segments(image.bands) * 32, 0, stream, image, open);
}

template <class V>
void solve_near(const Plane& plane, const Kernels<V>& kernels, const Emitter<V>& emitter, cudaStream_t stream) {
  dim3 grid = blocks(plane.all_bands, plane.width, kernels.near_width);
  const auto room = static_cast<unsigned>(fathom::cuda::multiprocessors());
  if (2 * grid.x * grid.y <= room) grid.z = 2;
  // Where more blocks waited for the kernel ahead, they would take its room.
  Plane in_turn = plane;
  in_turn.begins_early &= grid.x * grid.y * grid.z <= room;
  launch_in_turn(kernels.near, grid, kNearWords, 0, stream, in_turn, emitter);
}

/// A band that has a multiprocessor to itself is listed by a large block, several by smaller ones at once.
template <class W>
void list(const Plane& plane, cudaStream_t stream) {
  const bool are_many = plane.all_bands > fathom::cuda::multiprocessors();
  launch_in_turn(are_many ? list_columns<W, kManyListsBlock, kManyListsBlocks> : list_columns<W, kListBlock, 1>,
                 static_cast<unsigned>(plane.all_bands), are_many ? kManyListsBlock : kListBlock,
                 static_cast<std::size_t>(list_memory(plane.pitch)), stream, plane);
}

/// From words to results. @param image  all of it, of which `plane` may be a part
template <class V>
void solve_plane(const Plane& image, const Plane& plane, const Kernels<V>& kernels, const Emitter<V>& emitter,
                 cudaStream_t stream) {
  // With unequal spacings the search for near sites asks how far those are outside a band and the ones beside it.
  const bool reads_carries = kernels.spacing != Spacing::equal;
  if (reads_carries) carry_sites(image, make_int2(0, 0), stream);
  solve_near(plane, kernels, emitter, stream);
  if (!reads_carries) carry_sites(image, make_int2(plane.first_band, plane.first_band + plane.bands), stream);
  const std::int64_t lines = plane.all_bands / plane.bands * (plane.bands + 1), tiles = plane.all_bands * plane.tiles();
  launch_in_turn(prune, blocks(lines, plane.tiles(), kPruneWarps), kPruneWarps * 32, 0, stream, plane);
  if (kernels.spacing == Spacing::any) list<LikelyWinners<Floats>>(plane, stream);
  else list<Winners>(plane, stream);
  const std::int64_t resident = fathom::cuda::multiprocessors() * kernels.far_blocks;
  launch_in_turn(kernels.far, static_cast<unsigned>(std::min(tiles, resident)), kFarBlock, 0, stream, plane, emitter);
}

/// From the words of a side to its results.
void solve_side(const Problem& p, const Batch& batch, std::int64_t first_item, std::int64_t items, std::size_t side,
                std::byte* words, std::byte* scratch, cudaStream_t stream) {
  const bool in_fours = has_aligned_rows(p, batch, 4);
  const Writing writing = writing_of(p, writes_floats(p, items), p.isotropic && in_fours);
  const Spacing spacing = spacing_of(p, writing);
  const Plane image = make_plane(p, items, side, words);
  Plane plane = image;
  take_region(plane, p, items);
  take_scratch(plane, p, scratch);
  plane.first_item = first_item;
  plane.out = {Placed<float>::of(p.outputs.distance, p.rank, batch.shape, batch.distance), in_fours,
               side_of(p, side, side == 1)};
  plane.out.distance.data -= plane.first_band * std::int64_t{kBand} * plane.out.distance.y_stride;
  if (spacing == Spacing::any && side + 1 == sides_of(p)) {  // for both
    const auto tables = is_general(writing) ? tabulate<double> : tabulate<float>;
    tables<<<kNearRows, kNearColumns * 32, 0, stream>>>(plane);
    fathom::cuda::check_launch("tabulating roots");
  }
  if (spacing == Spacing::any && is_general(writing) && !p.integral)
    solve_plane(image, plane, kernels_in_double(), Emitter<double>::of(p, batch, first_item), stream);
  else solve_plane(image, plane, kernels_of(writing, spacing), Emitter<std::int64_t>::of(p, batch, first_item), stream);
}

class PlaneEngine final : public Engine {
 public:
  explicit PlaneEngine(const Problem& problem) : p_(problem) {}

  Cut cut() const override { return {0, kBand}; }
  std::int64_t group_of(std::int64_t items) const override {
    constexpr std::int64_t kMostLines = 65535;  // between bands: rows of a grid
    const std::int64_t padded = bands_of(p_) * kBand * pitch_of(p_);
    return std::clamp<std::int64_t>(std::min(kPlaneGroup / padded, kMostLines / (bands_of(p_) + 1)), 1, items);
  }
  std::size_t words_bytes(std::int64_t items) const override {
    std::size_t bytes = 0;
    make_plane(p_, items, sides_of(p_) - 1, nullptr, &bytes);
    return bytes;
  }
  std::size_t scratch_bytes(const Problem& part, std::int64_t items) const override {
    Plane plane = make_plane(part, items, 0, nullptr);
    take_region(plane, part, items);
    return take_scratch(plane, part, nullptr);
  }

  void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const override {
    if (has_labels(p_)) return pack_runs(packing, items, words, stream);
    for (std::size_t side = 0; side < sides_of(p_); ++side) {
      const Plane plane = packed_plane(packing, items, side, words);
      const Mask mask = sites_of(p_, packing.input, side);
      const auto kernel = mask.has_zero_bytes() ? pack_elements<true> : pack_elements<false>;
      kernel<<<blocks(plane.all_bands, plane.pitch, kPackBlock), kPackBlock, 0, stream>>>(plane, mask);
    }
    fathom::cuda::check_launch("packing sites");
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte* scratch, cudaStream_t stream) const override {
    // The elements inside last: mostly they are fewer, and most of what the other side leaves is not written again.
    for (std::size_t side = sides_of(p_); side-- > 0;)
      solve_side(part, batch, first_item, items, side, words, scratch, stream);
    if (!is_general(writing_of(part, writes_floats(part, items), false)) && has_limits(part))
      clamp_items(part, batch, first_item, items, stream);
  }

 private:
  /// Where the words of a part belong.
  Plane packed_plane(const Packing& packing, std::int64_t items, std::size_t side, std::byte* words) const {
    Plane plane = make_plane(p_, items, side, words);
    advance(plane, packing.to_item * plane.bands + packing.to / kBand);
    plane.height = static_cast<std::int32_t>(packing.input.extent[0]);
    plane.bands = (plane.height + kBand - 1) / kBand;
    plane.all_bands = packing.items * plane.bands;
    plane.first_item = packing.first_item;
    return plane;
  }

  void pack_runs(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const {
    const Plane plane = packed_plane(packing, items, 0, words);
    // The last row of the part of an image that was packed before, where carries are made later: of two bands and more,
    // these take 8 bytes of each column, one behind the other.
    std::byte* kept_row = reinterpret_cast<std::byte*>(make_plane(p_, items, 0, words).above);
    visit_dtype(p_.input.dtype(), [&](auto tag) {
      using T = Label<typename decltype(tag)::type>;
      auto* last_row = reinterpret_cast<T*>(kept_row);
      pack_labels<T><<<blocks(plane.all_bands, plane.pitch, kPackBlock), kPackBlock, 0, stream>>>(
          plane, packing.input, packing.to > 0 ? last_row : nullptr);
      if (packing.to + plane.height == p_.extent(0)) return;
      const auto* row = reinterpret_cast<const T*>(packing.input.data) + (plane.height - 1) * packing.input.stride[0];
      fathom::cuda::check(cudaMemcpyAsync(last_row, row, static_cast<std::size_t>(plane.width) * sizeof(T),
                                          cudaMemcpyDeviceToDevice, stream),
                          "keeping a row");
    });
    fathom::cuda::check_launch("packing labels");
  }

  const Problem& p_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Problem& problem) {
  return plane_serves(problem) ? std::make_unique<PlaneEngine>(problem) : nullptr;
}

}  // namespace fathom::grid::cuda::plane
