// The passes of volumes with any spacings.
//
// Along y first, then along z, as the general engine and the CPU add up: squares in double are rounded alike. Between
// the passes lie the steps to the nearest site of the plane (volume/any/steps.cuh), where the results will be, unless
// these are a part of the input; of a half tile of a plane that has no site, or sites alone, one byte that says so.
// Where few rows of a line have sites, these are tried everywhere.
//
// Labels, and both sides of a signed field, which are solved at once as two labels, take in the ends of runs along each
// line besides (volume/labels.cuh): an element beyond is a site.
//
// Work mapping: block = 16 neighbours along x, half a word, by one whole line, in shared memory, with a thread to each
// row, or to each two (tuning.h); half warp = 8 rows, lane = column. Phase 1: where sites are near, keys of steps, up
// to 63 rows away along y and 23 along z, whose distances stand in a table. Phase 2, where that does not settle a warp's
// rows, or where it is in doubt: between which rows the nearest lie (volume/any/brackets.cuh), and squares in double of
// these.
//
// Where nearest sites are asked for, or anything but float distances, there is phase 2 alone: no key tells which of two
// sites that are as near is the first. Of rows whose sums are the same in double the lowest wins, as in the general
// engine and on the CPU. All of these are between the brackets: what lies outside is farther by a tenth of half a step's
// square at least, where doubles are to round less (rounds_little()). Steps have signs then. Such passes serve equal
// spacings, too, in rows of more than 1024 elements, or between labels. Of labels, each pass is that of a mask whose
// sites lie beyond the ends of the runs along the axes before it, and takes the ends along its own axis besides. What is
// found beyond such an end is farther than the end, whatever it is taken for: all of its ways have a step across, but
// that to an element of label 0, which is a site to the others indeed. So whatever is as near as an end lies within the
// run, behind the end before the element and before the one behind it, and of those the search finds the first. Words
// hold changes here instead of ends: bit x tells that element x differs from the one before it. So it is known on which
// side of an element the site lies.
//
// Source: separable passes (Hirata 1996), where sites are near by searching outwards. Cost: one operation per element
// and step; in phase 2 some 80 per element, and 10 for each row that is tried for it. 8 bytes are moved per element
// between the passes.
#pragma once

#include <algorithm>

#include "core/cuda/async_copy.cuh"
#include "grid/cuda/volume/any/lines.cuh"

namespace fathom::grid::cuda::volume {

/// Whether what doubles round of the squares of so long axes is nothing beside a step's square, of any axis.
/// @param most_square  of the way from one corner to the other
inline bool rounds_little(const ExactWeights& weights, double most_square) {
  constexpr double kMostSteps = 0x1p40;
  return most_square <= kMostSteps * std::min({weights.z, weights.y, weights.x});
}

/// Where float distances go, in this thread's column. Of a signed field, elements inside have negative ones.
template <Runs kRuns>
struct DistanceSink {
  static constexpr bool kFinds = false;
  struct Target {};

  const Volume& v;
  const AnySpacing& spacing;
  const Target& target;
  const HalfTile& half;
  const uint2* const words = v.word_line(half.tile);
  float* const column = v.distance.row(v.first_item + half.tile.item, 0, half.tile.line) + half.x;

  __device__ void store(int z, const float (&distances)[8]) const {
    if (half.x >= v.nx) return;
    store_eight<false>(v.nz - z, column + z * v.distance.z_stride, v.distance.z_stride,
                       [&](int j) { return is_inside(z + j) ? -distances[j] : distances[j]; });
  }
  /// From squares. @param site  is not asked for
  template <class Site>
  __device__ void write(int z, const double (&squares)[8], Site&& /*site*/) const {
    float distances[8];
    any_distances<kRuns != Runs::none>(squares, spacing.scale, distances);
    store(z, distances);
  }
  /// Where all sites are the elements themselves, or there is none.
  __device__ void write_same(int z, bool none) const {
    const float same = none ? __builtin_inff() : 0;
    store(z, {same, same, same, same, same, same, same, same});
  }
  __device__ int site(int, unsigned) const { return 0; }
  __device__ bool is_inside(int z) const {
    return kRuns == Runs::of_sides && !(__ldg(&words[z].x) >> (half.x % 32) & 1);
  }
};

/// Where nearest sites go, and whatever else. V: the emitter's, integers where there is a unit.
template <Runs kRuns, class V>
struct SiteSink {
  static constexpr bool kFinds = true;
  using Target = Emitter<V>;

  const Volume& v;
  const AnySpacing& spacing;
  const Emitter<V>& emitter;
  const HalfTile& half;

  /// Linear index of the site to which a word leads from plane z: there are at most 2³¹ elements.
  __device__ std::int32_t site(int z, unsigned word) const {
    const Steps steps(word);
    const auto nx = static_cast<std::int32_t>(emitter.input.extent[2]);
    return (z * v.ny + half.tile.line + steps.y) * nx + v.first_x + half.x + steps.x;
  }
  template <class Site>
  __device__ void write(int z, const double (&squares)[8], Site&& site) const {
    const int count = v.nz - z;
    if (half.x >= v.nx) return;
    if (!emitter.sites.serves) {
      FoundSites<double> found;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        found.square[j] = squares[j], found.site[j] = site(j);
        if (kRuns != Runs::none && !v.pins && j < count) found.inside |= unsigned{is_inside(z + j)} << j;
      }
      return emit_column<Along::z>(emitter, half.tile.item, {v.first_x + half.x, half.tile.line, z}, count, found);
    }
    const SiteResults::Row row = emitter.sites.row(v.first_item + half.tile.item, z, half.tile.line);
    const auto distances = [&](float(&eight)[8]) { any_distances<true>(squares, spacing.scale, eight); };
    write_column<Along::z>(emitter.sites, row, half.x, count, distances, site);
  }
  __device__ void write_same(int z, bool none) const {
    const double same = none ? kNoSquareExact : 0;
    write(z, {same, same, same, same, same, same, same, same},
          [&](int j) { return none ? -1 : site(z + j, Steps::kHere); });
  }
  /// Of signed labels. Masks have no sign here.
  __device__ bool is_inside(int z) const { return !(__ldg(&v.changes_along_z(half.tile)[z].y) >> (half.x % 32) & 1); }
};

/// Runs of sides: both, of a signed field.
template <int kThreads, int kMostRows, Runs kRuns, class Sink>
class PassAlongZ : public LinePass<PassAlongZ<kThreads, kMostRows, kRuns, Sink>, LineOfVolume<Sink::kFinds>, kThreads,
                                   kMostRows, kRuns> {
  using Base = LinePass<PassAlongZ, LineOfVolume<Sink::kFinds>, kThreads, kMostRows, kRuns>;
  using Base::lane, Base::has_ends, Base::kHasRuns;
  using Base::v_, Base::spacing_, Base::half_, Base::shared_, Base::n_, Base::line_, Base::with_sites_;

 public:
  using Shared = typename Base::Shared;
  using Target = typename Sink::Target;

  static __device__ HalfTile half_of(const Volume& v, unsigned job) { return {v.tile(job / 2, v.ny), job}; }

  __device__ PassAlongZ(const Volume& v, const AnySpacing& spacing, const Target& target, const HalfTile& half,
                        Shared& shared, uint4* memory)
      : Base(v, spacing, half, shared, memory, v.nz), sink_{v, spacing, target, half} {}

  /// What there is. Rows are on their way while their kinds are counted; not where those may be all alike, or few have
  /// sites. @returns whether all planes are alike: full, or without a site
  __device__ bool look() {
    const auto t = thread();
    if (t == 0) shared_.far_elements = shared_.has_ends = 0;
    if (!Sink::kFinds && kHasRuns && t <= VolumeKeys::kSteps) shared_.keys.of[t] = keys().of[t];
    line_.rows.pad(n_);
    begins_ = kRuns != Runs::of_sides && kind_of(0) == kNarrow && are_fours();
    if (begins_) begin_rows();
    with_sites_ = shared_.filled.find(n_, [&](int row) { return kind_of(row) != kEmpty; });
    Base::fill_ends([&](int r) { return changes(r); });
    bool are_alike = true;
    for (int r = t; r < n_; r += kThreads) are_alike &= kind_of(r) == (with_sites_ == 0 ? kEmpty : kFull);
    if (!__syncthreads_and(are_alike) || (with_sites_ == 0 && has_ends())) return false;
    for (int q = t / 16; q < row_groups(n_); q += kThreads / 16) sink_.write_same(q * 8, with_sites_ == 0);
    return true;
  }

  __device__ void put_few() const {
    if (begins_) {
      fathom::cuda::wait_for_copies();
      __syncthreads();
    }
    for (int k = thread() / 16; k < with_sites_; k += kThreads / 16) {
      const int row = shared_.filled.row[k];
      *line_.rows.at(row, lane()) = Steps::far(kind_of(row) == kNarrow ? *word_at(row, lane()) : Steps::kAtSite);
    }
  }

  /// Rows of words. Copies that go past the registers are all on their way at once, where registers hold a part of a
  /// thread's rows, so that a block waits once. Where words go one by one, what is asked for each costs more than copies
  /// gain. @returns whether a window is worth a try
  __device__ bool fill() {
    unsigned far = 0;
    if (begins_ || are_fours()) {
      if (!begins_) begin_rows();
      fathom::cuda::wait_for_copies();
#pragma unroll 4
      for (int r = thread() / 4; r < n_; r += kThreads / 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(line_.rows.at(r, four_of_thread()));
        far += four.x / Steps::kFar + four.y / Steps::kFar + four.z / Steps::kFar + four.w / Steps::kFar;
      }
    } else {
      // Eight are asked for before any is looked at, also behind the last row, in place of which that is read again.
      constexpr int kStep = kThreads / 16;
      for (int first = thread() / 16; first < n_; first += 8 * kStep) {
        unsigned word[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          const int r = min(first + k * kStep, n_ - 1);
          const TileKind kind = kind_of(r);
          word[k] = keeps_rows(kind) ? __ldcs(word_at(r, lane())) : word_of_kind(kind);
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) {
          if (first + k * kStep >= n_) break;
          far += word[k] / Steps::kFar;
          *line_.rows.at(first + k * kStep, lane()) = word[k];
        }
      }
    }
    if constexpr (!Sink::kFinds) add_over_block(static_cast<int>(far), &shared_.far_elements);
    __syncthreads();
    return !Sink::kFinds && shared_.far_elements <= n_ * 12;  // of 16 n
  }

  __device__ const VolumeKeys& keys() const { return spacing_.volume_z; }
  __device__ const double* squares() const { return v_.step_tables->along_z(); }
  /// Distances of near sites, from the tables. @returns whether none of the warp's is in doubt
  __device__ bool take(int z, const unsigned (&keys)[8]) const {
    float distances[8] = {};
    if (__any_sync(kAllLanes, greatest_of_eight(keys) > 0)) {  // not all are sites
      const StepTables& tables = *v_.step_tables;
      unsigned bits[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const unsigned pair = keys[j] % kPairs;
        const int square = VolumeKeys::square_of(keys[j] - __ldg(tables.pair + pair));
        const int along_z = VolumeKeys::steps_of(square, spacing_.inverse_z);
        distances[j] = __ldg(tables.distance + (static_cast<unsigned>(along_z) * kPairs + pair));
        bits[j] = __float_as_uint(distances[j]);
      }
      if (__any_sync(kAllLanes, greatest_of_eight(bits) >> 31 != 0)) return false;
    }
    sink_.store(z, distances);
    return true;
  }

  /// Far words.
  __device__ void put_steps() const {
    if constexpr (!Sink::kFinds)
      for (int r = thread() / 16; r < n_; r += kThreads / 16) {
        unsigned* own = line_.rows.at(r, lane());
        *own = Steps::far(*own);
      }
  }

  __device__ void write(int z, const typename Base::Eight& eight, const int (&to_end)[8]) const {
    sink_.write(z, eight.best, [&](int j) {
      if (to_end[j] != 0) return sink_.site(z + j + to_end[j], Steps::kHere);
      return eight.best[j] == kNoSquareExact ? -1 : sink_.site(eight.row(j), line_.word(eight.row(j)));
    });
  }

 private:
  /// Where the word of a row's column lies; beyond the last column, that of the last.
  __device__ const std::uint32_t* word_at(int row, int column) const {
    return first_word_ + row * v_.wide.z_stride + min(column, columns_ - 1) * v_.wide_x_stride;
  }
  /// Whether each four words of a row may be copied at once.
  __device__ bool are_fours() const {
    return v_.wide_x_stride == 1 && columns_ >= 16 && v_.wide.z_stride % 4 == 0 &&
           reinterpret_cast<std::uintptr_t>(first_word_) % sizeof(uint4) == 0;
  }
  __device__ TileKind kind_of(int row) const { return static_cast<TileKind>(__ldg(kinds_ + row)); }
  /// Of rows that keep none.
  static __device__ unsigned word_of_kind(TileKind kind) { return kind == kFull ? Steps::kAtSite : Steps::kNone; }
  static __device__ int four_of_thread() { return thread() % 4 * 4; }
  /// Begins to copy the rows that are kept, four words at a time, and fills the others.
  __device__ void begin_rows() const {
#pragma unroll 4
    for (int r = thread() / 4; r < n_; r += kThreads / 4) {
      unsigned* to = line_.rows.at(r, four_of_thread());
      const TileKind kind = kind_of(r);
      const unsigned other = word_of_kind(kind);
      if (keeps_rows(kind)) fathom::cuda::copy_async<sizeof(uint4)>(to, word_at(r, four_of_thread()));
      else *reinterpret_cast<uint4*>(to) = make_uint4(other, other, other, other);
    }
  }
  /// Of a plane, what the ends of runs along z tell from the one before.
  __device__ unsigned changes(int z) const {
    const uint2* words = v_.word_line(half_.tile);
    if constexpr (kRuns == Runs::of_sides) return z ? __ldg(&words[z].x) ^ __ldg(&words[z - 1].x) : 0;
    else return __ldg(&v_.changes_along_z(half_.tile)[z].x);
  }

  const int first_x_ = half_.tile.word * 32 + half_.first, columns_ = v_.nx - first_x_;
  const std::uint32_t* const first_word_ = v_.wide_at(half_.tile.item, 0, half_.tile.line, first_x_);
  const std::uint8_t* const kinds_ = kinds_of_half(v_, half_.tile, half_.first / 16, v_.nz);
  const Sink sink_;
  bool begins_ = false;  ///< to copy rows
};

}  // namespace fathom::grid::cuda::volume
