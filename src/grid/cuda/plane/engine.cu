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
#include "grid/cuda/output/border_clamp.h"
#include "grid/cuda/plane/exact.cuh"
#include "grid/cuda/plane/labels.cuh"
#include "grid/cuda/plane/list.cuh"
#include "grid/cuda/plane/prune.cuh"
#include "grid/cuda/plane/solve.cuh"
#include "grid/cuda/plane/words.cuh"
#include "grid/cuda/scratch.h"

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
    if (!wants_site(p) || !plane.runs.pins) plane.runs.background = s.take<std::uint32_t>(words_of_rows);
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
  if (plane.runs.background) plane.runs.background += words_of_rows;
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

/// Whether four float results can be written at once, everywhere.
bool writes_fours(const Problem& p, const Batch& batch) { return has_aligned_rows(p, batch, 4); }

/// Whether the search for near sites asks how far those are that lie outside a band and the ones beside it.
bool near_reads_carries(const Problem& p) { return !p.isotropic; }

/// @param plane  of whole images
/// @param open   see carry()
void carry_sites(const Plane& plane, int2 open, cudaStream_t stream) {
  launch_in_turn(carry, blocks(plane.all_bands / plane.bands, plane.pitch, kCarryWidth),
                 carry_segments(plane.bands) * 32, 0, stream, plane, open);
}

/// From the words of a side to its results.
class PlaneSolver {
 public:
  PlaneSolver(const Problem& p, const Batch& batch, std::int64_t first_item, std::int64_t items, std::size_t side,
              std::byte* words, std::byte* scratch, cudaStream_t stream)
      : p_(p),
        batch_(batch),
        stream_(stream),
        side_(side),
        image_(make_plane(p, items, side, words)),
        plane_(image_),
        writing_(writing_of(p, writes_floats(p, items), p.isotropic && writes_fours(p, batch))),
        emitter_(Emitter<std::int64_t>::of(p, batch, first_item)) {
    take_region(plane_, p, items);
    take_scratch(plane_, p, scratch);
    plane_.first_item = first_item;
    plane_.out.side = side_of(p, side, side == 1);
    if (is_general(writing_)) return;
    plane_.out.row_stride = p.outputs.distance.strides()[0];
    plane_.out.distance = reinterpret_cast<float*>(p.outputs.distance.data()) -
                          plane_.first_band * std::int64_t{kBand} * plane_.out.row_stride;
    plane_.out.items = ItemStrides::of(batch.shape, batch.distance);
    plane_.out.is_aligned = writes_fours(p, batch);
  }

  void run() const {
    const bool fit = squares_fit(p_);
    if (!fit && side_ + 1 == sides_of(p_)) make_tables();
    if (!fit && is_general(writing_) && !p_.integral)
      solve(kernels_in_double(), Emitter<double>::of(p_, batch_, plane_.first_item));
    else solve(kernels_of(writing_, spacing()), emitter_);
  }

 private:
  Spacing spacing() const {
    if (!squares_fit(p_)) return Spacing::any;
    if (p_.isotropic) return Spacing::equal;
    return plane_.spacing.column_weight == 1 && !is_general(writing_) ? Spacing::unit_along_columns : Spacing::unit;
  }

  template <class V>
  void solve(const Kernels<V>& kernels, const Emitter<V>& emitter) const {
    if (near_reads_carries(p_)) carry_sites(image_, make_int2(0, 0), stream_);
    kernels.solve_near(plane_, emitter, stream_);
    const int2 bands = make_int2(plane_.first_band, plane_.first_band + plane_.bands);
    if (!near_reads_carries(p_)) carry_sites(image_, bands, stream_);
    const std::int64_t lines = plane_.all_bands / plane_.bands * (plane_.bands + 1);
    launch_in_turn(prune, blocks(lines, plane_.tiles(), kPruneWarps), kPruneWarps * 32, 0, stream_, plane_);
    if (kernels.spacing == Spacing::any) list<LikelyWinners<Floats>>();
    else list<Winners>();
    kernels.solve_far(plane_, emitter, stream_);
  }

  /// A band that has a multiprocessor to itself is listed by a large block, several by smaller ones at once.
  template <class W>
  void list() const {
    const bool are_many = plane_.all_bands > fathom::cuda::multiprocessors();
    launch_in_turn(are_many ? list_columns<W, kManyListsBlock, kManyListsBlocks> : list_columns<W, kListBlock, 1>,
                   static_cast<unsigned>(plane_.all_bands), are_many ? kManyListsBlock : kListBlock,
                   static_cast<std::size_t>(list_memory(plane_.pitch)), stream_, plane_);
  }

  /// For both sides.
  void make_tables() const {
    const auto tables = is_general(writing_) ? tabulate<double> : tabulate<float>;
    tables<<<kNearRows, kNearColumns * 32, 0, stream_>>>(plane_);
    fathom::cuda::check_launch("tabulating roots");
  }

  const Problem& p_;
  const Batch& batch_;
  const cudaStream_t stream_;
  const std::size_t side_;
  const Plane image_;  ///< all of it
  Plane plane_;
  const Writing writing_;
  const Emitter<std::int64_t> emitter_;
};

class PlaneEngine final : public Engine {
 public:
  explicit PlaneEngine(const Problem& problem) : p_(problem) {}

  Cut cut() const override { return {0, kBand}; }
  std::int64_t packed_unit() const override { return cut().unit; }
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
    for (std::size_t side = 0; side < sides_of(p_); ++side)
      pack_sites(packed_plane(packing, items, side, words), sites_of(p_, packing.input, side), stream);
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte* scratch, cudaStream_t stream) const override {
    // The elements inside last: mostly they are fewer, and most of what the other side leaves is not written again.
    for (std::size_t side = sides_of(p_); side-- > 0;)
      PlaneSolver(part, batch, first_item, items, side, words, scratch, stream).run();
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
      auto* kernel = plane.upper_pins() ? pack_labels<T, true> : pack_labels<T, false>;
      kernel<<<blocks(plane.all_bands, plane.pitch, kPackBlock), kPackBlock, 0, stream>>>(
          plane, packing.input, packing.to > 0 ? last_row : nullptr);
      if (packing.to + plane.height == p_.extent(0)) return;
      const auto* row = reinterpret_cast<const T*>(packing.input.data) + (plane.height - 1) * packing.input.stride[0];
      fathom::cuda::check(cudaMemcpyAsync(last_row, row, static_cast<std::size_t>(plane.width) * sizeof(T),
                                          cudaMemcpyDeviceToDevice, stream),
                          "keeping a row");
    });
    fathom::cuda::check_launch("packing labels");
  }

  static void pack_sites(const Plane& plane, const Mask& mask, cudaStream_t stream) {
    auto* kernel = mask.has_zero_bytes() ? pack_elements<true> : pack_elements<false>;
    kernel<<<blocks(plane.all_bands, plane.pitch, kPackBlock), kPackBlock, 0, stream>>>(plane, mask);
    fathom::cuda::check_launch("packing sites");
  }

  const Problem& p_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Problem& problem) {
  return plane_serves(problem) ? std::make_unique<PlaneEngine>(problem) : nullptr;
}

}  // namespace fathom::grid::cuda::plane
