// Integer medial axis: the elements between two parts of the background that are about equally near.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// What the sites of two neighbours must be apart, beyond one step, to make one of them part of the axis.
enum class Pruning {
  constant,     ///< γ, in units of the spacing
  linear,       ///< γ times the way from the elements to them: what is seen under too small an angle goes
  square_root,  ///< about the root of that way: what bends of the boundary by one element make goes; γ has no meaning
};

/// Which of two neighbours is taken where the middle between their sites is the middle between them.
enum class Ties {
  both,  ///< both, as published: an axis of two elements in an object whose width is even
  thin,  ///< the one with the lower linear index
};

struct MedialAxisOptions {
  Pruning pruning = Pruning::constant;
  double gamma = 0;  ///< finite, ≥ 0. With constant pruning and unit spacing up to 1 is as 0
  Ties ties = Ties::both;
  /// Physical size of an element along each axis, finite, > 0; empty: 1 everywhere; one value: for all axes.
  std::vector<double> spacing;
  int batch_axes = 0;  ///< leading axes along which the input is a batch of images
  /// The backend `automatic` is the CPU for arrays of the host.
  Execution execution;
};

/// Any number of views of the input's shape; a default view is not computed. They must not overlap the input or one
/// another.
template <MemorySpace Space>
struct BasicMedialAxisOutputs {
  using Out = BasicAnyView<std::byte, Space>;
  Out axis;      ///< bool or uint8: 1 on the axis, else 0
  Out distance;  ///< float32 or float64: to the nearest zero, in units of the spacing; +inf without one
  Out nearest;   ///< int32 or int64: linear index in its image of that zero, the lowest among equals; −1 without
  /// int32 or int64: on the axis, the nearest zero of that neighbour whose zero is farthest from the element's own, of
  /// those that make it part of the axis; else −1. With `nearest`, two ends of the object that the axis runs between.
  Out witness;
};
using MedialAxisOutputs = BasicMedialAxisOutputs<MemorySpace::host>;
using DeviceMedialAxisOutputs = BasicMedialAxisOutputs<MemorySpace::device>;

/// What a call did.
struct MedialAxisReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;
  std::string device = {};  ///< empty: the CPU did the work
};

/// Integer medial axis of the object that the nonzero elements are. Of two neighbours m and n along an axis, with the
/// nearest zeros f and g, one is taken if f and g are more than a step along one axis apart and
///
///     |f − g|² > γ²                                        constant
///     |f − g|² > γ² |m − f + n − g|²                       linear
///     |f − g|² > h |m − f + n − g| + 2 ⟨m − n, f − g⟩ + C h²   square_root, C = 1 (volumes: 1.5), h = |m − n|:
///
/// m if ⟨f − g, f + g − m − n⟩ ≥ 0, for then the plane halfway between f and g passes on m's side of the middle, and
/// n if it is ≤ 0. Nothing lies outside the array; without a zero the axis is empty. Points are in units of the
/// spacing; for unit spacing this is as published. That the axis is as connected as the object is not promised.
///
/// @param input    1 to 3 axes behind those of the batch, below 2³⁰ elements along each, any element type
/// @param outputs  at least one view
/// @throws InvalidArgument what was wrong and what would work, before any output is touched
/// @throws Cancelled the stop token asked for it; outputs are unspecified
/// Exact: where spacings are equal integers decide, but for the bounds of linear and square_root, which are computed in
/// double, as all is where they differ. Same bytes for every thread count and instruction set. Cost O(N): the nearest
/// sites, and one test of each pair. Scratch: see scratch_bytes().
/// Source: Hesselink & Roerdink 2008.
MedialAxisReport medial_axis(const AnyConstView& input, const MedialAxisOptions& options,
                             const MedialAxisOutputs& outputs);

/// The same between arrays in a device's memory, in the stream's order and without waiting for it. The backend `cpu`,
/// instruction set, threads, workspace, progress and stop have no meaning here.
/// @throws InvalidArgument as above | a view's memory is not on one device | the scratch limit is too small
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
/// Scratch: the nearest sites, 4 bytes per element where 32 bits hold their indices, of one image or of 2²⁴ elements at
/// once, unless they are an output; and what grid::distance_transform() needs. Same bytes as the CPU.
MedialAxisReport medial_axis(const AnyConstDeviceView& input, const MedialAxisOptions& options,
                             const DeviceMedialAxisOutputs& outputs, Stream stream = {});

/// The same from nearest sites that are there already, for another γ: a small part of the cost.
/// @param nearest  as `MedialAxisOutputs::nearest`, or grid::distance_transform()'s, of the same spacing
/// @param outputs  axis, witness or both
MedialAxisReport medial_axis_of_nearest(const AnyConstView& nearest, const MedialAxisOptions& options,
                                        const MedialAxisOutputs& outputs);
/// On a device without scratch.
MedialAxisReport medial_axis_of_nearest(const AnyConstDeviceView& nearest, const MedialAxisOptions& options,
                                        const DeviceMedialAxisOutputs& outputs, Stream stream = {});

/// Most bytes of scratch that the calls would use; on a device with the copies of the host's arrays. The memory behind
/// the views is not looked at.
/// @throws InvalidArgument as they do
std::size_t scratch_bytes(const AnyConstView& input, const MedialAxisOptions& options,
                          const MedialAxisOutputs& outputs);
std::size_t scratch_bytes(const AnyConstDeviceView& input, const MedialAxisOptions& options,
                          const DeviceMedialAxisOutputs& outputs);

struct AxisBallsOptions {
  std::vector<double> spacing;  ///< as MedialAxisOptions, and as `nearest` was computed with
  int batch_axes = 0;
  Execution execution;
};

/// What the balls around an axis cover: around each of its elements the open one that its nearest zero bounds. They lie
/// within the object, and cover nearly all of it, not all, where nothing is pruned and background surrounds it: of a
/// 1024² image of blobs all but 71 of 629,145 elements. Towards the array's end, behind which there is nothing, an
/// object has no axis, and what is there may not be covered.
/// @param axis     any element type; nonzero: on the axis
/// @param nearest  int32 or int64, of the axis' shape: as above; −1: a ball without end
/// @param out      bool or uint8, of that shape
/// @throws InvalidArgument, Cancelled as above
/// Cost and scratch as local_thickness(), without its distances; but balls that others contain are drawn nowhere.
MedialAxisReport axis_balls(const AnyConstView& axis, const AnyConstView& nearest, const AxisBallsOptions& options,
                            const AnyView& out);
/// The same between arrays in a device's memory: see medial_axis(). Images have below 2³¹ elements there.
MedialAxisReport axis_balls(const AnyConstDeviceView& axis, const AnyConstDeviceView& nearest,
                            const AxisBallsOptions& options, const AnyDeviceView& out, Stream stream = {});

/// Most bytes of scratch that axis_balls() would use.
std::size_t scratch_bytes(const AnyConstView& axis, const AnyConstView& nearest, const AxisBallsOptions& options,
                          const AnyView& out);
std::size_t scratch_bytes(const AnyConstDeviceView& axis, const AnyConstDeviceView& nearest,
                          const AxisBallsOptions& options, const AnyDeviceView& out);

}  // namespace fathom::apps
