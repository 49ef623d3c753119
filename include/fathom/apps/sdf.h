// Textures of signed distance from images, for shaders that draw sharp outlines at any size.
#pragma once

#include <cstdint>
#include <string>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps {

struct SdfOptions {
  double range = 8;     ///< distance in texels from the lowest to the highest value of the texture; finite, > 0
  double pad = 0;       ///< texels on each side of the texture that the image leaves free; finite, ≥ 0
  bool invert = false;  ///< the object is what is dark; around the image is nothing all the same
  int batch_axes = 0;   ///< so many axes in front number independent images
  Execution execution;  ///< backend `automatic` is the CPU for arrays of the host
};

struct SdfReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
  std::string device = {};
  double scale = 1;           ///< texels for each pixel of the image
  std::int64_t segments = 0;  ///< of the outline, in all images
};

/// Signed distance to the outline of what an image shows: ½ on it, above inside, below outside, 0 and 1 half a range
/// away from it.
/// @param coverage  [batch…, height, width], the share of each pixel that the object covers: bool, uint8, uint16, or
///   floats from 0 to 1. Around the image is nothing. Masks of 0 and 1 that are no bool are refused.
/// @param texture   [batch…, height, width] of any height and width: uint8 or uint16, 0 to 1 being 0 to the largest,
///   cut and rounded; or float32 or float64, not cut, −inf if there is no outline. The image fills it as far as `pad`
///   and its proportions allow, in the middle
/// @throws InvalidArgument what was wrong and what would work, before the image's texture is touched
/// @throws Cancelled the stop token asked for it; the output is unspecified
///
/// The outline consists of a segment in each pixel that is covered in part, at right angles to the gradient of coverage
/// and such that it cuts off the pixel's share; of the sides of a strip in the middle of pixels that a line or a dot
/// covers in part, around which there is no gradient; and of the faces between pixels that are covered and pixels that
/// are not.
/// Distances are to the nearest of these. They are exact for images without partial coverage, at the middles of pixels;
/// elsewhere on textures of another size 1/4 texel too large at most, and 1/(32 d) at a distance of d pixels. Where a
/// straight edge was drawn with exact coverage, segments lie within 0.05 pixels of it, as the gradient of 3 × 3 pixels
/// is not its exact direction; at corners within half a pixel. An edge that was blurred has several segments side by
/// side: give coverage.
///
/// Cost O(pixels + texels · log(segments)). Same bytes for every thread count and backend.
/// Source: Gustavson & Strand 2011 (anti-aliased Euclidean distance transform: edges from coverage and gradient);
/// departs in that distances are to segments, and nearest ones are searched for, not propagated.
SdfReport sdf(const AnyConstView& coverage, const SdfOptions& options, const AnyView& texture);

/// The same of arrays in a device's memory. The host finds the outline: waits for the image, but not for the texture,
/// which is in the stream's order.
/// @throws InvalidArgument as above | a view's memory is not on one device | the stream is being captured into a graph
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
SdfReport sdf(const AnyConstDeviceView& coverage, const SdfOptions& options, const AnyDeviceView& texture,
              Stream stream = {});

/// Bytes of scratch that sdf() takes at most for coverage of such a shape. On the CPU each thread has an image where
/// there are as many, unless there is a scratch limit; on a device the texture's copy and what the set of sites takes
/// for its answers come on top.
std::size_t sdf_scratch_bytes(const Shape& coverage, const SdfOptions& options);

}  // namespace fathom::apps
