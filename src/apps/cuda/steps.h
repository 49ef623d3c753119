// Ways of stepping on a device: what is kept there, and what rays ask.
#pragma once

#include "apps/cuda/rays.h"
#include "apps/solid.h"
#include "fathom/apps/ray_march.h"

namespace fathom::apps::cuda {

/// Prepared once, used by many streams at once.
class Steps {
 public:
  virtual ~Steps() = default;

  /// All rays of a part to their ends. May wait for the stream.
  virtual void march(const Part& part, const RayMarchOptions& options, std::byte* scratch,
                     cudaStream_t stream) const = 0;
  virtual std::size_t bytes() const = 0;
  /// That march() needs for so many rays, besides what it takes from the pool itself.
  virtual std::size_t scratch_bytes(std::int64_t rays) const = 0;
};

/// @param voxels  of the solid, on the device
std::unique_ptr<const Steps> make_steps(const Solid& solid, const Voxels& voxels, const RayMarcherOptions& options);

}  // namespace fathom::apps::cuda
