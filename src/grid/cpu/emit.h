// The last step of the general engine: from values and indices of some neighbouring elements to the caller's outputs.
// Applies what is known element by element: borders of sites, the maximum distance, the sign.
#pragma once

#include <cstdint>
#include <vector>

#include "grid/cpu/classes.h"
#include "grid/cpu/indices.h"
#include "grid/metric.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

template <class V>
class Emitter {
 public:
  Emitter(const Problem& problem, const Classes& classes, InstructionSet instruction_set);

  /// Writes the results of `count` ≤ kRun elements of a row.
  /// @param at      coordinates of the first, which lie in the region
  /// @param values  overwritten
  /// @param index   linear indices of the nearest sites, overwritten; null if no output wants them
  void emit(const PerAxis<std::int64_t>& at, int count, V* values, IndexOf<V>* index) const;
  /// The same of small integer values, without indices; kNotNear: beyond the maximum distance. As many elements in each
  /// of `rows` neighbours along the slowest axis, kRun values apart.
  void emit(PerAxis<std::int64_t> at, int rows, int count, const std::uint16_t* values) const;
  /// To be called by each thread after its last emit().
  void finish() const;

 private:
  void clamp_to_border(const PerAxis<std::int64_t>& at, int count, const std::uint8_t* inside, V* values,
                       IndexOf<V>* index) const;
  void apply_limit(int count, V* values, IndexOf<V>* index) const;
  void write_distance(std::int64_t offset, int count, const std::uint8_t* inside, const V* values) const;
  void write_squared(std::int64_t offset, int count, const V* values) const;
  void write_nearest(std::int64_t offset, int count, const IndexOf<V>* index) const;
  template <class Out>
  void write_coordinates(std::int64_t offset, int count, const IndexOf<V>* index, Out* out) const;

  const Problem& p_;
  const Classes& classes_;
  InstructionSet instruction_set_;
  V kept_;  ///< largest value that is kept
  PerAxis<AxisCost<V>> cost_;
  bool scaled_ = false;      ///< distances are roots in float times the unit; else double has the last word
  bool plain_ = false;       ///< only such distances are wanted, of all values
  bool has_border_ = false;  ///< some axis has a border of sites
  bool stream_ = false;      ///< the distances are too many to stay in the caches
};

}  // namespace fathom::grid::cpu
