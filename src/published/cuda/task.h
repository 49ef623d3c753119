// What an algorithm gets on a device.
#pragma once

#include <cuda_runtime_api.h>

#include "core/cuda/scratch.h"
#include "published/cuda/stopwatch.h"
#include "published/problem.h"

namespace fathom::published::cuda {

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
