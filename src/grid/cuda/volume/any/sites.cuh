// The passes of volumes with any spacings where nearest sites are asked for, or anything but float distances; with
// nearest sites also those of equal spacings in rows of more than 1024 elements, or between labels.
//
// Along y first, then along z, from squares in double as in volume/any/along_z.cuh; but where sites are near, too, no
// key tells which of two that are as near is the first. Of rows whose sums are the same in double the lowest wins, as
// in the general engine and on the CPU. All of these are between the brackets: what lies outside is farther by a tenth
// of half a step's square at least, where doubles are to round less (rounds_little()).
//
// Between the passes lie the steps to the nearest site of the plane, with their signs, where the results will be,
// unless these are a part of the input; of planes without a site in a half tile, and of those with sites alone, a byte.
//
// Labels: each pass is that of a mask whose sites lie beyond the ends of the runs along the axes before it, and takes
// the ends of the runs along its own axis besides (volume/labels.cuh). What is found beyond such an end is farther than
// the end, whatever it is taken for: all of its ways have a step across, but that to an element of label 0, which is a
// site to the others indeed. So whatever is as near as an end lies within the run, behind the end before the element
// and before the one behind it, and of those the search finds the first. Words hold changes here instead of ends: bit x
// tells that element x differs from the one before it. So it is known on which side of an element the site lies.
//
// Work mapping: as in volume/any/along_z.cuh, of which these passes are phase 2, for all rows. Cost: some 80
// operations per element, and 10 for each row that is tried for it. 8 bytes are moved per element between the passes.
#pragma once

#include "grid/cuda/volume/any/fill_rows.cuh"
#include "grid/cuda/volume/any/lines.cuh"

namespace fathom::grid::cuda::volume {

/// Bytes of dynamic shared memory of the pass along y; that along z takes brackets_memory().
inline std::size_t any_site_memory_along_y(int rows) { return StepRows::memory(rows) + brackets_bytes(rows); }

/// Whether what doubles round of the squares of so long axes is nothing beside a step's square, of any axis.
/// @param most_square  of the way from one corner to the other
inline bool rounds_little(const ExactWeights& weights, double most_square) {
  constexpr double kMostSteps = 0x1p40;
  return most_square <= kMostSteps * std::min({weights.z, weights.y, weights.x});
}

/// The steps along a row to a site, and whether it lies to the right, in 16 bits. Of no site they are many.
struct RowSteps {
  static constexpr unsigned kRight = 0x8000u;
  static_assert(kNoneInWord + 32 < kRight);

  static __device__ int of(int steps) { return abs(steps) | (steps > 0 ? static_cast<int>(kRight) : 0); }
  static __device__ unsigned steps(unsigned word) { return word % kRight; }
  static __device__ bool is_right(unsigned word) { return word >= kRight; }
};

/// The words of Steps with signs, always as far ones are.
struct SignedSteps {
  static constexpr unsigned kRight = 1u << 23, kBehind = 1u << 24;
  static_assert(kRight > (Steps::kNone ^ Steps::kFar));

  int y, x;

  __device__ explicit SignedSteps(unsigned word) {
    const Steps steps(word);
    y = word & kBehind ? steps.y : -steps.y;
    x = word & kRight ? steps.x : -steps.x;
  }
  /// @param word  RowSteps
  static __device__ unsigned word_of(int y, unsigned word) {
    return Steps::far_word_of(abs(y), static_cast<int>(RowSteps::steps(word))) | (y > 0 ? kBehind : 0) |
           (RowSteps::is_right(word) ? kRight : 0);
  }
};

/// A line along y: rows of RowSteps.
struct SidedLineOfPlane {
  LineOfPlane line;

  __device__ unsigned word(int row) const { return line.word(row); }
  __device__ auto group(int q) const { return line.group(q); }
  __device__ bool has_site(unsigned word) const { return line.has_site(RowSteps::steps(word)); }
  __device__ double square(unsigned word) const { return line.square(RowSteps::steps(word)); }
  __device__ unsigned halves(unsigned word) const { return line.halves(RowSteps::steps(word)); }
};

/// The ends of runs that are nearer than what was found in rows of group q, in place of it. Of two that are as near the
/// first counts.
///
/// @param square_of  of so many steps along the line
/// @param to_end     steps to an end that is taken; 0: none is
template <Runs kRuns, class SquareOf>
__device__ void take_nearer_ends(const LineEnds<kRuns>& ends, int q, double (&best)[8], int (&to_end)[8],
                                 SquareOf&& square_of) {
  int steps[8] = {};
  if constexpr (kRuns != Runs::none) ends.nearest(q, steps);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const double square = square_of(abs(steps[j]));
    const bool is_first = square < best[j] || (square == best[j] && steps[j] < 0);
    to_end[j] = steps[j] != 0 && is_first ? steps[j] : 0;
    if (to_end[j] != 0) best[j] = square;
  }
}

/// Where in its plane the site nearest to each element lies.
template <int kThreads, int kMostRows, Runs kRuns>
__global__ void __launch_bounds__(kThreads, any_blocks(kThreads))
    find_any_along_y(const __grid_constant__ Volume v, const __grid_constant__ AnySpacing spacing) {
  extern __shared__ uint4 window_shared[];
  __shared__ SortedRows filled;
  __shared__ typename LineEnds<kRuns>::Words run_words;
  __shared__ int has_ends;
  const int t = static_cast<int>(threadIdx.x), n = v.ny, groups = row_groups(n);
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  const RowsOfPlane<kRuns> plane(v, half);
  const int with_sites = filled.find(n, [&](int row) { return plane.has_sites(row); });
  const TileKind kind = with_sites == 0 ? kEmpty : plane.template are_full<kThreads>(n) ? kFull : kNarrow;
  if (t == 0) kinds_of_planes(v, half)[half.tile.line] = kind;
  if (kind != kNarrow) return;
  const SidedLineOfPlane line{{StepRows(window_shared), spacing}};
  LineEnds<kRuns> ends(run_words, n, half.first + t % 16);
  if constexpr (kRuns != Runs::none) {
    if (t == 0) has_ends = 0;
    __syncthreads();
    ends.fill([&](int r) { return plane.changes(r); }, &has_ends);
  }
  const ColumnOfWords column(half.first + t % 16);
  const auto put_row = [&](int row) {
    const int steps = kRuns == Runs::none ? column.nearest(plane.word(row)) : plane.steps_beyond_run(row, t % 16);
    line.line.rows.put(row, t % 16, RowSteps::of(steps));
  };
  const StepSquares steps = v.step_tables->along_y(v.nz, n);
  std::uint32_t* to = v.wide.row(v.wide_first_item + half.tile.item, half.tile.line, 0) + half.x * v.wide_x_stride;
  const auto store = [&](int q, EightSquares<true>& eight) {
    if (half.x >= v.nx) return;
    int to_end[8] = {};
    if (kRuns != Runs::none && has_ends)
      take_nearer_ends(ends, min(q, groups - 1), eight.best, to_end, [&](int y) { return spacing.square(y, 0); });
    store_eight(n - q * 8, to + q * 8 * v.wide.y_stride, v.wide.y_stride, [&](int j) {
      if (to_end[j] != 0) return SignedSteps::word_of(to_end[j], 0);
      const bool none = eight.best[j] == kNoSquareExact;
      return none ? Steps::kNone : SignedSteps::word_of(eight.row(j) - (q * 8 + j), eight.word(j));
    });
  };
  Brackets<kThreads, kMostRows> brackets(
      reinterpret_cast<unsigned*>(window_shared + StepRows::memory(n) / sizeof(uint4)), n);
  if (kRuns == Runs::none && SortedRows::are_few(with_sites, n)) {
    for (int k = t / 16; k < with_sites; k += kThreads / 16) put_row(filled.row[k]);
    __syncthreads();
    if (with_sites <= kFewRows) return solve_from_few<kThreads, true>(filled, line, groups, steps, store);
    if (brackets.find_among(filled, line)) return solve_left<kThreads, true>(brackets, line, n, steps, ~0u, store);
  }
  line.line.rows.pad(n);
#pragma unroll 4
  for (int r = t / 16; r < n; r += kThreads / 16) put_row(r);
  __syncthreads();
  brackets.find(line, spacing.y);
  solve_left<kThreads, true>(brackets, line, n, steps, ~0u, store);
}

/// What a lane has found in up to eight planes.
struct AnySites {
  double square[8];
  std::int32_t site[8];  ///< −1: there is none
  unsigned inside = 0;   ///< bits, of signed labels: whose distances are negative
};

/// Writes what are no plain results, as far as they lie in the region. Not inlined: it is large.
/// @param at  of the first plane
template <class V>
__device__ __noinline__ void emit_any_sites(const Emitter<V>& emitter, std::int64_t item, const int3& at, int count,
                                            const AnySites& found) {
#pragma unroll 1
  for (int j = 0; j < min(count, 8); ++j) {
    const std::int64_t place[kMaxSpaceRank] = {at.z + j, at.y, at.x};
    const V value = found.site[j] < 0 ? no_value<V>() : static_cast<V>(found.square[j]);
    if (emitter.in_region(place)) emitter.emit(item, place, value, found.site[j], found.inside >> j & 1);
  }
}

/// Results of half a tile along z, in this thread's column. V: the emitter's, integers where there is a unit.
template <class V, bool kLabels>
class AnySiteWriter {
 public:
  __device__ AnySiteWriter(const Volume& v, const Emitter<V>& emitter, const HalfTile& half, float scale)
      : v_(v),
        emitter_(emitter),
        half_(half),
        scale_(scale),
        nx_(static_cast<std::int32_t>(emitter.input.extent[2])),
        row_(emitter.sites.row(v.first_item + half.tile.item, 0, half.tile.line)) {}

  /// Linear index of a site in plane z: there are at most 2³¹ elements.
  __device__ std::int32_t site(int z, const SignedSteps& steps) const {
    return (z * v_.ny + half_.tile.line + steps.y) * nx_ + v_.first_x + half_.x + steps.x;
  }
  /// Up to eight planes. Distances are written before sites are looked up, for the registers.
  /// @param site_of  of the first, the second and so on
  template <class SiteOf>
  __device__ void write(int z, int count, const double (&squares)[8], SiteOf&& site_of) const {
    if (half_.x >= v_.nx) return;
    if (!emitter_.sites.serves) return write_others(z, count, squares, site_of);
    const SiteResults& plain = emitter_.sites;
    const SiteResults::Row row = plain.behind(row_, z);
    if (plain.distance.data) {
      float roots[8];
      any_roots_of<true>(squares, roots);
      store_eight(count, row.distance + half_.x, plain.distance.z_stride, [&](int j) { return roots[j] * scale_; });
    }
    if (plain.is_long) store_sites<std::int64_t>(row.nearest, count, site_of);
    else store_sites<std::int32_t>(row.nearest, count, site_of);
  }

 private:
  template <class Index, class SiteOf>
  __device__ void store_sites(std::byte* row, int count, SiteOf&& site_of) const {
    std::int32_t sites[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) sites[j] = site_of(j);
    const std::int64_t stride = emitter_.sites.nearest.z_stride / static_cast<std::int64_t>(sizeof(Index));
    store_eight(count, reinterpret_cast<Index*>(row) + half_.x, stride, [&](int j) { return Index{sites[j]}; });
  }
  template <class SiteOf>
  __device__ void write_others(int z, int count, const double (&squares)[8], SiteOf&& site_of) const {
    AnySites found;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      found.square[j] = squares[j], found.site[j] = site_of(j);
      if (kLabels && !v_.pins && j < count) found.inside |= unsigned{is_inside(z + j)} << j;
    }
    emit_any_sites(emitter_, half_.tile.item, {v_.first_x + half_.x, half_.tile.line, z}, count, found);
  }

  /// Of signed labels. Masks have no sign here.
  __device__ bool is_inside(int z) const {
    return !(__ldg(&v_.changes_along_z(half_.tile)[z].y) >> (half_.x % 32) & 1);
  }

  const Volume& v_;
  const Emitter<V>& emitter_;
  const HalfTile& half_;
  const float scale_;
  const std::int32_t nx_;
  const SiteResults::Row row_;  ///< of z = 0
};

/// The nearest sites of all.
template <int kThreads, int kMostRows, class V, Runs kRuns>
__global__ void __launch_bounds__(kThreads, any_blocks(kThreads))
    find_any_along_z(const __grid_constant__ Volume v, const __grid_constant__ AnySpacing spacing,
                     const __grid_constant__ Emitter<V> emitter) {
  extern __shared__ uint4 window_shared[];
  constexpr bool kHasRuns = kRuns != Runs::none;
  __shared__ SortedRows filled;
  __shared__ typename LineEnds<kRuns>::Words run_words;
  __shared__ int has_ends;
  const int t = static_cast<int>(threadIdx.x), n = v.nz, groups = row_groups(n);
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  if (t == 0) has_ends = 0;
  const std::uint8_t* kinds = kinds_of_planes(v, half);
  const auto kind_of = [&](int r) { return static_cast<TileKind>(__ldg(kinds + r)); };
  const int with_sites = filled.find(n, [&](int row) { return kind_of(row) != kEmpty; });
  LineEnds<kRuns> ends(run_words, n, half.first + t % 16);
  if constexpr (kHasRuns) ends.fill([&](int r) { return __ldg(&v.changes_along_z(half.tile)[r].x); }, &has_ends);
  const auto writer_of = [&] { return AnySiteWriter<V, kHasRuns>(v, emitter, half, spacing.scale); };
  bool are_alike = true;
  for (int r = t; r < n; r += kThreads) are_alike &= kind_of(r) == (with_sites == 0 ? kEmpty : kFull);
  are_alike = __syncthreads_and(are_alike);
  if (are_alike && !(kHasRuns && with_sites == 0 && has_ends)) {
    const auto writer = writer_of();
    for (int q = t / 16; q < groups; q += kThreads / 16) {
      const double square = with_sites == 0 ? kNoSquareExact : 0;
      writer.write(q * 8, n - q * 8, {square, square, square, square, square, square, square, square},
                   [&](int j) { return with_sites == 0 ? -1 : writer.site(q * 8 + j, SignedSteps(Steps::kHere)); });
    }
    return;
  }
  const KeyWindow<VolumeKeys>::Rows rows(reinterpret_cast<unsigned*>(window_shared), n);
  const LineOfVolume line{rows, spacing};
  const int first_x = half.tile.word * 32 + half.first;
  const RowsOfHalf from{v.wide.row(v.wide_first_item + half.tile.item, 0, half.tile.line) + first_x * v.wide_x_stride,
                        v.wide.z_stride, v.nx - first_x, v.wide_x_stride};
  const StepSquares steps = v.step_tables->along_z(n);
  const auto store = [&](int q, EightSquares<true>& eight) {
    int to_end[8] = {};
    if (kHasRuns && has_ends)
      take_nearer_ends(ends, min(q, groups - 1), eight.best, to_end, [&](int z) { return spacing.square(z, 0, 0); });
    const auto writer = writer_of();  // made anew for each group, for the registers
    writer.write(q * 8, n - q * 8, eight.best, [&](int j) {
      if (to_end[j] != 0) return writer.site(q * 8 + j + to_end[j], SignedSteps(Steps::kHere));
      const bool none = eight.best[j] == kNoSquareExact;
      return none ? -1 : writer.site(eight.row(j), SignedSteps(line.word(eight.row(j))));
    });
  };
  if (!kHasRuns && with_sites <= kFewRows) {
    for (int k = t / 16; k < with_sites; k += kThreads / 16) {
      const int row = filled.row[k];
      rows.put(row, t % 16, kind_of(row) == kNarrow ? *from.at(row, t % 16) : Steps::kHere);
    }
    __syncthreads();
    return solve_from_few<kThreads, true>(filled, line, groups, steps, store);
  }
  rows.pad(n);
  fill_rows<kThreads>(rows, n, from, kind_of, [](unsigned) {});
  __syncthreads();
  Brackets<kThreads, kMostRows> brackets(reinterpret_cast<unsigned*>(window_shared + window_memory(n) / sizeof(uint4)),
                                         n);
  brackets.find(line, spacing.z);
  solve_left<kThreads, true>(brackets, line, n, steps, ~0u, store);
}

}  // namespace fathom::grid::cuda::volume
