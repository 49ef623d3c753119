// Who reads a set on a device, so that its memory is changed or given back after that.
#pragma once

#include <map>
#include <mutex>

#include "core/cuda/runtime.h"

namespace fathom::points::cuda {

/// How far each stream is that reads a set.
class Readers {
 public:
  /// All that is in the stream so far may read. A graph that is being captured may run at any time: whoever captures it
  /// keeps the set.
  void add(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    fathom::cuda::check(cudaStreamIsCapturing(stream, &status), "looking at a stream");
    if (status != cudaStreamCaptureStatusNone) return;
    const std::lock_guard lock(mutex_);
    passed_[stream].record(stream);
  }

  /// What comes into the stream from now on comes after them.
  void hold_back(cudaStream_t stream) const {
    for (const auto& [reader, event] : passed_) event.hold_back(stream);
  }

 private:
  std::mutex mutex_;
  std::map<cudaStream_t, fathom::cuda::Event> passed_;
};

}  // namespace fathom::points::cuda
