#include "core/cuda/pool.h"

#include <cstdint>
#include <map>
#include <mutex>

#include "core/cuda/devices.h"
#include "core/cuda/runtime.h"

namespace fathom::cuda {

namespace {

constexpr std::uint64_t kKeptShare = 8;  ///< of the device's memory, one part may stay in the pool

struct Pools {
  std::mutex mutex;
  std::map<int, cudaMemPool_t> of_device;
};

Pools& pools() {
  static Pools all;
  return all;
}

/// Lets a thread make what outlives a capture while one of its streams is being captured.
class BesideCapture {
 public:
  BesideCapture() { exchange(); }
  ~BesideCapture() { exchange(); }
  BesideCapture(const BesideCapture&) = delete;
  BesideCapture& operator=(const BesideCapture&) = delete;

 private:
  void exchange() { cudaThreadExchangeStreamCaptureMode(&mode_); }

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

cudaMemPool_t make_pool(int device) {
  const BesideCapture beside_capture;
  std::uint64_t kept = describe_device(device).memory_bytes / kKeptShare;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "making a pool of memory");
  const cudaError_t error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
  if (error != cudaSuccess) cudaMemPoolDestroy(pool);
  check(error, "setting up a pool of memory");
  return pool;
}

}  // namespace

cudaMemPool_t pool_of(int device) {
  Pools& all = pools();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of_device.find(device);
  return found != all.of_device.end() ? found->second : all.of_device[device] = make_pool(device);
}

std::size_t unused_bytes(int device) {
  std::uint64_t held = 0, used = 0;
  check(cudaMemPoolGetAttribute(pool_of(device), cudaMemPoolAttrReservedMemCurrent, &held), "asking a pool of memory");
  check(cudaMemPoolGetAttribute(pool_of(device), cudaMemPoolAttrUsedMemCurrent, &used), "asking a pool of memory");
  return held > used ? held - used : 0;  // others may have allocated between the two
}

void trim_pools() {
  if (lost_in_fork()) return;
  Pools& all = pools();
  const std::lock_guard lock(all.mutex);
  for (const auto& [device, pool] : all.of_device) check(cudaMemPoolTrimTo(pool, 0), "giving memory back");
}

}  // namespace fathom::cuda
