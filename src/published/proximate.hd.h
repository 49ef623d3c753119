// Proximate points in lines of an image: what a thread does. cpu/proximate.cpp and cuda/proximate.cu say who does it.
//
// Source: Man, Uda, Ito & Nakano, "Accelerating Computation of Euclidean Distance Map using the GPU with Efficient
// Memory Access", 2012. Step 1 finds the nearest site of each element in its own column; step 2 takes the rows: what
// step 1 found are points above the row as far as they are away, and those of which a piece of the row is nearest, the
// proximate points, stay on a stack; the boundaries of neighbours on the stack say which element is whose. A thread has
// a line. How lines lie in memory, before and behind a step, is the access mode: the image, what step 1 found, and the
// result may each be transposed.
// Cost: O(N). Departs in that step 1 keeps the site's coordinate, of which the paper keeps the distance, so that sites
// are known in the end; in that it writes the nearer of both directions in the second, where the paper keeps two
// images; and in that boundaries are compared, and rounded, as whole numbers.
#pragma once

#include "fathom/published/distance.h"
#include "published/places.hd.h"

namespace fathom::published {

/// How lines lie in an array.
struct Lines {
  std::int64_t line, step;  ///< from one line to the next, from one element of a line to the next

  FATHOM_HD std::int64_t at(std::int64_t number, int k) const { return number * line + k * step; }
};

/// What a step reads and writes, and whether the result is transposed after that.
struct Step {
  Lines read, write;
  bool transpose;
};

struct Mode {
  bool columns_first;  ///< whether step 1 goes along columns
  Step first, second;
};

/// Section 5.1, and 6.1 for the last mode.
FATHOM_HD inline Mode mode_of(Access access, std::int64_t width, std::int64_t height) {
  const Lines columns{1, width}, rows{width, 1};                          // of the image
  const Lines columns_transposed{height, 1}, rows_transposed{1, height};  // the same lines in the transposed image
  switch (access) {
    case Access::vv_hh: return {true, {columns, columns, false}, {rows, rows, false}};
    case Access::hh_vv: return {false, {rows, rows, false}, {columns, columns, false}};
    case Access::vh_vh: return {true, {columns, columns_transposed, false}, {rows_transposed, rows, false}};
    case Access::hv_hv: return {false, {rows, rows_transposed, false}, {columns_transposed, columns, false}};
    case Access::vtv_vtv: break;
  }
  return {true, {columns, columns, true}, {rows_transposed, rows_transposed, true}};
}

inline constexpr std::int16_t kNowhere = -1;

/// Step 1: where the nearest site in the line is; of equally near ones the first.
FATHOM_HD inline void find_in_line(const std::uint8_t* mask, const Step& step, std::int64_t line, int length,
                                   std::int16_t* found) {
  std::int16_t last = kNowhere;
  for (int k = 0; k < length; ++k) {
    if (mask[step.read.at(line, k)]) last = static_cast<std::int16_t>(k);
    found[step.write.at(line, k)] = last;
  }
  last = kNowhere;
  for (int k = length - 1; k >= 0; --k) {
    if (mask[step.read.at(line, k)]) last = static_cast<std::int16_t>(k);
    std::int16_t& own = found[step.write.at(line, k)];
    if (last != kNowhere && (own == kNowhere || last - k < k - own)) own = last;
  }
}

/// Step 2. @param stack  of `length` elements, that are `step` apart
/// @param put  called with each element's place in the result, where it is in the line, what step 1 found there
template <class Put>
FATHOM_HD void find_proximate(const std::int16_t* found, const Step& lines, std::int64_t line, int length,
                              std::int16_t* stack, std::int64_t step, const Put& put) {
  const auto point = [&](int k) { return Beside{k, squared(found[lines.read.at(line, k)] - static_cast<int>(line))}; };
  int count = 0;
  for (int k = 0; k < length; ++k) {
    if (found[lines.read.at(line, k)] == kNowhere) continue;
    while (count >= 2 && dominate(point(stack[(count - 2) * step]), point(k), point(stack[(count - 1) * step])))
      --count;
    stack[count++ * step] = static_cast<std::int16_t>(k);
  }
  int k = 0;
  for (int i = 0; i < count; ++i) {
    const int own = stack[i * step];
    int end = length;  // of the piece of the line that it is the nearest of: up to its boundary with the next one
    if (i + 1 < count) {
      const Beside p = point(own), q = point(stack[(i + 1) * step]);
      const std::int64_t twice = 2 * (q.along - p.along),
                         boundary =
                             std::int64_t{q.along} * q.along - std::int64_t{p.along} * p.along + q.square - p.square;
      if (boundary < 0) continue;  // which lies before the line
      if (boundary / twice + 1 < length) end = static_cast<int>(boundary / twice) + 1;
    }
    for (; k < end; ++k) put(lines.write.at(line, k), own, found[lines.read.at(line, own)]);
  }
  if (count == 0)
    for (; k < length; ++k) put(lines.write.at(line, k), kNowhere, kNowhere);
}

/// A proximate point as a site of the image.
FATHOM_HD inline std::uint32_t site_of(const Places& places, bool columns_first, int along, int found) {
  if (found == kNowhere) return kNone;
  return places.pack(columns_first ? Point{along, found, 0} : Point{found, along, 0});
}

}  // namespace fathom::published
