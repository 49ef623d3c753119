// The engine for volumes: Euclidean, up to 2048 elements along an axis, of labels 1024; with unequal spacings, and with
// nearest sites, up to 1024 along the first two axes.
//
// Words and carries along x (volume/words.cuh); the pass along z (volume/along_z.cuh); the pass along y, which writes the
// results (volume/along_y.cuh). With nearest sites both have kernels of their own (volume/nearest/); with any spacings
// each pass is one kernel, along y and then along z (volume/any/along_z.cuh), which find nearest elements of other
// labels, too, and nearest sites in rows beyond 1024. What is left to do stays on the device: the host launches all and
// waits for nothing. The kernels are compiled apart (volume/solve.cuh).
//
// Both sides of a signed field are solved at once with unequal spacings; with equal ones one after the other, from the
// same words, which are turned in between (volume/packing.cu). Where all of that takes much scratch, a volume is worked
// on in ranges of columns, one after the other.
#include <algorithm>
#include <vector>

#include "grid/cuda/engine.h"
#include "grid/cuda/input/sides.cuh"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/schedule.h"
#include "grid/cuda/volume/any/along_y.cuh"
#include "grid/cuda/volume/any/along_z.cuh"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/rows_with_sites.cuh"
#include "grid/cuda/volume/solve.cuh"

namespace fathom::grid::cuda::volume {

namespace {

/// Whether the region is a part that begins at a word, and one item's.
bool may_be_cut(const Problem& p, std::int64_t items) { return items == 1 && p.range(2).begin % 32 == 0; }

std::int64_t longest_axis(const Problem& p) { return std::max({p.extent(0), p.extent(1), p.extent(2)}); }
/// With what fills up words, along x or, in a transposed volume, along y.
std::int64_t voxels_filled_up(const Problem& p, bool is_transposed) {
  const std::int64_t of_words = p.extent(is_transposed ? 1 : 2), others = p.extent(is_transposed ? 2 : 1);
  return p.extent(0) * others * ((of_words + 31) / 32 * 32);
}
/// Whether an axis is longer than the keys of envelopes reach.
bool is_long(const Problem& p) { return longest_axis(p) > kLongestKeyed; }

/// Whether the passes for any spacings solve it.
bool has_any_spacings(const Problem& p) { return !p.isotropic || (wants_site(p) && (is_long(p) || has_labels(p))); }

/// Whether these write float distances. Else they find sites, and the emitter makes of these what is asked for: limits
/// are not known in floats where there is no unit.
bool writes_any_floats(const Problem& p) {
  return is_float_field(p, kNoAxis) && !wants_site(p) && (p.integral || !has_limits(p)) &&
         !(has_labels(p) && p.signed_distance);
}

/// Whether both sides of a signed field are solved at once.
bool joins_sides(const Problem& p) { return sides_of(p) == 2 && !p.isotropic; }

/// Whether the sides of a signed field are solved one after the other from the same words, which are turned in between.
bool turns_sides(const Problem& p) { return sides_of(p) == 2 && p.isotropic; }

/// The output in which squares of 32 bits may lie between the passes, one in each of its elements, of as many bits if
/// there is such: whole words of it, of all that the input has along the other axes. Null: there is none.
const AnyView* room_between_passes(const Problem& p, std::int64_t items) {
  for (int k = 0; k < p.rank; ++k)
    if (p.region_extent(k) != p.extent(k) && !(k == 2 && may_be_cut(p, items))) return nullptr;
  const AnyView &distance = p.outputs.distance, &squared = p.outputs.squared, &nearest = p.outputs.nearest;
  if (distance.present() && distance.dtype() == DType::float32) return &distance;
  if (nearest.present() && nearest.dtype() == DType::int32) return &nearest;
  if (wants_site(p)) return nullptr;  // words of sites lie one beside the other
  if (squared.present() && squared.dtype() == DType::uint32) return &squared;
  return distance.present() ? &distance : squared.present() ? &squared : nullptr;
}

/// Whether two float results can be written at once, everywhere.
bool writes_pairs(const Problem& p, const Batch& batch) {
  return p.region_extent(2) % 2 == 0 && has_aligned_rows(p, batch, 2);
}

/// Whether a block may have so much shared memory for its lines, and what kernels take besides: a table, ends of runs, and
/// few numbers.
bool block_holds(const Problem& p, std::size_t lines) {
  const std::size_t runs = has_labels(p) || joins_sides(p) ? sizeof(RunWords<true>) : 0;
  return lines + sizeof(ByteDistances) + runs + kNumbersMemory <= fathom::cuda::block_memory();
}

/// Whether the passes with equal spacings may have the shared memory that the longest line takes.
bool memory_serves(const Problem& p) {
  const int longest = static_cast<int>(std::max(p.extent(0), p.extent(1)));
  if (is_long(p)) return block_holds(p, LongEnvelope<1024>::memory(longest));
  const std::size_t lines = std::max(window_memory(longest), envelope_memory(longest, 32));
  return block_holds(p, lines + (wants_site(p) ? places_memory<SitePlace>(longest) : 0));
}

bool volume_serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank != 3 || is_periodic(p) || !serves_sides(p)) return false;
  if (longest_axis(p) > (has_labels(p) ? kLongestKeyed : kLongestAxis)) return false;
  if (!has_any_spacings(p)) return memory_serves(p);
  double most_square = 0;
  for (int k = 0; k < p.rank; ++k) {
    const double weight = exact_weight(p, k);
    if (!fits_doubles(weight)) return false;
    most_square += weight * static_cast<double>(p.extent(k)) * static_cast<double>(p.extent(k));
  }
  const std::size_t lines = std::max(brackets_memory(static_cast<int>(p.extent(0))),
                                     any_memory_along_y(static_cast<int>(p.extent(1))) + 2 * sizeof(PlaneKeys));
  if (std::max(p.extent(0), p.extent(1)) > kLongestKeyed || !block_holds(p, lines + sizeof(SortedRows))) return false;
  return writes_any_floats(p) || (sides_of(p) == 1 && rounds_little(ExactWeights::of(p), most_square));
}

class VolumeEngine final : public Engine {
 public:
  /// @param is_transposed  y and x have changed places: nearest sites of masks, on the device
  explicit VolumeEngine(const Problem& problem, bool is_transposed = false)
      : p_(problem),
        finds_(wants_site(problem) || (has_any_spacings(problem) && !writes_any_floats(problem))),
        is_transposed_(is_transposed) {}

  Cut cut() const override { return {2, is_transposed_ ? p_.extent(2) : 32}; }
  std::int64_t packed_unit() const override { return is_transposed_ ? p_.extent(0) : 32; }
  std::int64_t group_of(std::int64_t items) const override {
    return std::clamp<std::int64_t>(kVolumeGroup / voxels_filled_up(p_, is_transposed_), 1, items);
  }
  std::size_t words_bytes(std::int64_t items) const override {
    const Volume volume = make_volume(items, nullptr);
    Scratch s(nullptr);
    s.take<std::byte>(packed_sides() * volume.bytes_of_side);
    if (has_any_spacings(p_)) s.take<std::byte>(StepTables::bytes(volume.nz, volume.ny));
    return s.bytes();
  }
  std::size_t scratch_bytes(const Problem& part, std::int64_t items) const override {
    return scratch_of(part, items, words_together(part, items));
  }

  void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const override {
    const bool fills_tables = has_any_spacings(p_) && packing.to == 0;
    if (fills_tables)
      tabulate_near_sites(make_volume(items, words), ExactWeights::of(p_), side_of(p_, 1).scale, stream);
    if (!has_labels(p_)) {
      const auto pack = is_transposed_ ? pack_transposed_mask : pack_mask;
      for (std::size_t side = 0; side < packed_sides(); ++side)
        pack(packed_volume(packing, items, words + side * bytes_of_side(items)), sites_of(p_, packing.input, side),
             stream, fills_tables && side == 0);
      return;
    }
    const Volume volume = packed_volume(packing, items, words);
    pack_labels(volume, packing.input, packing.to > 0 ? volume.last_plane : nullptr, stream);
    if (packing.to + volume.nz == p_.extent(0)) return;
    const std::size_t size = size_of(p_.input.dtype()), row = static_cast<std::size_t>(volume.nx) * size;
    const std::int64_t* stride = packing.input.stride;
    const std::int64_t plane = packing.input.items.offset(packing.first_item) + (volume.nz - 1) * stride[0];
    fathom::cuda::check(
        cudaMemcpy2DAsync(volume.last_plane, row, packing.input.data + plane * static_cast<std::int64_t>(size),
                          static_cast<std::size_t>(stride[1]) * size, row, static_cast<std::size_t>(volume.ny),
                          cudaMemcpyDeviceToDevice, stream),
        "keeping a plane");
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte* scratch, cudaStream_t stream) const override {
    const std::vector<Range> ranges = ranges_of(part, words_together(part, items));
    for (std::size_t side = 0; side < (joins_sides(p_) ? 1 : sides_of(p_)); ++side) {
      if (side == 1 && turns_sides(p_)) turn_words(make_volume(items, words), stream);
      Volume volume = make_volume(items, words + (turns_sides(p_) ? 0 : side) * bytes_of_side(items));
      volume.first_item = first_item;
      volume.side = side_of(p_, joins_sides(p_) ? 1 : side, turns_sides(p_) && side == 0);
      for (const Range& range : ranges) solve_columns(part, range, batch, volume, scratch, stream);
    }
    if (turns_sides(p_) && part.range(2).end < p_.range(2).end) turn_words(make_volume(items, words), stream);
  }

 private:
  /// The words of some items, without other scratch. Tables of near sites lie behind the words of all sides.
  Volume make_volume(std::int64_t items, std::byte* words) const {
    Scratch s(words);
    Volume v{.nz = static_cast<std::int32_t>(p_.extent(0)),
             .ny = static_cast<std::int32_t>(p_.extent(is_transposed_ ? 2 : 1)),
             .nx = static_cast<std::int32_t>(p_.extent(is_transposed_ ? 1 : 2)),
             .items = items};
    v.words = (v.nx + 31) / 32;
    v.depth = padded_depth(v.nz);
    v.word = s.take<uint2>(v.words_of_items());
    v.counters = s.take<std::uint32_t>(2);
    if (has_labels(p_)) {
      v.pins = !p_.signed_distance;
      v.keeps_changes = finds_;
      v.along_z = s.take<uint2>(v.words_of_items());
      v.along_y = s.take<std::uint32_t>(v.words_of_items());
      v.last_plane =
          s.take<std::byte>(p_.extent(1) * p_.extent(2) * static_cast<std::int64_t>(size_of(p_.input.dtype())));
    }
    v.bytes_of_side = s.bytes();
    if (words && joins_sides(p_)) v.other_word = reinterpret_cast<uint2*>(words + s.bytes());
    if (words && has_any_spacings(p_)) v.step_tables = reinterpret_cast<StepTables*>(words + sides_of(p_) * s.bytes());
    return v;
  }
  std::size_t bytes_of_side(std::int64_t items) const { return make_volume(items, nullptr).bytes_of_side; }
  /// Where the words of a part belong.
  Volume packed_volume(const Packing& packing, std::int64_t items, std::byte* words) const {
    Volume volume = make_volume(items, words);
    const std::int64_t lines = packing.to_item * volume.words * volume.ny, before = lines * volume.depth + packing.to;
    volume.word += before;
    if (has_labels(p_)) volume.along_z += before, volume.along_y += lines * volume.depth + packing.to * volume.ny;
    volume.nz = static_cast<std::int32_t>(packing.input.extent[0]);
    volume.items = packing.items;
    volume.first_item = packing.first_item;
    return volume;
  }

  /// The words that hold the region, of several volumes all, and what is needed besides. @returns its bytes
  std::size_t take_scratch(Volume& v, const Problem& p, std::byte* base) const {
    if (v.items == 1 && !is_transposed_) {
      v.first_x = static_cast<std::int32_t>(p.range(2).begin / 32 * 32);
      v.nx = static_cast<std::int32_t>(p.range(2).end) - v.first_x;
      v.words = (v.nx + 31) / 32;
      const std::int64_t before = std::int64_t{v.first_x} / 32 * v.ny * v.depth;
      for (uint2** words : {&v.word, &v.other_word, &v.along_z})
        if (*words) *words += before;
      if (v.along_y) v.along_y += before;
    }
    const bool finds = wants_site(p);
    const std::int64_t columns = v.items * v.words, jobs = (finds ? 2 : 1) * columns;
    Scratch s(base);
    if (has_any_spacings(p)) {
      v.kind = s.take<std::uint8_t>(columns * 2 * v.nz);
    } else {
      v.z_list = s.take<std::uint32_t>(jobs * v.ny);
      v.y_list = s.take<std::uint32_t>(jobs * v.nz);
      // Leads lie half a word by half a word: of the last word half of the pairs are there, or all.
      const std::int32_t last = (v.nx - (v.words - 1) * 32 + 1) / 2;
      v.last_pairs = !finds ? last : last > kPairsOfWord / 2 ? kPairsOfWord : kPairsOfWord / 2;
      const std::int64_t pairs = v.ny * ((v.words - 1) * std::int64_t{kPairsOfWord} + v.last_pairs);
      v.pairs_of_plane = (pairs + kPairsOfWord - 1) / kPairsOfWord * kPairsOfWord;  // a word's rows begin sectors
      v.narrow = s.take<std::uint32_t>(v.items * v.nz * v.pairs_of_plane);
      v.kind = s.take<std::uint8_t>(jobs * v.ny);
      if (finds) return s.bytes();
      v.beyond = s.take<std::uint8_t>(columns * 2 * ((v.nz + 7) / 8) * v.ny);
    }
    if (!room_between_passes(p, v.items)) {
      v.wide.data = s.take<std::uint32_t>(v.items * v.nz * v.ny * v.nx);
      v.wide.z_stride = std::int64_t{v.ny} * v.nx;
      v.wide.y_stride = v.nx;
      v.wide.items = ItemStrides::of(Shape{v.items}, Strides{v.nz * v.wide.z_stride});
    }
    return s.bytes();
  }

  /// The region's columns, cut at multiples of so many words.
  static std::vector<Range> ranges_of(const Problem& part, std::int64_t words) {
    return cut_range(part.range(2), 32, words * 32);
  }
  /// Besides words, where so many words of columns are worked on together.
  std::size_t scratch_of(const Problem& part, std::int64_t items, std::int64_t words) const {
    std::size_t bytes = 0;
    for (const Range& range : ranges_of(part, words)) {
      Volume volume = make_volume(items, nullptr);
      bytes = std::max(bytes, take_scratch(volume, part_of(part, 2, range), nullptr));
    }
    return bytes;
  }
  /// How many words of columns are worked on together, so that what lies between their passes takes little room: that
  /// of one part is the next one's. All, where a volume is small or one of several.
  std::int64_t words_together(const Problem& part, std::int64_t items) const {
    const std::int64_t all = (p_.extent(2) + 31) / 32, voxels = p_.extent(0) * p_.extent(1) * p_.extent(2),
                       filled_up = voxels_filled_up(p_, false);
    if (items > 1 || filled_up < kVoxelsWorthCutting || is_transposed_) return all;
    // Of a signed field a range is a launch more for either side, and words are turned by a kernel of its own.
    const std::int64_t counted = voxels >= kVoxelsCountedAlone && !turns_sides(p_) ? voxels : filled_up;
    const double enough = kVolumeScratch * static_cast<double>(counted) - static_cast<double>(words_bytes(1));
    std::int64_t words = all;
    for (int parts = 2; words > 1 && static_cast<double>(scratch_of(part, 1, words)) > enough; ++parts)
      words = (all + parts - 1) / parts;
    return words;
  }

  /// How many sides have words of their own.
  std::size_t packed_sides() const { return turns_sides(p_) ? 1 : sides_of(p_); }
  /// From the words of a side, or of both, to the results of a range of columns.
  void solve_columns(const Problem& part, const Range& range, const Batch& batch, Volume volume, std::byte* scratch,
                     cudaStream_t stream) const {
    Problem p = part_of(part, 2, range);
    for_each_output(
        [&](const OutputKind&, AnyView& view) {  // where its results lie
          const std::int64_t before =
              (range.begin - part.range(2).begin) * static_cast<std::int64_t>(size_of(view.dtype()));
          if (view.present()) view = AnyView(view.data() + before, view.dtype(), view.shape(), view.strides());
        },
        p.outputs);
    const Writing writing = writing_of(p, !finds_ && is_float_field(p, may_be_cut(p, volume.items) ? 2 : kNoAxis),
                                       writes_pairs(p, batch), true);
    take_scratch(volume, p, scratch);
    const AnyView* room = room_between_passes(p, volume.items);
    for_each_output(
        [&](const OutputKind&, const AnyView& view, const Strides& strides) {
          if (&view != room) return;
          volume.wide = Placed<std::uint32_t>::of(view, p.rank, batch.shape, strides);
          volume.wide_x_stride = static_cast<std::int32_t>(size_of(view.dtype()) / sizeof(std::uint32_t));
          volume.wide_first_item = volume.first_item;
          volume.wide_has_results = writing == Writing::one_side && !volume.side.is_first;
        },
        p.outputs, batch);
    if (!is_general(writing)) {
      volume.distance = Placed<float>::of(p.outputs.distance, p.rank, batch.shape, batch.distance);
      volume.is_aligned = writes_pairs(p, batch);
    }
    VolumePasses passes{volume, Emitter<std::int64_t>::of(p, batch, volume.first_item), stream, is_long(p),
                        has_aligned_rows(p, batch, kSectorFloats)};
    // Rows of results begin where the region does: those of a part are of all columns.
    if (may_be_cut(p, volume.items)) passes.emitter.sites = SiteResults::of(part_of(p, 2, {0, p.extent(2)}), batch);
    if (has_any_spacings(p)) {
      solve_any(p, batch, passes);
    } else if (writing == Writing::sites) {
      passes.find_sites_along_z();
      if (is_transposed_) passes.find_sites_along_x();
      else passes.find_sites_along_y();
    } else {
      search<Writing::aligned, Writing::unaligned, Writing::labels, Writing::signed_labels, Writing::one_side,
             Writing::general, Writing::general_labels>(passes, writing);
    }
    if (!is_general(writing) && !volume.side.is_first && has_limits(p))
      clamp_items(p, batch, volume.first_item, volume.items, stream);
  }
  /// Both passes with equal spacings, without nearest sites.
  template <Writing... kAll>
  static void search(const VolumePasses& passes, Writing writing) {
    if (is_of_labels(writing)) passes.search_along_z<true>();
    else passes.search_along_z<false>();
    ((writing == kAll ? passes.search_along_y<kAll>() : void()), ...);
  }
  /// Both passes with any spacings.
  void solve_any(const Problem& p, const Batch& batch, const VolumePasses& passes) const {
    const ExactWeights weights = ExactWeights::of(p);
    const auto find = [&](const auto& emitter) {
      if (has_labels(p)) passes.find_any_sites<Runs::of_labels>(weights, emitter);
      else passes.find_any_sites<Runs::none>(weights, emitter);
    };
    if (finds_ && p.integral) return find(passes.emitter);
    if (finds_) {
      auto emitter = Emitter<double>::of(p, batch, passes.volume.first_item);
      emitter.sites = passes.emitter.sites;
      return find(emitter);
    }
    if (has_labels(p)) passes.solve_any<Runs::of_labels>(weights);
    else if (p.signed_distance) passes.solve_any<Runs::of_sides>(weights);
    else passes.solve_any<Runs::none>(weights);
  }

  const Problem& p_;
  const bool finds_;  ///< whether passes find sites
  const bool is_transposed_;
};

}  // namespace

}  // namespace fathom::grid::cuda::volume

namespace fathom::grid::cuda {

std::unique_ptr<Engine> make_volume_engine(const Problem& problem) {
  return volume::volume_serves(problem) ? std::make_unique<volume::VolumeEngine>(problem) : nullptr;
}

std::unique_ptr<Engine> make_transposed_volume_engine(const Problem& p) {
  if (!volume::transposed_serves(p)) return nullptr;
  auto engine = std::make_unique<volume::VolumeEngine>(p, true);
  // Those that take more than the engine for volumes, which would cut them, are not large.
  const std::int64_t voxels = volume::voxels_filled_up(p, true);
  const auto bytes = static_cast<double>(engine->words_bytes(1) + engine->scratch_bytes(p, 1));
  const bool serves = voxels < kVoxelsWorthCutting || bytes <= kVolumeScratch * static_cast<double>(voxels);
  return serves ? std::move(engine) : nullptr;
}

}  // namespace fathom::grid::cuda
