// Morphology by balls, exact for any radius: erosion, dilation and what is made of them, of masks and of labels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/core/device.h"
#include "fathom/core/execution.h"
#include "fathom/core/view.h"

namespace fathom::apps {

/// Of an object X: its elements; d(p, A) is the distance from p to the nearest element of A.
enum class MorphologyOperation {
  erosion,        ///< ε: d(p, not X) > r
  dilation,       ///< δ: d(p, X) ≤ r
  opening,        ///< δ(ε(X)): what balls inside the object cover
  closing,        ///< ε(δ(X)): what no ball outside of it reaches
  gradient,       ///< δ(X) without ε(X)
  white_top_hat,  ///< X without its opening
  black_top_hat,  ///< the closing without X
  remove_thin,    ///< what is left without the parts through which no open ball of the thickness passes: an opening
                  ///< with d ≥ t/2, then d < t/2
  fill_thin,      ///< the same for what is around the object: a closing
};

/// What lies outside the array.
enum class MorphologyBorder {
  ignore,      ///< nothing: it neither grows nor shrinks anything, as in scikit-image
  pad,         ///< background without end, into which closings may grow on their way; the result is cropped
  background,  ///< background for erosions; what grows does not get there, so that closings lose elements at the edges
};

struct MorphologyOptions {
  MorphologyOperation operation = MorphologyOperation::closing;
  /// The radius r of the ball, or the thickness t of remove_thin and fill_thin: ≥ 0, in units of the spacing. Compared
  /// with the correctly rounded distance, so that √3 is within √3; with a spacing that is not whole, a relative 2⁻⁵⁰
  /// does not count.
  double size = 1;
  /// Elements are labels, integers: what is done is done to each label by itself, 0 being background. Where two would
  /// cover an element the nearer one does, then the lower. Gradients and black top hats are differences of these.
  bool labels = false;
  MorphologyBorder border = MorphologyBorder::ignore;
  /// Physical size of an element along each axis, finite, > 0; empty: 1 everywhere; one value: for all axes.
  std::vector<double> spacing;
  /// Leading axes that count arrays which have nothing to do with one another.
  int batch_axes = 0;
  /// The backend `automatic` is the CPU for arrays of the host.
  Execution execution;
};

/// What a call did.
struct MorphologyReport {
  Backend backend = Backend::cpu;
  InstructionSet instruction_set = InstructionSet::baseline;
  int threads = 1;
  std::size_t scratch_bytes = 0;  ///< the most at once
  std::string device = {};        ///< empty: the CPU did the work
};

/// Erodes, dilates, opens, closes.
/// @param input   1 to 8 axes behind those of the batch, any element type; nonzero elements are the object, NaN is
///                nonzero. With `labels` integers or bool
/// @param output  the same shape. Masks: bool or uint8, 1 in the result and 0 elsewhere. Labels: the input's type.
///                Must not overlap the input
/// @throws InvalidArgument what was wrong and what would work, before the output is touched
/// @throws Cancelled the stop token asked for it; the output is unspecified
/// @throws std::bad_alloc the machine has not enough memory for the scratch
/// Cost: one or two distance transforms with the radius as their maximum; of labels one for the erosion, else two for
/// the box around each label and the radius. Scratch: see morphology_scratch_bytes(). Same bytes for every thread count
/// and instruction set. On the array, and with `pad` on the endless grid, opening and closing are idempotent, the
/// opening lies in the object and the object in the closing.
/// Source: Ragnemalm 1992, Cao et al. 2010 (thresholds of distances); borders, labels and thickness as stated here.
MorphologyReport morphology(const AnyConstView& input, const MorphologyOptions& options, const AnyView& output);

/// The same between arrays in a device's memory, in the stream's order and without waiting for it; but with `labels`,
/// for all but erosions, the host waits for the labels, which it lists: that cannot be captured into a graph. The
/// backend `cpu`, instruction set, threads and workspace have no meaning here, progress is not told.
/// @throws InvalidArgument as above | a view's memory is not on one device | the scratch limit is too small
/// @throws DeviceError a launch failed, or the device has not enough memory for the scratch
/// Scratch: 4 bytes per element of the array (padded, with `pad`: 5), of batches for 2²⁶ at once, with labels as on the
/// host; and what grid::distance_transform() needs. Same bytes as the CPU.
MorphologyReport morphology(const AnyConstDeviceView& input, const MorphologyOptions& options,
                            const AnyDeviceView& output, Stream stream = {});

/// The same into a new array: bool of masks, the input's type of labels.
Array morphology(const AnyConstView& input, const MorphologyOptions& options);

/// Bytes of scratch that morphology() uses; of labels at most. The memory behind the view is not looked at.
/// Beside the scratch of grid::distance_transform(): 5 bytes per element of a slab, which has 2²⁰ elements or the
/// planes of a ball, and of as many planes around it; of arrays that are no larger 4 per element, of batches for 2²²
/// elements at once. With `pad` one more per element of the padded array. Of labels 9 per element, or 17 where squared
/// distances are no uint32: with a spacing.
/// @throws InvalidArgument as morphology()
/// On a device with the copies of the arrays of the host.
std::size_t morphology_scratch_bytes(const AnyConstView& input, const MorphologyOptions& options);
std::size_t morphology_scratch_bytes(const AnyConstDeviceView& input, const MorphologyOptions& options);

/// The least scratch limit with which morphology() works: with one thread.
/// @throws InvalidArgument as morphology()
std::size_t least_morphology_scratch_bytes(const AnyConstView& input, const MorphologyOptions& options);

}  // namespace fathom::apps
