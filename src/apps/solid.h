// Which voxels of a volume are solid: one bit each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/hull.h"
#include "apps/voxels.hd.h"
#include "fathom/core/array.h"
#include "fathom/core/view.h"
#include "fathom/grid/distance.h"

namespace fathom::apps {

struct Solid {
  std::array<std::int32_t, 3> extents{};
  std::int64_t count = 0;
  Index low{}, high{};  ///< smallest and largest index of a solid voxel along each axis
  std::vector<Index> corners;  ///< of the solid voxels' convex hull, and a few points inside
  std::vector<std::uint64_t> words;

  /// Of the words, wherever they are.
  std::size_t bytes() const {
    return static_cast<std::size_t>(extents[0] * words_of_row(extents[2]) * extents[1]) * sizeof(std::uint64_t);
  }
  Voxels voxels() const { return {words.data(), words_of_row(extents[2]), {extents[0], extents[1], extents[2]}}; }
};

/// @param volume  3 axes of int32 extents
Solid solid_of(const AnyConstView& volume, const std::optional<grid::Sites::Value>& threshold, int threads);

/// The same without words, from rows that were looked at elsewhere. @param rows  [z, y]
Solid solid_of(const std::array<std::int32_t, 3>& extents, const SolidRow* rows, int threads);

/// The surface: solid voxels that have a face to what is not solid. From anywhere outside, one of them is the nearest,
/// and one of them is met first.
std::int64_t count_surface(const Solid& solid);
/// Their indices, int32 [count, 3].
Array surface_of(const Solid& solid, std::int64_t count);

}  // namespace fathom::apps
