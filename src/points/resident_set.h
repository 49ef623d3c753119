// Sets of sites that live in a device's memory and answer there, as the front of the room sees them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fathom/core/device.h"
#include "points/request.h"
#include "points/tree.h"
#include "points/tree_change.h"

namespace fathom::points {

class ResidentSet {
 public:
  virtual ~ResidentSet() = default;

  virtual std::string device_name() const = 0;
  virtual bool reaches(const void* address) const = 0;  ///< whether that is memory of its device
  virtual std::int64_t count() const = 0;               ///< sites of a cloud
  virtual std::size_t bytes() const = 0;
  /// Read back from the device; of voxels the ids alone. Waits.
  virtual SiteList sites(std::size_t cloud) const = 0;

  /// Bytes of device memory that answer() takes for requests like this one, and answer_host() for it.
  /// @param room  bytes that there are; the result is more where that is not enough
  virtual std::size_t scratch_bytes(const Request& request, std::size_t room) const = 0;
  virtual std::size_t host_bytes(const Request& request, std::size_t room) const = 0;

  /// Answers one request for each cloud in the stream's order.
  /// @throws InvalidArgument queries or answers are not in the memory of the set's device
  virtual void answer(const std::vector<Request>& requests, std::size_t room, Stream stream) const = 0;
  /// The same between arrays in the host's memory; waits for the result.
  virtual void answer_host(const std::vector<Request>& requests, std::size_t room) const = 0;
};

/// One whose sites come and go as those of a tree of the host do (points/cpu/dynamic_tree.h).
class FollowingSet : public ResidentSet {
 public:
  /// Takes over what changed. Waits for queries at work, and until it is done.
  /// @throws DeviceError the device has not enough memory
  virtual void follow(const Tree& tree, const TreeChange& change) = 0;
};

/// What a set that does not change is made of.
struct ResidentSource {
  std::vector<Cloud> clouds;
  MemorySpace space = MemorySpace::host;     ///< device: the set refers to them, unless it is sorted. Host: to a copy
  std::vector<std::uint32_t> ids;            ///< where they are not the indices in the caller's array; else empty, …
  const std::uint32_t* ids_there = nullptr;  ///< … or on the device, with sites there
  Storage storage = Storage::sorted;
  std::optional<std::size_t> scratch_limit;
  std::optional<std::size_t> memory;       ///< most bytes of the device's that building takes and the set keeps
  int device = 0;                          ///< for sites of the host
  bool passing = false;                    ///< sites on the device are there for the building only
  std::function<void(const Box&)> accept;  ///< looks at the box of a cloud that is not empty, and may throw
};

/// Clouds of the host, which stay where they are and pass by, with the box of each.
struct StreamedSource {
  std::vector<Cloud> clouds;
  std::vector<Box> boxes;
  int device = 0;
};

}  // namespace fathom::points
