// The results of a far tile, from the least values of its elements and, with nearest sites, the codes of their columns
// (ColumnCode). See plane/far.cuh.
//
// Work mapping: warp = cell of 32 × 32 elements, lane = column with 32 rows in registers. Of labels, the ends of the
// runs along the rows are found first, and are the nearest where they are nearer. What takes many registers goes
// through shared memory, so that rows are gone through in a loop. Cost: a root for each element.
#pragma once

#include <type_traits>

#include "grid/cuda/plane/candidates.cuh"
#include "grid/cuda/plane/exact.cuh"
#include "grid/cuda/plane/labels.cuh"
#include "grid/cuda/plane/runs.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr unsigned kUnsolved = 0x7FFFFFFFu;
inline constexpr int kFarWarps = kFarBlock / 32;

/// A cell of 32 × 32 elements of a tile, and what was found for it: lane = column. V: the emitter's.
template <Writing kWriting, Spacing kSpacing, class V>
class FarResults {
 public:
  static constexpr bool kSites = finds_sites(kWriting), kLabels = is_of_labels(kWriting);
  static constexpr bool kSpaced = kSpacing != Spacing::equal, kAny = kSpacing == Spacing::any;
  using Value = std::conditional_t<kAny, double, unsigned>;
  /// Where there is no site.
  static constexpr Value kNothing = [] {
    if constexpr (kAny) return __builtin_inf();
    else return kSites ? kNoBound : kUnsolved;
  }();

  /// @param memory  of the block: kCapacity × 32 words
  /// @param of_all  the tile, of all bands. Tiles are counted in 32 bits: divisions of 64 are slow
  __device__ FarResults(const Plane& plane, const Emitter<V>& emitter, unsigned* memory, std::uint32_t of_all)
      : plane_(plane),
        emitter_(emitter),
        memory_(memory),
        band_(of_all / static_cast<unsigned>(plane.tiles())),
        tile_(static_cast<int>(of_all % static_cast<unsigned>(plane.tiles()))),
        x0_(tile_ * kTile),
        warp_(static_cast<int>(threadIdx.x) / 32),
        start_(band_ * plane.pitch),
        is_open_(plane.left.open_cells[band_ * plane.cells() + tile_ * kFarWarps + warp_] != 0) {
#pragma unroll
    for (int r = 0; r < kBand; ++r) best_[r] = kNothing, codes_[r] = kNoBound;
  }

  /// By all threads of the block. @param has_candidates  the tile; of sites in it, that the words say so
  __device__ void write(bool has_candidates) {
    if constexpr (kLabels) find_runs();
    if (!is_open_ || column() >= plane_.width) return;
    if constexpr (kSites) write_sites();
    else if constexpr (kAny) write_measured(has_candidates);
    else if constexpr (is_general(kWriting)) write_values();
    else write_floats(has_candidates);
  }

 protected:
  __device__ int column() const { return x0_ + 32 * warp_ + lane_id(); }

  __device__ Value square_along(int rows) const {
    if constexpr (kAny) return plane_.along_exactly(rows);
    const auto steps = static_cast<unsigned>(rows);
    return kSpaced ? plane_.along(steps) : steps * steps;
  }
  __device__ Value square_across(int columns) const {
    if constexpr (kAny) return plane_.across_exactly(columns);
    const auto steps = static_cast<unsigned>(columns);
    return kSpaced ? plane_.across(steps) : steps * steps;
  }

  const Plane& plane_;
  const Emitter<V>& emitter_;
  unsigned* const memory_;
  const std::int64_t band_;
  const int tile_, x0_;       ///< of the band, and its first column
  const int warp_;            ///< and cell of the tile
  const std::int64_t start_;  ///< of the band's columns
  const bool is_open_;        ///< the cell
  Value best_[kBand];         ///< of the rows of the lane's column
  unsigned codes_[kBand];     ///< of columns

 private:
  __device__ float in_units(float root) const { return kSpaced ? root * plane_.out.side.scale : root; }
  /// Linear index of the site nearest to (y, x). There are fewer than 2³¹ elements.
  __device__ std::int32_t site_of(std::int32_t y, std::int32_t x, unsigned value, unsigned column) const {
    const unsigned code = column ^ ColumnCode::turned(value);
    const auto columns = static_cast<std::int32_t>(code >> 1);
    const std::int32_t rows = rows_of((value >> 1) - square_across(columns));
    return (value & 1 ? y + rows : y - rows) * plane_.width + (code & 1 ? x + columns : x - columns);
  }
  __device__ std::int32_t rows_of(std::uint32_t square) const {
    auto rows = static_cast<float>(square);
    if constexpr (kSpaced) rows /= static_cast<float>(plane_.spacing.row_weight);
    return static_cast<std::int32_t>(small_root(rows) + 0.5f);
  }

  /// Takes the end of a run in the row instead, if it is nearer, or as near and what was found lies below; or the
  /// element itself, if it is pinned.
  __device__ void find_in_row(std::int32_t y, std::int32_t x, unsigned value, std::uint32_t& square,
                              std::int32_t& site) const {
    const RunSteps steps = steps_in_row(y - plane_.first_row(band_));
    if (steps.least() >= static_cast<unsigned>(plane_.width)) return;
    const unsigned end = plane_.across(steps.least());
    if (2 * end >= value) return;
    square = end;
    site = y * plane_.width + x + steps.nearest();
  }

  /// Through shared memory, so that rows can be gone through in a loop: results of all at once take too many registers.
  __device__ void write_sites() const {
    unsigned* stage = memory_ + warp_ * kBand * 32 + lane_id();
    const int x = column(), y0 = plane_.first_row(band_);
    const std::uint32_t sites = plane_.bits[start_ + x], upper = kLabels ? plane_.runs.upper[start_ + x] : 0;
    auto row = emitter_.sites.row(plane_.first_item + plane_.item_of(band_), 0, y0);
#pragma unroll
    for (int r0 = 0; r0 < kBand; r0 += kBand / 2) {
#pragma unroll
      for (int r = 0; r < kBand / 2; ++r) {
        const bool is_marked = sites >> (r0 + r) & 1;  // solid columns between solid columns are not in the list
        const unsigned marked = kLabels ? 2 * plane_.along(1) + (~upper >> (r0 + r) & 1) : 0;
        stage[64 * r] = is_marked ? marked : best_[r0 + r];
        stage[64 * r + 32] = is_marked ? ColumnCode::turned(marked) : codes_[r0 + r];
      }
      write_staged(row, stage, y0 + r0, min(y0 + r0 + kBand / 2, plane_.height));
    }
  }
  /// Rows y … end − 1, which follow one another in memory.
  __device__ void write_staged(SiteResults::Row& row, const unsigned* stage, int y, int end) const {
    const int x = column();
#pragma unroll 1
    for (; y < end; ++y, stage += 64, row = emitter_.sites.down(row, 1)) {
      const unsigned value = stage[0];
      std::uint32_t square = value != kNothing ? value >> 1 : kNoSquare;
      std::int32_t site = value != kNothing ? site_of(y, x, value, stage[32]) : -1;
      if constexpr (kLabels) find_in_row(y, x, value, square, site);
      if (emitter_.sites.serves) emitter_.sites.write(row, x, distance_of(square), site);
      else
        emit_in_image(emitter_, plane_.item_of(band_), y, x, value_of(square), site,
                      kLabels && is_inside(plane_, band_, y - plane_.first_row(band_), x));
    }
  }

  /// The runs of the tile's rows, a word to a lane, where the squares were.
  __device__ void find_runs() {
    __syncthreads();
#pragma unroll 1
    for (int r = warp_; r < kBand; r += kFarWarps) {
      const std::int64_t row = (band_ * kBand + r) * plane_.runs.row_words;
      const RowRuns runs = RowRuns::of(plane_, row, tile_ * kFarWarps);
      if (lane_id() < kFarWarps) run_words()[r * kFarWarps + lane_id()] = runs;
    }
    __syncthreads();
  }
  /// Of row r, the word that the warp's columns are.
  __device__ const RowRuns& runs_of(int r) const { return run_words()[r * kFarWarps + warp_]; }
  __device__ RunSteps steps_in_row(int r) const {
    return runs_of(r).steps(tile_ * kFarWarps + warp_, lane_id(), plane_.runs.pins);
  }
  /// Behind the room for results.
  __device__ RowRuns* run_words() const {
    constexpr int kResults = kFarWarps * kBand * 32;
    static_assert(kResults * sizeof(unsigned) + kFarWarps * kBand * sizeof(RowRuns) <=
                  kCapacity * 32 * sizeof(unsigned));
    return reinterpret_cast<RowRuns*>(memory_ + kResults);
  }

  /// Of row r, if a site was found. @param sites  the column's word
  __device__ std::uint32_t settled_square(int r, std::uint32_t sites) const {
    const auto beyond = static_cast<unsigned>(plane_.beyond);
    return sites >> r & 1 ? (kSpaced ? plane_.along(beyond) : beyond) : best_[r];
  }
  /// Of row r, or kNoSquare.
  __device__ std::uint32_t square_of(int r, std::uint32_t sites) const {
    std::uint32_t square = settled_square(r, sites);
    if (square == kUnsolved) square = kNoSquare;
    if constexpr (kLabels) {
      const unsigned steps = steps_in_row(r).least();
      if (steps < static_cast<unsigned>(plane_.width)) square = min(square, plane_.across(steps));
    }
    return square;
  }

  /// Through shared memory, as sites. A few rows at a time, so that they wait together.
  __device__ void write_measured(bool has_candidates) const {
    constexpr int kTogether = 4;
    double* stage = reinterpret_cast<double*>(memory_) + warp_ * (kBand / 2) * 32 + lane_id();
    const int x = column(), y0 = plane_.first_row(band_), rows = min(kBand, plane_.height - y0);
    const std::uint32_t sites = has_candidates ? plane_.bits[start_ + x] : 0;
    float* to = is_general(kWriting) ? nullptr : plane_.row(band_, y0) + x;
#pragma unroll
    for (int r0 = 0; r0 < kBand; r0 += kBand / 2) {
#pragma unroll
      for (int r = 0; r < kBand / 2; ++r) stage[32 * r] = sites >> (r0 + r) & 1 ? 0 : best_[r0 + r];
      const int end = min(r0 + kBand / 2, rows);
#pragma unroll 1
      for (int r = r0; r < end; r += kTogether) {
        double squares[kTogether];
#pragma unroll
        for (int j = 0; j < kTogether; ++j) squares[j] = stage[32 * (r - r0 + j)];
        Measured<kWriting> nearest[kTogether];
        if constexpr (!is_general(kWriting)) roots_of(squares, nearest);
#pragma unroll
        for (int j = 0; j < kTogether; ++j, to += plane_.out.distance.y_stride) {
          if (r + j >= end) break;
          if (is_general(kWriting) || squares[j] == 0 || squares[j] == kNothing)
            nearest[j] = static_cast<Measured<kWriting>>(squares[j]);
          if constexpr (is_general(kWriting))
            emit_in_image(emitter_, plane_.item_of(band_), y0 + r + j, x, exact_value<V>(nearest[j]), -1, false);
          else if (kWriting != Writing::one_side || squares[j] > 0) *to = in_units(nearest[j]);
        }
      }
    }
  }
  /// Through shared memory, as sites.
  __device__ void write_values() const {
    constexpr int kTogether = 8;
    unsigned* stage = memory_ + warp_ * kBand * 32 + lane_id();
    const int x = column(), y0 = plane_.first_row(band_);
    const std::uint32_t sites = plane_.bits[start_ + x];
#pragma unroll
    for (int r = 0; r < kBand; ++r) stage[32 * r] = square_of(r, sites);
#pragma unroll 1
    for (int r = 0; r < kBand; r += kTogether) {
      LaneResults<kTogether, 1> results{
          .item = plane_.item_of(band_), .z = 0, .y = y0 + r, .x = x, .rows = plane_.height - y0 - r};
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        results.squares[j][0] = stage[32 * (r + j)];
        if (kLabels && !plane_.runs.pins) results.inside |= (~runs_of(r + j).background >> lane_id() & 1) << j;
      }
      write_results(emitter_, results);
    }
  }

  __device__ void write_floats(bool has_candidates) {
    const int x = column(), y0 = plane_.first_row(band_), rows = min(kBand, plane_.height - y0);
    const std::uint32_t sites = has_candidates ? plane_.bits[start_ + x] : 0;
    float* to = plane_.row(band_, y0) + x;
    if (rows < kBand || kLabels || kWriting == Writing::one_side) write_rows(to, sites, rows);
    else write_column(to, sites);
  }

  /// A whole column. No element needs a branch where all roots are of one kind.
  __device__ void write_column(float* to, std::uint32_t sites) {
    if (sites) {
#pragma unroll
      for (int r = 0; r < kBand; ++r) best_[r] = settled_square(r, sites);
    }
    if (largest() >= 1u << 24) return write_rows(to, 0, kBand);
#pragma unroll
    for (int r = 0; r < kBand; ++r, to += plane_.out.distance.y_stride)
      __stcs(to, in_units(small_root(static_cast<float>(best_[r]))));
  }
  __device__ void write_rows(float* to, std::uint32_t sites, int rows) const {
#pragma unroll
    for (int r = 0; r < kBand; ++r, to += plane_.out.distance.y_stride) {
      if (r >= rows) break;
      const std::uint32_t square = square_of(r, sites);
      if (kWriting != Writing::one_side || square > 0) *to = distance_of(square);  // sites belong to the other side
    }
  }
  __device__ float distance_of(std::uint32_t square) const {
    const Side& side = plane_.out.side;
    if (square == kNoSquare) return side.none();
    return kWriting == Writing::one_side ? side.far(square) : in_units(root_of(square));
  }

  __device__ unsigned largest() const {
    unsigned most = best_[0];
#pragma unroll
    for (int r = 1; r + 1 < kBand; r += 2) most = max(most, max(best_[r], best_[r + 1]));
    return max(most, best_[kBand - 1]);
  }
};

}  // namespace fathom::grid::cuda::plane
