// Spread arrays in a device's memory, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "apps/spread.h"
#include "device_block.h"
#include "fathom/core/device.h"

namespace fathom::test {

/// A copy of an array with all memory that it is spread over.
class SpreadThere {
 public:
  explicit SpreadThere(const Spread& host)
      : block_(host.memory),
        view_(block_.data() + (host.view.data() - host.memory.data()), host.view.dtype(), host.view.shape(),
              host.view.strides()) {}

  const AnyDeviceView& view() const { return view_; }

  /// Whether every byte is that of the host's, those between the elements, too.
  bool equals(const Spread& host) const {
    Array found(host.memory.dtype(), host.memory.shape());
    block_.download(found);
    return std::memcmp(found.data(), host.memory.data(), found.bytes()) == 0;
  }

 private:
  Block block_;
  AnyDeviceView view_;
};

/// A copy of a spread array.
inline Spread copy_of(const Spread& other) {
  Spread copy = {};
  copy.memory = Array(other.memory.dtype(), other.memory.shape());
  std::memcpy(copy.memory.data(), other.memory.data(), other.memory.bytes());
  copy.view = AnyView(copy.memory.data() + (other.view.data() - other.memory.data()), other.view.dtype(),
                      other.view.shape(), other.view.strides());
  return copy;
}

inline bool equal(const Spread& a, const Spread& b) {
  return std::memcmp(a.memory.data(), b.memory.data(), a.memory.bytes()) == 0;
}

class AppsOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
  }
};

}  // namespace fathom::test
