// Whether work becomes part of a graph instead of being done.
#pragma once

#include "core/cuda/runtime.h"

namespace fathom::cuda {

inline bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  check(cudaStreamIsCapturing(stream, &status), "looking at a stream");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace fathom::cuda
