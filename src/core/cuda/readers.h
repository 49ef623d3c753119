// Who reads a set on a device, so that its memory is changed or given back after that.
#pragma once

#include <memory>
#include <mutex>

#include "core/cuda/capture.h"
#include "core/cuda/runtime.h"
#include "fathom/core/error.h"

namespace fathom::cuda {

/// How far the streams are that read a set: a stream of the set's own, in which nothing runs, waits for them all.
class Readers {
 public:
  /// While it lives, work that reads the set may be put into a stream.
  class Reading {
   public:
    /// @throws DeviceError the set cannot be told of readers: nothing may read it
    Reading(Readers& readers, cudaStream_t stream) : readers_(readers), stream_(stream) { readers_.expect(stream_); }
    /// Also where a part of the work could not be launched: others may have been.
    ~Reading() {
      try {
        readers_.add(stream_);
      } catch (const Error&) {  // the device is gone, and the memory with it
      }
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    Readers& readers_;
    const cudaStream_t stream_;
  };

  /// What comes into the stream from now on comes after them.
  void hold_back(cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    if (!all_) return;
    all_->event.record(all_->stream);
    all_->event.hold_back(stream);
  }

 private:
  struct All {
    All() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"); }
    ~All() { cudaStreamDestroy(stream); }  // does not wait
    All(const All&) = delete;
    All& operator=(const All&) = delete;

    Event event;
    cudaStream_t stream = nullptr;
  };

  /// Makes what add() needs. A graph that is being captured may run at any time: whoever captures it keeps the set.
  void expect(cudaStream_t stream) {
    if (is_capturing(stream)) return;
    const std::lock_guard lock(mutex_);
    if (!all_) all_ = std::make_unique<All>();
  }

  /// All that is in the stream so far may read.
  void add(cudaStream_t stream) {
    if (is_capturing(stream)) return;
    const std::lock_guard lock(mutex_);
    if (!all_) return;  // it was being captured
    all_->event.record(stream);
    all_->event.hold_back(all_->stream);
  }

  std::mutex mutex_;
  std::unique_ptr<All> all_;  ///< once somebody reads: on the device that is the current one then
};

}  // namespace fathom::cuda
