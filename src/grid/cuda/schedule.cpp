#include "grid/cuda/schedule.h"

#include <algorithm>

#include "grid/cuda/scratch.h"

namespace fathom::grid::cuda {

namespace {

constexpr std::size_t kWorthCutting = std::size_t{16} << 20;  ///< bytes: less is copied in no time
constexpr std::size_t kLargestPiece = std::size_t{2} << 30;
// The results of an item come after all of its input, and take less time to compute than to copy: a few pieces overlap
// most.
constexpr std::size_t kPiecesOfItem = 4, kPiecesOfBatch = 16;

std::size_t region_elements(const Problem& p) {
  std::size_t elements = 1;
  for (int k = 0; k < p.rank; ++k) elements *= static_cast<std::size_t>(p.region_extent(k));
  return elements;
}

std::size_t input_bytes(const Problem& p) {
  return static_cast<std::size_t>(element_count(p.input.shape())) * size_of(p.input.dtype());
}

/// Rounded up as Scratch rounds.
std::size_t output_bytes(const Problem& p, std::int64_t items) {
  Scratch scratch(nullptr);
  for_each_output(
      [&](const OutputKind& kind, const AnyView& view) {
        if (!view.present()) return;
        const std::size_t components = kind.has_components ? static_cast<std::size_t>(view.shape()[0]) : 1;
        scratch.take<std::byte>(static_cast<std::int64_t>(components * region_elements(p) * size_of(view.dtype())) *
                                items);
      },
      p.outputs);
  return scratch.bytes();
}

/// How many of `count` units of `bytes` each make a piece of at most `piece` bytes; at least one.
std::int64_t units_in(std::size_t piece, std::size_t bytes, std::int64_t count) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(piece / std::max<std::size_t>(bytes, 1)), 1,
                                  std::max<std::int64_t>(count, 1));
}

class Scheduler {
 public:
  Scheduler(const Problem& p, const Batch& batch, const Engine& engine)
      : p_(p), engine_(engine), count_(batch.count()), of_input_(input_bytes(p)), of_output_(output_bytes(p, 1)) {}

  std::size_t all_bytes() const { return (of_input_ + of_output_) * static_cast<std::size_t>(count_); }

  /// With pieces of at most `piece` bytes, as far as they can be so small.
  Schedule make(std::size_t piece) const {
    Schedule s;
    s.items = units_in(piece, of_input_ + of_output_, engine_.group_of(count_));
    const Engine::Cut cut = engine_.cut();
    const std::int64_t length = p_.extent(0), results = p_.region_extent(cut.axis);
    s.upload = length;
    std::int64_t step = p_.extent(cut.axis);
    if (s.items == 1) {
      s.upload = pieces_of(length, engine_.packed_unit(), of_input_ / static_cast<std::size_t>(length), piece);
      step = pieces_of(step, cut.unit, of_output_ / static_cast<std::size_t>(results), piece);
    }
    s.parts = cut_range(p_.range(cut.axis), cut.unit, step);
    const bool several_groups = s.items < count_;
    s.upload_places = several_groups || s.upload < length ? 2 : 1;
    s.part_places = several_groups || s.parts.size() > 1 ? 2 : 1;
    measure(s, cut);
    return s;
  }

 private:
  /// Elements along an axis of `length`, a multiple of `unit`, that take at most `piece` bytes.
  static std::int64_t pieces_of(std::int64_t length, std::int64_t unit, std::size_t bytes_each, std::size_t piece) {
    return unit * units_in(piece, bytes_each * static_cast<std::size_t>(unit), (length + unit - 1) / unit);
  }

  void measure(Schedule& s, const Engine::Cut& cut) const {
    const auto items = static_cast<std::size_t>(s.items);
    const std::int64_t upload = std::min(s.upload, p_.extent(0));
    s.upload_bytes = of_input_ / static_cast<std::size_t>(p_.extent(0)) * static_cast<std::size_t>(upload) * items;
    s.words_bytes = engine_.words_bytes(s.items);
    for (const Range& range : s.parts) {
      const Problem part = part_of(p_, cut.axis, range);
      s.scratch_bytes = std::max(s.scratch_bytes, engine_.scratch_bytes(part, s.items));
      s.output_bytes = std::max(s.output_bytes, output_bytes(part, s.items));
      if (!engine_.reads_input()) continue;
      const std::size_t columns = of_input_ / static_cast<std::size_t>(p_.extent(cut.axis));
      const Range read = engine_.columns_read(range);
      s.input_bytes = std::max(s.input_bytes, columns * static_cast<std::size_t>(read.end - read.begin) * items);
    }
  }

  const Problem& p_;
  const Engine& engine_;
  const std::int64_t count_;
  const std::size_t of_input_, of_output_;  ///< bytes of an item
};

}  // namespace

std::size_t Schedule::bytes() const {
  Scratch scratch(nullptr);
  const auto take = [&](std::size_t bytes, int places) {
    for (int k = 0; k < places; ++k) scratch.take<std::byte>(static_cast<std::int64_t>(bytes));
  };
  take(words_bytes, 1);
  take(scratch_bytes, 1);
  take(upload_bytes, upload_places);
  take(input_bytes, part_places);
  take(output_bytes, part_places);
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

Schedule make_schedule(const Problem& problem, const Batch& batch, const Engine& engine, std::size_t budget) {
  const Scheduler scheduler(problem, batch, engine);
  const std::size_t pieces = batch.count() > 1 ? kPiecesOfBatch : kPiecesOfItem;
  for (std::size_t piece = std::clamp(scheduler.all_bytes() / pieces, kWorthCutting, kLargestPiece);; piece /= 2) {
    Schedule schedule = scheduler.make(piece);
    if (schedule.bytes() <= budget) return schedule;
    if (piece > 0) continue;
    schedule.upload_places = schedule.part_places = 1;
    return schedule;
  }
}

}  // namespace fathom::grid::cuda
