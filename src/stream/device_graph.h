// A tile graph on a device, as the front calls it.
#pragma once

#include "fathom/core/device.h"
#include "fathom/stream/evaluator.h"

namespace fathom::stream {

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  /// Into memory of the host: returns when it is there.
  virtual void compute(const Rectangle& part, const AnyView& out) = 0;
  /// @throws InvalidArgument memory of another device
  virtual void compute(const Rectangle& part, const AnyDeviceView& out, Stream stream) = 0;
};

}  // namespace fathom::stream
