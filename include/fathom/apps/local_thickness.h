// Local thickness: the diameter of the largest ball inside an object that covers an element; and porosimetry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps {

template <MemorySpace Space>
struct BasicLocalThicknessOptions {
  /// Physical size of an element along each axis, finite, > 0; empty: 1 everywhere; one value: for all axes.
  std::vector<double> spacing;
  int batch_axes = 0;  ///< leading axes along which the input is a batch of images
  /// Porosimetry: of the input's shape and any type; nonzero where balls may enter. Absent: they are everywhere.
  BasicAnyView<const std::byte, Space> inlets;
  bool from_faces = false;  ///< porosimetry without `inlets`: balls enter through the faces of each image
  /// The backend `automatic` is the CPU for arrays of the host.
  Execution execution;
};
using LocalThicknessOptions = BasicLocalThicknessOptions<MemorySpace::host>;
using DeviceLocalThicknessOptions = BasicLocalThicknessOptions<MemorySpace::device>;

/// What a call did.
struct LocalThicknessReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;  ///< at most
  std::string device = {};        ///< empty: the CPU did the work
};

/// Local thickness of the object that the nonzero elements are. With D(p) the distance from p to the nearest zero,
///
///     thickness(x) = 2 · max { D(p) : |x − p| < D(p) },
///
/// over all p, in units of the spacing; 0 where the input is 0, +inf where an image has no zero. Distances are between
/// centres of elements, as in PoreSpy: a slab of n elements is n + 1 thick, and n where n is even, since no centre lies
/// in its middle. Nothing lies outside the array. With inlets, D(p) is replaced by the largest radius of which a ball
/// gets to p from one: the maximum over paths of face neighbours of the least D along a path, the ends included; 0
/// where none leads. That is porosimetry: what a fluid that does not wet has filled once its balls are that small.
///
/// @param input    1 to 3 axes behind those of the batch, below 2³⁰ elements along each, any element type
/// @param out      float32 or float64, of the input's shape; must not overlap it
/// @throws InvalidArgument what was wrong and what would work, before the output is touched
/// @throws Cancelled the stop token asked for it; the output is unspecified
/// Exact: squared distances decide, in integers where the spacings are equal; where they differ, in double, and
/// elements within a relative 2⁻⁴⁰ of a ball's surface lie on it, not inside. Same bytes for every thread count and
/// instruction set. Cost: a distance transform, and for each ball that no neighbour's contains a test of its elements
/// by 16 rows at a time; grows with the balls' size, and where spacings differ all balls are drawn. Scratch: see
/// scratch_bytes(). Source: Hildebrand & Rüegsegger 1997; Rémy & Thiel 2002 for which balls are left out.
LocalThicknessReport local_thickness(const AnyConstView& input, const LocalThicknessOptions& options,
                                     const AnyView& out);

/// The same between arrays in a device's memory, in the stream's order and without waiting for it. The backend `cpu`,
/// instruction set, threads, workspace, progress and stop have no meaning here.
/// @throws InvalidArgument as above | an image has 2³¹ elements or more | a view's memory is not on one device | the
///         scratch limit is too small
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
/// Scratch, of one image: 12 to 13 bytes per element, where squared distances have 64 bits 21, with inlets 17 and 25;
/// and what grid::distance_transform() needs. Same bytes as the CPU.
LocalThicknessReport local_thickness(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                                     const AnyDeviceView& out, Stream stream = {});

/// Most bytes of scratch that local_thickness() would use; on a device with the copies of the host's arrays. The memory
/// behind the views is not looked at.
/// @throws InvalidArgument as local_thickness()
std::size_t scratch_bytes(const AnyConstView& input, const LocalThicknessOptions& options, const AnyView& out);
std::size_t scratch_bytes(const AnyConstDeviceView& input, const DeviceLocalThicknessOptions& options,
                          const AnyDeviceView& out);

}  // namespace fathom::apps
