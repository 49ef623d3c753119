// The passes of volumes with any spacings.
//
// Along y first, then along z, as the general engine and the CPU add up: squares in double are rounded alike. Between
// the passes lie the steps to the nearest site of the plane (volume/any/steps.cuh), where the results will be, unless
// these are a part of the input.
//
// Of a half tile of a plane that has no site, or sites alone, the pass along y leaves one byte that says so, and no
// steps. Where few rows of a line have sites, these are tried everywhere.
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
class DistanceSink {
 public:
  static constexpr bool kFinds = false;
  struct Target {};

  __device__ DistanceSink(const Volume& v, const AnySpacing& spacing, const Target&, const HalfTile& half)
      : v_(v),
        scale_(spacing.scale),
        half_(half),
        words_(v.word_line(half.tile)),
        column_(v.distance.row(v.first_item + half.tile.item, 0, half.tile.line) + half.x) {}

  __device__ void store(int z, const float (&distances)[8]) const {
    if (half_.x >= v_.nx) return;
    store_eight<false>(v_.nz - z, column_ + z * v_.distance.z_stride, v_.distance.z_stride,
                       [&](int j) { return is_inside(z + j) ? -distances[j] : distances[j]; });
  }
  /// From squares. @param site  is not asked for
  template <class Site>
  __device__ void write(int z, const double (&squares)[8], Site&& /*site*/) const {
    float distances[8];
    any_roots_of<kRuns != Runs::none>(squares, distances);
#pragma unroll
    for (float& distance : distances) distance *= scale_;
    store(z, distances);
  }
  /// Where all sites are the elements themselves, or there is none.
  __device__ void write_same(int z, bool none) const {
    const float same = none ? __builtin_inff() : 0;
    store(z, {same, same, same, same, same, same, same, same});
  }
  __device__ int site(int, unsigned) const { return 0; }

 private:
  __device__ bool is_inside(int z) const {
    return kRuns == Runs::of_sides && !(__ldg(&words_[z].x) >> (half_.x % 32) & 1);
  }

  const Volume& v_;
  const float scale_;
  const HalfTile& half_;
  const uint2* const words_;
  float* const column_;
};

/// Where nearest sites go, and whatever else. V: the emitter's, integers where there is a unit.
template <Runs kRuns, class V>
class SiteSink {
 public:
  static constexpr bool kFinds = true;
  using Target = Emitter<V>;

  __device__ SiteSink(const Volume& v, const AnySpacing& spacing, const Emitter<V>& emitter, const HalfTile& half)
      : v_(v), scale_(spacing.scale), emitter_(emitter), half_(half) {}

  /// Linear index of the site to which a word leads from plane z: there are at most 2³¹ elements.
  __device__ std::int32_t site(int z, unsigned word) const {
    const SignedSteps steps(word);
    const auto nx = static_cast<std::int32_t>(emitter_.input.extent[2]);
    return (z * v_.ny + half_.tile.line + steps.y) * nx + v_.first_x + half_.x + steps.x;
  }
  template <class Site>
  __device__ void write(int z, const double (&squares)[8], Site&& site) const {
    const int count = v_.nz - z;
    if (half_.x >= v_.nx) return;
    if (!emitter_.sites.serves) {
      FoundSites<double> found;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        found.square[j] = squares[j], found.site[j] = site(j);
        if (kRuns != Runs::none && !v_.pins && j < count) found.inside |= unsigned{is_inside(z + j)} << j;
      }
      return emit_column<Along::z>(emitter_, half_.tile.item, {v_.first_x + half_.x, half_.tile.line, z}, count, found);
    }
    const SiteResults::Row row = emitter_.sites.row(v_.first_item + half_.tile.item, z, half_.tile.line);
    const auto distances = [&](float(&roots)[8]) {
      any_roots_of<true>(squares, roots);
#pragma unroll
      for (float& root : roots) root *= scale_;
    };
    write_column<Along::z>(emitter_.sites, row, half_.x, count, distances, site);
  }
  __device__ void write_same(int z, bool none) const {
    const double same = none ? kNoSquareExact : 0;
    write(z, {same, same, same, same, same, same, same, same},
          [&](int j) { return none ? -1 : site(z + j, Steps::kHere); });
  }

 private:
  /// Of signed labels. Masks have no sign here.
  __device__ bool is_inside(int z) const {
    return !(__ldg(&v_.changes_along_z(half_.tile)[z].y) >> (half_.x % 32) & 1);
  }

  const Volume& v_;
  const float scale_;
  const Emitter<V>& emitter_;
  const HalfTile& half_;
};

/// Distances of near sites, from the tables. @returns whether none of the warp's is in doubt
__device__ inline bool tabulated_distances(const AnySpacing& spacing, const StepTables& tables,
                                           const KeyWindow<VolumeKeys>& window, float (&distances)[8]) {
  if (window.is_all_sites()) {
#pragma unroll
    for (float& distance : distances) distance = 0;
    return true;
  }
  unsigned bits[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const unsigned pair = window.best[j] % kPairs;
    const int square = VolumeKeys::square_of(window.best[j] - __ldg(tables.pair + pair));
    const int z = VolumeKeys::steps_of(square, spacing.inverse_z);
    distances[j] = __ldg(tables.distance + (static_cast<unsigned>(z) * kPairs + pair));
    bits[j] = __float_as_uint(distances[j]);
  }
  return !__any_sync(kAllLanes, greatest_of_eight(bits) >> 31 != 0);
}

/// Where the words of half a tile's rows lie.
struct RowsOfHalf {
  const std::uint32_t* first;  ///< of the first row, that of the first column
  std::int64_t stride;         ///< from row to row
  int columns;                 ///< that there are; beyond these, the last one is taken again
  int step = 1;                ///< from column to column: 2 where they lie in results of 64 bits

  /// Whether each four words may be copied at once.
  __device__ bool are_fours() const {
    return step == 1 && columns >= 16 && reinterpret_cast<std::uintptr_t>(first) % sizeof(uint4) == 0 &&
           stride % 4 == 0;
  }
  __device__ const std::uint32_t* at(int row, int column) const {
    return first + row * stride + min(column, columns - 1) * step;
  }
};

/// Half a tile along z. All functions are called by all threads of the block. Runs of sides: both, of a signed field.
template <int kThreads, int kMostRows, Runs kRuns, class Sink>
class PassAlongZ {
 public:
  static constexpr bool kSides = kRuns == Runs::of_sides, kHasRuns = kRuns != Runs::none;

  struct Shared {
    int far_elements, has_ends;
    SortedRows filled;
    VolumeKeys keys_z;  ///< the spacing's: lanes ask for different ones
    typename LineEnds<kRuns>::Words run_words;
  };

  __device__ PassAlongZ(const Volume& v, const AnySpacing& spacing, const typename Sink::Target& target,
                        const HalfTile& half, Shared& shared, uint4* memory)
      : v_(v),
        spacing_(spacing),
        half_(half),
        shared_(shared),
        memory_(memory),
        n_(v.nz),
        rows_(reinterpret_cast<unsigned*>(memory), v.nz),
        from_{v.wide.row(v.wide_first_item + half.tile.item, 0, half.tile.line) + first_x() * v.wide_x_stride,
              v.wide.z_stride, v.nx - first_x(), v.wide_x_stride},
        line_{rows_, spacing},
        ends_(shared.run_words, v.nz, half.first + lane()),
        tables_(*v.step_tables),
        kinds_(kinds_of_planes(v, half)),
        sink_(v, spacing, target, half) {}

  /// What there is. Rows are on their way while their kinds are counted; not where those may be all alike, or few have
  /// sites. @returns whether all planes are alike: full, or without a site
  __device__ bool look() {
    const auto t = static_cast<int>(threadIdx.x);
    if (t == 0) shared_.far_elements = shared_.has_ends = 0;
    if (!Sink::kFinds && kHasRuns && t <= VolumeKeys::kSteps) shared_.keys_z.of[t] = spacing_.volume_z.of[t];
    rows_.pad(n_);
    begins_ = !kSides && kind_of(0) == kNarrow && from_.are_fours();
    if (begins_) begin_rows();
    with_sites_ = shared_.filled.find(n_, [&](int row) { return kind_of(row) != kEmpty; });
    ends_.fill([&](int r) { return changes(r); }, &shared_.has_ends);
    bool are_alike = true;
    for (int r = t; r < n_; r += kThreads) are_alike &= kind_of(r) == (with_sites_ == 0 ? kEmpty : kFull);
    return __syncthreads_and(are_alike) && !(with_sites_ == 0 && has_ends());
  }
  __device__ void write_alike() const {
    for (int q = static_cast<int>(threadIdx.x) / 16; q < rows_.groups; q += kThreads / 16)
      sink_.write_same(q * 8, with_sites_ == 0);
  }

  /// From the planes that have sites, where these are few. @returns whether they are
  __device__ bool solve_few() const {
    if (kHasRuns || with_sites_ > kFewRows) return false;
    if (begins_) {
      fathom::cuda::wait_for_copies();
      __syncthreads();
    }
    for (int k = static_cast<int>(threadIdx.x) / 16; k < with_sites_; k += kThreads / 16) {
      const int row = shared_.filled.row[k];
      *rows_.at(row, lane()) = Steps::far(tables_, kind_of(row) == kNarrow ? *from_.at(row, lane()) : Steps::kAtSite);
    }
    __syncthreads();
    solve_left<kThreads, Sink::kFinds>(FewOfLine{shared_.filled}, line_, n_, tables_.along_z(n_), ~0u,
                                       [&](int q, auto& eight) { write(q, eight); });
    return true;
  }

  /// Rows of words. Copies that go past the registers are all on their way at once, where registers hold a part of a
  /// thread's rows, so that a block waits once. Where words go one by one, what is asked for each costs more than copies
  /// gain. @returns whether a window is worth a try
  __device__ bool fill() {
    unsigned far = 0;
    if (begins_ || from_.are_fours()) {
      if (!begins_) begin_rows();
      fathom::cuda::wait_for_copies();
#pragma unroll 4
      for (int r = static_cast<int>(threadIdx.x) / 4; r < n_; r += kThreads / 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(rows_.at(r, four_of_thread()));
        far += four.x / Steps::kFar + four.y / Steps::kFar + four.z / Steps::kFar + four.w / Steps::kFar;
      }
    } else {
      // So many rows are asked for before any is looked at; in place of those that are missing, the last one again.
      constexpr int kTogether = 8, kStep = kThreads / 16;
      for (int r0 = thread() / 16; r0 < n_; r0 += kTogether * kStep) {
        unsigned words[kTogether];
#pragma unroll
        for (int k = 0; k < kTogether; ++k) {
          const int r = min(r0 + k * kStep, n_ - 1);
          words[k] = keeps_rows(kind_of(r)) ? __ldcs(from_.at(r, lane())) : word_of_kind(kind_of(r));
        }
#pragma unroll
        for (int k = 0; k < kTogether; ++k) {
          if (r0 + k * kStep >= n_) break;
          far += words[k] / Steps::kFar;
          *rows_.at(r0 + k * kStep, lane()) = words[k];
        }
      }
    }
    if constexpr (!Sink::kFinds) add_over_block(static_cast<int>(far), &shared_.far_elements);
    __syncthreads();
    return !Sink::kFinds && shared_.far_elements <= n_ * 12;  // of 16 n
  }

  /// @returns the warp's groups of rows that no window settles, as left_by_windows() has them
  __device__ unsigned search() const {
    return left_by_windows<kThreads>(rows_.groups, [&](int q) {
      const int own = min(q, rows_.groups - 1);
      float distances[8];
      KeyWindow<VolumeKeys> window(rows_, own, lane(), spacing_.volume_z);
      if (has_ends()) ends_.bound(own, window.best, shared_.keys_z);
      if (!window.search(n_ - q * 8) || !tabulated_distances(spacing_, tables_, window, distances)) return false;
      sink_.store(q * 8, distances);
      return true;
    });
  }

  /// Those. Rows hold far words then.
  __device__ void solve_others(unsigned left) const {
    if constexpr (!Sink::kFinds) {
      // Where each sixteenth row is, so that none is looked for: some threads may have none.
      constexpr int kRows = kThreads / 16, kStep = kRows < 16 ? 16 : kRows / 16 * 16;
      for (int first = static_cast<int>(threadIdx.x) / 16; first < kStep; first += kRows) {
        unsigned* own = each_sixteenth(reinterpret_cast<unsigned*>(memory_), first, lane());
        for (int r = first; r < n_; r += kStep) own[r * 16] = Steps::far(tables_, own[r * 16]);
      }
      __syncthreads();
    }
    auto* memory = reinterpret_cast<unsigned*>(memory_ + window_memory(n_) / sizeof(uint4));
    Brackets<kThreads, kMostRows> brackets(memory, n_);
    brackets.find(line_, spacing_.z);
    solve_left<kThreads, Sink::kFinds>(brackets, line_, n_, tables_.along_z(n_), left,
                                       [&](int q, auto& eight) { write(q, eight); });
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % 16; }
  __device__ int first_x() const { return half_.tile.word * 32 + half_.first; }
  __device__ bool has_ends() const { return kHasRuns && shared_.has_ends; }
  __device__ TileKind kind_of(int row) const { return static_cast<TileKind>(__ldg(kinds_ + row)); }
  /// Of rows that keep none.
  static __device__ unsigned word_of_kind(TileKind kind) { return kind == kFull ? Steps::kAtSite : Steps::kNone; }
  static __device__ int four_of_thread() { return static_cast<int>(threadIdx.x) % 4 * 4; }
  /// Begins to copy the rows that are kept, four words at a time, and fills the others.
  __device__ void begin_rows() const {
#pragma unroll 4
    for (int r = static_cast<int>(threadIdx.x) / 4; r < n_; r += kThreads / 4) {
      unsigned* to = rows_.at(r, four_of_thread());
      const TileKind kind = kind_of(r);
      const unsigned other = word_of_kind(kind);
      if (keeps_rows(kind)) fathom::cuda::copy_async<sizeof(uint4)>(to, from_.at(r, four_of_thread()));
      else *reinterpret_cast<uint4*>(to) = make_uint4(other, other, other, other);
    }
  }
  /// Of a plane, what the ends of runs along z tell from the one before.
  __device__ unsigned changes(int z) const {
    const uint2* words = v_.word_line(half_.tile);
    if constexpr (kSides) return z ? __ldg(&words[z].x) ^ __ldg(&words[z - 1].x) : 0;
    else return __ldg(&v_.changes_along_z(half_.tile)[z].x);
  }
  __device__ void write(int q, EightSquares<Sink::kFinds>& eight) const {
    int to_end[8] = {};
    if (has_ends())
      take_nearer_ends(ends_, min(q, rows_.groups - 1), eight.best, to_end,
                       [&](int z) { return spacing_.square(z, 0, 0); });
    sink_.write(q * 8, eight.best, [&](int j) {
      if (to_end[j] != 0) return sink_.site(q * 8 + j + to_end[j], Steps::kHere);
      return eight.best[j] == kNoSquareExact ? -1 : sink_.site(eight.row(j), line_.word(eight.row(j)));
    });
  }

  const Volume& v_;
  const AnySpacing& spacing_;
  const HalfTile& half_;
  Shared& shared_;
  uint4* const memory_;
  const int n_;
  const KeyWindow<VolumeKeys>::Rows rows_;
  const RowsOfHalf from_;
  const LineOfVolume line_;
  LineEnds<kRuns> ends_;
  const StepTables& tables_;
  const std::uint8_t* const kinds_;
  const Sink sink_;
  int with_sites_ = 0;
  bool begins_ = false;  ///< to copy rows
};

template <int kThreads, int kMostRows, Runs kRuns, class Sink>
__global__ void __launch_bounds__(kThreads, any_blocks(kThreads))
    solve_any_along_z(const __grid_constant__ Volume v, const __grid_constant__ AnySpacing spacing,
                      const __grid_constant__ typename Sink::Target target) {
  using Pass = PassAlongZ<kThreads, kMostRows, kRuns, Sink>;
  extern __shared__ uint4 window_shared[];
  __shared__ typename Pass::Shared shared;
  const HalfTile half(v.tile(blockIdx.x / 2, v.ny), blockIdx.x);
  if (half.is_outside(v)) return;
  Pass pass(v, spacing, target, half, shared, window_shared);
  if (pass.look()) return pass.write_alike();
  if (pass.solve_few()) return;
  unsigned left = ~0u;
  if (pass.fill())
    if constexpr (!Sink::kFinds) left = pass.search();
  if (Sink::kFinds || __syncthreads_or(left != 0)) pass.solve_others(left);
}

}  // namespace fathom::grid::cuda::volume
