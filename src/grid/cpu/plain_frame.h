// What the fast engine works on: the part of the input that can matter, as a box [slow][middle][fast], and where the
// results go. Two axes have middle = 1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grid/problem.h"

namespace fathom::grid::cpu::plain {

/// Slow rows (planes) whose site bits share a word.
inline constexpr int kBlock = 16;

/// "No site" among distances along the slow axis: that bit is set. True distances stay below, see plain_serves().
inline constexpr std::uint16_t kNoSite16 = 0x8000;
/// "No site" among squared distances of 32 bits; all true ones are smaller.
inline constexpr std::uint32_t kNoSite32 = 0x80000000;
/// Largest distance bound whose square, and so all that decides, fits 16 bits with saturation.
inline constexpr int kNarrowReach = 254;
/// The same for 8 bits.
inline constexpr int kTinyReach = 15;

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

struct Frame {
  Box box;

  const std::byte* input = nullptr;  ///< element [0][0][0] of the box
  DType dtype = DType::uint8;
  std::int64_t slow_stride = 0, middle_stride = 0;  ///< in bytes
  Sites sites;

  Range slow, middle, fast;  ///< the region, in coordinates of the box
  Target distance, squared;
  double unit = 1;
  bool stream = false;  ///< whether distances may bypass the caches: where the ends of rows let that pay

  std::uint32_t limit = 0;  ///< largest squared distance that is kept
  bool limited = false;     ///< whether the caller set it: otherwise only "no site" exceeds it
  int reach = 0;            ///< smallest r with r² ≥ limit: no result depends on a site farther away along an axis

  std::int64_t blocks() const { return (box.slow + kBlock - 1) / kBlock; }
};

Frame make_frame(const Problem& problem);

/// Smallest r with r² ≥ d2.
int root_up(std::uint32_t d2);

/// Smallest bound on distances whose squares are at most `most`.
int reach_from(const Frame& frame, std::uint32_t most);

/// A bound for elements that have, among `width` neighbours including themselves, one whose distance along the slow
/// axis is at most `farthest`.
int first_reach(const Frame& frame, int farthest, int width);

}  // namespace fathom::grid::cpu::plain
