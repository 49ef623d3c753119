// Kernels of tiles as they were published: a repeater stitched into a target, along both axes or on a lattice, and the
// distance to white pixels that are near. To call, to read, and to measure beside the streams of tiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fathom/core/execution.h"
#include "fathom/core/view.h"
#include "fathom/published/phase.h"

namespace fathom::published {

/// Case 1 of the slides. The first four are loops of the host, on one thread; the others have twins there.
enum class RepeatVariant {
  basic,          ///< columns first, each pixel's index computed
  indexed,        ///< rows first, an index that counts
  pointer,        ///< the same with a pointer
  repeater_loop,  ///< for each pixel of the repeater all of the target that are it
  modulo,         ///< thread = pixel of the target
  shared,         ///< the same; one thread of each block copies the repeater to shared memory: "the mistake"
  repeater_grid,  ///< thread = pixel of the repeater
};

/// Case 2 of the slides: who brings copies of the repeater, at all i·u + j·v, to the target. On the CPU one thread does
/// all of it.
enum class LatticeVariant {
  target_loop,  ///< thread = pixel of the target: the mean of all copies' pixels there that are not 0
  uv_loop,      ///< thread = copy: of its pixels those that are not 0 are written
  uv_exchange,  ///< the same by atomic exchange
};

/// Case 3 of the slides: thread = pixel. The second, third and fourth do not lower where it would not help:
enum class NearVariant {
  white,            ///< a white pixel lowers, atomically, the distances around it
  distance_check,   ///< distances that are lower already
  neighbour_check,  ///< nor any if its four neighbours are white
  improved,         ///< nor, in place of that, those on sides where its neighbour is white
  black,            ///< a black pixel looks for the nearest white one around it
};

/// What a call did.
struct TilesReport {
  Backend backend = Backend::cpu;
  std::string device = {};        ///< empty: the CPU did the work, on one thread
  std::size_t scratch_bytes = 0;  ///< of the host, or else of the device
  std::vector<Phase> phases;      ///< on a device with the copies there and back, as phases of their own
};

/// target(x, y) = repeater(x mod width, y mod height): the pixels of stream::repeat().
///
/// @param repeater, target  float32 [height, width], up to 2²⁰ each; they do not overlap. `shared` takes a repeater
///   that fits into the shared memory of a block
/// @param execution  backend `automatic`: for loops of the host there, else on a device if there is one
/// @throws InvalidArgument what was wrong and what would work, before any output is touched
/// @throws DeviceError CUDA was asked for and is not to be had, or failed
/// @throws Cancelled the stop token asked for it; the target is unspecified
/// Cost: O(target); `shared`: O(repeater) for each 1024 pixels. Source and departures: src/published/tiles.hd.h.
TilesReport repeat(const AnyConstView& repeater, RepeatVariant variant, const AnyView& target,
                   const Execution& execution = {});

/// Copies of the repeater with their first pixels at all i·u + j·v; 0 where there is none. Where copies do not overlap
/// these are the pixels of stream::lattice(). Where they do: target_loop adds in float, i outer, j inner, and divides;
/// of the others the last copy wins, in the same order, on the CPU, and any on a device.
///
/// @param u, v  steps (y, x), up to ±2²⁰ each, not parallel
/// @throws as repeat()
/// Cost: of target_loop O(target · copies that may cover a pixel); of the others O(copies · repeater).
TilesReport lattice(const AnyConstView& repeater, const std::array<std::int64_t, 2>& u,
                    const std::array<std::int64_t, 2>& v, LatticeVariant variant, const AnyView& target,
                    const Execution& execution = {});

/// Distance of each pixel to the nearest one that is white, which is not 0, if it is at most `most` away, else +inf:
/// the pixels of stream::distance().
///
/// @param source, distance  float32 [height, width], up to 2²⁰ each; they do not overlap
/// @param most  1 … 4096
/// @throws as repeat()
/// Cost: O(most²) for each white, or each black, pixel.
TilesReport near(const AnyConstView& source, int most, NearVariant variant, const AnyView& distance,
                 const Execution& execution = {});

}  // namespace fathom::published
