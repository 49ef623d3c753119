// How far rays may go from where they are: the ways of stepping.
#pragma once

#include <memory>
#include <span>

#include "apps/solid.h"
#include "apps/traveller.hd.h"
#include "fathom/apps/ray_march.h"

namespace fathom::apps::cpu {

/// Prepared once, asked by many threads at once.
class Steps {
 public:
  virtual ~Steps() = default;

  /// Lengths of way on which no ray meets a solid voxel; +inf: none is ahead.
  virtual void ahead(std::span<const Traveller> travellers, const RayMarchOptions& options, double* lengths) const = 0;
  virtual std::size_t bytes() const = 0;
  /// Of scratch for a call, for each ray.
  virtual std::size_t scratch_bytes() const = 0;
};

/// Bytes that a marcher keeps, and takes while it is built.
/// @param volume   not read
/// @param surface  how many voxels it has
std::size_t needed_bytes(const AnyConstView& volume, const RayMarcherOptions& options, std::int64_t surface);

/// @param volume  that `solid` was made of
std::unique_ptr<const Steps> make_steps(const AnyConstView& volume, const Solid& solid,
                                        const RayMarcherOptions& options);

}  // namespace fathom::apps::cpu
