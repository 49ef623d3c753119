// The mean of a surface's distance from another one, by samples.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/cpu/field.h"

namespace fathom::mesh::cpu {

struct MeanDistance {
  double mean, rms;  ///< NaN without an area
  double error;      ///< of each at most
};

/// Samples of a surface: the middles of equal parts of its triangles, each one's as many as a power of two.
class Samples {
 public:
  /// @param count  about as many, and at least one for each triangle
  Samples(const PreparedMesh& from, std::int64_t count);

  std::int64_t size() const { return starts_.back(); }
  static std::size_t bytes(const PreparedMesh& from);

  /// Tells the monitor of each sample.
  MeanDistance distance(const Tree& to, const Run& run, Monitor& monitor) const;

 private:
  struct Sums;
  Sums sums_of(std::int64_t begin, std::int64_t end, const Tree& to, const Run& run, Monitor& monitor) const;

  const PreparedMesh& from_;
  std::vector<std::int64_t> starts_;  ///< of the samples of the triangle at each place of the tree
};

}  // namespace fathom::mesh::cpu
