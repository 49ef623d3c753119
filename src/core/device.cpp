// Devices, in builds with CUDA and without.
#include "fathom/core/device.h"

#include "core/require_device.h"
#include "fathom/core/error.h"

#ifdef FATHOM_HAS_CUDA
#include "core/cuda/devices.h"
#include "core/cuda/pool.h"
#endif

namespace fathom {

#ifdef FATHOM_HAS_CUDA
int device_count() noexcept { return cuda::device_count(); }
DeviceInfo describe_device(int device) { return cuda::describe_device(device); }
int current_device() { return cuda::current_device(); }
void release_device_memory() { cuda::trim_pools(); }
void require_device() { cuda::require_device(); }
#else
int device_count() noexcept { return 0; }
DeviceInfo describe_device(int) { throw DeviceError("this build of Fathom has no CUDA backend"); }
int current_device() { throw DeviceError("this build of Fathom has no CUDA backend"); }
void release_device_memory() {}
void require_device() {
  throw DeviceError(
      "this build of Fathom has no CUDA backend; use backend auto or cpu, or a build with FATHOM_CUDA=ON "
      "(Python: fathom-distance-cuda12 or -cuda13)");
}
#endif

}  // namespace fathom
