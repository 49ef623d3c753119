// From the nearest triangle of a point to the numbers that the caller asked for.
#pragma once

#include <cstdint>

#include "mesh/prepared.h"

namespace fathom::mesh {

/// @throws InvalidArgument no output at all, or one of another type or shape than asked for
/// @param questions  shape of the points that are asked about
void check_outputs(const Outputs& outputs, const Shape& questions);

/// The nearest point to `point` of the triangle at a place of the tree.
Vec3 closest_at(const PreparedMesh& set, std::int64_t place, Vec3 point);

/// Writes answers where they belong.
class Answers {
 public:
  Answers(const PreparedMesh& set, const Outputs& outputs);

  /// @param index    of the question: one number for each axis
  /// @param place    of the nearest triangle in the tree
  /// @param inside   whether the point is
  void put(std::initializer_list<std::int64_t> index, Vec3 point, std::int64_t place, double squared, bool inside) const;

 private:
  void put_details(std::initializer_list<std::int64_t> index, Vec3 point, std::int64_t place, bool inside) const;

  const PreparedMesh& set_;
  const Outputs& outputs_;
  bool details_;  ///< whether more is wanted than what a search finds
};

}  // namespace fathom::mesh
