// Memory of the emulated device: of the host, filled with a pattern, and known by its addresses.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

constexpr int kMultiprocessors = 3;

/// 4 GiB, unless the environment says how many KiB.
std::size_t device_bytes() {
  const char* const kib = std::getenv("FATHOM_EMULATED_KIB");
  return kib ? std::strtoull(kib, nullptr, 10) << 10 : std::size_t{4} << 30;
}

class Memory {
 public:
  cudaError_t allocate(void** address, std::size_t bytes, cudaMemoryType type) {
    const std::lock_guard lock(mutex_);
    if (type == cudaMemoryTypeDevice && used_ + bytes > device_bytes()) return cudaErrorMemoryAllocation;
    constexpr std::size_t kAlignment = 256;
    if (posix_memalign(address, kAlignment, bytes) != 0) return cudaErrorMemoryAllocation;
    std::memset(*address, fathom::emulation::kPattern, bytes);
    blocks_[static_cast<const std::byte*>(*address)] = {bytes, type};
    if (type == cudaMemoryTypeDevice) used_ += bytes;
    return cudaSuccess;
  }

  cudaError_t free(void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(static_cast<const std::byte*>(address));
    if (found == blocks_.end()) return cudaErrorInvalidValue;
    if (found->second.type == cudaMemoryTypeDevice) used_ -= found->second.bytes;
    blocks_.erase(found);
    std::free(address);
    return cudaSuccess;
  }

  cudaMemoryType type_of(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto* at = static_cast<const std::byte*>(address);
    auto found = blocks_.upper_bound(at);
    if (found == blocks_.begin()) return cudaMemoryTypeUnregistered;
    --found;
    return at < found->first + found->second.bytes ? found->second.type : cudaMemoryTypeUnregistered;
  }

  std::size_t used() {
    const std::lock_guard lock(mutex_);
    return used_;
  }

 private:
  struct Allocation {
    std::size_t bytes;
    cudaMemoryType type;
  };
  std::mutex mutex_;
  std::map<const std::byte*, Allocation> blocks_;
  std::size_t used_ = 0;  ///< of the device's
};

Memory& memory() {
  static Memory all;
  return all;
}

std::atomic<bool> is_capturing{false};

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"emulated device", 9, 0, kMultiprocessors, device_bytes()};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  constexpr int kOfSystem = 1024;
  const auto of_block = static_cast<int>(fathom::emulation::most_shared_memory());
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = kMultiprocessors; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = of_block; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = of_block + kOfSystem; break;
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* unused, std::size_t* all) {
  return *all = device_bytes(), *unused = *all - memory().used(), cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return *attributes = {memory().type_of(address), 0}, cudaSuccess;
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return memory().allocate(address, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaFree(void* address) { return memory().free(address); }
cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return memory().allocate(address, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaFreeHost(void* address) { return memory().free(address); }

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) { return *pool = nullptr, cudaSuccess; }
cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  const std::uint64_t used = memory().used();  // nothing is kept besides
  std::memcpy(value, &used, sizeof used);
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }

cudaError_t cudaMallocFromPoolAsync(void** address, std::size_t bytes, cudaMemPool_t, cudaStream_t) {
  return memory().allocate(address, bytes, is_capturing ? cudaMemoryTypeUnregistered : cudaMemoryTypeDevice);
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t) { return memory().free(address); }

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) { return is_capturing = true, cudaSuccess; }
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  return is_capturing = false, *graph = nullptr, cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  return *status = is_capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone, cudaSuccess;
}

cudaError_t cudaMemset(void* address, int byte, std::size_t bytes) {
  if (bytes > 0) std::memset(address, byte, bytes);  // of none the address may be null
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* address, int byte, std::size_t bytes, cudaStream_t) {
  return cudaMemset(address, byte, bytes);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t) {
  for (std::size_t row = 0; row < height; ++row)
    std::memcpy(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                width);
  return cudaSuccess;
}
