// The last step of the general engine: from values and indices of 32 neighbouring elements to the caller's outputs.
// Applies what is known element by element: borders of sites, the maximum distance, the sign.
#pragma once

#include <cstdint>
#include <vector>

#include "grid/cpu/classes.h"
#include "grid/cpu/metric.h"
#include "grid/problem.h"

namespace fathom::grid::cpu {

template <class V>
class Emitter {
 public:
  Emitter(const Problem& problem, const Classes& classes, InstructionSet instruction_set);

  /// Writes the part of a strip that lies in the region.
  /// @param at      coordinates of the strip's first element
  /// @param values  [32], overwritten
  /// @param index   [32], linear index of the nearest site, overwritten; null if no output wants it
  void emit(const PerAxis<std::int64_t>& at, V* values, std::int64_t* index) const;

 private:
  void clamp_to_border(const PerAxis<std::int64_t>& at, std::uint32_t lanes, V* values, std::int64_t* index) const;
  void apply_limit(V* values, std::int64_t* index) const;
  void write_distance(std::int64_t offset, int first, int count, std::uint32_t inside, const V* values) const;
  void write_squared(std::int64_t offset, int first, int count, const V* values) const;
  void write_nearest(std::int64_t offset, int first, int count, const std::int64_t* index) const;
  void write_coordinates(const PerAxis<std::int64_t>& at, int first, int count, const std::int64_t* index) const;

  const Problem& p_;
  const Classes& classes_;
  InstructionSet instruction_set_;
  V kept_;                              ///< largest value that is kept
  PerAxis<AxisCost<V>> cost_;
  bool has_border_ = false;             ///< some axis has a border of sites
};

}  // namespace fathom::grid::cpu
