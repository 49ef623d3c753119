// The CUDA runtime with Fathom's errors and owners. Included by CUDA code alone.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "fathom/core/device.h"
#include "fathom/core/error.h"

namespace fathom::cuda {

inline cudaStream_t native(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

/// @throws DeviceError unless the call succeeded; says what was being done, and forgets the error
void check(cudaError_t error, const char* doing);

/// Whether this process was forked from one in which Fathom had asked for a device: it has none then, and what is left
/// of devices' memory must not be touched.
bool lost_in_fork() noexcept;

/// After a launch.
inline void check_launch(const char* kernel) { check(cudaPeekAtLastError(), kernel); }

/// Of the current device.
int multiprocessors();
/// Most bytes of shared memory that a block may have.
std::size_t block_memory();
/// And that all blocks of a multiprocessor may have, with what the system takes for each.
std::size_t multiprocessor_memory();

/// Lets a kernel have as much shared memory as a block can. Always as much, since a kernel has one limit for all
/// threads that launch it, and one thread must not lower it before the launch of another.
template <class Kernel>
void allow_memory(Kernel kernel) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "looking at a kernel");
  const std::size_t most = block_memory() - attributes.sharedSizeBytes;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most)),
                      "asking for shared memory");
}

/// Where a device call begins: makes the device of some memory the calling thread's for a while. Forgets an error that
/// others left in the runtime, which check_launch() would take for its kernel's.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// The device whose memory `address` is.
/// @throws InvalidArgument the memory belongs to no device
int device_of(const void* address, const char* name);
/// The same for a call in the order of a stream. While the stream is captured into a graph, what the capture took from
/// a pool has no place yet that the runtime tells: such memory counts as the current device's.
int device_of(const void* address, const char* name, cudaStream_t stream);

/// Memory of the host that a device reads and writes at full speed.
class PinnedMemory {
 public:
  /// @throws DeviceError the system gives no more of it
  explicit PinnedMemory(std::size_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

/// Whether memory of the host is such.
bool is_pinned(const void* address);

/// A device has not enough memory.
class OutOfMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Memory of Fathom's pool of the current device (pool.h), returned in the stream's order.
class DeviceMemory {
 public:
  /// @throws OutOfMemory
  DeviceMemory(std::size_t bytes, cudaStream_t stream);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  cudaStream_t stream_;
};

/// A point in a stream's order. One that was never recorded has passed.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) const;
  void wait() const;
  /// What is put into the stream from now on comes after the event.
  void hold_back(cudaStream_t stream) const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream of its own for a call that has none from its caller. When it goes, all that was put into it is done.
class OwnStream {
 public:
  OwnStream();
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait() const;

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace fathom::cuda
