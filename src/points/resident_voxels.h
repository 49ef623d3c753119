// Sets of voxels that live in a device's memory, as the front of the room sees them.
#pragma once

#include <cstdint>
#include <memory>

#include "fathom/core/view.h"
#include "points/pyramid.h"
#include "points/resident_set.h"

namespace fathom::points {

/// Linear indices of elements, in whatever memory.
struct ElementList {
  const std::int64_t* data = nullptr;
  std::int64_t count = 0;
  MemorySpace space = MemorySpace::host;
  Stream stream;  ///< in whose order they are there, on a device
};

class ResidentVoxels : public ResidentSet {
 public:
  /// Edits wait for queries at work, and until they are done.
  /// @param elements  of the host: of the grid. Of the device: looked at there, before anything is changed
  /// @return how many were changed
  /// @throws InvalidArgument elements on the device that the grid does not have; memory of another device
  virtual std::int64_t add(const ElementList& elements) = 0;
  virtual std::int64_t remove(const ElementList& elements) = 0;
  /// @param to  as many, in the same memory
  /// @return how many of `from` were sites
  virtual std::int64_t move(const ElementList& from, const ElementList& to) = 0;
  virtual bool contains(const Cell& element) const = 0;
};

}  // namespace fathom::points
