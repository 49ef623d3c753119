// Which elements have a site within reach: distances with the reach as their maximum, in one piece or slab by slab.
//
// Since nothing farther counts, a slab of planes along the first axis needs only as many planes around it as the reach
// has: large arrays take little memory so, and distances stay in the caches until they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fathom/core/array.h"
#include "fathom/core/execution.h"
#include "fathom/core/workspace.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

/// The passes of one call over its arrays, and what they have in common.
class NearPasses {
 public:
  /// @param execution, spacing  of the caller, to outlive this
  /// @param reach               the last distance that is near
  NearPasses(const Execution& execution, const std::vector<double>& spacing, double reach)
      : execution_(execution), spacing_(spacing), reach_(reach) {}

  double reach() const { return reach_; }
  double spacing(int axis) const;
  /// Elements along an axis that may be within a distance, and one more.
  std::int64_t margin(int axis, double distance) const;
  std::int64_t margin(int axis) const { return margin(axis, reach_); }
  /// With that many elements on both sides of each axis of space.
  Shape padded(Shape shape, int batch_axes) const;

  /// The type that distances are computed in: it holds all of them that occur up to this one.
  void fit_field(double most);
  DType field() const { return field_; }

  /// Planes of a slab; all where it is not worth it, and of a batch.
  std::int64_t slab_planes(const Shape& shape, int batch_axes) const;
  /// The same with those around it.
  std::int64_t planes_with_halo(const Shape& shape, int batch_axes) const;

  /// Of the distances to sites that are near.
  grid::DistanceOptions distances(const grid::Sites& sites, grid::Border border, int batch_axes) const;
  /// Scratch of a pass in slabs, or of squared distances in one piece.
  /// @param out  type of the squares; none: distances
  std::size_t transform_bytes(const AnyConstView& input, const grid::DistanceOptions& options, bool least,
                              std::optional<DType> out = {}) const;

  /// Fills the outputs. @param share  of a pass over the array
  void measure(const AnyConstView& input, const grid::DistanceOptions& options, const grid::DistanceOutputs& outputs,
               double share = 1);
  /// Calls use(field, begin, end) for planes of the input, all together or slab by slab.
  /// @param over  the input, a mask, where use() changes those planes of it
  void each_slab(const AnyConstView& input, grid::DistanceOptions options,
                 const std::function<void(const AnyConstView&, std::int64_t, std::int64_t)>& use,
                 const AnyView& over = {});

  void limit_scratch(std::size_t bytes) { scratch_limit_ = bytes; }
  /// From now on passes report their progress, which ends with this many.
  void report_progress(double passes) { steps_ = passes; }
  /// Of the passes so far.
  InstructionSet instruction_set() const { return instruction_set_; }
  int threads() const { return threads_; }

 private:
  const Execution& execution_;
  const std::vector<double>& spacing_;
  const double reach_;
  DType field_ = DType::float32;
  std::optional<std::size_t> scratch_limit_;
  Workspace workspace_;  ///< of the transforms, if the caller has none
  InstructionSet instruction_set_ = InstructionSet::baseline;
  int threads_ = 1;
  double step_ = 0, steps_ = 0;  ///< passes that are done, and all; 0: nobody is told
};

}  // namespace fathom::apps
