// The call for arrays of the host: uploads, computes and downloads piece by piece, at the same time.
//
// Three streams: one uploads the input, which becomes words at once; one computes, a part of the results after the
// other; one downloads them. Pieces that are on the way have two places on the device, so that while one is computed
// on, the next arrives, or the last leaves. The host fills and empties what pageable memory needs
// (core/cuda/staging.h).
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/cuda/runtime.h"
#include "core/cuda/staging.h"
#include "core/parallel.h"
#include "grid/cuda/schedule.h"
#include "grid/cuda/transform.h"

namespace fathom::grid::cuda {

namespace {

using fathom::cuda::DeviceMemory;
using fathom::cuda::Event;
using fathom::cuda::HostRows;
using fathom::cuda::OnDevice;
using fathom::cuda::OwnStream;
using fathom::cuda::Staging;

/// Some items of a batch, and a range of each along an axis: what a piece is cut by.
struct Slice {
  std::int64_t first_item, items;
  int axis;
  Range range;  ///< where the view begins at 0
};

/// @param leading  axes of the view before those of an item: one, of components, or none
template <class Byte>
HostRows<Byte> rows_of(const BasicAnyView<Byte, MemorySpace::host>& view, const Shape& batch, const Strides& strides,
                       const Slice& slice, int leading = 0, std::int64_t component = 0) {
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  HostRows<Byte> rows;
  rows.data = view.data();
  if (leading > 0) rows.data += component * view.strides()[0] * size;
  for (int k = 0; k < batch.rank(); ++k) {
    rows.extent.push_back(batch[k]);
    rows.stride.push_back(strides[k] * size);
  }
  const int last = view.rank() - 1, axis = leading + slice.axis;
  std::int64_t of_item = 1, of_place = 1;  // rows
  for (int k = leading; k < last; ++k) {
    rows.extent.push_back(view.shape()[k]);
    rows.stride.push_back(view.strides()[k] * size);
    of_item *= view.shape()[k];
    if (k > axis) of_place *= view.shape()[k];
  }
  const std::int64_t length = slice.range.end - slice.range.begin;
  rows.first = slice.first_item * of_item;
  rows.count = slice.items * of_item;
  rows.bytes = static_cast<std::size_t>(view.shape()[last] * size);
  if (axis == last) {
    rows.data += slice.range.begin * size;
    rows.bytes = static_cast<std::size_t>(length * size);
  } else if (slice.items == 1) {
    rows.first += slice.range.begin * of_place;
    rows.count = length * of_place;
  }
  rows.join();
  return rows;
}

/// A part of the results on its way.
struct Part {
  Slice slice;
  int place = 0;  ///< of those that the device has for parts
};

/// From an output of the host to its part on the device, item after item; of coordinates, component after component.
void take_on_device(AnyView& view, Strides& item, const Problem& part, std::int64_t items, Scratch& scratch) {
  if (!view.present()) return;
  const bool components = view.rank() > part.rank;
  Shape shape;
  if (components) shape.push_back(view.shape()[0]);
  std::int64_t elements = 1;
  for (int k = 0; k < part.rank; ++k) {
    shape.push_back(part.region_extent(k));
    elements *= part.region_extent(k);
  }
  Strides strides = dense_strides(shape);
  if (components) strides[0] *= items;
  const std::int64_t bytes = element_count(shape) * items * static_cast<std::int64_t>(size_of(view.dtype()));
  view = AnyView(scratch.take<std::byte>(bytes), view.dtype(), shape, strides);
  item = Strides{elements};
}

class HostTransform {
 public:
  HostTransform(const Problem& problem, const Batch& batch, const Engine& engine, const Schedule& schedule,
                const Execution& execution)
      : p_(problem),
        batch_(batch),
        engine_(engine),
        schedule_(schedule),
        staging_(execution.threads > 0 ? execution.threads : available_threads(), all_bytes()),
        monitor_(execution, static_cast<std::int64_t>(all_bytes())),
        memory_(schedule.bytes(), compute_.get()) {
    Scratch scratch(memory_.data());
    places_ = schedule.take(scratch);
    compute_.wait();  // the memory is there for all streams
  }

  void run() {
    std::optional<Part> before;
    for (std::int64_t first = 0; first < batch_.count(); first += schedule_.items) {
      const std::int64_t items = std::min(schedule_.items, batch_.count() - first);
      make_words(first, items);
      for (const Range& range : schedule_.parts) {
        const Part part{{first, items, engine_.cut().axis, range}, next_part_++ % schedule_.part_places};
        if (before && schedule_.part_places == 1) finish(*std::exchange(before, std::nullopt));
        start(part);
        if (before) finish(*before);
        before = part;
      }
    }
    if (before) finish(*before);
    down_.wait();
  }

 private:
  std::size_t all_bytes() const {
    std::size_t bytes = static_cast<std::size_t>(element_count(p_.input.shape())) * size_of(p_.input.dtype());
    for_each_output(
        [&](const OutputKind&, const AnyView& view) {
          if (view.present()) bytes += static_cast<std::size_t>(element_count(view.shape())) * size_of(view.dtype());
        },
        p_.outputs);
    return bytes * static_cast<std::size_t>(batch_.count());
  }

  void upload(const HostRows<const std::byte>& rows, std::byte* to) {
    staging_.upload(rows, to, up_.get());
    uploaded_.record(up_.get());
    uploaded_.hold_back(compute_.get());
  }

  /// A dense array on the device of the input's shape but along one axis.
  Input input_at(const std::byte* data, int axis, std::int64_t extent) const {
    Input input{.data = data, .dtype = p_.input.dtype(), .rank = p_.rank};
    std::int64_t stride = 1;
    for (int k = p_.rank - 1; k >= 0; --k) {
      input.extent[k] = k == axis ? extent : p_.extent(k);
      input.stride[k] = stride;
      stride *= input.extent[k];
    }
    input.items = ItemStrides::of(Shape{schedule_.items}, Strides{stride});
    return input;
  }

  void make_words(std::int64_t first, std::int64_t items) {
    for (std::int64_t at = 0; at < p_.extent(0); at += schedule_.upload) {
      const auto place = static_cast<std::size_t>(next_upload_++ % schedule_.upload_places);
      const Range range{at, std::min(at + schedule_.upload, p_.extent(0))};
      const auto rows = rows_of(p_.input, batch_.shape, batch_.input, {first, items, 0, range});
      packed_[place].hold_back(up_.get());
      upload(rows, places_.uploads[place]);
      const Packing packing{
          .input = input_at(places_.uploads[place], 0, range.end - range.begin), .items = items, .to = at};
      engine_.pack(packing, items, places_.words, compute_.get());
      packed_[place].record(compute_.get());
      monitor_.advance(static_cast<std::int64_t>(rows.all_bytes()));
    }
  }

  /// Its problem on the device.
  Problem problem_of(const Part& part, Batch& batch) const {
    const Slice& slice = part.slice;
    const auto place = static_cast<std::size_t>(part.place);
    Problem problem = part_of(p_, slice.axis, slice.range);
    batch.shape = Shape{slice.items};
    Scratch scratch(places_.outputs[place]);
    const auto take = [&](const OutputKind&, AnyView& view, Strides& item) {
      take_on_device(view, item, problem, slice.items, scratch);
    };
    for_each_output(take, problem.outputs, batch);
    if (!engine_.reads_input()) return problem;
    // The view has the place that it would have with all columns.
    const Range read = engine_.columns_read(slice.range);
    const Input input = input_at(places_.inputs[place], p_.rank - 1, read.end - read.begin);
    const std::int64_t before = read.begin * static_cast<std::int64_t>(size_of(input.dtype));
    Strides strides;
    for (int k = 0; k < p_.rank; ++k) strides.push_back(input.stride[k]);
    problem.input = AnyConstView(input.data - before, input.dtype, p_.input.shape(), strides);
    batch.input = Strides{input.stride[0] * input.extent[0]};
    return problem;
  }

  void start(const Part& part) {
    const Slice& slice = part.slice;
    const auto place = static_cast<std::size_t>(part.place);
    Batch batch;
    const Problem problem = problem_of(part, batch);
    if (engine_.reads_input()) {
      solved_[place].hold_back(up_.get());
      Slice read = slice;
      read.range = engine_.columns_read(slice.range);
      upload(rows_of(p_.input, batch_.shape, batch_.input, read), places_.inputs[place]);
    }
    downloaded_[place].wait();  // here, so that the host does not run ahead of what it reports
    engine_.solve(problem, batch, 0, slice.items, places_.words, places_.scratch, compute_.get());
    solved_[place].record(compute_.get());
  }

  void finish(const Part& part) {
    const auto place = static_cast<std::size_t>(part.place);
    solved_[place].hold_back(down_.get());
    Batch batch;
    const Problem problem = problem_of(part, batch);
    std::int64_t bytes = 0;
    const auto get = [&](const OutputKind& kind, const AnyView& host, const Strides& strides, const AnyView& device) {
      if (!host.present()) return;
      Slice slice = part.slice;
      const std::int64_t begin = p_.range(slice.axis).begin;
      slice.range = {slice.range.begin - begin, slice.range.end - begin};
      const std::byte* from = device.data();
      for (std::int64_t k = 0; k < (kind.has_components ? host.shape()[0] : 1); ++k) {
        const auto rows = rows_of(host, batch_.shape, strides, slice, kind.has_components ? 1 : 0, k);
        staging_.download(from, rows, down_.get());
        from += rows.all_bytes();
        bytes += static_cast<std::int64_t>(rows.all_bytes());
      }
    };
    for_each_output(get, p_.outputs, batch_, problem.outputs);
    downloaded_[place].record(down_.get());
    monitor_.advance(bytes);
  }

  const Problem& p_;
  const Batch& batch_;
  const Engine& engine_;
  const Schedule& schedule_;
  Staging staging_;
  Monitor monitor_;
  Event uploaded_;  ///< one will do: a stream waits for what was recorded before
  std::array<Event, 2> packed_, solved_, downloaded_;
  // In this order, so that nothing is under way when memory and callers' arrays go, also after an error: streams wait
  // when they go, and memory is given back in the order of compute_.
  const OwnStream compute_;
  const DeviceMemory memory_;
  const OwnStream up_, down_;
  Schedule::Places places_{};
  int next_upload_ = 0, next_part_ = 0;
};

}  // namespace

std::size_t host_bytes(const Problem& problem, const Batch& batch, std::size_t budget) {
  return make_schedule(problem, batch, *choose_engine(problem, false).engine, budget).bytes();
}

Done transform_host(const Problem& problem, const Batch& batch, std::size_t budget, const Execution& execution) {
  const int device = current_device();
  const OnDevice on_device(device);
  const auto [engine, name] = choose_engine(problem, false);
  const Schedule schedule = make_schedule(problem, batch, *engine, budget);
  HostTransform(problem, batch, *engine, schedule, execution).run();
  return {describe_device(device).name, name, schedule.bytes()};
}

}  // namespace fathom::grid::cuda
