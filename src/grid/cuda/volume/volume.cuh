// What the kernels of the engine for volumes share.
//
// A tile is 32 neighbours along x by one whole line along z or, later, y. Distances along x follow from a word of 32
// bits and two carries; what the pass along z leaves is kept as squares in 16 bits, which is enough wherever sites are
// near. Where it does not fit these, they are clamped, and 32 bits are kept where the result will be, or beside it if
// results are smaller. Both sides of a signed field may keep squares there, one after the other: an element is a site to
// one side, where its square is 0, and has the result of the other.
//
// In a transposed volume (volume/transposed/engine.cu) y and x have changed places: words hold neighbours along the
// array's middle axis, `nx` is its extent, or that of a range of it, and what is called the pass along y goes along the
// array's rows.
#pragma once

#include <cstdint>

#include "grid/cuda/input/layout.cuh"
#include "grid/cuda/output/results.cuh"
#include "grid/cuda/output/roots.cuh"
#include "grid/cuda/output/writing.cuh"
#include "grid/cuda/tuning.h"
#include "grid/cuda/warp.cuh"

namespace fathom::grid::cuda::volume {

inline constexpr int kLongestAxis = 2048;
inline constexpr int kLongestKeyed = 1024;    ///< keys of the envelope hold a value and an index of 10 bits
inline constexpr unsigned kNone16 = 0x8000u;  ///< no site, in 16 bits; steps up to 181, squared, do not make it wrap
inline constexpr unsigned kNone16x2 = kNone16 * 0x10001u;
inline constexpr unsigned kCap16 = 181;  ///< distances along x are capped: 181² < kNone16
inline constexpr unsigned kNone32 = 0x3FFFFFFFu;
inline constexpr unsigned kNoneInWord = 0x7000u;  ///< carries and distances along x from here on: no site

/// With any spacings, where steps take 32 bits, narrow lines are all that have some.
enum TileKind : std::uint8_t {
  kNarrow,
  kWide,
  kEmpty,  ///< has no site
  kFull,   ///< has sites alone: squares are 0
};

/// Whether a tile's squares, or leads, are kept in rows of 16 bits.
__device__ inline bool keeps_rows(TileKind kind) { return kind < kEmpty; }

/// What is told of eight rows of half a wide tile.
enum Beyond : std::uint8_t {
  kBeyond16 = 1,  ///< they do not fit 16 bits
  kFarRows = 2,   ///< none of their distances is below 64
};

inline constexpr int kPairsOfWord = 16;  ///< of neighbours along x
inline constexpr int kLeadsOfRow = 16;   ///< of half a word, with nearest sites

/// Words of a line along z: whole sectors of memory.
inline __host__ __device__ int padded_depth(int nz) { return (nz + 3) / 4 * 4; }

struct StepTables;  // volume/any/steps.cuh

struct Volume : FloatResults {
  std::int32_t nz = 1, ny = 1, nx = 1;
  std::int32_t first_x = 0;  ///< of the input, where a part of its words is worked on as if it were all
  std::int32_t words = 1;    ///< of a row
  std::int32_t depth = 0;    ///< padded_depth(nz)
  std::int64_t items = 1;
  std::int64_t first_item = 0;

  // What packing leaves.
  uint2* word = nullptr;  ///< [items][words][ny][depth]: bits; steps from element 0 to the left, from 31 to the right
  uint2* other_word = nullptr;  ///< the same of a signed field's other side, where both are solved at once
  // Labels (volume/labels.cuh). The bits of `word` are ends of runs then: sites lie one element beyond, as carries say.
  uint2* along_z = nullptr;          ///< as `word`: bits of changes along z, and of label 0
  std::uint32_t* along_y = nullptr;  ///< [items][words][depth][ny]: changes along y
  bool pins = false;                 ///< label 0 has distance 0; else it is one among others, for a sign
  bool keeps_changes = false;        ///< the bits are changes along x instead (volume/any/along_z.cuh)
  std::byte* last_plane = nullptr;   ///< of the part of a volume that was packed last
  std::size_t bytes_of_side = 0;     ///< all of these, without `other_word`

  // What lies between the passes.
  /// Of two neighbours along x in a word, after the pass along z: squares, or with sites their Leads.
  std::uint32_t* narrow = nullptr;  ///< [items][nz][words][ny][16], of the last word [ny][last_pairs]; see lead_row()
  std::int64_t pairs_of_plane = 0;  ///< with what fills up sectors of memory
  std::int32_t last_pairs = 0;
  /// TileKind, [items][words][ny]; of halves, [items][words][2][ny], with nearest sites (kinds_of_half()), and with any
  /// spacings, after the pass along y, [items][words][2][nz].
  std::uint8_t* kind = nullptr;
  /// Beyond, [items][words][2][nz / 8][ny], of wide tiles: of these 8 rows of half the columns.
  std::uint8_t* beyond = nullptr;
  std::uint32_t* z_list = nullptr;  ///< tiles left to the envelope along z
  std::uint32_t* y_list = nullptr;
  /// Of both lists. A pass finds that of its list cleared: by packing, or by a kernel of the other pass.
  std::uint32_t* counters = nullptr;
  /// After the pass along z, squares, of wide tiles; with any spacings after that along y, Steps.
  Placed<std::uint32_t> wide;
  std::int32_t wide_x_stride = 1;     ///< between neighbours in its rows: 2 where they lie in results of 64 bits
  std::int64_t wide_first_item = 0;   ///< as first_item
  bool wide_has_results = false;      ///< of the other side of a signed field, where elements are sites to this one
  StepTables* step_tables = nullptr;  ///< with any spacings

  std::int64_t words_of_items() const { return items * words * ny * depth; }

  struct Tile {
    std::int64_t item;
    std::int32_t word, line;
  };
  /// By all threads of a kernel that neither reads that counter nor adds to it.
  __device__ void clear_counter(int list) const {
    if (blockIdx.x == 0 && threadIdx.x == 0) counters[list] = 0;
  }
  /// A number as [item][slow][fast].
  struct Parts {
    std::int64_t item;
    std::int32_t slow, fast;
  };
  __device__ Parts parts_of(std::uint32_t number, int slow, int fast) const {
    const auto of_slow = static_cast<unsigned>(slow), of_fast = static_cast<unsigned>(fast), rest = number / of_fast;
    if (items == 1) return {0, static_cast<std::int32_t>(rest), static_cast<std::int32_t>(number % of_fast)};
    return {rest / of_slow, static_cast<std::int32_t>(rest % of_slow), static_cast<std::int32_t>(number % of_fast)};
  }
  /// Tiles that leave results are numbered along rows of the output, so that neighbours are written at the same time.
  __device__ Tile tile(std::uint32_t number, std::int32_t lines) const {
    const Parts at = parts_of(number, lines, words);
    return {at.item, at.fast, at.slow};
  }
  /// Tiles of the pass along z that leave `narrow` are numbered as `kind` is.
  __device__ Tile narrow_tile(std::uint32_t number) const {
    const Parts at = parts_of(number, words, ny);
    return {at.item, at.slow, at.fast};
  }
  __device__ const uint2* word_line(const Tile& t) const { return word + z_line(t); }
  __device__ const uint2* other_line(const Tile& t) const { return other_word + z_line(t); }
  __device__ const uint2* changes_along_z(const Tile& t) const { return along_z + z_line(t); }
  /// Of row z: changes, and the elements that need no search. @param changes  changes_along_z(t)
  __device__ uint2 runs_along_z(const Tile& t, const uint2* changes, int z) const {
    uint2 word = __ldg(changes + z);
    const int columns = nx - t.word * 32;
    if (!pins) word.y = columns < 32 ? 0xFFFFFFFFu << columns : 0;  // those beyond the last column
    return word;
  }
  __device__ const std::uint32_t* changes_along_y(const Tile& t) const {
    return along_y + ((t.item * words + t.word) * depth + t.line) * ny;
  }
  /// Where `wide` keeps an element.
  __device__ std::uint32_t* wide_at(std::int64_t item, std::int32_t z, std::int32_t y, std::int32_t x) const {
    return wide.row(wide_first_item + item, z, y) + x * wide_x_stride;
  }
  /// Pairs of neighbours in a word's rows of `narrow`.
  __device__ std::int32_t pairs_of(std::int32_t w) const { return w + 1 < words ? kPairsOfWord : last_pairs; }
  /// Row (z, y) of `narrow`.
  __device__ std::uint32_t* narrow_row(std::int64_t item, std::int32_t w, std::int32_t z, std::int32_t y) const {
    return narrow + (item * nz + z) * pairs_of_plane + (w * kPairsOfWord * ny + y * pairs_of(w));
  }
  /// The same with nearest sites, where a plane's leads lie half a word by half a word: [ny][kLeadsOfRow].
  __device__ std::uint16_t* lead_row(std::int64_t item, std::int32_t half, std::int32_t z, std::int32_t y) const {
    const std::int64_t plane = (item * nz + z) * pairs_of_plane * 2;
    return reinterpret_cast<std::uint16_t*>(narrow) + plane + (half * ny + y) * kLeadsOfRow;
  }
  __device__ const std::uint8_t* kinds(const Tile& t) const { return kind + (t.item * words + t.word) * ny; }
  /// Of plane z. @param half  0 or 1, of the columns
  __device__ std::uint8_t* beyond_row(const Tile& t, int half, std::int32_t z) const {
    return beyond + (((t.item * words + t.word) * 2 + half) * ((nz + 7) / 8) + z / 8) * ny;
  }

 private:
  __device__ std::int64_t z_line(const Tile& t) const { return ((t.item * words + t.word) * ny + t.line) * depth; }
};

/// This thread's number in its block.
__device__ inline int thread() { return static_cast<int>(threadIdx.x); }

/// Hides from the compiler how a value was computed, lest it computes sums and products anew from others like them.
__device__ inline unsigned kept(unsigned value) {
  asm("" : "+r"(value));
  return value;
}

/// The lowest bits of a word, as many as there are columns: none up to 0, from 32 on all.
__device__ inline unsigned first_bits(int columns) {
  return columns >= 32 ? 0xFFFFFFFFu : columns > 0 ? (1u << columns) - 1 : 0;
}

/// Whether there is a site in a word's row.
__device__ inline bool has_sites(uint2 word) { return word.x != 0 || word.y != kNoneInWord * 0x10001u; }

/// TileKind of half a tile's lines along z, [y]: with nearest sites, leads may be far in wide ones alone. With any spacings
/// of its lines along y, [z]: kNarrow where that pass has left steps. @param lines  as many as these axes have elements
__device__ inline std::uint8_t* kinds_of_half(const Volume& v, const Volume::Tile& t, int half, int lines) {
  return v.kind + ((t.item * v.words + t.word) * 2 + half) * lines;
}

/// A square from `wide`. @tparam kSide  of a signed field, whose first side's results, which are negative, stand for 0
template <bool kSide>
__device__ inline unsigned wide_square(std::uint32_t stored) {
  return kSide ? static_cast<unsigned>(max(static_cast<int>(stored), 0)) : stored;
}

/// What the pass along z left in a row of a tile along y, for half its columns: where it is wide, it does not fit 16 bits.
__device__ inline TileKind kind_of_row(const Volume& v, const Volume::Tile& t, int half, int row) {
  const auto kind = static_cast<TileKind>(v.kinds(t)[row]);
  return kind == kWide && !(v.beyond_row(t, half, t.line)[row] & kBeyond16) ? kNarrow : kind;
}

/// The kinds of 32 rows, in bits; of those that are not there, none.
struct KindBits {
  unsigned wide, narrow, full;

  /// By whole warps, lane = row, from one on.
  static __device__ KindBits of(const Volume& v, const Volume::Tile& t, int half, int first) {
    const TileKind kind = first + lane_id() < v.ny ? kind_of_row(v, t, half, first + lane_id()) : kEmpty;
    return {__ballot_sync(kAllLanes, kind == kWide), __ballot_sync(kAllLanes, kind == kNarrow),
            __ballot_sync(kAllLanes, kind == kFull)};
  }
};

/// A lane's column of a tile along y. Beyond the volume's edges it is what lies last again, so that no branch keeps
/// loads from being in flight together. @tparam kSide  of a signed field
template <bool kSide>
struct ColumnOfRows {
  const std::uint16_t* narrow;
  const std::uint32_t* wide;
  int narrow_step;
  std::int64_t wide_step;

  __device__ ColumnOfRows(const Volume& v, const Volume::Tile& t, int column)
      : narrow_step(2 * v.pairs_of(t.word)), wide_step(v.wide.y_stride) {
    const auto* first = reinterpret_cast<const std::uint16_t*>(v.narrow_row(t.item, t.word, t.line, 0));
    narrow = first + min(column, narrow_step - 1);
    wide = v.wide_at(t.item, t.line, 0, min(t.word * 32 + column, v.nx - 1));
  }

  /// Of a row that has sites.
  __device__ unsigned square(TileKind kind, int row) const {
    return kind == kFull ? 0 : kind == kWide ? wide_square<kSide>(wide[row * wide_step]) : narrow[row * narrow_step];
  }
};

}  // namespace fathom::grid::cuda::volume
