// What an algorithm gets on a device.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <utility>
#include <vector>

#include "core/cuda/runtime.h"
#include "core/cuda/scratch.h"
#include "published/problem.h"

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

/// Arrays of the device. With no memory behind the scratch, algorithms take what they need of it and do nothing.
struct Task {
  Places places;
  const DistanceOptions& options;
  bool is_volume;
  const std::uint8_t* mask;
  std::uint32_t* nearest;
  fathom::cuda::Scratch& scratch;
  cudaStream_t stream;
  Stopwatch* watch;  ///< null: only the scratch is counted

  bool counts_only() const { return watch == nullptr; }
};

void pba(const Task& task);
void proximate(const Task& task);
void jump_flooding(const Task& task);
void sweeping(const Task& task);
void brute_force(const Task& task);

constexpr int kBlock = 256;
inline unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

/// Each element its own place where it is a site, else none.
void place_sites(const Task& task, std::uint32_t* places);

}  // namespace fathom::published::cuda
