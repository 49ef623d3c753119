// Times of phases on a device.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>
#include <vector>

#include "core/cuda/runtime.h"
#include "published/phases.h"

namespace fathom::published::cuda {

/// Times of phases, by events in a stream.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) { lap(""); }
  ~Stopwatch() {
    for (const auto& [name, event] : laps_) cudaEventDestroy(event);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Ends a phase, which began where the one before it ended.
  void lap(const char* name) {
    cudaEvent_t event = nullptr;
    fathom::cuda::check(cudaEventCreateWithFlags(&event, 0), "making an event");
    laps_.emplace_back(name, event);
    fathom::cuda::check(cudaEventRecord(event, stream_), "recording an event");
  }
  /// Of a stream that was waited for.
  Phases phases() const {
    Phases phases;
    for (std::size_t k = 1; k < laps_.size(); ++k) {
      float milliseconds = 0;
      fathom::cuda::check(cudaEventElapsedTime(&milliseconds, laps_[k - 1].second, laps_[k].second),
                          "measuring a phase");
      add_time(phases, laps_[k].first, milliseconds / 1e3);
    }
    return phases;
  }

 private:
  cudaStream_t stream_;
  std::vector<std::pair<const char*, cudaEvent_t>> laps_;
};

}  // namespace fathom::published::cuda
