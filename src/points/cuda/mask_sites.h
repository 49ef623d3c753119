// The sites of a mask in a device's memory: the elements that are not 0. No CUDA header is needed to call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "fathom/core/device.h"
#include "points/cloud.h"

namespace fathom::cuda {
class DeviceMemory;
}

namespace fathom::points::cuda {

/// Every `every`-th of them, in row-major order of the elements.
class MaskSites {
 public:
  /// Waits until they are found.
  /// @param with_ids  also their linear indices, which uint32 must hold
  /// @param limit     most bytes of the device's memory that this takes
  /// @throws InvalidArgument the limit is too small; the mask is not in a device's memory
  MaskSites(const AnyConstDeviceView& mask, std::int64_t every, bool with_ids, std::optional<std::size_t> limit,
            Stream stream);
  ~MaskSites();

  const Cloud& sites() const { return sites_; }      ///< int32 rows
  const std::uint32_t* ids() const { return ids_; }  ///< on the device; null without
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<fathom::cuda::DeviceMemory> memory_;
  Cloud sites_;
  std::uint32_t* ids_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fathom::points::cuda
