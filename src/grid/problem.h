// A distance transform after validation: every option resolved, axes that cannot matter gone. What the engines read.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "fathom/grid/distance.h"

namespace fathom::grid {

inline constexpr int kMaxSpaceRank = 8;
inline constexpr std::int64_t kMostMultiple = 255;  ///< spacing / unit

template <class T>
using PerAxis = std::array<T, kMaxSpaceRank>;

/// Axes of extent 1 are dropped from `input`, `outputs` and all per-axis values, unless their border is `sites`; the
/// last one stays if rows would not be contiguous without it. The input or the region may be empty.
struct Problem {
  AnyConstView input;
  DistanceOutputs outputs;  ///< coordinates keep one leading component per axis of the *caller's* input
  Sites sites;
  Metric metric = Metric::euclidean;
  int rank = 0;
  PerAxis<double> spacing{};
  PerAxis<Border> border{};
  PerAxis<Range> region{};
  bool signed_distance = false;
  Surface surface = Surface::faces;
  double max_distance = 0;  ///< +inf: none

  int caller_rank = 0;               ///< axes of the caller's input
  PerAxis<int> caller_axis{};        ///< which of them each axis is
  PerAxis<std::int64_t> index_step{};  ///< in linear indices of the caller's input, from an element to its neighbour

  bool isotropic = true;  ///< the spacing is the same on all axes that are left
  /// The spacings are small multiples of one `unit`: all that decides is integer, and distances are unit distances
  /// times `unit`. True of every isotropic problem; where false, `unit` is 1.
  bool integral = true;
  double unit = 1;
  PerAxis<std::int64_t> multiple{};  ///< spacing / unit

  std::int64_t extent(int axis) const { return input.shape()[axis]; }
  const Range& range(int axis) const { return region[static_cast<std::size_t>(axis)]; }
  std::int64_t region_extent(int axis) const { return range(axis).end - range(axis).begin; }
};

/// Whether an output is wanted that says where the nearest site is.
inline bool wants_site(const Problem& p) {
  bool wants = false;
  for_each_output([&](const OutputKind& kind, const AnyView& view) { wants |= kind.is_of_site && view.present(); },
                  p.outputs);
  return wants;
}

/// Whether no outputs are wanted but these, or some of them.
inline bool wants_only(const Problem& p, std::initializer_list<AnyView DistanceOutputs::*> these) {
  bool only = true;
  for_each_output(
      [&](const OutputKind&, const AnyView& view) {
        bool is_one = false;
        for (AnyView DistanceOutputs::*one : these) is_one |= &(p.outputs.*one) == &view;
        only &= is_one || !view.present();
      },
      p.outputs);
  return only;
}

/// Drops axes of extent 1 as Problem says.
void drop_unit_axes(Problem& problem);

/// Bytes from the start of the input to the element at `at`.
inline std::int64_t offset_of(const AnyConstView& view, const PerAxis<std::int64_t>& at) {
  std::int64_t elements = 0;
  for (int k = 0; k < view.rank(); ++k) elements += at[static_cast<std::size_t>(k)] * view.strides()[k];
  return elements * static_cast<std::int64_t>(size_of(view.dtype()));
}

/// Looks at types and shapes alone, not at memory.
/// @throws InvalidArgument what was wrong and what would work
Problem make_problem(const AnyConstView& input, const DistanceOptions& options, const DistanceOutputs& outputs);

/// @throws InvalidArgument a view without memory | two views overlap
void check_memory(const AnyConstView& input, const DistanceOutputs& outputs);

}  // namespace fathom::grid
