#include "grid/cuda/schedule.h"

#include <algorithm>

namespace fathom::grid::cuda {

namespace {

constexpr std::size_t kWorthCutting = std::size_t{16} << 20;  ///< bytes: less is copied in no time
constexpr std::size_t kLargestPiece = std::size_t{2} << 30;
// The results of an item come after all of its input, and take less time to compute than to copy: a few pieces overlap
// most.
constexpr std::size_t kPiecesOfItem = 4, kPiecesOfBatch = 16;

std::size_t input_bytes(const Problem& p) {
  return static_cast<std::size_t>(element_count(p.input.shape())) * size_of(p.input.dtype());
}

std::size_t output_bytes(Problem p, std::int64_t items) {
  Scratch scratch(nullptr);
  Batch batch;
  take_outputs(p, batch, items, scratch);
  return scratch.bytes();
}

/// How many of `count` units of `bytes` each make a piece of at most `piece` bytes; at least one.
std::int64_t units_in(std::size_t piece, std::size_t bytes, std::int64_t count) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(piece / std::max<std::size_t>(bytes, 1)), 1,
                                  std::max<std::int64_t>(count, 1));
}

/// Elements along an axis of `length`, a multiple of `unit`, that take at most `piece` bytes.
std::int64_t pieces_of(std::int64_t length, std::int64_t unit, std::size_t bytes_each, std::size_t piece) {
  return unit * units_in(piece, bytes_each * static_cast<std::size_t>(unit), (length + unit - 1) / unit);
}

/// With pieces of at most `piece` bytes, as far as they can be so small.
Schedule schedule_of(const Problem& p, std::int64_t count, const Engine& engine, std::size_t piece) {
  const std::size_t of_input = input_bytes(p), of_output = output_bytes(p, 1);
  const Engine::Cut cut = engine.cut();
  const std::int64_t length = p.extent(0), results = p.region_extent(cut.axis);
  const std::size_t of_row = of_input / static_cast<std::size_t>(length);
  Schedule s{.items = units_in(piece, of_input + of_output, engine.group_of(count)), .upload = length};
  std::int64_t step = p.extent(cut.axis);
  if (s.items == 1) {
    s.upload = pieces_of(length, engine.packed_unit(), of_row, piece);
    step = pieces_of(step, cut.unit, of_output / static_cast<std::size_t>(results), piece);
  }
  s.parts = cut_range(p.range(cut.axis), cut.unit, step);
  const bool several_groups = s.items < count;
  s.upload_places = several_groups || s.upload < length ? 2 : 1;
  s.part_places = several_groups || s.parts.size() > 1 ? 2 : 1;
  const auto items = static_cast<std::size_t>(s.items);
  s.upload_bytes = of_row * static_cast<std::size_t>(std::min(s.upload, length)) * items;
  s.words_bytes = engine.words_bytes(s.items);
  for (const Range& range : s.parts) {
    const Problem part = part_of(p, cut.axis, range);
    s.scratch_bytes = std::max(s.scratch_bytes, engine.scratch_bytes(part, s.items));
    s.output_bytes = std::max(s.output_bytes, output_bytes(part, s.items));
    if (!engine.reads_input()) continue;
    const std::size_t column = of_input / static_cast<std::size_t>(p.extent(cut.axis));
    const Range read = engine.columns_read(range);
    s.input_bytes = std::max(s.input_bytes, column * static_cast<std::size_t>(read.end - read.begin) * items);
  }
  return s;
}

}  // namespace

Schedule::Places Schedule::take(Scratch& scratch) const {
  const auto take = [&](std::size_t bytes) { return scratch.take<std::byte>(static_cast<std::int64_t>(bytes)); };
  Places places{.words = take(words_bytes), .scratch = take(scratch_bytes)};
  for (std::size_t k = 0; k < upload_places; ++k) places.uploads[k] = take(upload_bytes);
  for (std::size_t k = 0; k < part_places; ++k)
    places.inputs[k] = take(input_bytes), places.outputs[k] = take(output_bytes);
  return places;
}

std::size_t Schedule::bytes() const {
  Scratch scratch(nullptr);
  take(scratch);
  return scratch.bytes();
}

std::vector<Range> cut_range(const Range& range, std::int64_t unit, std::int64_t step) {
  std::vector<Range> parts;
  for (std::int64_t begin = range.begin; begin < range.end;) {
    const std::int64_t end = std::min(begin / unit * unit + step, range.end);
    parts.push_back({begin, end});
    begin = end;
  }
  return parts;
}

Problem part_of(const Problem& problem, int axis, const Range& range) {
  Problem part = problem;
  part.region[static_cast<std::size_t>(axis)] = range;
  return part;
}

void take_outputs(Problem& part, Batch& batch, std::int64_t items, Scratch& scratch) {
  batch.shape = Shape{items};
  const auto take = [&](const OutputKind& kind, AnyView& view, Strides& item) {
    if (!view.present()) return;
    Shape shape;
    if (kind.has_components) shape.push_back(view.shape()[0]);
    for (int k = 0; k < part.rank; ++k) shape.push_back(part.region_extent(k));
    Strides strides = dense_strides(shape);
    const std::int64_t elements = element_count(shape);
    item = Strides{kind.has_components ? strides[0] : elements};
    if (kind.has_components) strides[0] *= items;
    const std::int64_t bytes = elements * items * static_cast<std::int64_t>(size_of(view.dtype()));
    view = AnyView(scratch.take<std::byte>(bytes), view.dtype(), shape, strides);
  };
  for_each_output(take, part.outputs, batch);
}

Schedule make_schedule(const Problem& problem, const Batch& batch, const Engine& engine, std::size_t budget) {
  const auto count = static_cast<std::size_t>(batch.count());
  const std::size_t all = (input_bytes(problem) + output_bytes(problem, 1)) * count;
  const std::size_t pieces = batch.count() > 1 ? kPiecesOfBatch : kPiecesOfItem;
  for (std::size_t piece = std::clamp(all / pieces, kWorthCutting, kLargestPiece);; piece /= 2) {
    Schedule schedule = schedule_of(problem, batch.count(), engine, piece);
    if (schedule.bytes() <= budget) return schedule;
    if (piece > 0) continue;
    schedule.upload_places = schedule.part_places = 1;
    return schedule;
  }
}

}  // namespace fathom::grid::cuda
