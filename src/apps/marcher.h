// A volume prepared for rays, on the host or on a device.
#pragma once

#include <memory>
#include <utility>

#include "apps/frame.hd.h"
#include "apps/solid.h"
#include "fathom/apps/ray_march.h"

namespace fathom::apps {

class Marcher {
 public:
  virtual ~Marcher() = default;

  /// Bytes that are kept, the solid voxels included.
  virtual std::size_t bytes() const = 0;
  /// Where it works.
  virtual Backend backend() const = 0;
  /// Writes the outputs. Many threads may call at once.
  virtual RayMarchReport march(const Frame& frame, const RayMarchOptions& options,
                               const RayMarchOutputs& outputs) const = 0;

  /// Extents, count and bounds; the bits only where the marcher reads them there.
  const Solid& solid() const { return solid_; }

 protected:
  explicit Marcher(Solid solid) : solid_(std::move(solid)) {}

  Solid solid_;
};

/// @throws InvalidArgument the memory limit is too small
void check_memory(const RayMarcherOptions& options, std::size_t needed);

/// How many of something that takes `each` bytes the scratch limit lets work, up to `wanted`.
/// @throws InvalidArgument not even one
std::int64_t fit_scratch(const Execution& execution, std::int64_t wanted, std::size_t each);

}  // namespace fathom::apps
