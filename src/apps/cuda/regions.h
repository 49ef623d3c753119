// Regions on a device: sums of each, and where they touch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/region_sums.hd.h"
#include "fathom/core/view.h"

namespace fathom::apps::cuda {

/// The nearest sites of a grid, which may be some times as fine as the weights. Memory is of the device.
struct Regions {
  int axes = 1;
  std::uint32_t extent[kMostAxes] = {};  ///< of the grid; as many as there are axes
  std::uint32_t elements = 0;            ///< of the grid: at most 2³¹ − 1, not 0
  const std::int32_t* nearest = nullptr;
  std::int32_t* numbers = nullptr;        ///< [elements] of the site at a linear index; read at sites alone
  const std::int32_t* places = nullptr;   ///< [n, axes] of the sites, by number
  const std::uint16_t* weights = nullptr; ///< dense; null: 1 everywhere
  int supersample = 1;

  Regions(const Shape& grid, const std::int32_t* nearest_sites, std::int32_t* site_numbers);
};

/// Numbers the sites, which are elements that are their own nearest sites, in ascending order.
class SiteNumbers {
 public:
  /// @param scratch  scratch_bytes() for such a grid
  static std::size_t scratch_bytes(std::int64_t elements);
  /// Writes regions.numbers. Waits. @return how many sites there are
  static std::int64_t find(const Regions& regions, std::byte* scratch, cudaStream_t stream);
  /// @param sites   [n] their linear indices
  /// @param places  [n, axes]
  static void list(const Regions& regions, std::int64_t* sites, std::int32_t* places, cudaStream_t stream);
};

/// Adds the sums of each region to its record.
/// @param sums      [n, layout.fields()]
/// @param overflow  becomes 1 where a sum of squares passes 64 bits
void sum_regions(const Regions& regions, const SumLayout& layout, std::int64_t* sums, int* overflow,
                 cudaStream_t stream);

/// The number of each element's site, −1 if there is none. @param to  int32 or int64
void number_regions(const Regions& regions, const AnyDeviceView& to, cudaStream_t stream);

/// Faces between regions, each as a key: two numbers, the lower first, and the axis that it lies across, in so many
/// bits.
struct FaceKeys {
  int bits;  ///< of a number

  explicit FaceKeys(std::int64_t sites);
  int all_bits() const { return 2 * bits + 2; }
  std::int64_t first(std::uint64_t key) const { return static_cast<std::int64_t>(key >> (bits + 2)); }
  std::int64_t second(std::uint64_t key) const {
    return static_cast<std::int64_t>(key >> 2 & ((std::uint64_t{1} << bits) - 1));
  }
  static std::size_t axis(std::uint64_t key) { return key & 3; }
};

using Counter = unsigned long long;  // as atomics count

/// How many faces there are. Waits. @param counter  of the device
std::int64_t count_faces(const Regions& regions, Counter* counter, cudaStream_t stream);

/// Keys of all faces, ascending, and how often each occurs.
class Faces {
 public:
  /// @param faces  at most 2³¹ − 1, as many as CUB takes
  /// @param base   bytes(), or null to count
  Faces(std::int64_t faces, const FaceKeys& form, std::byte* base);
  std::size_t bytes() const { return bytes_; }
  /// Waits. @return how many keys there are
  std::int64_t find(const Regions& regions, cudaStream_t stream);
  const std::uint64_t* keys() const { return keys_; }
  const std::uint32_t* counts() const { return counts_; }

 private:
  std::int64_t faces_;
  FaceKeys form_;
  std::uint64_t *keys_, *other_;
  std::uint32_t* counts_;
  Counter* found_;
  std::byte* temporary_;
  std::size_t temporary_bytes_ = 0, bytes_ = 0;
};

}  // namespace fathom::apps::cuda
