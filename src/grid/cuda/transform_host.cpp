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
  std::size_t place;  ///< of those that the device has for parts
};

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

  /// Puts a dense array on the device in place of the input: of its shape but along one axis.
  static void put_input(Problem& problem, Batch& batch, const std::byte* data, int axis, const Range& range) {
    Shape shape = problem.input.shape();
    shape[axis] = range.end - range.begin;
    problem.input = AnyConstView(data, problem.input.dtype(), shape);
    batch.input = Strides{element_count(shape)};
  }

  void make_words(std::int64_t first, std::int64_t items) {
    for (std::int64_t at = 0; at < p_.extent(0); at += schedule_.upload) {
      const std::size_t place = next_upload_++ % schedule_.upload_places;
      const Range range{at, std::min(at + schedule_.upload, p_.extent(0))};
      const auto rows = rows_of(p_.input, batch_.shape, batch_.input, {first, items, 0, range});
      packed_[place].hold_back(up_.get());
      upload(rows, places_.uploads[place]);
      Problem piece = p_;
      Batch batch;
      batch.shape = Shape{items};
      put_input(piece, batch, places_.uploads[place], 0, range);
      engine_.pack({.input = Input::of(piece, batch), .items = items, .to = at}, items, places_.words, compute_.get());
      packed_[place].record(compute_.get());
      monitor_.advance(static_cast<std::int64_t>(rows.all_bytes()));
    }
  }

  /// Its problem on the device.
  Problem problem_of(const Part& part, Batch& batch) const {
    const Slice& slice = part.slice;
    Problem problem = part_of(p_, slice.axis, slice.range);
    Scratch scratch(places_.outputs[part.place]);
    take_outputs(problem, batch, slice.items, scratch);
    if (!engine_.reads_input()) return problem;
    // The view has the place and the shape that it would have with all columns.
    const Range read = engine_.columns_read(slice.range);
    const std::int64_t before = read.begin * static_cast<std::int64_t>(size_of(p_.input.dtype()));
    put_input(problem, batch, places_.inputs[part.place] - before, p_.rank - 1, read);
    problem.input =
        AnyConstView(problem.input.data(), problem.input.dtype(), p_.input.shape(), problem.input.strides());
    return problem;
  }

  void start(const Part& part) {
    Batch batch;
    const Problem problem = problem_of(part, batch);
    if (engine_.reads_input()) {
      solved_[part.place].hold_back(up_.get());
      Slice read = part.slice;
      read.range = engine_.columns_read(read.range);
      upload(rows_of(p_.input, batch_.shape, batch_.input, read), places_.inputs[part.place]);
    }
    downloaded_[part.place].wait();  // here, so that the host does not run ahead of what it reports
    engine_.solve(problem, batch, 0, part.slice.items, places_.words, places_.scratch, compute_.get());
    solved_[part.place].record(compute_.get());
  }

  void finish(const Part& part) {
    solved_[part.place].hold_back(down_.get());
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
    downloaded_[part.place].record(down_.get());
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
  std::size_t next_upload_ = 0, next_part_ = 0;
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
