// The device that the calling thread has chosen, and errors of the CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "fathom/core/error.h"

namespace fathom::python {

/// @throws DeviceError unless the call succeeded; says what was being done, and forgets the error
inline void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // an error that is reported must not come up again in a later call
  throw DeviceError(std::string("CUDA failed while ") + doing + ": " + cudaGetErrorString(error));
}

/// Chooses a device for a while.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check(cudaGetDevice(&before_), "looking for a device");
    check(cudaSetDevice(device), "choosing the device");
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace fathom::python
