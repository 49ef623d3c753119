// How a call for arrays of the host is cut, so that what is on the device stays within a budget: into groups of items,
// the input of a group into uploads along axis 0, its results into parts along the engine's cut.
#pragma once

#include <array>
#include <vector>

#include "grid/cuda/engine.h"

namespace fathom::grid::cuda {

struct Schedule {
  std::int64_t items = 1;    ///< of a group
  std::int64_t upload = 1;   ///< of the input's axis 0; all of it where a group has several items
  std::vector<Range> parts;  ///< of the results along the engine's cut; one where a group has several items
  /// On the device: two take turns where there are several uploads, or parts, and the budget lets them.
  std::size_t upload_places = 1, part_places = 1;
  std::size_t upload_bytes = 0;
  std::size_t words_bytes = 0, scratch_bytes = 0;
  std::size_t input_bytes = 0;   ///< of a part, where the engine reads the input again
  std::size_t output_bytes = 0;  ///< of a part

  /// Where the pieces lie.
  struct Places {
    std::byte *words, *scratch;
    std::array<std::byte*, 2> uploads{}, inputs{}, outputs{};
  };
  Places take(Scratch& scratch) const;
  /// Of device memory.
  std::size_t bytes() const;
};

/// The problem of one part of the results, without its arrays.
Problem part_of(const Problem& problem, int axis, const Range& range);

/// Outputs of some items of a part on the device in place of the host's, and their batch: item after item; of
/// coordinates, component after component.
void take_outputs(Problem& part, Batch& batch, std::int64_t items, Scratch& scratch);

/// A range in parts of at most `step`, a multiple of `unit`, that begin at multiples of `unit` but the first.
std::vector<Range> cut_range(const Range& range, std::int64_t unit, std::int64_t step);

/// The schedule with the largest pieces that stay within the budget and leave copies and computation something to
/// overlap; the one that takes the fewest bytes if no other stays within it, or none.
Schedule make_schedule(const Problem& problem, const Batch& batch, const Engine& engine, std::size_t budget);

}  // namespace fathom::grid::cuda
