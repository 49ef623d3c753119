// Weights of elements on a device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/weights.h"
#include "core/cuda/runtime.h"

namespace fathom::apps::cuda {

/// As Weights, in a device's memory, which goes in the order of the stream.
class DeviceWeights {
 public:
  /// @param given  as weights_of() takes it
  explicit DeviceWeights(const Weights& given, cudaStream_t stream);
  /// The same from an array in the device's memory. Waits.
  /// @throws InvalidArgument as weights_of()
  DeviceWeights(const AnyConstDeviceView& given, const Shape& shape, cudaStream_t stream);

  const Shape& shape() const { return shape_; }
  const std::uint16_t* values() const { return reinterpret_cast<const std::uint16_t*>(memory_.data()); }
  std::int64_t positive() const { return positive_; }
  std::int64_t total() const { return total_; }
  double scale() const { return scale_; }

  /// @param present  whether weights are given
  static std::size_t bytes(const Shape& shape, bool present);

 private:
  Shape shape_;
  fathom::cuda::DeviceMemory memory_;  ///< null: 1 everywhere
  std::int64_t positive_ = 0, total_ = 0;
  double scale_ = 1;
};

/// Weight of all rows before each. @param before  [rows + 1] of the device
void sum_rows(const DeviceWeights& weights, std::int64_t* before, std::byte* scratch, cudaStream_t stream);
std::size_t sum_rows_scratch_bytes(std::int64_t rows);

}  // namespace fathom::apps::cuda
