// The engine for volumes: Euclidean, up to 2048 elements along an axis, of labels 1024; with spacings that are
// multiples of a unit, or, up to 1024, with any, if what is wanted are float distances or nearest sites of a mask, or
// float distances between labels.
//
// Words and carries along x (volume/words.cuh); the pass along z, first the tiles where sites are near or few
// (volume/along_z.cuh), then those that this left (volume/envelope.cuh); the same along y (volume/along_y.cuh), which
// writes the results. With nearest sites both passes have kernels of their own (volume/nearest/); with unequal
// spacings each pass is one kernel (volume/spaced/spaced.cuh, volume/spaced/sites.cuh; without a unit
// volume/exact/along_z.cuh and, with nearest sites, volume/exact/sites.cuh), but for half tiles along y that it leaves
// (volume/spaced/far.cuh) and volumes with few sites (volume/spaced/few.cuh); with nearest sites of labels or along
// axes beyond 1024 it is one as well; without them these have an envelope of their own (volume/long.cuh). What is left
// to do stays on the device: the host launches all and waits for nothing. The kernels of both passes are compiled apart
// (volume/solve.cuh).
//
// Both sides of a signed field are solved at once with unequal spacings; with equal ones one after the other, from the
// same words, which are turned in between (volume/sides.cuh). Where all of that takes much scratch, a volume is worked
// on in ranges of columns, one after the other.
#include <algorithm>
#include <vector>

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/engine.h"
#include "grid/cuda/input/sides.cuh"
#include "grid/cuda/launch.cuh"
#include "grid/cuda/output/border_clamp.h"
#include "grid/cuda/schedule.h"
#include "grid/cuda/scratch.h"
#include "grid/cuda/volume/envelope.cuh"
#include "grid/cuda/volume/exact/along_y.cuh"
#include "grid/cuda/volume/exact/along_z.cuh"
#include "grid/cuda/volume/exact/sites.cuh"
#include "grid/cuda/volume/long.cuh"
#include "grid/cuda/volume/nearest/far_sites.cuh"
#include "grid/cuda/volume/packing.h"
#include "grid/cuda/volume/sides.cuh"
#include "grid/cuda/volume/solve.cuh"
#include "grid/cuda/volume/spaced/sites.cuh"
#include "grid/cuda/volume/spaced/spaced.cuh"
#include "grid/cuda/volume/unequal/sorted_rows.cuh"

namespace fathom::grid::cuda {

namespace {

/// Whether the region is a part that begins at a word, and one item's.
bool may_be_cut(const Problem& p, std::int64_t items) { return items == 1 && p.range(2).begin % 32 == 0; }

/// The problem as those see it whose rows of results begin where the region does: if it may be cut, with all columns.
Problem with_all_columns(const Problem& p, std::int64_t items) {
  return may_be_cut(p, items) ? part_of(p, 2, {0, p.extent(2)}) : p;
}

/// Whether results are floats of whole words.
bool writes_floats(const Problem& p, std::int64_t items) {
  return is_float_field(p, may_be_cut(p, items) ? 2 : kNoAxis);
}

std::int64_t longest_axis(const Problem& p) { return std::max({p.extent(0), p.extent(1), p.extent(2)}); }
/// Whether an axis is longer than the keys of envelopes reach.
bool is_long(const Problem& p) { return longest_axis(p) > kLongestKeyed; }

/// Bound of squares in units, also in padding.
std::int64_t most_square(const Problem& p) {
  std::int64_t most = 0;
  for (int k = 0; k < p.rank; ++k) {
    const std::int64_t padded = (p.extent(k) + 31) / 32 * 32;
    most += weight_of(p, k) * padded * padded;
  }
  return most;
}
/// The same where they need no unit.
double most_exact_square(const Problem& p) {
  double most = 0;
  for (int k = 0; k < p.rank; ++k)
    most += exact_weight(p, k) * static_cast<double>(p.extent(k)) * static_cast<double>(p.extent(k));
  return most;
}
/// Whether squares fit integers of 32 bits.
bool squares_fit(const Problem& p) { return p.isotropic || (p.integral && most_square(p) < kMostSpaced); }

/// Whether each pass is one kernel, in 32 bits.
bool has_single_passes(const Problem& p) {
  return squares_fit(p) && (!p.isotropic || (wants_site(p) && (is_long(p) || has_labels(p))));
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

/// Whether near sites have tables, as with spacings without a unit: behind the words of all sides.
bool has_tables(const Problem& p) { return !squares_fit(p); }

/// The words of some items, and how many bytes those of a side take. The rest of the scratch is not there yet.
Volume make_volume(const Problem& p, std::int64_t items, std::byte* words, std::size_t* bytes = nullptr) {
  Volume v;
  v.nz = static_cast<std::int32_t>(p.extent(0));
  v.ny = static_cast<std::int32_t>(p.extent(1));
  v.nx = static_cast<std::int32_t>(p.extent(2));
  v.words = (v.nx + 31) / 32;
  v.depth = padded_depth(v.nz);
  v.items = items;
  v.weight_z = static_cast<std::uint32_t>(weight_of(p, 0));
  v.weight_y = static_cast<std::uint32_t>(weight_of(p, 1));
  v.weight_x = static_cast<std::uint32_t>(weight_of(p, 2));
  Scratch s(words);
  const std::int64_t words_of_items = items * v.words * v.ny * v.depth;
  v.word = s.take<uint2>(words_of_items);
  v.counters = s.take<std::uint32_t>(2);
  if (has_labels(p)) {
    v.pins = !p.signed_distance;
    v.keeps_changes = wants_site(p);
    v.along_z = s.take<uint2>(words_of_items);
    v.along_y = s.take<std::uint32_t>(words_of_items);
    v.last_plane = s.take<std::byte>(std::int64_t{v.ny} * v.nx * static_cast<std::int64_t>(size_of(p.input.dtype())));
  }
  if (bytes) *bytes = s.bytes();
  if (words && joins_sides(p)) v.other_word = reinterpret_cast<uint2*>(words + s.bytes());
  if (words && has_tables(p)) v.step_tables = reinterpret_cast<StepTables*>(words + sides_of(p) * s.bytes());
  return v;
}

/// The words that hold the region; of several volumes, all.
void take_region(Volume& v, const Problem& p, std::int64_t items) {
  if (items != 1) return;
  v.take_columns(p.range(2).begin / 32 * 32, p.range(2).end);
}

/// Whether a block of the current device may have so much shared memory for its lines, and what kernels take besides: a
/// table, ends of runs, and few numbers.
bool block_holds(const Problem& p, std::size_t lines) {
  const std::size_t runs = has_labels(p)    ? sizeof(RunWords<true>)
                           : joins_sides(p) ? sizeof(SpacedRunWords<Runs::of_sides>)
                                            : 0;
  return lines + sizeof(ByteDistances) + runs + kNumbersMemory <= fathom::cuda::block_memory();
}

/// Whether the pass along z, where it is one kernel, tells of lines without a site, or with sites alone.
bool tells_kinds(const Problem& p) {
  return has_single_passes(p) && !wants_site(p) && !has_labels(p) && !joins_sides(p);
}

/// Whether half tiles along y whose nearest rows are far are left to a kernel of their own, with unequal spacings.
bool leaves_far_tiles(const Problem& p, std::int64_t items) {
  const std::int64_t n = p.extent(1);
  return tells_kinds(p) && writes_floats(p, items) && n > kLongEnoughToLeave && n <= kLongestKeyed &&
         block_holds(p, brackets_memory(static_cast<int>(n)));
}

/// Whether squares in a unit may lie aside between the passes, where 16 bits hold them: rows of results, without gaps,
/// begin inside sectors of memory. In shorter rows, what fills up words of sites leaves no scratch for it.
bool may_keep_squares_aside(const Problem& p) {
  return tells_kinds(p) && writes_floats(p, 1) && !has_limits(p) && p.extent(2) >= kWorthSquaresAside &&
         p.extent(2) % kSectorFloats != 0;
}

/// What is needed besides words. @param lays_aside  squares of a single item @returns its bytes
std::size_t take_scratch(Volume& v, const Problem& p, bool lays_aside, std::byte* base) {
  const std::int64_t columns = v.items * v.words, jobs = (wants_site(p) ? 2 : 1) * columns;
  Scratch s(base);
  const bool has_lists = squares_fit(p) && !has_single_passes(p);
  if (has_tables(p)) v.kind = s.take<std::uint8_t>(columns * 2 * v.nz);
  if (has_lists) {
    v.z_list = s.take<std::uint32_t>(jobs * v.ny);
    v.y_list = s.take<std::uint32_t>(jobs * v.nz);
  }
  if (leaves_far_tiles(p, v.items)) {
    const std::int64_t half_tiles = columns * 2 * v.nz;
    v.y_list = s.take<std::uint32_t>(std::max<std::int64_t>(half_tiles, kFewRows));
  }
  const bool has_leads = wants_site(p) && squares_fit(p);
  if (has_lists || has_leads) v.take_narrow(s, has_leads ? v.last_pairs_of_leads() : v.last_pairs_there());
  if (has_lists || tells_kinds(p)) v.kind = s.take<std::uint8_t>(has_lists ? jobs * v.ny : columns * 2 * v.ny);
  if (has_leads) return s.bytes();
  const bool has_squares_aside = lays_aside && v.items == 1;
  if (has_squares_aside) v.take_narrow(s, v.nx % 32 == 0 ? kPairsOfWord : 0);
  if (has_lists || has_squares_aside) v.beyond = s.take<std::uint8_t>(columns * 2 * ((v.nz + 7) / 8) * v.ny);
  if (!room_between_passes(p, v.items)) {
    v.wide.data = s.take<std::uint32_t>(v.items * v.nz * v.ny * v.nx);
    v.wide.z_stride = std::int64_t{v.ny} * v.nx;
    v.wide.y_stride = v.nx;
    v.wide.items = ItemStrides::of(Shape{v.items}, Strides{v.nz * v.wide.z_stride});
  }
  return s.bytes();
}

/// What is solved at once.
struct Piece {
  std::int64_t first_item, items;
  std::size_t side;
  bool lays_aside;  ///< as take_scratch() has it
};

/// From the words of a side, or of both, to its results.
class VolumeSolver {
 public:
  VolumeSolver(const Problem& p, const Batch& batch, const Piece& piece, std::byte* words, std::byte* scratch,
               cudaStream_t stream)
      : p_(p),
        batch_(batch),
        writing_(writing_with_signed_labels(p, writes_floats(p, piece.items), writes_pairs(p, batch))),
        passes_{make_volume(p, piece.items, words), Emitter<std::int64_t>::of(p, batch, piece.first_item), stream,
                is_long(p)} {
    const auto [first_item, items, side, lays_aside] = piece;
    Volume& volume = passes_.volume;
    take_region(volume, p, items);
    take_scratch(volume, p, lays_aside, scratch);
    volume.first_item = first_item;
    passes_.emitter.sites = SiteResults::of(with_all_columns(p, items), batch);
    volume.side = side_of(p, joins_sides(p) ? 1 : side, turns_sides(p) && side == 0);
    if (const AnyView* room = room_between_passes(p, items)) {
      const Strides& strides = room == &p.outputs.distance  ? batch.distance
                               : room == &p.outputs.nearest ? batch.nearest
                                                            : batch.squared;
      volume.wide = Placed<std::uint32_t>::of(*room, p.rank, batch.shape, strides);
      volume.wide_x_stride = static_cast<std::int32_t>(size_of(room->dtype()) / sizeof(std::uint32_t));
      volume.wide_first_item = first_item;
      volume.wide_has_results = writing_ == Writing::one_side && !volume.side.is_first;
    }
    if (is_general(writing_)) return;
    if (has_single_passes(p) && !has_labels(p) && has_limits(p)) passes_.limits = Limits::of(p);
    volume.distance = Placed<float>::of(p.outputs.distance, p.rank, batch.shape, batch.distance);
    volume.is_aligned = writes_pairs(p, batch);
    passes_.writes_sectors = has_aligned_rows(p, batch, kSectorFloats);
  }

  /// @param turns_words  leaves the words of the other side, of all columns
  void run(bool turns_words) {
    passes_.turns_words = turns_words;
    if (has_single_passes(p_)) solve_spaced();
    else if (p_.isotropic) search();
    else if (writing_ == Writing::sites) find_exact_sites();
    else solve_exact();
    const Volume& volume = passes_.volume;
    if (!is_general(writing_) && !volume.side.is_first && has_limits(p_) && !passes_.limits)
      clamp_items(p_, batch_, volume.first_item, volume.items, passes_.stream);
  }

 private:
  /// All passes but those with unequal spacings.
  void search() const {
    if (writing_ == Writing::sites) {
      passes_.find_sites_along_z();
      return passes_.find_sites_along_y();
    }
    if (is_of_labels(writing_)) passes_.search_along_z<true>();
    else passes_.search_along_z<false>();
    switch (writing_) {
      case Writing::aligned: return passes_.search_along_y<Writing::aligned>();
      case Writing::unaligned: return passes_.search_along_y<Writing::unaligned>();
      case Writing::labels: return passes_.search_along_y<Writing::labels>();
      case Writing::signed_labels: return passes_.search_along_y<Writing::signed_labels>();
      case Writing::one_side: return passes_.search_along_y<Writing::one_side>();
      case Writing::general_labels: return passes_.search_along_y<Writing::general_labels>();
      default: return passes_.search_along_y<Writing::general>();
    }
  }

  /// Both passes with any spacings.
  void solve_exact() const {
    const ExactWeights weights = ExactWeights::of(p_);
    if (has_labels(p_)) return passes_.solve_exact<Runs::of_labels>(weights);
    if (p_.signed_distance) return passes_.solve_exact<Runs::of_sides>(weights);
    passes_.solve_exact<Runs::none>(weights);
  }

  /// The same with nearest sites.
  void find_exact_sites() const {
    const ExactWeights weights = ExactWeights::of(p_);
    if (p_.integral) return passes_.find_exact_sites(weights, passes_.emitter);
    auto emitter = Emitter<double>::of(p_, batch_, passes_.volume.first_item);
    emitter.sites = passes_.emitter.sites;
    passes_.find_exact_sites(weights, emitter);
  }

  /// Both passes with unequal spacings.
  void solve_spaced() const {
    switch (writing_) {
      case Writing::labels: return passes_.solve_spaced<Writing::labels>();
      case Writing::one_side: return passes_.solve_spaced<Writing::both_sides>();
      case Writing::sites: return passes_.find_spaced_sites<false>(most_square(p_) < kMostKeyed);
      case Writing::label_sites: return passes_.find_spaced_sites<true>(most_square(p_) < kMostKeyed);
      case Writing::general: return passes_.solve_spaced<Writing::general>();
      case Writing::general_labels: return passes_.solve_spaced<Writing::general_labels>();
      default: return passes_.solve_spaced<Writing::unaligned>();  // floats go one by one: rows need no alignment
    }
  }

  const Problem& p_;
  const Batch& batch_;
  const Writing writing_;
  VolumePasses passes_;
};

/// Whether it may have the shared memory that the longest line takes.
bool memory_serves(const Problem& p) {
  const int longest = static_cast<int>(std::max(p.extent(0), p.extent(1)));
  if (has_single_passes(p)) return block_holds(p, wants_site(p) ? spaced_site_memory(longest) : spaced_memory(longest));
  if (is_long(p)) return block_holds(p, LongLines<16>::memory(longest));
  const std::size_t lines = std::max(window_memory(longest), envelope_memory(longest, 32));
  return block_holds(p, lines + (wants_site(p) ? site_places_memory(longest) : 0));
}

/// Whether squares in double serve: nearest sites of a mask, or floats from it or from labels. Where there is no unit,
/// limits are not known in floats.
bool exact_serves(const Problem& p) {
  const std::size_t lines = std::max(brackets_memory(static_cast<int>(p.extent(0))),
                                     exact_memory_along_y(static_cast<int>(p.extent(1))) + 2 * sizeof(PlaneKeys));
  for (int k = 0; k < p.rank; ++k)
    if (!fits_doubles(exact_weight(p, k))) return false;
  if (is_long(p) || !block_holds(p, lines + sizeof(SortedRows))) return false;
  if (wants_site(p)) return !has_labels(p) && rounds_little(ExactWeights::of(p), most_exact_square(p));
  return is_float_field(p, kNoAxis) && (p.integral || !has_limits(p)) && !(has_labels(p) && p.signed_distance);
}

bool volume_serves(const Problem& p) {
  if (p.metric != Metric::euclidean || p.rank != 3 || is_periodic(p) || !serves_sides(p)) return false;
  if (longest_axis(p) > (has_labels(p) ? kLongestKeyed : kLongestAxis)) return false;
  return squares_fit(p) ? memory_serves(p) : exact_serves(p);
}

/// The problem of a range of columns, whose results lie where those of all columns do.
Problem columns_of(const Problem& p, const Range& range) {
  Problem columns = part_of(p, 2, range);
  const std::int64_t before = range.begin - p.range(2).begin;
  DistanceOutputs& out = columns.outputs;
  for (AnyView* view : {&out.distance, &out.squared, &out.nearest, &out.coordinates}) {
    if (!view->present()) continue;
    Shape shape = view->shape();
    shape[shape.rank() - 1] = range.end - range.begin;
    *view = AnyView(view->data() + before * static_cast<std::int64_t>(size_of(view->dtype())), view->dtype(), shape,
                    view->strides());
  }
  return columns;
}

__global__ void __launch_bounds__(kTurnBlock) turn_to_other_side(const __grid_constant__ Volume volume) {
  turn_row(volume, blockIdx.x);
}

class VolumeEngine final : public Engine {
 public:
  VolumeEngine(const Problem& problem, bool lays_aside) : p_(problem), lays_aside_(lays_aside) {}

  Cut cut() const override { return {2, 32}; }
  std::int64_t packed_unit() const override { return 32; }
  std::int64_t group_of(std::int64_t items) const override {
    const std::int64_t padded = p_.extent(0) * p_.extent(1) * ((p_.extent(2) + 31) / 32 * 32);
    return lays_aside_ ? 1 : std::clamp<std::int64_t>(kVolumeGroup / padded, 1, items);
  }
  std::size_t words_bytes(std::int64_t items) const override {
    const Volume volume = make_volume(p_, items, nullptr);
    Scratch s(nullptr);
    s.take<std::byte>(static_cast<std::int64_t>(packed_sides() * bytes_of_side(items)));
    if (has_tables(p_)) s.take<std::byte>(static_cast<std::int64_t>(StepTables::bytes(volume.nz, volume.ny)));
    return s.bytes();
  }
  std::size_t scratch_bytes(const Problem& part, std::int64_t items) const override {
    return scratch_of(part, items, words_together(part, items));
  }

  void pack(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const override {
    const bool fills_tables = has_tables(p_) && packing.to == 0;
    if (fills_tables)
      tabulate_near_sites(make_volume(p_, items, words), ExactWeights::of(p_), side_of(p_, 1).scale, stream);
    if (has_labels(p_)) return pack_runs(packing, items, words, stream);
    std::vector<MaskWords> sides;
    for (std::size_t side = 0; side < packed_sides(); ++side)
      sides.push_back(
          {packed_volume(packing, items, words + side * bytes_of_side(items)), sites_of(p_, packing.input, side)});
    pack_masks(sides, {packing.items, stream, fills_tables});
  }

  void solve(const Problem& part, const Batch& batch, std::int64_t first_item, std::int64_t items, std::byte* words,
             std::byte* scratch, cudaStream_t stream) const override {
    const std::vector<Range> ranges = ranges_of(part, words_together(part, items));
    const bool turns_at_once = turns_sides(p_) && ranges.size() == 1 && has_all_columns(part);
    for (std::size_t side = 0; side < (joins_sides(p_) ? 1 : sides_of(p_)); ++side) {
      if (side == 1 && turns_sides(p_) && !turns_at_once) turn_words(items, words, stream);
      std::byte* own = words + (turns_sides(p_) ? 0 : side) * bytes_of_side(items);
      for (const Range& range : ranges)
        VolumeSolver(columns_of(part, range), batch, {first_item, items, side, lays_aside_}, own, scratch, stream)
            .run(side == 0 && turns_at_once);
    }
    const bool is_last = part.range(2).end == p_.range(2).end;
    if (turns_sides(p_) && !is_last) turn_words(items, words, stream);
  }

 private:
  static bool has_all_columns(const Problem& part) { return part.region_extent(2) == part.extent(2); }

  /// The region's columns, cut at multiples of so many words.
  static std::vector<Range> ranges_of(const Problem& part, std::int64_t words) {
    return cut_range(part.range(2), 32, words * 32);
  }

  /// Besides words, where so many words of columns are worked on together.
  std::size_t scratch_of(const Problem& part, std::int64_t items, std::int64_t words) const {
    std::size_t bytes = 0;
    for (const Range& range : ranges_of(part, words)) {
      const Problem columns = part_of(part, 2, range);
      Volume volume = make_volume(columns, items, nullptr);
      take_region(volume, columns, items);
      bytes = std::max(bytes, take_scratch(volume, columns, lays_aside_, nullptr));
    }
    return bytes;
  }

  /// How many words of columns are worked on together, so that what lies between their passes takes little room: that
  /// of one part is the next one's. All, where a volume is small or one of several.
  std::int64_t words_together(const Problem& part, std::int64_t items) const {
    const std::int64_t all = (p_.extent(2) + 31) / 32, rows = p_.extent(0) * p_.extent(1);
    const std::int64_t voxels = rows * p_.extent(2), filled_up = rows * all * 32;
    if (items > 1 || filled_up < kVoxelsWorthCutting) return all;
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

  /// From the words of one side to those of the other.
  void turn_words(std::int64_t items, std::byte* words, cudaStream_t stream) const {
    const Volume volume = make_volume(p_, items, words);
    launch(turn_to_other_side, turning_blocks(volume), kTurnBlock, 0, stream, volume);
  }

  std::size_t bytes_of_side(std::int64_t items) const {
    std::size_t bytes = 0;
    make_volume(p_, items, nullptr, &bytes);
    return bytes;
  }

  void pack_runs(const Packing& packing, std::int64_t items, std::byte* words, cudaStream_t stream) const {
    Volume volume = make_volume(p_, items, words);
    const std::int64_t before = packing.to_item * volume.words * volume.ny * volume.depth;
    volume.word += before + packing.to;
    volume.along_z += before + packing.to;
    volume.along_y += before + packing.to * volume.ny;
    volume.nz = static_cast<std::int32_t>(packing.input.extent[0]);
    volume.first_item = packing.first_item;
    pack_labels(volume, packing.input, packing.to > 0 ? volume.last_plane : nullptr, {packing.items, stream, false});
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

  /// Where the words of a part belong.
  Volume packed_volume(const Packing& packing, std::int64_t items, std::byte* words) const {
    Volume volume = make_volume(p_, items, words);
    volume.word += packing.to_item * volume.words * volume.ny * volume.depth + packing.to;
    volume.nz = static_cast<std::int32_t>(packing.input.extent[0]);
    volume.first_item = packing.first_item;
    return volume;
  }

  const Problem& p_;
  const bool lays_aside_;
};

}  // namespace

std::unique_ptr<Engine> make_volume_engine(const Problem& problem) {
  return volume_serves(problem) ? std::make_unique<VolumeEngine>(problem, false) : nullptr;
}

std::unique_ptr<Engine> make_volume_engine_with_squares_aside(const Problem& problem) {
  const bool serves = volume_serves(problem) && may_keep_squares_aside(problem);
  return serves ? std::make_unique<VolumeEngine>(problem, true) : nullptr;
}

}  // namespace fathom::grid::cuda
