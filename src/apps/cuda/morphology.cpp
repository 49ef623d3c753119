// Morphology on a device: the steps of the CPU (apps/morphology.cpp), each a distance transform and a pass over its
// result. A batch is one array here, as far as its distances take little memory, but labels that are done one by one
// are found by the host, and each has launches of its own.
//
// With spacing 1 the transform has no maximum, which would cost it another pass over the distances: roots of different
// squares below 2²² are different floats, so that a threshold decides as the squares do.
#include "apps/cuda/morphology.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/cuda/arrays.h"
#include "apps/cuda/masks.h"
#include "apps/rows.h"
#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "fathom/core/array.h"
#include "fathom/core/error.h"
#include "fathom/grid/mark_sites.h"

namespace fathom::apps::cuda {

namespace {

using fathom::cuda::Scratch;
using Operation = MorphologyOperation;
using Rule = grid::Sites::Rule;

/// What a distance transform is asked, and which of its results are near.
struct Nearness {
  double max_distance, most;

  static Nearness of(const NearPasses& passes, int space_rank) {
    constexpr double kLargest = 2048;
    const bool is_float = passes.field() == DType::float32;
    bool is_unit = is_float && passes.reach() < kLargest;
    for (int axis = 0; axis < space_rank; ++axis) is_unit = is_unit && passes.spacing(axis) == 1;
    if (!is_unit)
      return {passes.reach(), is_float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max()};
    double square = std::floor(passes.reach() * passes.reach()) + 1;
    while (std::sqrt(square) > passes.reach()) --square;
    return {std::numeric_limits<double>::infinity(), static_cast<double>(static_cast<float>(std::sqrt(square)))};
  }
};

class Work {
 public:
  /// @param memory  null: counts bytes alone
  Work(const MorphologyCall& call, const AnyConstDeviceView& input, std::byte* memory, Stream stream)
      : call_(call),
        options_(call.options),
        input_(input),
        stream_(stream),
        nearness_(Nearness::of(call.passes, input.rank() - call.options.batch_axes)) {
    Scratch scratch(memory);
    const auto take = [&](DType dtype, std::int64_t elements) {
      return scratch.take<std::byte>(elements * static_cast<std::int64_t>(size_of(dtype)));
    };
    const std::int64_t elements = element_count(image()), all = element_count(padded());
    if (!call.by_label || call.options.operation != Operation::dilation) field_ = take(call.passes.field(), all);
    if (call.pads) grown_ = take(DType::uint8, all);
    if (call.by_label) {
      covered_ = take(DType::uint8, elements);
      if (grows(call.base)) best_ = take(call.squares, elements), squared_ = take(call.squares, elements);
      listed_ = memory;
    }
    bytes_ = scratch.bytes();
    if (call.by_label) bytes_ = std::max(bytes_, static_cast<std::size_t>(elements) * size_of(input.dtype()));
  }

  std::size_t bytes() const { return bytes_; }

  /// The most scratch that a transform takes beside it.
  std::size_t transform_bytes() const {
    std::size_t most = 0;
    const auto look = [&](DType dtype, const Shape& shape, Rule rule, grid::Border border, bool squares = false) {
      const AnyDeviceView out(nullptr, squares ? call_.squares : call_.passes.field(), shape);
      grid::DeviceDistanceOutputs outputs;
      (squares ? outputs.squared : outputs.distance) = out;
      most = std::max(most, grid::scratch_bytes(AnyConstDeviceView(nullptr, dtype, shape),
                                                distances({rule, 1}, border, squares), outputs));
    };
    const DType dtype = input_.dtype();
    if (options_.labels && (!call_.by_label || options_.operation == Operation::gradient))
      look(dtype, image(), Rule::labels, outside(options_));
    if (call_.by_label && grows(call_.base)) look(dtype, image(), Rule::equal, grid::Border::open, true);
    look(call_.pads ? DType::uint8 : dtype, padded(), call_.by_label ? Rule::not_equal : Rule::zero, outside(options_));
    look(call_.pads ? DType::uint8 : dtype, padded(), call_.by_label ? Rule::equal : Rule::nonzero, grid::Border::open);
    look(DType::uint8, padded(), Rule::zero, outside(options_));
    look(DType::uint8, padded(), Rule::nonzero, grid::Border::open);
    return most;
  }

  void run(const AnyDeviceView& out, const FindLabels& find_labels) {
    if (call_.by_label) return each_image(input_, out, options_.batch_axes, find_labels);
    if (options_.labels)
      pass(input_, {Rule::labels, 0}, outside(options_),
           [&](const Field& field) { keep(field, false, input_, out, stream()); });
    else of_mask(input_, {Rule::nonzero, 0}, out);
    derive(input_, out);
  }

 private:
  cudaStream_t stream() const { return fathom::cuda::native(stream_); }
  int batch_axes() const { return call_.by_label ? 0 : options_.batch_axes; }
  /// What is worked on at once.
  Shape image() const {
    Shape shape;
    for (int axis = call_.by_label ? options_.batch_axes : 0; axis < input_.rank(); ++axis)
      shape.push_back(input_.shape()[axis]);
    return shape;
  }
  Shape padded() const { return call_.pads ? call_.passes.padded(image(), batch_axes()) : image(); }

  grid::DistanceOptions distances(const grid::Sites& sites, grid::Border border, bool squares = false) const {
    grid::DistanceOptions options = call_.passes.distances(sites, border, batch_axes());
    options.max_distance = squares ? call_.passes.reach() : nearness_.max_distance;
    options.execution.backend = Backend::automatic;
    return options;
  }

  /// Calls use(the distances to sites).
  template <class Use>
  void pass(const AnyConstDeviceView& input, const grid::Sites& sites, grid::Border border, const Use& use) const {
    const AnyDeviceView field(field_, call_.passes.field(), input.shape());
    grid::DeviceDistanceOutputs outputs;
    outputs.distance = field;
    grid::distance_transform(input, distances(sites, border), outputs, stream_);
    use(Field{field, nearness_.most});
  }
  /// A dilation by sites, or the erosion by them.
  void pass(const AnyConstDeviceView& input, const grid::Sites& sites, bool near, const AnyDeviceView& out) const {
    pass(input, sites, near ? grid::Border::open : outside(options_),
         [&](const Field& field) { threshold(field, near, out, stream()); });
  }

  /// The base operation. @param object  elements that are not 0, or equal to a label
  void of_mask(const AnyConstDeviceView& input, const grid::Sites& object, const AnyDeviceView& out) const {
    if (call_.pads) return padded_closing(input, object, out);
    const grid::Sites others{object.rule == Rule::nonzero ? Rule::zero : Rule::not_equal, object.value};
    if (grows(call_.base)) pass(input, object, true, out);
    else pass(input, others, false, out);
    if (call_.base == Operation::opening) pass(out, {Rule::nonzero, 0}, true, out);
    if (call_.base == Operation::closing) pass(out, {Rule::zero, 0}, false, out);
  }

  void padded_closing(const AnyConstDeviceView& input, const grid::Sites& object, const AnyDeviceView& out) const {
    const AnyDeviceView grown(grown_, DType::uint8, call_.passes.padded(input.shape(), batch_axes()));
    AnyDeviceView middle = grown;
    for (int axis = batch_axes(); axis < middle.rank(); ++axis) {
      const std::int64_t begin = call_.passes.margin(axis - batch_axes());
      middle = cropped(middle, axis, begin, begin + input.shape()[axis]);
    }
    fill_elements(false, grown, stream());
    grid::mark_sites(input, object, middle, stream_);
    pass(grown, {Rule::nonzero, 0}, true, grown);
    pass(grown, {Rule::zero, 0}, false, grown);
    copy_elements(middle, out, stream());
  }

  void each_image(const AnyConstDeviceView& input, const AnyDeviceView& out, int batch_axes, const FindLabels& find) {
    if (batch_axes == 0) {
      of_labels(input, out, find);
      return derive(input, out);
    }
    for (std::int64_t k = 0; k < input.shape()[0]; ++k)
      each_image(one_of(input, k), one_of(out, k), batch_axes - 1, find);
  }

  std::vector<LabelBox> labels_of(const AnyConstDeviceView& input, const FindLabels& find) const {
    refuse_capture(stream_, "morphology that does labels one by one");
    Array labels(input.dtype(), input.shape());
    copy_elements(input, AnyDeviceView(listed_, input.dtype(), input.shape()), stream());
    fathom::cuda::check(cudaMemcpyAsync(labels.data(), listed_, labels.bytes(), cudaMemcpyDeviceToHost, stream()),
                        "copying labels");
    fathom::cuda::check(cudaStreamSynchronize(stream()), "copying labels");
    return find(std::as_const(labels).view());
  }

  void of_labels(const AnyConstDeviceView& input, const AnyDeviceView& out, const FindLabels& find) const {
    const std::vector<LabelBox> labels = labels_of(input, find);
    fill_elements(false, out, stream());
    AnyDeviceView best;
    if (grows(call_.base)) {
      best = AnyDeviceView(best_, call_.squares, input.shape());
      fill_elements(true, best, stream());
    }
    for (const LabelBox& one : labels) {
      if (options_.execution.stop.stop_requested()) throw Cancelled();
      of_label(one, input, best, out);
    }
  }

  /// The base operation of one label, in the box that it can change: with one element more, in which nothing is.
  void of_label(const LabelBox& one, const AnyConstDeviceView& input, const AnyDeviceView& best,
                const AnyDeviceView& out) const {
    AnyConstDeviceView from = input;
    AnyDeviceView to = out, least = best;
    for (int axis = 0; axis < input.rank(); ++axis) {
      const grid::Range& range = one.box[static_cast<std::size_t>(axis)];
      const std::int64_t more = grows(call_.base) ? call_.passes.margin(axis) : 1;
      const std::int64_t begin = std::max<std::int64_t>(0, range.begin - more);
      const std::int64_t end = std::min(input.shape()[axis], range.end + more);
      from = cropped(from, axis, begin, end);
      to = cropped(to, axis, begin, end);
      if (least.present()) least = cropped(least, axis, begin, end);
    }
    const grid::Sites object{Rule::equal, one.label};
    AnyDeviceView covered, squared;
    if (call_.base != Operation::dilation) {
      covered = AnyDeviceView(covered_, DType::uint8, from.shape());
      of_mask(from, object, covered);
    }
    if (grows(call_.base)) {
      squared = AnyDeviceView(squared_, call_.squares, from.shape());
      grid::DeviceDistanceOutputs outputs;
      outputs.squared = squared;
      grid::distance_transform(from, distances(object, grid::Border::open, true), outputs, stream_);
    }
    claim(one.label, covered, squared, least, to, stream());
  }

  /// What an operation makes of the one that it begins with.
  void derive(const AnyConstDeviceView& input, const AnyDeviceView& out) const {
    if (options_.operation == Operation::white_top_hat) keep_what_lacks(input, !options_.labels, out, stream());
    if (options_.operation == Operation::black_top_hat) clear_object(input, out, stream());
    if (options_.operation != Operation::gradient) return;
    pass(input, {options_.labels ? Rule::labels : Rule::zero, 0}, outside(options_),
         [&](const Field& field) { keep(field, true, out, out, stream()); });
  }

  const MorphologyCall& call_;
  const MorphologyOptions& options_;
  const AnyConstDeviceView input_;
  const Stream stream_;
  const Nearness nearness_;
  std::byte *field_ = nullptr, *grown_ = nullptr, *covered_ = nullptr, *best_ = nullptr, *squared_ = nullptr;
  std::byte* listed_ = nullptr;  ///< labels on their way to the host, before the rest is used
  std::size_t bytes_ = 0;
};

/// Of the first axis of a batch, how much is worked on at once.
std::int64_t group_of(const MorphologyCall& call, const Shape& shape) {
  constexpr std::int64_t kElements = std::int64_t{1} << 26;
  if (call.options.batch_axes == 0) return shape[0];
  return std::clamp<std::int64_t>(kElements / (element_count(shape) / shape[0]), 1, shape[0]);
}

}  // namespace

std::size_t morphology_scratch_bytes(const MorphologyCall& call, const AnyConstDeviceView& input) {
  const Work work(call, cropped(input, 0, 0, group_of(call, input.shape())), nullptr, {});
  return work.bytes() + work.transform_bytes();
}

std::string morphology(const MorphologyCall& call, const AnyConstDeviceView& input, const AnyDeviceView& out,
                       const FindLabels& find_labels, Stream stream) {
  const int device = device_of({{input, "input"}, {out, "output"}}, stream);
  const fathom::cuda::OnDevice on_device(device);
  const std::int64_t all = input.shape()[0], group = group_of(call, input.shape());
  const fathom::cuda::DeviceMemory memory(Work(call, cropped(input, 0, 0, group), nullptr, stream).bytes(),
                                          fathom::cuda::native(stream));
  for (std::int64_t begin = 0; begin < all; begin += group) {
    const std::int64_t end = std::min(all, begin + group);
    Work(call, cropped(input, 0, begin, end), memory.data(), stream).run(cropped(out, 0, begin, end), find_labels);
  }
  return describe_device(device).name;
}

}  // namespace fathom::apps::cuda
