#include "core/cuda/runtime.h"

#include <pthread.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "core/cuda/capture.h"
#include "core/cuda/devices.h"
#include "core/cuda/pool.h"
#include "core/fork.h"
#include "fathom/core/error.h"

namespace fathom::cuda {

namespace {

std::atomic<bool> used{false};  ///< whether this process has asked for a device
std::atomic<bool> lost{false};  ///< whether the one that it was forked from had
[[maybe_unused]] const int watching = pthread_atfork(nullptr, nullptr, [] { lost = used.load(); });

[[noreturn]] void refuse_fork() {
  throw DeviceError(
      "CUDA was in use before this process was forked, and cannot be used after it; start processes that use a device "
      "afresh: in Python with multiprocessing's start method spawn");
}

/// Where something is to be done with a device.
void begin() {
  if (lost) refuse_fork();
  used = true;
}

}  // namespace

bool lost_in_fork() noexcept { return lost; }

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // an error that is reported must not come up again in a later call
  if (error == cudaErrorInitializationError && is_forked()) refuse_fork();  // somebody else used it before
  throw DeviceError(std::string("CUDA failed while ") + doing + ": " + cudaGetErrorString(error));
}

int device_count() noexcept {
  int count = 0;
  if (lost) return 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  cudaGetLastError();
  if (count > 0) used = true;
  return count;
}

void require_device() {
  if (device_count() > 0) return;
  int count = 0;
  if (lost || (cudaGetDeviceCount(&count) == cudaErrorInitializationError && is_forked())) refuse_fork();
  cudaGetLastError();
  throw DeviceError("this machine has no CUDA device; use backend auto or cpu");
}

DeviceInfo describe_device(int device) {
  begin();
  static std::mutex mutex;
  static std::map<int, DeviceInfo> known;  // to ask takes longer than to launch a kernel
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(device); found != known.end()) return found->second;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "looking at the device");
  return known[device] = {properties.name, properties.major, properties.minor, properties.multiProcessorCount,
                          properties.totalGlobalMem};
}

int current_device() {
  begin();
  int device = 0;
  check(cudaGetDevice(&device), "looking for a device");
  return device;
}

namespace {

/// Of the current device.
int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, current_device()), "looking at the device");
  return value;
}

}  // namespace

int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }

std::size_t block_memory() { return static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)); }

std::size_t multiprocessor_memory() {
  return static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
}

OnDevice::OnDevice(int device) : before_(current_device()), changed_(before_ != device) {
  cudaGetLastError();  // what others left is not ours
  if (changed_) check(cudaSetDevice(device), "choosing the device");
}

OnDevice::~OnDevice() {
  if (changed_) cudaSetDevice(before_);
}

namespace {

cudaPointerAttributes attributes_of(const void* address) {
  begin();
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, address), "looking at the memory of a view");
  return attributes;
}

int device_with(const cudaPointerAttributes& attributes, const char* name) {
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw InvalidArgument(std::string("'") + name + "' is not in a device's memory; use the call for host views");
  return attributes.device;
}

}  // namespace

int device_of(const void* address, const char* name) { return device_with(attributes_of(address), name); }

int device_of(const void* address, const char* name, cudaStream_t stream) {
  const cudaPointerAttributes attributes = attributes_of(address);
  if (attributes.type == cudaMemoryTypeUnregistered && is_capturing(stream)) return current_device();
  return device_with(attributes, name);
}

DeviceMemory::DeviceMemory(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
  if (bytes == 0) return;
  void* data = nullptr;
  const cudaError_t error = cudaMallocFromPoolAsync(&data, bytes, pool_of(current_device()), stream);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory("the device has not enough free memory for " + std::to_string(bytes) + " bytes");
  }
  check(error, "asking for memory");
  data_ = static_cast<std::byte*>(data);
}

DeviceMemory::~DeviceMemory() {
  if (data_) cudaFreeAsync(data_, stream_);
}

PinnedMemory::PinnedMemory(std::size_t bytes) {
  void* data = nullptr;
  check(cudaMallocHost(&data, bytes), "asking for pinned memory");
  data_ = static_cast<std::byte*>(data);
}

PinnedMemory::~PinnedMemory() { cudaFreeHost(data_); }

bool is_pinned(const void* address) {
  return attributes_of(address).type == cudaMemoryTypeHost;
}

Event::Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }

Event::~Event() { cudaEventDestroy(event_); }

void Event::record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "recording an event"); }

void Event::wait() const { check(cudaEventSynchronize(event_), "computing"); }

void Event::hold_back(cudaStream_t stream) const {
  check(cudaStreamWaitEvent(stream, event_, 0), "waiting for an event");
}

OwnStream::OwnStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }

OwnStream::~OwnStream() {
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
}

void OwnStream::wait() const { check(cudaStreamSynchronize(stream_), "computing"); }

}  // namespace fathom::cuda
