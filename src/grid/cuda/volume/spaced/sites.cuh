// The passes of volumes with nearest sites and unequal spacings; with equal ones, too, along axes beyond 1024 and of
// labels (volume/spaced/label_sites.cuh).
//
// Of several nearest sites the first counts: along y, then along z the lowest row wins, and along x the left one, so
// that the slowest axis decides last. Between the passes a site takes 16 bits (see PlaneLeads): the steps to it where
// it is near; else its row, from whose word the pass along z finds out how far along x it lies.
//
// Work mapping: as in volume/spaced/spaced.cuh; behind the squares that the windows compare are the steps along the
// line. Cost: one operation per element and step of a window, or row of a group, and some fifty at last where squares
// leave no bits for the row; 4 bytes are moved per element between the passes. What a search must know of the site of
// its winner, the words of the line or its leads, waits in shared memory.
#pragma once

#include "grid/cuda/volume/nearest/sites.cuh"
#include "grid/cuda/volume/spaced/label_sites.cuh"

namespace fathom::grid::cuda {

/// What is nearer than this, a window reaches.
__device__ inline unsigned near_square(unsigned weight) {
  return weight * (WindowWinners::kMostSteps * WindowWinners::kMostSteps);
}

/// All rows of a tile, as solve_spaced() has them.
///
/// @param ends_of  the EightEnds of a group: ends_of(group, steps to look)
/// @param store    takes eight results of the lane's column: store(first row, winner of the first, the second and
///                 so on, how many)
template <Winners kWinners, int kThreads, class EndsOf, class Store>
__device__ void find_winners(const WindowRows<WindowSquares>& rows, unsigned* least, int n, unsigned weight,
                             bool is_near, EndsOf&& ends_of, Store&& store) {
  const int lane = static_cast<int>(threadIdx.x) % 16, last = rows.groups - 1;
  const auto by_window = [&](int q) {
    Window<WindowWinners> window(rows, min(q, last), lane, weight);
    leave_out_behind(window.best, n - q * 8);
    if (__any_sync(kAllLanes, WindowWinners::largest(window.best) > 0))
      ends_of(min(q, last), WindowWinners::kMostSteps).offer(window.best);
    if (!window.search()) return false;
    const auto winner_of = [&](int j) {
      return Winner{WindowWinners::square(window.best[j]), q * 8 + j + WindowWinners::steps(window.best[j])};
    };
    store(q * 8, winner_of, n - q * 8);
    return true;
  };
  const auto by_search = [&](int q, auto&& look) {
    SpacedSearch<kWinners> search(rows, least, min(q, last), lane, weight);
    leave_out_behind(search.best, n - q * 8);
    ends_of(min(q, last), n).bound(search.best);
    look(search);
    const auto ends = ends_of(min(q, last), n);
    const auto winner_of = [&](int j) {
      return ends.nearer(j, {search.best[j], search.best[j] < search.kNone ? search.winner(j) : -1});
    };
    store(q * 8, winner_of, n - q * 8);
  };
  solve_groups<kThreads>(rows, least, is_near, by_window, by_search);
}

/// What the pass along y says of the nearest site in the same plane, in 16 bits.
struct PlaneLeads {
  /// (Rows to the site + 32) · 2⁹ + (columns to it + 256); or kFar + whether it lies to the right · 2¹¹, or in the same
  /// column · 2¹² + its row; or kNone.
  static constexpr unsigned kFar = 0x8000u, kRight = 1u << 11, kStraight = 1u << 12, kNone = 0xFFFFu;
  static constexpr unsigned kHere = 32u << 9 | 256;
  static_assert(kLongestAxis <= kRight);

  static __device__ unsigned of(int rows, int columns, int row) {
    const bool is_near = abs(rows) < 32 && abs(columns) < 256;
    const unsigned side = columns > 0 ? kRight : columns == 0 ? kStraight : 0;
    return is_near ? static_cast<unsigned>((rows + 32) << 9 | (columns + 256))
                   : kFar | side | static_cast<unsigned>(row);
  }
  static __device__ bool is_far(unsigned lead) { return lead >= kFar; }
  static __device__ int row(unsigned far_lead) { return static_cast<int>(far_lead % kRight); }
  static __device__ bool is_right(unsigned far_lead) { return far_lead & kRight; }
  static __device__ bool is_straight(unsigned far_lead) { return far_lead & kStraight; }
  static __device__ int rows(unsigned near_lead) { return static_cast<int>(near_lead >> 9) - 32; }
  static __device__ int columns(unsigned near_lead) { return static_cast<int>(near_lead & 511) - 256; }
};

/// Bytes of dynamic shared memory: those of a search, and the leads of a tile along z, [row][16]. The words of a line
/// along y, and what is pinned in its rows, take less.
inline __host__ __device__ std::size_t spaced_site_memory(int rows) {
  return spaced_memory(rows) + static_cast<std::size_t>(rows) * 16 * sizeof(std::uint16_t);
}

/// Steps from a bit of a row's word to the row's nearest site, the left one of two.
template <bool kLabels>
__device__ int steps_in_row(uint2 word, int bit) {
  return kLabels ? steps_beyond_run(word, bit) : steps_along_x(word, bit);
}

/// Square of the way of some steps along an axis.
__device__ inline unsigned square_along(unsigned weight, int steps) {
  return weight * static_cast<unsigned>(steps * steps);
}

/// Whether a row's word tells of no site, nor of an end of a run.
__device__ inline bool tells_nothing(uint2 word) {
  return word.x == 0 && min(word.y & 0xFFFFu, word.y >> 16) >= kNoneInWord;
}

/// Eight leads that are the same.
__device__ inline uint4 same_leads(unsigned lead) {
  const unsigned two = lead * 0x10001u;
  return make_uint4(two, two, two, two);
}
__device__ inline bool are_same_leads(uint4 leads, unsigned lead) {
  const unsigned two = lead * 0x10001u;
  return leads.x == two && leads.y == two && leads.z == two && leads.w == two;
}

/// Leaves the same lead in all rows of half a tile along y. By all threads.
template <int kThreads>
__device__ void leave_lead(const Volume& v, const HalfTile& half, unsigned lead) {
  const int t = static_cast<int>(threadIdx.x);
  auto* to = reinterpret_cast<uint4*>(lead_half(v, half, half.tile.line, 0)) + t % 2;
  for (int r = t / 2; r < v.ny; r += kThreads / 2) to[r * 2] = same_leads(lead);
}

/// Where in its plane the site nearest to each element lies. Tiles without a site, and those of label 0 alone, are seen
/// at once.
template <Winners kWinners, int kThreads, bool kLabels>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    find_spaced_along_y(const __grid_constant__ Volume v) {
  extern __shared__ uint4 window_shared[];
  __shared__ uint2 of_byte[256];
  __shared__ int near_rows;
  __shared__ int has_ends;
  __shared__ RunWords<kLabels> run_words;
  const int t = static_cast<int>(threadIdx.x), n = v.ny;
  const HalfTile half = half_along_y(v, blockIdx.x);
  if (half.is_outside(v)) return;
  auto* memory = reinterpret_cast<unsigned*>(window_shared);
  auto* line = reinterpret_cast<uint2*>(memory + spaced_memory(n) / sizeof(unsigned));
  WindowRows<WindowSquares> rows(memory, n);
  if (t == 0) near_rows = has_ends = 0;
  for (int i = t; i < 256; i += kThreads) of_byte[i] = byte_distances(i, kLabels);
  const Volume::Tile first_line{half.tile.item, half.tile.word, 0};
  const uint2* words = v.word_line(first_line) + half.tile.line;
  auto* pinned = reinterpret_cast<std::uint16_t*>(line + n);  // elements that have distance 0 besides, of each row
  bool is_bare = true, is_pinned = kLabels;                   // of the thread's rows
  const int columns = v.nx - half.tile.word * 32 - half.first;
  const unsigned inside = columns < 16 ? (1u << columns) - 1 : 0xFFFFu;
#pragma unroll 4
  for (int r = t; r < n; r += kThreads) {
    line[r] = __ldg(words + r * v.depth);
    is_bare &= tells_nothing(line[r]);
    if constexpr (kLabels) {
      const unsigned of_word = v.runs_along_z(half.tile, v.changes_along_z(first_line) + r * v.depth, half.tile.line).y;
      const unsigned own = of_word >> half.first & 0xFFFFu;
      pinned[r] = static_cast<std::uint16_t>(own);
      is_bare &= (own & inside) == 0;
      is_pinned &= own == 0xFFFFu;
    }
  }
  rows.pad(n);
  const RunEnds runs(run_words, n);
  bool any = false;
  if constexpr (kLabels)
    any = runs.fill_half(half.first, [&](int r) { return __ldg(v.changes_along_y(half.tile) + r); });
  if (__syncthreads_and(is_bare && !any)) return leave_lead<kThreads>(v, half, PlaneLeads::kNone);
  if (kLabels && __syncthreads_and(is_pinned)) return leave_lead<kThreads>(v, half, PlaneLeads::kHere);
  if (any) atomicOr(&has_ends, 1);
  const auto distances_of = [&](int r, int first) {
    return EightDistances(kLabels ? ends_of_runs(line[r]) : line[r], first, of_byte, kLabels);
  };
  const auto pinned_of = [&](int r) { return kLabels ? unsigned{pinned[r]} << half.first : 0u; };
  const auto near_of = [&](unsigned least) { return int{least < near_square(v.weight_y)}; };
  const int near = load_squares<kThreads>(rows, distances_of, n, half.first, v.weight_x, near_of, pinned_of);
  add_over_block(near, &near_rows);
  __syncthreads();
  std::uint16_t* leads = lead_half(v, half, half.tile.line, 0) + t % 16;
  const auto store = [&](int y, const auto& winner_of, int count) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j >= count) break;
      const Winner winner = winner_of(j);
      const int row = winner.row, steps = row - (y + j);
      unsigned lead = PlaneLeads::kNone;
      if (row >= 0) {
        // An end of a run along y is none of the run along x beside it.
        const bool is_straight = kLabels && winner.square == square_along(v.weight_y, steps);
        const int columns = is_straight ? 0 : steps_in_row<kLabels>(line[row], half.first + t % 16);
        lead = PlaneLeads::of(steps, columns, row);
      }
      leads[(y + j) * kLeadsOfRow] = static_cast<std::uint16_t>(lead);
    }
  };
  const auto ends_of = [&](int group, int most) {
    return EightEnds<kLabels>(runs, group, half.first + t % 16, has_ends ? most : 0, v.weight_y);
  };
  // A window must settle all of a warp's elements: a fifth of the halves of rows are near where most windows do.
  find_winners<kWinners, kThreads>(rows, memory + window_memory(n) / sizeof(unsigned), n, v.weight_y,
                                   near_rows * 5 >= n * 2, ends_of, store);
}

/// A tile along z: from leads to sites.
template <bool kLabels>
class SitesOfPlanes {
 public:
  __device__ SitesOfPlanes(const Volume& v, const HalfTile& half)
      : v_(v), half_(half), words_(v.word_line({half.tile.item, half.tile.word, 0})) {}

  /// Squares to the sites of eight neighbours in plane z, from the tile's column `first` on.
  __device__ void squares(const EightLeads& eight, int z, int first, unsigned* square) const {
    const unsigned* lead = eight.lead;
    unsigned far = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      far |= lead[k];
      square[k] = square_of(PlaneLeads::columns(lead[k]), PlaneLeads::rows(lead[k]));
    }
    if (!PlaneLeads::is_far(far)) return;
    uint2 word[8];  // all are read before any is looked at, so that the waits are one
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const bool is_there = PlaneLeads::is_far(lead[k]) && !PlaneLeads::is_straight(lead[k]);
      word[k] = is_there ? __ldg(words_ + PlaneLeads::row(lead[k]) * v_.depth + z) : make_uint2(0, 0);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (!PlaneLeads::is_far(lead[k])) continue;
      const int in_row = steps_in_row<kLabels>(word[k], half_.first + first + k);
      const int columns = PlaneLeads::is_straight(lead[k]) ? 0 : in_row;
      square[k] =
          lead[k] == PlaneLeads::kNone ? kNoneSpaced : square_of(columns, PlaneLeads::row(lead[k]) - half_.tile.line);
    }
  }

  struct Steps {
    int x, y;
  };
  /// @param square  of the way to the site, of which so many steps are along z
  __device__ Steps steps(unsigned lead, unsigned square, int along_z) const {
    const unsigned in_plane = square - square_along(v_.weight_z, along_z);
    if (kLabels && in_plane == 0) return {0, 0};  // also an end of a run along z, which has a lead of its own
    if (!PlaneLeads::is_far(lead)) return {PlaneLeads::columns(lead), PlaneLeads::rows(lead)};
    const int y = PlaneLeads::row(lead) - half_.tile.line;
    const unsigned rest = in_plane - square_along(v_.weight_y, y);
    // At most 2²²: a quotient is less off than would change a root.
    const float x_square = __fdividef(static_cast<float>(rest), static_cast<float>(v_.weight_x));
    const int x = root_of_square(__float2uint_rn(x_square));
    return {PlaneLeads::is_right(lead) ? x : -x, y};
  }

 private:
  __device__ unsigned square_of(int x, int y) const {
    return square_along(v_.weight_x, x) + square_along(v_.weight_y, y);
  }

  const Volume& v_;
  const HalfTile& half_;
  const uint2* words_;
};

/// What a lane has found in up to eight planes.
struct PlaneSites {
  std::int64_t item;
  std::int32_t z, y, x;
  std::int32_t count = 0;
  std::uint32_t square[8];  ///< UINT32_MAX: there is no site
  std::int64_t site[8];
  unsigned inside = 0;  ///< bits, of signed labels
};
/// Writes what are no plain results, as far as they lie in the region. Not inlined: it is large.
static __device__ __noinline__ void emit_sites(const Emitter<std::int64_t>& emitter, const PlaneSites& found) {
#pragma unroll 1
  for (int j = 0; j < found.count; ++j) {
    const std::int64_t at[kMaxSpaceRank] = {found.z + j, found.y, found.x};
    const std::uint32_t square = found.square[j];
    const std::int64_t value = square == UINT32_MAX ? no_value<std::int64_t>() : std::int64_t{square};
    if (emitter.in_region(at)) emitter.emit(found.item, at, value, found.site[j], found.inside >> j & 1);
  }
}

/// Results of a tile along z, in this thread's column.
template <bool kLabels>
class PlaneSiteWriter {
 public:
  __device__ PlaneSiteWriter(const Volume& v, const Emitter<std::int64_t>& emitter, const HalfTile& half)
      : v_(v),
        emitter_(emitter),
        half_(half),
        nx_(static_cast<std::int32_t>(emitter.input.extent[2])),
        row_(emitter.sites.row(v.first_item + half.tile.item, 0, half.tile.line)) {}

  /// Linear index of a site in plane z.
  __device__ std::int64_t site(int z, typename SitesOfPlanes<kLabels>::Steps steps) const {
    return std::int64_t{z * v_.ny + half_.tile.line + steps.y} * nx_ + (v_.first_x + half_.x + steps.x);
  }
  /// Up to eight planes. @param winner_of  of the first, the second and so on
  template <class WinnerOf, class SiteOf>
  __device__ void write(int z, int count, const WinnerOf& winner_of, SiteOf&& site_of) const {
    if (!emitter_.sites.serves) return write_others(z, count, winner_of, site_of);
    SiteResults::Row row = emitter_.sites.behind(row_, z);
#pragma unroll
    for (int j = 0; j < 8; ++j, row = emitter_.sites.behind(row, 1)) {
      if (j >= count) break;
      const Winner winner = winner_of(j);
      const bool none = winner.row < 0;
      emitter_.sites.write(row, half_.x, none ? v_.side.none() : root_of(winner.square) * v_.side.scale,
                           none ? -1 : site_of(z + j, winner));
    }
  }

 private:
  template <class WinnerOf, class SiteOf>
  __device__ void write_others(int z, int count, const WinnerOf& winner_of, SiteOf&& site_of) const {
    PlaneSites found{.item = half_.tile.item, .z = z, .y = half_.tile.line, .x = v_.first_x + half_.x};
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if (j >= count) break;
      const Winner winner = winner_of(j);
      const bool none = winner.row < 0;
      found.square[j] = none ? UINT32_MAX : winner.square;
      found.site[j] = none ? -1 : site_of(z + j, winner);
      if (kLabels && !v_.pins) found.inside |= unsigned{is_inside(z + j)} << j;
      found.count = j + 1;
    }
    emit_sites(emitter_, found);
  }
  /// Of signed labels. Masks have no sign here.
  __device__ bool is_inside(int z) const {
    return !(__ldg(&v_.changes_along_z(half_.tile)[z].y) >> (half_.x % 32) & 1);
  }

  const Volume& v_;
  const Emitter<std::int64_t>& emitter_;
  const HalfTile& half_;
  const std::int32_t nx_;
  const SiteResults::Row row_;  ///< of z = 0
};

/// Results of a tile without a site, or of one whose elements are sites themselves. By all threads.
template <int kThreads, bool kLabels>
__device__ void write_alike(const Volume& v, const PlaneSiteWriter<kLabels>& writer, bool is_none) {
  for (int z = static_cast<int>(threadIdx.x) / 16 * 8; z < v.nz; z += kThreads / 2) {
    const auto winner_of = [&](int j) { return is_none ? Winner{kNoneSpaced, -1} : Winner{0, z + j}; };
    writer.write(z, v.nz - z, winner_of, [&](int own, const Winner&) { return writer.site(own, {0, 0}); });
  }
}

/// The nearest sites of all. Tiles in whose planes are none, and those whose elements are sites themselves, are written
/// at once.
template <Winners kWinners, int kThreads, bool kLabels>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResidentThreadsAt64 / kThreads))
    find_spaced_along_z(const __grid_constant__ Volume v, const __grid_constant__ Emitter<std::int64_t> emitter) {
  extern __shared__ uint4 window_shared[];
  __shared__ int near_rows;
  __shared__ int has_ends;
  __shared__ RunWords<kLabels> run_words;
  const int t = static_cast<int>(threadIdx.x), n = v.nz, first = t % 2 * 8;
  const HalfTile half = half_along_z(v, blockIdx.x);
  if (half.is_outside(v)) return;
  auto* memory = reinterpret_cast<unsigned*>(window_shared);
  auto* leads = reinterpret_cast<std::uint16_t*>(memory + spaced_memory(n) / sizeof(unsigned));
  WindowRows<WindowSquares> rows(memory, n);
  if (t == 0) near_rows = has_ends = 0;
  rows.pad(n);
  const RunEnds runs(run_words, n);
  bool any = false;
  if constexpr (kLabels)
    any = runs.fill_half(half.first, [&](int r) { return __ldg(&v.changes_along_z(half.tile)[r].x); });
  const auto* from = reinterpret_cast<const uint4*>(lead_half(v, half, 0, half.tile.line) + first);
  auto* eights = reinterpret_cast<uint4*>(leads) + t % 2;  // two of a row
  const std::int64_t step = v.pairs_of_plane / 4;
  bool is_none = !any, is_here = true;  // of the thread's rows
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    const uint4 eight = __ldcs(from + r * step);
    is_none &= are_same_leads(eight, PlaneLeads::kNone);
    is_here &= are_same_leads(eight, PlaneLeads::kHere);
    eights[r * 2] = eight;
  }
  is_none = __syncthreads_and(is_none);
  const PlaneSiteWriter<kLabels> writer(v, emitter, half);
  if (is_none || __syncthreads_and(is_here)) {
    if (half.x < v.nx) write_alike<kThreads>(v, writer, is_none);
    return;
  }
  if (any) atomicOr(&has_ends, 1);
  const SitesOfPlanes<kLabels> sites(v, half);
  const int inside = v.nx - half.tile.word * 32 - half.first - first;
  int near = 0;
#pragma unroll 4
  for (int r = t / 2; r < n; r += kThreads / 2) {
    unsigned square[8], least = kNoneSpaced;
    sites.squares(EightLeads(eights[r * 2]), r, first, square);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      least = min(least, square[k]);
      if (k >= inside) square[k] = 0;  // columns beyond the last one keep no search busy
    }
    near += least < near_square(v.weight_z);
    rows.put(r, first / 4, make_uint4(square[0], square[1], square[2], square[3]));
    rows.put(r, first / 4 + 1, make_uint4(square[4], square[5], square[6], square[7]));
  }
  add_over_block(near, &near_rows);
  __syncthreads();
  const auto site_of = [&](int z, const Winner& winner) {
    return writer.site(winner.row, sites.steps(leads[winner.row * 16 + t % 16], winner.square, winner.row - z));
  };
  const auto store = [&](int z, const auto& winner_of, int count) {
    if (half.x < v.nx) writer.write(z, count, winner_of, site_of);
  };
  const auto ends_of = [&](int group, int most) {
    return EightEnds<kLabels>(runs, group, half.first + t % 16, has_ends ? most : 0, v.weight_z);
  };
  // Half of the halves of rows: planes are near where windows are worth it.
  find_winners<kWinners, kThreads>(rows, memory + window_memory(n) / sizeof(unsigned), n, v.weight_z, near_rows >= n,
                                   ends_of, store);
}

}  // namespace fathom::grid::cuda
