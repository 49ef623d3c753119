// What the kernels of the engine for planes share.
//
// An image is cut into bands of 32 rows. Of each column of a band, its word, 32 bits, says which rows are sites, and
// two carries say how far the nearest site above and below lies. From these the vertical distance of any row follows,
// so that no distance and no coordinate is ever stored. A batch is a taller stack of bands: only the carries must not
// pass from one image to the next.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/cuda/early_launch.cuh"
#include "grid/cuda/input/layout.cuh"
#include "grid/cuda/output/results.cuh"
#include "grid/cuda/output/writing.cuh"
#include "grid/cuda/tuning.h"
#include "grid/cuda/warp.cuh"

namespace fathom::grid::cuda::plane {

inline constexpr int kBand = 32;   ///< rows of a band
inline constexpr int kTile = 256;  ///< columns of a far tile, and of a chunk that is pruned by itself
inline constexpr int kHalf = 256, kReach = 32;
inline constexpr int kNearWords = kHalf + 2 * kReach;  ///< words of a row of a near tile, and threads
inline constexpr unsigned kFar = 65535;                ///< carries: no site on that side
inline constexpr int kNoRow = 60000;                   ///< vertical distances from here on mean: no site

/// Equal spacings; multiples of a unit, the unit itself from column to column, or not; any others.
enum class Spacing { equal, unit_along_columns, unit, any };

/// Words of rows, where labels are compared (plane/labels.cuh). The words of columns mark ends of runs then.
struct PlaneRuns {
  std::int32_t row_words = 0;           ///< words of a row, an even number: two are read at once
  std::uint32_t* changes = nullptr;     ///< [all_bands][kBand][row_words]: along rows
  std::uint32_t* background = nullptr;  ///< the same: label 0
  std::uint32_t* upper = nullptr;       ///< as `bits`, for nearest sites: whether a row differs from the one above
  bool pins = false;                    ///< label 0 has distance 0; else it is one among others, for a sign
};

struct PlaneSpacing {
  // Multiples of a unit. Squared distances are in units.
  std::uint32_t row_weight = 1, column_weight = 1;  ///< squares of the multiples along columns and rows
  float row_ratio = 1;                              ///< row_weight / column_weight
  // Spacings that are none (see plane/exact.cuh): their squares, in units where there is one, else in the caller's.
  double exact_row_weight = 1, exact_column_weight = 1;
  float inverse_ratio = 1;             ///< 1 / row_ratio
  float* near_roots = nullptr;         ///< see tabulate()
  std::uint32_t* near_keys = nullptr;  ///< the same
};

/// What the search for near sites leaves to the kernels behind it.
struct PlaneLeft {
  // Cleared when columns are packed.
  std::uint8_t* open_cells = nullptr;   ///< [all_bands][pitch / 32]: 32 × 32 elements each
  std::uint32_t* open_bands = nullptr;  ///< [all_bands]

  static constexpr int kCounters = 3;
  std::uint32_t* counters = nullptr;     ///< short tiles, long tiles, long tiles that are taken
  std::uint16_t* list_column = nullptr;  ///< [all_bands][pitch]: the columns that may matter to a band
  std::uint32_t* list_count = nullptr;   ///< [all_bands]
  ushort2* anchors = nullptr;     ///< [all_bands][tiles + 1]: first and last list entry that wins at a tile's edge
  std::uint32_t* work = nullptr;  ///< tiles to solve: those with few candidates from the front, others from the back
};

struct Plane {
  std::int32_t height = 1, width = 1;
  std::int32_t bands = 1;  ///< of an image
  // Where an image is solved in parts: its own bands, the part's first, and in `height` the part's end.
  std::int32_t image_bands = 1, first_band = 0;
  std::int32_t pitch = 0;  ///< columns of a band with padding that holds no sites, a multiple of kTile
  std::int64_t all_bands = 0;
  std::int64_t first_item = 0;

  // [all_bands][pitch]
  std::uint32_t* bits = nullptr;
  std::uint16_t* above = nullptr;  ///< rows from the band's first row up to the nearest site above the band, or kFar
  std::uint16_t* below = nullptr;  ///< rows from the band's first row down to the nearest site below the band, or kFar
  std::int32_t beyond = 0;         ///< rows from a marked element to its site: 1 where ends of runs are marked

  PlaneRuns runs;
  PlaneSpacing spacing;
  PlaneLeft left;
  FloatResults out;
  bool begins_early = false;  ///< a kernel, before the one ahead ends (core/cuda/early_launch.cuh)
  std::uint32_t one = 1;      ///< which a compiler does not know: see sum_by_product()

  __device__ std::uint32_t along(std::uint32_t rows) const { return rows * rows * spacing.row_weight; }
  __device__ std::uint32_t across(std::uint32_t columns) const { return columns * columns * spacing.column_weight; }
  /// The same in double.
  __device__ double along_exactly(int rows) const { return spacing.exact_row_weight * squared(rows); }
  __device__ double across_exactly(int columns) const { return spacing.exact_column_weight * squared(columns); }
  static __device__ double squared(int steps) {
    const auto n = static_cast<std::uint32_t>(abs(steps));
    return exact_double(n * n);
  }
  __device__ std::uint32_t square(int rows, int columns) const {
    return along(static_cast<std::uint32_t>(rows)) + across(static_cast<std::uint32_t>(columns));
  }
  /// Squared distance from a line between two bands, in columns; `rows` end before it.
  __device__ float from_line(std::int32_t rows) const {
    const float height = static_cast<float>(rows) + 0.5f;
    return height * height * spacing.row_ratio;
  }
  __host__ __device__ std::int32_t cells() const { return pitch / 32; }
  __host__ __device__ std::int32_t tiles() const { return pitch / kTile; }
  __device__ std::int64_t item_of(std::int64_t band) const {
    return static_cast<unsigned>(band) / static_cast<unsigned>(bands);
  }
  __device__ std::int32_t first_row(std::int64_t band) const {
    return (first_band + static_cast<std::int32_t>(static_cast<unsigned>(band) % static_cast<unsigned>(bands))) * kBand;
  }
  /// Of an image, also where a part of it is solved by itself.
  __device__ bool is_first(std::int64_t band) const { return first_row(band) == 0; }
  __device__ bool is_last(std::int64_t band) const { return first_row(band) == (image_bands - 1) * kBand; }
  /// What kernels that may begin early do before they read or write anything.
  __device__ void take_turn() const {
    if (!begins_early) return;
    fathom::cuda::wait_for_last();
    fathom::cuda::let_next_begin();
  }
  /// Columns of a band whose site above (below) its upper (lower) edge may matter inside, in bits, cells() words: where
  /// the band's list will be.
  __device__ std::uint32_t* keep_above(std::int64_t band) const {
    return reinterpret_cast<std::uint32_t*>(left.list_column + band * pitch);
  }
  __device__ std::uint32_t* keep_below(std::int64_t band) const { return keep_above(band) + cells(); }
  /// Start of a row of the output.
  __device__ float* row(std::int64_t band, std::int32_t y) const {
    return out.distance.row(first_item + item_of(band), 0, y);
  }
};

/// Nothing of a band is open yet: said with its column x, where that is a cell's first.
__device__ inline void close_cell(const Plane& plane, std::int64_t band, int x) {
  if (x % 32 == 0) plane.left.open_cells[band * plane.cells() + x / 32] = 0;
  if (x == 0) plane.left.open_bands[band] = 0;
}

/// A column of a band.
struct Column {
  std::uint32_t bits;
  unsigned above, below;

  /// Rows from row r of the band up (x) and down (y) to the nearest sites; ≥ kNoRow: no site.
  __device__ int2 both(int r, int beyond) const {
    if (!bits) return make_int2(static_cast<int>(above) + r, static_cast<int>(below) - r);
    const unsigned up = bits & (0xFFFFFFFFu >> (31 - r)), down = bits & (0xFFFFFFFFu << r);
    const int to_above = up ? r + beyond - 31 + __clz(static_cast<int>(up)) : static_cast<int>(above) + r;
    const int to_below = down ? __ffs(static_cast<int>(down)) + beyond - 1 - r : static_cast<int>(below) - r;
    return make_int2(to_above, to_below);
  }
  /// Vertical distance at row r; ≥ kNoRow: no site.
  __device__ int at(int r, int beyond) const {
    const int2 rows = both(r, beyond);
    return min(rows.x, rows.y);
  }
};

}  // namespace fathom::grid::cuda::plane
