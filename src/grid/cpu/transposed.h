// Arrays with short rows beside a long axis, such as a column of numbers. The engines work along rows, whole vectors of
// them at a time, and keep scratch for each line across: here that axis becomes the last, in copies of the views unless
// its elements lie one behind the other. Ties go by the caller's indices all the same, see Problem::index_step.
// Cost: the time and the memory of those copies.
#pragma once

#include <vector>

#include "fathom/core/execution.h"
#include "grid/cpu/arena.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

/// The axis to work along: the longest if rows are much shorter, else the last.
int best_row_axis(const Problem& problem);

class Transposed {
 public:
  /// @param axis   to work along; if it is the last, nothing changes
  /// @param arena  holds the copies; without memory it counts them
  Transposed(const Problem& problem, int axis, Arena& arena);

  /// The same problem, of the copies.
  const Problem& problem() const { return problem_; }

  /// Before and after the work. @throws Cancelled
  void copy_input(int threads, const Execution& execution) const;
  void copy_outputs(int threads, const Execution& execution) const;

 private:
  /// From one array to another of the same extents, of elements of `size` bytes; strides are in bytes.
  struct Copy {
    std::size_t size;
    Shape extent;
    const std::byte* from;
    Strides from_step;
    std::byte* to;
    Strides to_step;

    void run(int threads, const Execution& execution) const;
    template <std::size_t kSize>
    void plane(const std::byte* first, std::byte* to_first, const Range& columns) const;
  };

  AnyConstView input(const AnyConstView& view, int axis, Arena& arena);
  AnyView output(const AnyView& view, int axis, Arena& arena);

  Problem problem_;
  std::vector<Copy> inputs_, outputs_;
};

}  // namespace fathom::grid::cpu
