// Morphology by balls: each operation is one or two thresholds of distances. A dilation is where the distance to the
// object is at most the radius, an erosion where that to all else is more; openings and closings are both, one after
// the other, the first one's mask in the output's memory. The distances are computed with the radius as their maximum,
// so that the transform decides, in integers where the spacing allows, and the threshold only asks whether there is
// one.
//
// Labels: the erosion of all is one transform, to the nearest element of another label. All else is done for each label
// by itself, in the box around it that the radius can change; elements go to the label whose squared distance is least,
// the lowest of equals since the lower ones come first.
//
// Source: Ragnemalm 1992, Fast erosion and dilation by contour processing and thresholding of distance maps; Cao et al.
// 2010, section 6. Departs by its borders, and by thin parts: strict thresholds instead of a radius.
#include "fathom/apps/morphology.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/check.h"
#include "apps/cpu/morphology.h"
#include "apps/device_call.h"
#include "apps/morphology.h"
#include "apps/near_passes.h"
#include "apps/rows.h"
#include "core/text.h"
#include "fathom/core/error.h"
#include "fathom/grid/distance.h"

#ifdef FATHOM_HAS_CUDA
#include "apps/cuda/morphology.h"
#endif

namespace fathom::apps {

namespace {

using Operation = MorphologyOperation;
using Rule = grid::Sites::Rule;

constexpr std::int64_t kElements = std::int64_t{1} << 22;  // of a batch that are worked on at once

bool is_thin(Operation operation) { return operation == Operation::remove_thin || operation == Operation::fill_thin; }

bool is_whole(const std::vector<double>& spacing) {
  return std::all_of(spacing.begin(), spacing.end(), [](double size) { return size == std::floor(size); });
}

/// The last distance that is near.
double reach_of(const MorphologyOptions& options) {
  if (!is_thin(options.operation)) return options.size;
  const double half = options.size / 2;
  return is_whole(options.spacing) ? std::nextafter(half, 0.0) : half * (1 - 0x1p-49);
}

/// One call, checked.
class Morphology {
 public:
  Morphology(const AnyConstView& input, const MorphologyOptions& options);

  /// @param least  with one thread
  std::size_t scratch_bytes(const Shape& part, int batch_axes, bool least) const {
    return own_bytes(part, batch_axes) + transform_bytes(part, batch_axes, least);
  }
  /// What is worked on at once: of a batch, arrays of so many elements together, or one.
  Shape part_of_batch(std::int64_t elements, int& batch_axes) const;
  /// @throws InvalidArgument the scratch limit is too small
  MorphologyReport run(const AnyConstView& input, const AnyView& output);

  /// As the device reads it.
  MorphologyCall call() const { return {options_, passes_, base_, squares(), pads(), by_label()}; }

 private:
  bool pads() const { return base_ == Operation::closing && options_.border == MorphologyBorder::pad; }
  bool by_label() const { return options_.labels && base_ != Operation::erosion; }
  DType squares() const;
  std::size_t own_bytes(const Shape& part, int batch_axes) const;
  std::size_t transform_bytes(const Shape& part, int batch_axes, bool least) const;

  void each_part(const AnyConstView& input, const AnyView& output, int batch_axes, const Shape& part);
  void work(const AnyConstView& input, const AnyView& output, int batch_axes);
  void of_mask(const AnyConstView& input, const grid::Sites& object, const AnyView& out, int batch_axes);
  void pass(const AnyConstView& input, const grid::Sites& sites, bool near, const AnyView& out, int batch_axes,
            bool over = false);
  void padded_closing(const AnyConstView& input, const grid::Sites& object, const AnyView& out, int batch_axes);
  void of_labels(const AnyConstView& input, const AnyView& out);
  void of_label(const LabelBox& one, double growth, const AnyConstView& input, const AnyView& best, const AnyView& out);
  double growth_of(const AnyConstView& input);
  void derive(const AnyConstView& input, const AnyView& out, int batch_axes);

  const MorphologyOptions& options_;
  const Shape shape_;
  const DType dtype_;
  const Operation base_;
  const cpu::Crew crew_;
  NearPasses passes_;
  double image_ = 0, images_ = 1;  ///< of labels: those that are done, and all
};

Morphology::Morphology(const AnyConstView& input, const MorphologyOptions& options)
    : options_(options),
      shape_(input.shape()),
      dtype_(input.dtype()),
      base_(base_of(options.operation)),
      crew_{options.execution, thread_count(options.execution)},
      passes_(options.execution, options.spacing, reach_of(options)) {
  if (!(options.size >= 0))
    throw InvalidArgument(std::string(is_thin(options.operation) ? "the thickness" : "the radius") + " is " +
                          text(options.size) + "; it must be 0 or more");
  if (options.labels && (dtype_ == DType::float32 || dtype_ == DType::float64))
    throw InvalidArgument("labels are integers, not " + std::string(name_of(dtype_)) + "; convert them first");
  // Refuses batch axes, spacings and shapes of no use.
  grid::scratch_bytes(input, passes_.distances({Rule::zero, 0}, grid::Border::open, options.batch_axes),
                      {AnyView(nullptr, DType::float64, shape_), {}, {}, {}});
  if (base_ == Operation::closing && options.border == MorphologyBorder::pad && std::isinf(passes_.reach()))
    throw InvalidArgument("the border pad adds as many elements as the radius, which is infinite; give a finite one");
  double diagonal = 0, in_padding = 1;
  for (int axis = 0; axis < shape_.rank() - options.batch_axes; ++axis) {
    const auto extent = static_cast<double>(shape_[options.batch_axes + axis]);
    diagonal += passes_.spacing(axis) * extent;
    in_padding *= extent + 2 * static_cast<double>(passes_.margin(axis));
  }
  constexpr double kMostElements = 0x1p50;
  if (pads() && in_padding > kMostElements)
    throw InvalidArgument("the border pad adds as many elements as the radius of " + text(options.size) +
                          " has, which no memory holds; give a smaller one, or another border");
  passes_.fit_field(std::min(diagonal, passes_.reach()) + diagonal);
}

DType Morphology::squares() const {
  for (int axis = options_.batch_axes; axis < shape_.rank(); ++axis)
    if (passes_.spacing(axis - options_.batch_axes) != 1) return DType::float64;
  double most = 0;
  for (int axis = options_.batch_axes; axis < shape_.rank(); ++axis)
    most += static_cast<double>(shape_[axis]) * static_cast<double>(shape_[axis]);
  return most < static_cast<double>(std::numeric_limits<std::uint32_t>::max()) ? DType::uint32 : DType::uint64;
}

std::size_t Morphology::own_bytes(const Shape& part, int batch_axes) const {
  const auto elements = static_cast<std::size_t>(element_count(part));
  const Shape shape = pads() ? passes_.padded(part, batch_axes) : part;
  const auto all = static_cast<std::size_t>(element_count(shape));
  const auto of_a_plane = all / static_cast<std::size_t>(std::max<std::int64_t>(shape[0], 1));
  const std::int64_t planes = passes_.slab_planes(shape, batch_axes);
  const auto with_halo = static_cast<std::size_t>(passes_.planes_with_halo(shape, batch_axes));
  const bool in_slabs = planes < shape[0];
  const std::size_t of_field =
      of_a_plane * size_of(passes_.field()) * (by_label() ? with_halo : static_cast<std::size_t>(planes));
  const std::size_t of_mask = of_field + (in_slabs ? of_a_plane * with_halo : 0) + (pads() ? all : 0);
  if (!by_label()) return of_mask;
  const std::size_t of_squares = grows(base_) ? elements * size_of(squares()) : 0;
  const std::size_t of_growth = base_ == Operation::dilation ? elements * size_of(passes_.field()) : 0;
  return std::max(of_growth, elements + of_squares + std::max(of_squares, of_mask));
}

std::size_t Morphology::transform_bytes(const Shape& part, int batch_axes, bool least) const {
  std::size_t most = 0;
  const auto look = [&](DType dtype, const Shape& shape, Rule rule, grid::Border border,
                        std::optional<DType> squared = {}) {
    const auto options = passes_.distances({rule, 1}, border, batch_axes);
    most = std::max(most, passes_.transform_bytes({nullptr, dtype, shape}, options, least, squared));
  };
  const Shape shape = pads() ? passes_.padded(part, batch_axes) : part;
  if (options_.labels) look(dtype_, part, Rule::labels, outside(options_));
  if (by_label() && grows(base_)) look(dtype_, part, Rule::equal, grid::Border::open, squares());
  look(dtype_, part, by_label() ? Rule::not_equal : Rule::zero, outside(options_));
  look(dtype_, part, by_label() ? Rule::equal : Rule::nonzero, grid::Border::open);
  look(DType::uint8, shape, Rule::zero, outside(options_));
  look(DType::uint8, shape, Rule::nonzero, grid::Border::open);
  return most;
}

Shape Morphology::part_of_batch(std::int64_t elements, int& batch_axes) const {
  const auto behind = [&](int axis) {
    std::int64_t count = 1;
    for (int k = axis + 1; k < shape_.rank(); ++k) count *= std::max<std::int64_t>(shape_[k], 1);
    return count;
  };
  int first = 0;
  while (first < options_.batch_axes && behind(first) > elements) ++first;
  Shape part;
  for (int axis = first; axis < shape_.rank(); ++axis) part.push_back(shape_[axis]);
  batch_axes = options_.batch_axes - first;
  if (batch_axes > 0) part[0] = std::min(part[0], elements / behind(first));
  return part;
}

MorphologyReport Morphology::run(const AnyConstView& input, const AnyView& output) {
  if (element_count(shape_) == 0) return {};
  int batch_axes = 0;
  Shape part = part_of_batch(by_label() ? 0 : kElements, batch_axes);
  std::size_t of_transforms = transform_bytes(part, batch_axes, false);
  if (const auto limit = options_.execution.scratch_limit) {
    if (scratch_bytes(part, batch_axes, true) > *limit) part = part_of_batch(0, batch_axes);
    const std::size_t least = scratch_bytes(part, batch_axes, true), own = own_bytes(part, batch_axes);
    if (least > *limit)
      throw InvalidArgument("the scratch limit of " + std::to_string(*limit) + " bytes is too small; " +
                            std::to_string(least) + " are needed");
    passes_.limit_scratch(*limit - own);
    of_transforms = std::min(*limit - own, transform_bytes(part, batch_axes, false));
  }
  const int passes = (base_ == Operation::erosion || base_ == Operation::dilation ? 1 : 2) +
                     (options_.operation == Operation::gradient ? 1 : 0);
  images_ = static_cast<double>(element_count(shape_) / std::max<std::int64_t>(element_count(part), 1));
  if (!by_label()) passes_.report_progress((images_ + 1) * passes);
  each_part(input, output, options_.batch_axes, part);
  if (options_.execution.progress) options_.execution.progress(1);
  return {Backend::cpu, passes_.instruction_set(), passes_.threads(), own_bytes(part, batch_axes) + of_transforms, {}};
}

void Morphology::each_part(const AnyConstView& input, const AnyView& output, int batch_axes, const Shape& part) {
  if (input.rank() > part.rank())
    for (std::int64_t k = 0; k < input.shape()[0]; ++k)
      each_part(one_of(input, k), one_of(output, k), batch_axes - 1, part);
  else
    for (std::int64_t begin = 0; begin < input.shape()[0]; begin += part[0]) {
      const std::int64_t end = std::min(input.shape()[0], begin + part[0]);
      work(cropped(input, 0, begin, end), cropped(output, 0, begin, end), batch_axes);
    }
}

void Morphology::work(const AnyConstView& input, const AnyView& output, int batch_axes) {
  if (by_label()) of_labels(input, output);
  else if (!options_.labels) of_mask(input, {Rule::nonzero, 0}, output, batch_axes);
  else {
    passes_.each_slab(input, passes_.distances({Rule::labels, 0}, outside(options_), batch_axes),
                      [&](const AnyConstView& field, std::int64_t begin, std::int64_t end) {
                        cpu::keep_far(field, cropped(input, 0, begin, end), cropped(output, 0, begin, end), crew_);
                      });
  }
  derive(input, output, batch_axes);
}

/// The base operation. @param object  elements that are not 0, or equal to a label
void Morphology::of_mask(const AnyConstView& input, const grid::Sites& object, const AnyView& out, int batch_axes) {
  if (pads()) return padded_closing(input, object, out, batch_axes);
  const grid::Sites others{object.rule == Rule::nonzero ? Rule::zero : Rule::not_equal, object.value};
  if (grows(base_)) pass(input, object, true, out, batch_axes);
  else pass(input, others, false, out, batch_axes);
  if (base_ == Operation::opening) pass(out, {Rule::nonzero, 0}, true, out, batch_axes, true);
  if (base_ == Operation::closing) pass(out, {Rule::zero, 0}, false, out, batch_axes, true);
}

/// A dilation by sites, or the erosion by them. @param over  the input is the output
void Morphology::pass(const AnyConstView& input, const grid::Sites& sites, bool near, const AnyView& out,
                      int batch_axes, bool over) {
  const auto use = [&](const AnyConstView& field, std::int64_t begin, std::int64_t end) {
    cpu::threshold(field, near, cropped(out, 0, begin, end), crew_);
  };
  passes_.each_slab(input, passes_.distances(sites, near ? grid::Border::open : outside(options_), batch_axes), use,
                    over ? out : AnyView());
}

void Morphology::padded_closing(const AnyConstView& input, const grid::Sites& object, const AnyView& out,
                                int batch_axes) {
  Array grown(DType::uint8, passes_.padded(input.shape(), batch_axes));
  AnyView middle = grown.view();
  for (int axis = batch_axes; axis < middle.rank(); ++axis) {
    const std::int64_t begin = passes_.margin(axis - batch_axes);
    middle = cropped(middle, axis, begin, begin + input.shape()[axis]);
  }
  cpu::fill(false, grown.view(), crew_);
  cpu::mark(input, object, middle, crew_);
  pass(grown.view(), {Rule::nonzero, 0}, true, grown.view(), batch_axes, true);
  pass(grown.view(), {Rule::zero, 0}, false, grown.view(), batch_axes, true);
  cpu::copy_mask(middle, out, crew_);
}

/// How far any label reaches: where the radius is large, not farther than the farthest element from all labels.
double Morphology::growth_of(const AnyConstView& input) {
  constexpr std::int64_t kWide = 64;  // elements, from where another transform is worth it
  std::int64_t widest = 0;
  for (int axis = 0; axis < input.rank(); ++axis)
    widest = std::max(widest, std::min(passes_.margin(axis), input.shape()[axis]));
  if (base_ != Operation::dilation || widest < kWide) return passes_.reach();
  Array field(passes_.field(), input.shape());
  passes_.measure(input, passes_.distances({Rule::nonzero, 0}, grid::Border::open, 0), {field.view(), {}, {}, {}});
  return std::min(passes_.reach(), cpu::farthest(std::as_const(field).view(), crew_) * (1 + 0x1p-20));
}

void Morphology::of_labels(const AnyConstView& input, const AnyView& out) {
  const std::vector<LabelBox> labels = cpu::find_labels(input, crew_);
  const double growth = growth_of(input);
  cpu::fill(false, out, crew_);
  Array best;
  if (grows(base_)) {
    best = Array(squares(), input.shape());
    cpu::fill(true, best.view(), crew_);
  }
  double done = 0;
  for (const LabelBox& one : labels) {
    of_label(one, growth, input, grows(base_) ? best.view() : AnyView(), out);
    if (options_.execution.stop.stop_requested()) throw Cancelled();
    const double share = ++done / static_cast<double>(labels.size());
    if (options_.execution.progress) options_.execution.progress(std::min(1.0, (image_ + share) / images_));
  }
  ++image_;
}

/// The base operation of one label, in the box that it can change: with one element more, in which nothing is.
void Morphology::of_label(const LabelBox& one, double growth, const AnyConstView& input, const AnyView& best,
                          const AnyView& out) {
  AnyConstView from = input;
  AnyView to = out, least = best;
  for (int axis = 0; axis < input.rank(); ++axis) {
    const grid::Range& range = one.box[static_cast<std::size_t>(axis)];
    const std::int64_t more = grows(base_) ? passes_.margin(axis, growth) : 1;
    const std::int64_t begin = std::max<std::int64_t>(0, range.begin - more);
    const std::int64_t end = std::min(input.shape()[axis], range.end + more);
    from = cropped(from, axis, begin, end);
    to = cropped(to, axis, begin, end);
    if (least.present()) least = cropped(least, axis, begin, end);
  }
  const grid::Sites object{Rule::equal, one.label};
  Array mask;
  if (base_ != Operation::dilation) {
    mask = Array(DType::uint8, from.shape());
    of_mask(from, object, mask.view(), 0);
  }
  const AnyConstView covered = base_ == Operation::dilation ? AnyConstView() : std::as_const(mask).view();
  if (!grows(base_)) return cpu::claim(one.label, covered, to, crew_);
  Array squared(squares(), from.shape());
  passes_.measure(from, passes_.distances(object, grid::Border::open, 0), {{}, squared.view(), {}, {}});
  cpu::claim(one.label, covered, std::as_const(squared).view(), least, to, crew_);
}

/// What an operation makes of the one that it begins with.
void Morphology::derive(const AnyConstView& input, const AnyView& out, int batch_axes) {
  if (options_.operation == Operation::white_top_hat) cpu::keep_what_lacks(input, !options_.labels, out, crew_);
  if (options_.operation == Operation::black_top_hat) cpu::clear_object(input, out, crew_);
  if (options_.operation != Operation::gradient) return;
  passes_.each_slab(input,
                    passes_.distances({options_.labels ? Rule::labels : Rule::zero, 0}, outside(options_), batch_axes),
                    [&](const AnyConstView& field, std::int64_t begin, std::int64_t end) {
                      cpu::clear_far(field, cropped(out, 0, begin, end), crew_);
                    });
}

/// @throws InvalidArgument the output is missing, of another type or shape, or where the input is
void check(const AnyConstView& input, const MorphologyOptions& options, const AnyView& output) {
  if (!output.present()) throw InvalidArgument("no output was given");
  if (options.labels) check_output(input, output, "output", {input.dtype()});
  else check_output(input, output, "output", {DType::boolean, DType::uint8});
}

std::size_t scratch_bytes(const AnyConstView& input, const MorphologyOptions& options, bool least) {
  if (wants_device(options.execution)) {
    const AnyView output(nullptr, options.labels ? input.dtype() : DType::uint8, input.shape());
    const DeviceCopies shapes = copies_of({input}, {output});
    return shapes.bytes + morphology_scratch_bytes(shapes.inputs[0], options_on_device(options));
  }
  const Morphology call(input, options);
  if (element_count(input.shape()) == 0) return 0;
  int batch_axes = 0;
  const bool alone = least || (options.labels && options.operation != MorphologyOperation::erosion);
  const Shape part = call.part_of_batch(alone ? 0 : kElements, batch_axes);
  return call.scratch_bytes(part, batch_axes, least);
}

/// Between arrays of the host.
MorphologyReport run_there(const AnyConstView& input, const MorphologyOptions& options, const AnyView& output) {
  const std::size_t bytes = scratch_bytes(input, options, true);
  check_scratch(options.execution, bytes);
  const std::string device =
      run_on_device({input}, {output}, options.execution, [&](const DeviceCopies& at, Stream stream) {
        morphology(at.inputs[0], options_on_device(options), at.outputs[0], stream);
      });
  if (options.execution.progress) options.execution.progress(1);
  return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = device};
}

}  // namespace

MorphologyReport morphology(const AnyConstView& input, const MorphologyOptions& options, const AnyView& output) {
  Morphology call(input, options);
  check(input, options, output);
  return wants_device(options.execution) ? run_there(input, options, output) : call.run(input, output);
}

Array morphology(const AnyConstView& input, const MorphologyOptions& options) {
  Array output(options.labels ? input.dtype() : DType::boolean, input.shape());
  morphology(input, options, output.view());
  return output;
}

std::size_t morphology_scratch_bytes(const AnyConstView& input, const MorphologyOptions& options) {
  return scratch_bytes(input, options, false);
}

std::size_t least_morphology_scratch_bytes(const AnyConstView& input, const MorphologyOptions& options) {
  return scratch_bytes(input, options, true);
}

#ifdef FATHOM_HAS_CUDA

MorphologyReport morphology(const AnyConstDeviceView& input, const MorphologyOptions& options,
                            const AnyDeviceView& output, Stream stream) {
  check_device_execution(options.execution);
  const Morphology call(unchecked(input), options);
  check(unchecked(input), options, unchecked(output));
  if (element_count(input.shape()) == 0) return {.backend = Backend::cuda};
  const std::size_t bytes = cuda::morphology_scratch_bytes(call.call(), input);
  check_scratch(options.execution, bytes);
  const auto find_labels = [&](const AnyConstView& labels) {
    return cpu::find_labels(labels, {options.execution, thread_count(options.execution)});
  };
  const std::string device = cuda::morphology(call.call(), input, output, find_labels, stream);
  return {.backend = Backend::cuda, .scratch_bytes = bytes, .device = device};
}

std::size_t morphology_scratch_bytes(const AnyConstDeviceView& input, const MorphologyOptions& options) {
  const Morphology call(unchecked(input), options);
  return element_count(input.shape()) == 0 ? 0 : cuda::morphology_scratch_bytes(call.call(), input);
}

#else

MorphologyReport morphology(const AnyConstDeviceView&, const MorphologyOptions&, const AnyDeviceView&, Stream) {
  refuse_device_views();
}

std::size_t morphology_scratch_bytes(const AnyConstDeviceView&, const MorphologyOptions&) { refuse_device_views(); }

#endif

}  // namespace fathom::apps
