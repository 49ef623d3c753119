// Meshes that live in a device's memory and answer there, as the front of the room sees them.
#pragma once

#include <cstddef>
#include <string>

#include "fathom/core/device.h"
#include "fathom/core/error.h"
#include "mesh/answer.hd.h"

namespace fathom::mesh {

/// A scratch limit is below what a call needs of a device.
class ScratchTooSmall : public InvalidArgument {
 public:
  ScratchTooSmall(const std::string& message, std::size_t needed) : InvalidArgument(message), needed_(needed) {}
  std::size_t needed() const { return needed_; }  ///< bytes, at least

 private:
  std::size_t needed_;
};

inline InvalidArgument device_memory_too_small(std::size_t limit, std::size_t needed) {
  return InvalidArgument("the limit of " + std::to_string(limit) + " bytes of device memory is too small; at least " +
                         std::to_string(needed) + " are needed");
}

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
  /// In slabs of the lattice, where the device or the limit has no room for all of it: the band itself is scratch here.
  virtual Band band(const Lattice& lattice, const BandOptions& options) const = 0;
};

}  // namespace fathom::mesh
