// What the fast engine works on: the part of the input that can matter, as a box [slow][middle][fast], and where the
// results go. Two axes have middle = 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grid/cpu/plain_ranks.h"
#include "grid/cpu/plain_values.h"
#include "grid/problem.h"

namespace fathom::grid::cpu::plain {

/// Slow rows (planes) whose site bits share a word.
inline constexpr int kBlock = 16;

inline constexpr std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// A row length of at least n 16-bit elements, a multiple of 64 bytes but not of 4096, which would put all rows into
/// the same few lines of the cache.
inline constexpr std::int64_t row_pitch(std::int64_t n) {
  const std::int64_t pitch = round_up(n, 32);
  return pitch % 2048 == 0 ? pitch + 32 : pitch;
}

struct Box {
  std::int64_t slow = 1, middle = 1, fast = 1;
  std::int64_t plane() const { return middle * fast; }
};

/// An output in the caller's memory, element [slow][middle][fast] of the region; strides in bytes.
struct Target {
  std::byte* data = nullptr;  ///< null: not asked for
  DType dtype = DType::float32;
  std::int64_t slow_stride = 0, middle_stride = 0;
  std::byte* row(std::int64_t slow, std::int64_t middle) const {
    return data + slow * slow_stride + middle * middle_stride;
  }
};

/// Where the results about sites go, and what they are: indices and coordinates in the caller's input.
struct SiteTargets {
  Target nearest;
  Target coordinates[3];        ///< along slow, middle, fast
  Target zeros[kMaxSpaceRank];  ///< components along axes of one element
  int zero_count = 0;
  std::int64_t step[3] = {0, 0, 0};   ///< of the index, along slow, middle, fast
  std::int64_t first[3] = {0, 0, 0};  ///< coordinates of the region's first element
  bool fits = true;                   ///< indices fit 32 bits
};

struct Frame {
  Box box;

  const std::byte* input = nullptr;  ///< element [0][0][0] of the box
  DType dtype = DType::uint8;
  std::int64_t slow_stride = 0, middle_stride = 0;  ///< in bytes
  Sites sites;

  Range slow, middle, fast;  ///< the region, in coordinates of the box
  Target distance, squared;
  SiteTargets site;
  double unit = 1;
  bool scaled = false;  ///< the root is rounded before it is multiplied by the unit: where spacings are unequal
  bool stream = false;  ///< whether distances may bypass the caches: where the ends of rows let that pay

  std::uint32_t limit = 0;  ///< largest squared distance that is kept
  bool limited = false;     ///< whether the caller set it: otherwise only "no site" exceeds it
  int reach = 0;            ///< smallest r with r² ≥ limit: no result depends on a site farther away along an axis

  bool keys = false;                                              ///< values are keys
  int slow_multiple = 1, middle_multiple = 1, fast_multiple = 1;  ///< units of a step
  Layout tiny, narrow, wide;                                      ///< of the types of values

  bool real = false;  ///< values are real: two axes, distances as float without a limit
  RealAxis slow_axis, fast_axis;
  const Ranks* ranks = nullptr;

  /// The output that decides whether results bypass the caches.
  const Target& streamed() const {
    if (!keys) return distance;
    return site.nearest.data != nullptr ? site.nearest : site.coordinates[2];
  }
  std::int64_t blocks() const { return (box.slow + kBlock - 1) / kBlock; }
};

Frame make_frame(const Problem& problem);

/// Smallest bound on distances whose squares are at most `most`.
int reach_from(const Frame& frame, std::uint32_t most);

/// A bound for elements that have, among `width` neighbours including themselves, one with at most `farthest` rows to
/// its site along the slow axis.
int first_reach(const Frame& frame, int farthest, int width);

/// Whether squared distances of a problem without a unit are such that bounds and tolerances hold.
bool reals_fit(const Problem& problem);

/// Whether keys of a problem fit doubles.
bool keys_fit(const Problem& problem);

/// Largest squared distance that a problem may have, in units.
double squared_diagonal(const Problem& problem);

}  // namespace fathom::grid::cpu::plain
