// Pictures of dots: weighted centroidal Voronoi diagrams of a picture's tone.
#pragma once

#include <cstdint>
#include <vector>

#include "fathom/apps/voronoi.h"
#include "fathom/core/array.h"

namespace fathom::apps {

struct StippleOptions {
  std::int64_t dots = 10000;  ///< ≥ 1
  std::uint64_t seed = 0;
  int iterations = 100;    ///< of Lloyd's at most
  double tolerance = 0.1;  ///< it ends when no dot moves farther along an axis, in pixels
  /// A pixel's ink is (1 − value)^gamma, of the value's share of its type's largest. Above 1, light tones lose dots.
  double gamma = 1;
  bool invert = false;  ///< light dots on dark paper: ink is value^gamma
  int supersample = 0;  ///< regions on a grid so many times as fine, 1 … 16; 0: as fine as regions of dark pixels need
  Execution execution;  ///< as VoronoiOptions
};

struct Stipples {
  Array positions;  ///< float64 [dots, 2]: row and column, the middle of the first pixel being 0
  Array radii;      ///< float64 [dots]: such that a dot's area is the ink of its region, in pixels
  int supersample = 1;
  LloydReport report;
};

/// Dots for a picture of tones: their density follows the tone, and so does the size of each.
/// @param image  [height, width], uint8, uint16 or bool, or floats from 0 (black) to 1 (white)
/// @throws InvalidArgument what was wrong and what would work: NaN, values beyond 0 … 1, no ink at all, more dots than
///   pixels with ink (on the finer grid)
/// @throws Cancelled the stop token asked for it
/// The first positions are drawn by tone, from the seed and a number alone, and lie one after the other along a Hilbert
/// curve, as the dots do in the end, about; dots without ink as lloyd() says.
/// Cost O(N) an iteration. Same bytes for a seed on every thread count and backend.
/// Source: Secord 2002 (weighted Voronoi stippling); departs in sums of integers, and in that dots have the area that
/// their regions' ink says, whose sum is the picture's ink.
Stipples stipple(const AnyConstView& image, const StippleOptions& options);

/// The same of an image in a device's memory. The host turns tones into ink and draws the first positions: waits for
/// the image, then for the dots.
/// @throws InvalidArgument as above | the image is not on one device | the stream is being captured into a graph
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
Stipples stipple(const AnyConstDeviceView& image, const StippleOptions& options, Stream stream = {});

/// The same of every image of a batch, by itself and from the same seed: so many dots each.
/// @param images      [batch…, height, width]
/// @param batch_axes  as for voronoi_batch()
/// @returns [images] in row-major order
std::vector<Stipples> stipple_batch(const AnyConstView& images, int batch_axes, const StippleOptions& options);
std::vector<Stipples> stipple_batch(const AnyConstDeviceView& images, int batch_axes, const StippleOptions& options,
                                    Stream stream = {});

/// Bytes of scratch that stipple() takes at most, with the supersampling that the options say, or 4 for 0.
std::size_t stipple_scratch_bytes(const Shape& image, const StippleOptions& options);

}  // namespace fathom::apps
