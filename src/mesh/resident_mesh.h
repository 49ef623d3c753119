// Meshes that live in a device's memory and answer there, as the front of the room sees them.
#pragma once

#include <string>

#include "fathom/core/device.h"
#include "mesh/answer.hd.h"

namespace fathom::mesh {

/// Calls return the bytes of device memory that they took beside the mesh. Those between arrays on the device are in
/// the stream's order; those between arrays of the host wait, in pieces that keep to the scratch limit.
class ResidentMesh {
 public:
  virtual ~ResidentMesh() = default;

  virtual std::string device_name() const = 0;
  virtual std::size_t bytes() const = 0;

  /// @throws InvalidArgument points or outputs are not in the memory of the mesh's device
  virtual std::size_t nearest(const AnyConstDeviceView& points, const Places& to, Stream stream) const = 0;
  virtual std::size_t nearest(const AnyConstView& points, const Places& to, const Execution& execution) const = 0;
  /// @throws InvalidArgument as above | the scratch limit is too small
  virtual std::size_t field(const Lattice& lattice, const Places& to, const Execution& execution,
                            Stream stream) const = 0;
  virtual std::size_t field(const Lattice& lattice, const Places& to, const Execution& execution) const = 0;
  /// Waits until it is done.
  virtual DeviceBand band(const Lattice& lattice, const BandOptions& options, Stream stream) const = 0;
  /// @throws InvalidArgument as above: here the band itself is scratch on the device
  virtual Band band(const Lattice& lattice, const BandOptions& options) const = 0;
};

}  // namespace fathom::mesh
