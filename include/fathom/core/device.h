// CUDA devices, as far as callers need to know of them. No CUDA header is needed, and no CUDA at all.
#pragma once

#include <cstddef>
#include <string>

namespace fathom {

/// A stream of the CUDA runtime: what a cudaStream_t points to. The default is the device's default stream.
struct Stream {
  void* handle = nullptr;
};

/// Devices that this process can use; 0 in a build without CUDA or on a machine without a device.
int device_count() noexcept;

struct DeviceInfo {
  std::string name;  ///< such as "NVIDIA H200"
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

/// @param device  0 … device_count() − 1
/// @throws DeviceError there is no such device
DeviceInfo describe_device(int device);

/// The device that the calling thread has chosen (cudaSetDevice), at first 0.
/// @throws DeviceError there is none
int current_device();

/// Gives back the scratch that Fathom keeps of each device's memory between calls, at most 1/8 of it. What work on its
/// way uses stays.
void release_device_memory();

}  // namespace fathom
