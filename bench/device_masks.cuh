// The masks of device_cases.cuh on a device and in the host's memory, for benchmarks that compare what both make of them.
#pragma once

#include <cstring>
#include <vector>

#include "device_cases.cuh"
#include "device_timing.cuh"
#include "fathom/core/array.h"
#include "fathom/core/view.h"

/// A mask on the device, and the same in the host's memory.
struct Mask {
  fathom::Shape shape;
  Block<std::uint8_t> block;
  fathom::Array host;

  Mask(const fathom::Shape& shape_, Kind kind, double share)
      : shape(shape_), block(element_count(shape_)), host(fathom::DType::uint8, shape_) {
    const std::int64_t n = element_count(shape);
    const int last = shape.rank() - 1;
    draw<<<static_cast<unsigned>((n + 255) / 256), 256>>>(block.data, last > 1 ? shape[0] : 1, shape[last - 1],
                                                          shape[last], kind, share);
    MUST(cudaMemcpy(host.data(), block.data, host.bytes(), cudaMemcpyDeviceToHost));
  }
  fathom::AnyConstDeviceView there() const { return fathom::DeviceView<const std::uint8_t>(block.data, shape); }
};

inline bool same(const void* there, const fathom::Array& host) {
  std::vector<std::byte> found(host.bytes());
  MUST(cudaMemcpy(found.data(), there, found.size(), cudaMemcpyDeviceToHost));
  return std::memcmp(found.data(), host.data(), found.size()) == 0;
}

struct Named {
  const char* name;
  Kind kind;
  double share;
};
